//! Files in a conversation.

use std::borrow::Cow;

use super::base64;

/// The kind of a file, which decides in what form a model gets it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AttachmentKind {
    /// An image.
    Image,
    /// A sound.
    Audio,
    /// A video.
    Video,
    /// Text, such as a table in CSV or a source file.
    Text,
    /// Any other file, also one whose kind is not known.
    Document,
}

impl AttachmentKind {
    /// Returns the kind of files of a media type; `None` for types that any file may have.
    fn of(media_type: &str) -> Option<Self> {
        let essence = media_type.split(';').next().unwrap_or_default().trim();
        let essence = essence.to_ascii_lowercase();
        let (kind, name) = essence.split_once('/')?;
        Some(match kind {
            "image" => Self::Image,
            "audio" => Self::Audio,
            "video" => Self::Video,
            "text" => Self::Text,
            _ if name == "octet-stream" => return None,
            _ if TEXTS.contains(&name) || name.ends_with("+json") || name.ends_with("+xml") => {
                Self::Text
            }
            _ => Self::Document,
        })
    }
}

/// The subtypes of `application` that are text.
const TEXTS: [&str; 8] = [
    "json",
    "x-ndjson",
    "xml",
    "yaml",
    "x-yaml",
    "toml",
    "javascript",
    "sql",
];

/// The first bytes of files, each with its position and the media type.
const SIGNATURES: [(usize, &[u8], &str); 13] = [
    (0, b"\x89PNG", "image/png"),
    (0, b"\xff\xd8\xff", "image/jpeg"),
    (0, b"GIF8", "image/gif"),
    (8, b"WEBP", "image/webp"),
    (0, b"%PDF-", "application/pdf"),
    (8, b"WAVE", "audio/wav"),
    (0, b"ID3", "audio/mpeg"),
    (0, b"\xff\xfb", "audio/mpeg"),
    (0, b"OggS", "audio/ogg"),
    (0, b"fLaC", "audio/flac"),
    (4, b"ftyp", "video/mp4"),
    (0, b"\x1a\x45\xdf\xa3", "video/webm"),
    (0, b"PK\x03\x04", "application/zip"),
];

/// A file that was sent with a message or a result.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[must_use]
pub struct Attachment<'a> {
    /// The file's name, if the front end sends one.
    pub name: Option<Cow<'a, str>>,
    /// The media type, such as `image/png`, if the front end sends one. [`media_type_or_detected`] also knows the types
    /// that the content shows.
    ///
    /// [`media_type_or_detected`]: Self::media_type_or_detected
    pub media_type: Option<Cow<'a, str>>,
    /// The content, or a reference to it.
    pub content: AttachmentContent<'a>,
    /// The kind of the part that contained the file, if it says one.
    declared: Option<AttachmentKind>,
}

impl<'a> Attachment<'a> {
    /// Creates an attachment without a name or a media type.
    pub fn new(content: AttachmentContent<'a>) -> Self {
        Self {
            name: None,
            media_type: None,
            content,
            declared: None,
        }
    }

    /// Creates an attachment from a URL. A `data:` URL (RFC 2397) becomes its content; one that is not valid stays a
    /// URL.
    pub fn from_url(url: Cow<'a, str>) -> Self {
        let Some((media_type, is_base64, start)) = data_url(&url) else {
            return Self::new(AttachmentContent::Url(url));
        };
        let data = match url {
            Cow::Borrowed(url) => Cow::Borrowed(url.get(start..).unwrap_or_default()),
            Cow::Owned(mut url) => Cow::Owned(url.split_off(start)),
        };
        let content = match is_base64 {
            true => AttachmentContent::Base64(match data.contains('%') {
                // A strict writer escapes `+`, `/` and `=`.
                true => String::from_utf8_lossy(&unescaped(&data))
                    .into_owned()
                    .into(),
                false => data,
            }),
            false => match String::from_utf8(unescaped(&data)) {
                Ok(text) if AttachmentKind::of(&media_type) == Some(AttachmentKind::Text) => {
                    AttachmentContent::Text(text.into())
                }
                Ok(text) => AttachmentContent::Base64(base64::encode(text.as_bytes()).into()),
                Err(bytes) => AttachmentContent::Base64(base64::encode(bytes.as_bytes()).into()),
            },
        };
        Self::new(content).media_type(media_type)
    }

    /// Sets the file's name.
    pub fn name(mut self, name: impl Into<Cow<'a, str>>) -> Self {
        self.name = Some(name.into()).filter(|name| !name.is_empty());
        self
    }

    /// Sets the media type.
    pub fn media_type(mut self, media_type: impl Into<Cow<'a, str>>) -> Self {
        self.media_type = Some(media_type.into()).filter(|media_type| !media_type.is_empty());
        self
    }

    /// Sets the kind that the part with the file declares.
    pub fn declared(mut self, kind: AttachmentKind) -> Self {
        self.declared = Some(kind);
        self
    }

    /// Returns the kind: the one that the part with the file declares, else that of the media type, else that of the
    /// first bytes, else [`AttachmentKind::Document`].
    pub fn kind(&self) -> AttachmentKind {
        let typed = AttachmentKind::of(self.media_type_or_detected());
        match (self.declared, &self.content) {
            (None | Some(AttachmentKind::Document), AttachmentContent::Text(_)) => {
                AttachmentKind::Text
            }
            // Any file may be declared a document.
            (None | Some(AttachmentKind::Document), _) => typed.unwrap_or(AttachmentKind::Document),
            (Some(declared), _) => declared,
        }
    }

    /// Returns the media type, or the one that the first bytes of the content show; empty if neither is known.
    pub fn media_type_or_detected(&self) -> &str {
        let media_type = self.media_type.as_deref().unwrap_or_default();
        let AttachmentContent::Base64(data) = &self.content else {
            return media_type;
        };
        if !matches!(media_type, "" | "application/octet-stream") {
            return media_type;
        }
        // 24 digits are 18 bytes, more than every signature.
        let first: String = data.trim_start().chars().take(24).collect();
        let bytes = base64::decode(&first).unwrap_or_default();
        let found = SIGNATURES.iter().find(|(at, signature, _)| {
            let rest = bytes.get(*at..).unwrap_or_default();
            rest.starts_with(signature)
        });
        found.map_or(media_type, |(_, _, media_type)| media_type)
    }

    /// Converts into an attachment that borrows nothing.
    pub fn into_owned(self) -> Attachment<'static> {
        let owned = |text: Cow<'_, str>| Cow::Owned(text.into_owned());
        Attachment {
            name: self.name.map(owned),
            media_type: self.media_type.map(owned),
            content: match self.content {
                AttachmentContent::Url(url) => AttachmentContent::Url(owned(url)),
                AttachmentContent::Base64(data) => AttachmentContent::Base64(owned(data)),
                AttachmentContent::Text(text) => AttachmentContent::Text(owned(text)),
                AttachmentContent::Id(id) => AttachmentContent::Id(owned(id)),
            },
            declared: self.declared,
        }
    }

    /// Returns `true` if the content itself is here, and not a reference to it.
    pub fn is_inline(&self) -> bool {
        matches!(
            self.content,
            AttachmentContent::Base64(_) | AttachmentContent::Text(_)
        )
    }

    /// Returns the content of a file that is inline and [text](AttachmentKind::Text); `None` for other files, and for
    /// text that is not UTF-8.
    pub fn text(&self) -> Option<Cow<'_, str>> {
        match &self.content {
            AttachmentContent::Text(text) => Some(Cow::Borrowed(text)),
            AttachmentContent::Base64(data) if self.kind() == AttachmentKind::Text => {
                let text = String::from_utf8(base64::decode(data)?).ok()?;
                Some(Cow::Owned(text))
            }
            _ => None,
        }
    }
}

/// The content of an [`Attachment`], or a reference to it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AttachmentContent<'a> {
    /// A URL.
    Url(Cow<'a, str>),
    /// The content itself, in base64.
    Base64(Cow<'a, str>),
    /// The content itself, as text.
    Text(Cow<'a, str>),
    /// An id of the file at the front end or at its model provider.
    Id(Cow<'a, str>),
}

/// Returns the media type of a `data:` URL, `true` if its data is base64, and the position of the data.
fn data_url(url: &str) -> Option<(String, bool, usize)> {
    let scheme = url.get(..5)?;
    let (head, data) = url.get(5..)?.split_once(',')?;
    if !scheme.eq_ignore_ascii_case("data:") {
        return None;
    }
    // Parameters such as `charset` may stand between the type and `base64`.
    let mut parameters = head.split(';');
    let media_type = parameters.next().unwrap_or_default().trim();
    let is_base64 = parameters
        .next_back()
        .is_some_and(|last| last.trim().eq_ignore_ascii_case("base64"));
    let media_type = match media_type {
        // The default of the RFC for a URL without a type.
        "" if !is_base64 => "text/plain",
        media_type => media_type,
    };
    Some((media_type.to_owned(), is_base64, url.len() - data.len()))
}

/// Decodes percent-encoding. A `%` without two digits stays.
fn unescaped(text: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        let digits = after.get(..2).filter(|_| byte == b'%');
        let digits = digits.and_then(|digits| std::str::from_utf8(digits).ok());
        let escaped = digits.filter(|digits| digits.bytes().all(|it| it.is_ascii_hexdigit()));
        match escaped.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(escaped) => {
                out.push(escaped);
                rest = after.get(2..).unwrap_or_default();
            }
            None => {
                out.push(byte);
                rest = after;
            }
        }
    }
    out
}
