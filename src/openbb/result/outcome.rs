//! Outcomes of calls.

use std::borrow::Cow;

use serde::de::DeserializeOwned;

use super::item::value_text;
use super::{BridgeResult, CommandResult, ErrorResult, Items, ParamOptions, ResultItem};
use crate::json::{Json, JsonError, Kind, Wire};
use crate::openbb::Citation;
use crate::protocol::Attachment;

/// One entry of a result, in the form of any era.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum CallOutcome {
    /// Data: texts, tables and files.
    Items(Items),
    /// A single item (October 2024 to May 2025).
    Item(ResultItem),
    /// Rows (2024): an array of objects.
    Rows(Json),
    /// One row among entries of other kinds.
    Row(Json),
    /// A failure.
    Error(ErrorResult),
    /// The result of a command.
    Command(CommandResult),
    /// The result of a command, in the form of front ends since July 2026.
    Bridge(BridgeResult),
    /// Anything else.
    Unknown(Json),
}

impl CallOutcome {
    /// Classifies one element of `data`.
    ///
    /// An element with `error_type` is a failure; with `items`, data; with `status`, a command's
    /// result; with `ok` and `command`, a bridge result; with `file_reference`, `url` or `content`,
    /// one item. Any other object is a row.
    pub(super) fn of(entry: Json) -> Self {
        if entry.kind() != Kind::Object {
            return Self::Unknown(entry);
        }
        let has = |key: &str| entry.get(key).is_some();
        let sorted = if has("error_type") {
            Wire::from_raw(&entry).map(Self::Error)
        } else if has("items") {
            Wire::from_raw(&entry).map(Self::Items)
        } else if has("status") {
            Wire::from_raw(&entry).map(Self::Command)
        } else if has("ok") && has("command") {
            Wire::from_raw(&entry).map(Self::Bridge)
        } else if has("file_reference") || has("url") || has("content") {
            Wire::from_raw(&entry).map(Self::Item)
        } else {
            None
        };
        // An object without any of these members is a row of data, whatever its columns are.
        sorted.unwrap_or(Self::Row(entry))
    }

    /// Returns an iterator over the items of data; empty for a failure or a command.
    pub fn items(&self) -> impl Iterator<Item = &ResultItem> + Send {
        self.all_items().filter_map(Result::ok)
    }

    /// Returns the items in order, those of another type as JSON.
    pub(in crate::openbb) fn all_items(
        &self,
    ) -> impl Iterator<Item = Result<&ResultItem, &Json>> + Send {
        let (many, one) = match self {
            Self::Items(items) => (Some(items.items.all()), None),
            Self::Item(item) => (None, Some(Ok(item))),
            _ => (None, None),
        };
        many.into_iter().flatten().chain(one)
    }

    /// Returns an iterator over the citations, for the agent to pass on.
    pub fn extra_citations(&self) -> impl Iterator<Item = &Citation> {
        let items = match self {
            Self::Items(items) => Some(items),
            _ => None,
        };
        items
            .into_iter()
            .flat_map(|items| items.extra_citations.iter())
    }

    /// Returns `true` if the call failed.
    pub fn failed(&self) -> bool {
        match self {
            Self::Error(_) => true,
            Self::Command(command) => command.status == "error",
            Self::Bridge(bridge) => !bridge.ok,
            _ => false,
        }
    }

    /// Returns the files of the outcome.
    pub fn attachments(&self) -> impl Iterator<Item = Attachment<'_>> {
        self.items().filter_map(ResultItem::attachment)
    }

    /// Returns the outcome as text, without its [files](Self::attachments): data as JSON, remote files as their URLs.
    pub fn text(&self) -> Cow<'_, str> {
        match self {
            Self::Items(_) | Self::Item(_) => {
                let text = |item: Result<_, _>| match item {
                    Ok(item) => item_text(item),
                    Err(json) => value_text(json),
                };
                let mut texts = self.all_items().filter_map(text);
                // A single text, the usual case, is borrowed.
                let first = texts.next().unwrap_or_default();
                texts.fold(first, |mut all, next| {
                    let text = all.to_mut();
                    text.push_str("\n\n");
                    text.push_str(&next);
                    all
                })
            }
            Self::Rows(json) | Self::Row(json) | Self::Unknown(json) => {
                json.string().unwrap_or_else(|| json.text().into())
            }
            Self::Error(error) => {
                let odd = error.unknown.get("content").and_then(value_text);
                let content = odd.unwrap_or(Cow::Borrowed(&error.content));
                match (&*error.error_type, &*content) {
                    ("", _) => content,
                    (kind, "") => Cow::Borrowed(kind),
                    (kind, content) => format!("{kind}: {content}").into(),
                }
            }
            Self::Command(command) => match (&command.data, command.message.as_str()) {
                (Some(data), "") => Cow::Borrowed(data.text()),
                (Some(data), message) => format!("{message}\n{}", data.text()).into(),
                (None, "") => Cow::Borrowed(&command.status),
                (None, message) => Cow::Borrowed(message),
            },
            Self::Bridge(bridge) => {
                let error = bridge.error.as_ref().map(|error| error.message.as_str());
                match (&bridge.data, error.unwrap_or(&bridge.message)) {
                    // The text of a failed command is its error, not its data.
                    (Some(data), message) if error.is_none() => {
                        format!("{message}\n{}", data.text()).into()
                    }
                    (_, message) => Cow::Borrowed(message),
                }
            }
        }
    }

    /// Deserializes the first table as rows.
    ///
    /// # Errors
    ///
    /// If there is no table, or a row does not match the type.
    pub fn rows<T: DeserializeOwned>(&self) -> Result<Vec<T>, JsonError> {
        match self {
            Self::Rows(rows) => rows.decode(),
            Self::Row(row) => Ok(vec![row.decode()?]),
            _ => {
                let mut items = self.items();
                let first = items.next().map(ResultItem::rows);
                let first = first.unwrap_or_else(|| ResultItem::default().rows());
                match first {
                    Ok(rows) => Ok(rows),
                    // A table may follow a text.
                    Err(error) => items.find_map(|item| item.rows().ok()).ok_or(error),
                }
            }
        }
    }

    /// Returns the choices that `get_params_options` found.
    pub fn param_options(&self) -> Option<ParamOptions> {
        let json = self.items().find_map(ResultItem::json)?;
        json.get("param_options")?;
        ParamOptions::from_raw(&json)
    }
}

/// Returns the text of an item without its inline file: its content, or the reference to it.
fn item_text(item: &ResultItem) -> Option<Cow<'_, str>> {
    let is_file = item.attachment().is_some_and(|file| file.is_inline());
    let text = || item.text().or_else(|| item.reference().map(Cow::Borrowed));
    (!is_file).then(text).flatten()
}
