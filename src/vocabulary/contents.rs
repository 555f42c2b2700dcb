//! The contents of messages and results, in the forms that protocols have for them.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::iter;

use super::wrapping::{is_wrapping, split_reminder};
use super::{
    Attachment, AttachmentContent, AttachmentKind, HistoryItem, Message, Role, ToolResult,
};
use crate::json::{Json, Kind, List, Place, Wire};

/// The depth to which parts within parts are read, such as the blocks of a document in a result. Deeper ones are JSON.
const DEEPEST: usize = 4;

/// The contents of a message or a result: its texts and its files.
#[derive(Debug, Default)]
pub struct Contents<'a> {
    /// The texts, each with `true` if it is the JSON of a part of an unknown kind.
    texts: Vec<(Cow<'a, str>, bool)>,
    files: Vec<Attachment<'a>>,
}

/// A text.
impl<'a> From<&'a str> for Contents<'a> {
    fn from(text: &'a str) -> Self {
        Self::from(Cow::Borrowed(text))
    }
}

/// A text.
impl From<String> for Contents<'_> {
    fn from(text: String) -> Self {
        Self::from(Cow::Owned(text))
    }
}

/// A text.
impl<'a> From<Cow<'a, str>> for Contents<'a> {
    fn from(text: Cow<'a, str>) -> Self {
        let mut contents = Self::default();
        contents.add_text(text);
        contents
    }
}

/// A file.
impl<'a> From<Attachment<'a>> for Contents<'a> {
    fn from(file: Attachment<'a>) -> Self {
        let mut contents = Self::default();
        contents.add_file(file);
        contents
    }
}

/// A value as [`Contents::read`] reads it.
impl From<Json> for Contents<'_> {
    fn from(value: Json) -> Self {
        Self::read(&value)
    }
}

impl<'a> Contents<'a> {
    /// Reads any value: a text, a part, a list of parts, or the result of an MCP tool.
    ///
    /// What is a text or a file is read as one, and any other value is JSON as text.
    pub fn read(value: &Json) -> Self {
        let mut contents = Self::default();
        contents.value(value, DEEPEST);
        contents
    }

    /// Adds one part of a message.
    pub fn add_part(&mut self, part: &Json) {
        match part.kind() {
            // A part that has nothing says nothing, unlike a result.
            Kind::Object if part.members().next().is_none() => {}
            Kind::Object => self.part(part, DEEPEST, true),
            _ => self.value(part, DEEPEST),
        }
    }

    /// Adds the [`odd_lines`] of a value, as a part of an unknown kind.
    #[allow(dead_code, reason = "not every protocol has types that retain values")]
    pub(crate) fn add_odd(&mut self, value: &impl Wire, shown: &[&str]) {
        let odd = Some(odd_lines(value, shown)).filter(|odd| !odd.is_empty());
        self.texts.extend(odd.map(|odd| (odd.into(), true)));
    }

    /// Adds a text, unless it is empty.
    pub fn add_text(&mut self, text: impl Into<Cow<'a, str>>) {
        let text = Some(text.into()).filter(|text| !text.is_empty());
        self.texts.extend(text.map(|text| (text, false)));
    }

    /// Adds a file.
    pub fn add_file(&mut self, file: Attachment<'a>) {
        self.files.push(file);
    }

    /// Adds other contents.
    pub fn append(&mut self, mut other: Self) {
        self.texts.append(&mut other.texts);
        self.files.append(&mut other.files);
    }

    /// Returns `true` if there are neither files nor texts.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty() && self.texts.is_empty()
    }

    /// Returns the text, with the texts of the parts joined with line breaks, and the files.
    pub fn text_and_files(self) -> (Cow<'a, str>, Vec<Attachment<'a>>) {
        let texts = self.texts.into_iter().map(|(text, _)| text);
        (join(texts), self.files)
    }

    /// Returns the items of a message.
    ///
    /// Parts of unknown kinds are a message of their own, before the message with the text. In a message of the user it
    /// has [`Role::Other`], as has each text that a client sends in the user's place.
    pub fn into_message(self, role: Role) -> Vec<HistoryItem<'a>> {
        let (mut others, mut own) = (Vec::new(), Vec::new());
        for (text, is_unknown) in self.texts {
            match is_unknown || role == Role::User && is_wrapping(&text) {
                true => others.push(text),
                false => own.push(text),
            }
        }
        let (mut text, mut other_role) = (join(own), role);
        if role == Role::User {
            let (reminder, rest) = split_reminder(text);
            others.extend(reminder);
            (text, other_role) = (rest, Role::Other);
        }
        let message = |role, text| HistoryItem::Message(Message::new(role, text));
        // A file needs a message that it belongs to.
        let is_message = !text.is_empty() || others.is_empty() || !self.files.is_empty();
        let own = is_message.then(|| message(role, text));
        let others = others.into_iter().map(|text| message(other_role, text));
        let files = self.files.into_iter().map(HistoryItem::Attachment);
        others.chain(own).chain(files).collect()
    }

    /// Returns the items of a result, whose content these contents become.
    pub fn into_result(self, mut result: ToolResult<'a>) -> Vec<HistoryItem<'a>> {
        let (text, files) = self.text_and_files();
        result.content = text;
        let files = files.into_iter().map(HistoryItem::Attachment);
        iter::once(HistoryItem::Result(result))
            .chain(files)
            .collect()
    }

    fn value(&mut self, value: &Json, depth: usize) {
        match value.kind() {
            Kind::Null => {}
            Kind::String => self.say(value),
            Kind::Array if depth > 0 && is_parts(value) => {
                value
                    .elements()
                    .for_each(|part| self.value(&part, depth - 1));
            }
            Kind::Object if depth > 0 => match mcp_content(value) {
                Some(content) => self.value(&content, depth - 1),
                None => self.part(value, depth, false),
            },
            _ => self.unknown(value),
        }
    }

    fn say(&mut self, text: &Json) {
        self.say_all(text.string().map(Cow::into_owned));
    }

    fn say_all(&mut self, texts: impl IntoIterator<Item = String>) {
        let texts = texts.into_iter();
        self.texts.extend(texts.map(|text| (text.into(), false)));
    }

    /// Adds a value as JSON. Numbers and the like in a row are one text, because they are shorter than what a text
    /// holds.
    fn unknown(&mut self, value: &Json) {
        let text = value.text();
        match self.texts.last_mut() {
            Some((last, true)) if value.kind() != Kind::Object && !last.starts_with('{') => {
                let last = last.to_mut();
                last.push('\n');
                last.push_str(text);
            }
            _ => self.texts.push((text.to_owned().into(), true)),
        }
    }

    fn part(&mut self, part: &Json, depth: usize, is_block: bool) {
        if self.known(part, depth).is_none() {
            let readable = self.readable(part, DEEPEST, is_block);
            self.unknown(&readable);
        }
    }

    /// Returns a value of an unknown kind as a model can read it: with a note in the place of each inline file, which
    /// becomes an attachment; and a block of a message without encrypted members, which only its own provider can read.
    fn readable(&mut self, value: &Json, depth: usize, is_block: bool) -> Json {
        match value.kind() {
            Kind::Object if depth > 0 => Json::object(|object| {
                for (name, member) in value.members() {
                    if !(is_block && is_encrypted(&name)) {
                        object
                            .member(&name)
                            .raw(&self.readable(&member, depth - 1, is_block));
                    }
                }
            }),
            Kind::Array if depth > 0 => {
                let elements = value.elements();
                List::from_iter(elements.map(|it| self.readable(&it, depth - 1, is_block))).to_raw()
            }
            Kind::String if value.text().starts_with("\"data:") => {
                let file =
                    Attachment::from_url(value.string().unwrap_or_default().into_owned().into());
                if matches!(file.content, AttachmentContent::Url(_)) {
                    return value.clone();
                }
                self.files.push(file);
                // Serializing a string cannot fail.
                Json::encode("(an attached file)").unwrap_or_default()
            }
            _ => value.clone(),
        }
    }

    /// Reads a part of a known kind. `None` if it is not one; nothing is added then.
    fn known(&mut self, part: &Json, depth: usize) -> Option<()> {
        if let Some(text) = bare_text(part) {
            self.add_text(text);
            return Some(());
        }
        let kind = text(part, "type")?;
        match &*kind {
            "text" | "input_text" | "output_text" | "summary_text" => {
                self.add_text(text(part, "text")?);
            }
            "tool_reference" => self.add_text(text(part, "tool_name")?),
            "refusal" => self.add_text(text(part, "refusal")?),
            // The summary of the conversation before it.
            "compaction" => self.add_text(text(part, "content")?),
            "search_result" if depth > 0 => {
                let content = part.get("content")?;
                let heads = ["title", "source"].map(|name| text(part, name));
                self.say_all(heads.into_iter().flatten());
                self.value(&content, depth - 1);
            }
            "resource" => {
                let resource = part.get("resource")?;
                let content = match (text(&resource, "text"), text(&resource, "blob")) {
                    (Some(text), _) => AttachmentContent::Text(text.into()),
                    (None, Some(blob)) => AttachmentContent::Base64(blob.into()),
                    (None, None) => return None,
                };
                let file = Attachment::new(content).media_type(media_type(&resource));
                self.files
                    .push(file.name(text(&resource, "uri").unwrap_or_default()));
            }
            _ => self.file(&kind, part, depth)?,
        }
        Some(())
    }

    fn file(&mut self, kind: &str, part: &Json, depth: usize) -> Option<()> {
        let declared = match kind {
            "image" | "image_url" | "input_image" | "computer_screenshot" => {
                Some(AttachmentKind::Image)
            }
            "audio" | "audio_url" | "input_audio" => Some(AttachmentKind::Audio),
            "video" | "video_url" | "input_video" => Some(AttachmentKind::Video),
            "document" | "document_url" => Some(AttachmentKind::Document),
            "file" | "input_file" | "binary" => None,
            _ => return None,
        };
        // The members stand in an object of the part's name, in `source`, or in the part itself.
        let inner = part.get(kind).or_else(|| part.get("source"));
        let source = inner.as_ref().unwrap_or(part);
        let title = || text(part, "title").or_else(|| text(part, "filename"));
        let name = text(source, "filename").or_else(|| text(source, "name"));
        let name = name.or_else(title).unwrap_or_default();
        let file = match text(source, "type").as_deref() {
            Some("text") => Attachment::new(AttachmentContent::Text(text(source, "data")?.into())),
            Some("content") if depth > 0 => {
                let content = source.get("content")?;
                let heads = [Some(name), text(part, "context")].into_iter().flatten();
                self.say_all(heads.filter(|head| !head.is_empty()));
                self.value(&content, depth - 1);
                return Some(());
            }
            source_kind => content(source, kind, source_kind)?,
        };
        let format = text(source, "format").map(|format| format!("audio/{format}"));
        let typed = Some(media_type(source)).filter(|it| !it.is_empty());
        let typed = typed.or_else(|| Some(media_type(part)).filter(|it| !it.is_empty()));
        let file = match typed.or_else(|| format.filter(|_| kind == "input_audio")) {
            Some(media_type) => file.media_type(media_type),
            None => file,
        };
        let file = match declared {
            Some(kind) => file.declared(kind),
            None => file,
        };
        // The context of a document is for the model, as its text is.
        self.say_all(text(part, "context"));
        self.files.push(file.name(name));
        Some(())
    }
}

/// Returns what a value cannot read, a line for each with its place. What is inside of the members `shown` is left out,
/// because their reader says it in its place.
#[allow(dead_code, reason = "not every protocol has types that retain values")]
pub(crate) fn odd_lines(value: &impl Wire, shown: &[&str]) -> String {
    let mut odd = String::new();
    value.each_odd(&Place::default(), &mut |place, json| {
        if !place.is_inside(shown) {
            let gap = if odd.is_empty() { "" } else { "\n" };
            // Writing to a string cannot fail.
            let _ = write!(odd, "{gap}{place}: {}", json.text());
        }
    });
    odd
}

/// Returns the content of a file, or the reference to it.
fn content(source: &Json, kind: &str, source_kind: Option<&str>) -> Option<Attachment<'static>> {
    if let Some(url) = source.string() {
        return Some(Attachment::from_url(url.into_owned().into()));
    }
    let inline = |name| {
        let data = text(source, name)?;
        // A `data:` URL has its type with it.
        Some(match data.get(..5) {
            Some(scheme) if scheme.eq_ignore_ascii_case("data:") => {
                Attachment::from_url(data.into())
            }
            _ => Attachment::new(AttachmentContent::Base64(data.into())),
        })
    };
    let linked = |name| Some(Attachment::from_url(text(source, name)?.into()));
    let known = |name| {
        Some(Attachment::new(AttachmentContent::Id(
            text(source, name)?.into(),
        )))
    };
    let by_kind = match source_kind {
        Some("url") => linked("value"),
        Some("file") if source.get("file_data").is_none() => known("value"),
        Some("data") => inline("value"),
        _ => None,
    };
    by_kind
        .or_else(|| inline("file_data"))
        .or_else(|| inline("data"))
        .or_else(|| linked("url"))
        .or_else(|| linked("file_url"))
        .or_else(|| linked("image_url"))
        .or_else(|| {
            linked(if kind == "video_url" {
                "video_url"
            } else {
                "uri"
            })
        })
        .or_else(|| known("file_id"))
        .or_else(|| known("id").filter(|_| kind == "binary"))
}

/// Returns `true` for a list of parts, which may have texts among them. A list of texts alone is data.
fn is_parts(list: &Json) -> bool {
    let mut has_part = false;
    let is_part = |part: Json| {
        let is_part = text(&part, "type").is_some() || bare_text(&part).is_some();
        has_part |= is_part;
        is_part || part.kind() == Kind::String
    };
    list.elements().all(is_part) && has_part
}

/// Returns the text of an object that has only a text.
fn bare_text(value: &Json) -> Option<String> {
    let mut members = value.members();
    let (name, text) = members.next()?;
    let is_bare = name == "text" && members.next().is_none();
    text.string().filter(|_| is_bare).map(Cow::into_owned)
}

/// Returns the content of an MCP tool's result; `None` for any other object, and for a result with more than a content.
fn mcp_content(value: &Json) -> Option<Json> {
    let (mut content, mut structured) = (None, None);
    for (name, member) in value.members() {
        match &*name {
            "content" if member.kind() == Kind::Array => content = Some(member),
            "isError" | "_meta" => {}
            "structuredContent" => structured = Some(member),
            _ => return None,
        }
    }
    let content = content?;
    let repeats = |structured: &Json| {
        let same = |text: String| blankless(&text).eq(blankless(structured.text()));
        content
            .elements()
            .filter_map(|part| text(&part, "text"))
            .any(same)
    };
    let is_known = content.elements().all(|part| text(&part, "type").is_some());
    let is_whole = structured.as_ref().is_none_or(repeats);
    (is_known && is_whole).then_some(content)
}

/// Returns the characters of a JSON text that are not white space.
fn blankless(json: &str) -> impl Iterator<Item = char> {
    json.chars().filter(|character| !character.is_whitespace())
}

/// Returns `true` for a member that only the provider which wrote it can read.
fn is_encrypted(name: &str) -> bool {
    name.starts_with("encrypted_") || matches!(name, "signature" | "thoughtSignature")
}

fn media_type(json: &Json) -> String {
    ["media_type", "mimeType", "mime_type", "mediaType"]
        .into_iter()
        .find_map(|name| text(json, name))
        .unwrap_or_default()
}

fn text(json: &Json, name: &str) -> Option<String> {
    Some(json.get(name)?.string()?.into_owned())
}

/// Joins texts with line breaks.
pub(crate) fn join<'a>(texts: impl IntoIterator<Item = Cow<'a, str>>) -> Cow<'a, str> {
    let mut texts = texts.into_iter();
    let mut all = texts.next().unwrap_or_default();
    for text in texts {
        let all = all.to_mut();
        all.push('\n');
        all.push_str(&text);
    }
    all
}
