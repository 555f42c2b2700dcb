//! One item of data.

use std::borrow::Cow;

use serde::de::DeserializeOwned;

use super::DataFormat;
use crate::json::model::{Field, model};
use crate::json::{Json, JsonError, Kind, List, Members};
use crate::openbb::{Url, base64};

/// One item of data: a table, a text, a file. It stays raw until it is asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Item {
    /// The content as it came: mostly a string, which may hold JSON, base64 or plain text.
    pub content: Option<Json>,
    /// Where the content is, for a short time.
    pub url: Url,
    /// The same in results of early 2025: a URL, or the id of a file.
    pub file_reference: String,
    /// What the content is.
    pub data_format: Option<DataFormat>,
    /// Whether it may be cited; absent means yes.
    pub citable: Option<bool>,
    /// When the URL ends to work.
    pub expiration: Option<Json>,
    /// Members that this crate does not know or cannot read.
    pub unknown: Members,
}

model!(Item {
    content: "content",
    url: "url",
    file_reference: "file_reference",
    data_format: "data_format",
    citable: "citable",
    expiration: "expiration",
});

/// The items of a value in the form of any era: `{items}`, `{content}`, or the content itself.
pub(in crate::openbb) fn items_of(data: &Json) -> Vec<Item> {
    if let Some(items) = data
        .get("items")
        .filter(|items| items.kind() == Kind::Array)
    {
        let items: Option<List<Item>> = Field::from_raw(&items);
        return items.unwrap_or_default().into_iter().collect();
    }
    if data.get("content").is_some() {
        return Field::from_raw(data).into_iter().collect();
    }
    if data.is_null() {
        return Vec::new();
    }
    vec![Item::of(data.clone())]
}

impl Item {
    pub(in crate::openbb) fn of(content: Json) -> Self {
        Self {
            content: Some(content),
            ..Self::default()
        }
    }

    /// An item with a text, for clients.
    #[must_use]
    pub fn text_of(text: &str) -> Self {
        let mut item = Self::of(crate::openbb::request::string(text));
        item.data_format = Some(DataFormat {
            data_type: "object".into(),
            parse_as: "text".into(),
            ..DataFormat::default()
        });
        item
    }

    /// The content as text. A string is itself, anything else its JSON.
    #[must_use]
    pub fn text(&self) -> Option<Cow<'_, str>> {
        let content = self.content.as_ref().filter(|content| !content.is_null())?;
        Some(match content.kind() {
            Kind::String => content.string()?,
            _ => Cow::Borrowed(content.text()),
        })
    }

    /// The content as JSON: what a string holds, when that is JSON, else the value itself.
    #[must_use]
    pub fn json(&self) -> Option<Json> {
        let content = self.content.as_ref()?;
        if content.kind() == Kind::String {
            return Json::parse(content.string()?.into_owned()).ok();
        }
        Some(content.clone())
    }

    /// The content as rows of a type of your own.
    ///
    /// # Errors
    ///
    /// When the content is not an array whose elements all fit.
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

    /// The content of an inline file.
    #[must_use]
    pub fn bytes(&self) -> Option<Vec<u8>> {
        let text = self.text()?;
        let format = self.data_format.as_ref();
        if format.is_some_and(DataFormat::is_text_file) {
            return Some(text.into_owned().into_bytes());
        }
        base64::decode(&text)
    }

    /// Where the content is, when it is not inline: a URL, or the id of a file.
    #[must_use]
    pub fn reference(&self) -> Option<&str> {
        [&*self.url, &self.file_reference]
            .into_iter()
            .find(|reference| !reference.is_empty())
    }

    /// What to read the content as: `table` unless something else is said.
    #[must_use]
    pub fn parse_as(&self) -> &str {
        self.data_format
            .as_ref()
            .map_or("table", DataFormat::parse_as)
    }

    /// Whether it may be cited.
    #[must_use]
    pub fn is_citable(&self) -> bool {
        self.citable.unwrap_or(true)
    }
}
