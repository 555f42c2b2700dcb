//! Items of results.

use std::borrow::Cow;

use serde::de::DeserializeOwned;

use super::DataFormat;
use crate::json::{Json, JsonError, Kind, List, Members, Wire};
use crate::openbb::Url;
use crate::protocol::{Attachment, AttachmentContent, base64};

/// An item of a result: a table, a text or a file. The content is parsed on access.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
pub struct ResultItem {
    /// The content as sent: usually a string of JSON, base64 or plain text.
    pub content: Option<Json>,
    /// The URL of the content, valid for a short time.
    pub url: Url,
    /// The URL or the id of a file, in results of early 2025.
    pub file_reference: String,
    /// The format of the content.
    pub data_format: Option<DataFormat>,
    /// Set if the item may be cited; absent means `true`.
    pub citable: Option<bool>,
    /// The time when the URL expires.
    pub expiration: Option<Json>,
    /// Members that this crate does not know or cannot read.
    pub unknown: Members,
}

/// Returns the items of a value in the form of any era: `{items}`, `{content}`, or the content
/// itself.
pub(in crate::openbb) fn items_of(data: &Json) -> Vec<ResultItem> {
    if let Some(items) = data
        .get("items")
        .filter(|items| items.kind() == Kind::Array)
    {
        let items: List<ResultItem> = Wire::from_raw(&items).unwrap_or_default();
        let item = |item: Result<&ResultItem, &Json>| match item {
            Ok(item) => item.clone(),
            Err(json) => ResultItem::of(json.clone()),
        };
        return items.all().map(item).collect();
    }
    if data.get("content").is_some() {
        return Wire::from_raw(data).into_iter().collect();
    }
    if data.is_null() {
        return Vec::new();
    }
    vec![ResultItem::of(data.clone())]
}

/// Returns a string as it is, and any other value as JSON; `None` for `null`.
pub(super) fn value_text(json: &Json) -> Option<Cow<'_, str>> {
    let text = || json.string().unwrap_or_else(|| json.text().into());
    (!json.is_null()).then(text)
}

/// Returns the media type of a file by its format, else by the ending of its name; empty for values, and for formats
/// that the Workspace does not have.
pub(in crate::openbb) fn media_type<'a>(format: &'a str, name: &'a str) -> &'a str {
    let ending = || name.rsplit_once('.').map_or("", |(_, ending)| ending);
    // The member `format` is missing in requests of third parties.
    let format = match format {
        "" => ending(),
        format => format,
    };
    match format {
        "txt" => "text/plain",
        "md" => "text/markdown",
        "html" => "text/html",
        "csv" => "text/csv",
        "json" => "application/json",
        "pdf" => "application/pdf",
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "gif" => "image/gif",
        "webp" => "image/webp",
        "docx" => "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        "xlsx" => "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        "pptx" => "application/vnd.openxmlformats-officedocument.presentationml.presentation",
        "doc" => "application/msword",
        "xls" => "application/vnd.ms-excel",
        "ppt" => "application/vnd.ms-powerpoint",
        format if format.contains('/') => format,
        _ => "",
    }
}

impl ResultItem {
    pub(in crate::openbb) fn of(content: Json) -> Self {
        Self {
            content: Some(content),
            ..Self::default()
        }
    }

    /// Creates an item with a text, for clients.
    pub fn text_of(text: &str) -> Self {
        let mut item = Self::of(crate::openbb::text::string(text));
        item.data_format = Some(DataFormat {
            data_type: "object".into(),
            parse_as: "text".into(),
            ..DataFormat::default()
        });
        item
    }

    /// Returns the content as text: a string unchanged, any other value as JSON.
    pub fn text(&self) -> Option<Cow<'_, str>> {
        value_text(self.content.as_ref()?)
    }

    /// Returns the content as JSON: the JSON in a string, else the value itself.
    pub fn json(&self) -> Option<Json> {
        let content = self.content.as_ref()?;
        if content.kind() == Kind::String {
            // The Workspace sends a table as a string of JSON without marking it as JSON.
            return Json::parse(content.string()?.into_owned()).ok();
        }
        Some(content.clone())
    }

    /// Deserializes the content as rows.
    ///
    /// # Errors
    ///
    /// If the content is not an array, or an element does not match the type.
    pub fn rows<T: DeserializeOwned>(&self) -> Result<Vec<T>, JsonError> {
        let content = self.content.clone().unwrap_or_default();
        let json = match content.string() {
            Some(text) => Json::parse(text.into_owned())?,
            None => content,
        };
        if json.kind() != Kind::Array {
            return Err(json.reader().expected("an array of rows"));
        }
        json.decode()
    }

    /// Decodes the content of an inline file.
    pub fn bytes(&self) -> Option<Vec<u8>> {
        let text = self.text()?;
        let format = self.data_format.as_ref();
        if format.is_some_and(DataFormat::is_text_file) {
            return Some(text.into_owned().into_bytes());
        }
        base64::decode(&text)
    }

    /// Returns the file that this item is: inline and not text, or by reference. `None` for values and texts.
    pub fn attachment(&self) -> Option<Attachment<'_>> {
        let format = self.data_format.as_ref();
        let kind = format.map_or("", |format| &*format.data_type);
        let media_type = media_type(kind, format.map_or("", |format| &*format.filename));
        let is_file = !media_type.is_empty() && !media_type.starts_with("text/");
        let file = match (self.text(), self.reference()) {
            (Some(text), _) if is_file && media_type != "application/json" => {
                Attachment::new(AttachmentContent::Base64(text))
            }
            (Some(_), _) => return None,
            (None, Some(url)) if url.contains(':') => Attachment::from_url(url.into()),
            (None, id) => Attachment::new(AttachmentContent::Id(id?.into())),
        };
        let name = format.map_or("", |format| &*format.filename);
        Some(file.media_type(media_type).name(name))
    }

    /// Returns the URL or the file id of content that is not inline.
    pub fn reference(&self) -> Option<&str> {
        [&*self.url, &self.file_reference]
            .into_iter()
            .find(|reference| !reference.is_empty())
    }

    /// Returns the interpretation of the content; `table` by default.
    pub fn parse_as(&self) -> &str {
        self.data_format
            .as_ref()
            .map_or("table", DataFormat::parse_as)
    }
}
