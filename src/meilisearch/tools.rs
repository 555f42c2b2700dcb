//! The notifications that a request can switch on.

use std::fmt;

use bytes::Bytes;

use crate::json::{Json, ValueWriter};

/// A set of notifications, switched on by the request.
///
/// They are declared as tools, but never run, and they have no results. The server reads only the
/// name; schema and description are informative.
///
/// ```
/// use copilot_wire::meilisearch::Tools;
///
/// let tools = Tools::PROGRESS.with(Tools::SOURCES);
/// assert!(tools.contains(Tools::SOURCES));
/// assert!(!tools.contains(Tools::APPEND));
/// assert_eq!(Tools::ALL.names().count(), 3);
/// ```
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Tools(u8);

/// The names of the notifications.
pub(super) const PROGRESS: &str = "_meiliSearchProgress";
pub(super) const APPEND: &str = "_meiliAppendConversationMessage";
pub(super) const SOURCES: &str = "_meiliSearchSources";
/// The function that the server offers to the model; a client cannot declare it.
pub(super) const SEARCH: &str = "_meiliSearchInIndex";

/// Returns `true` if a call with this name is a notification and not a function to run.
pub(super) fn is_notification(name: &str) -> bool {
    // Notifications are recognized by the prefix: later servers may have more of them, and the prefix never belongs to
    // a function of the client.
    name.starts_with("_meili")
}

impl Tools {
    /// No notifications: only text and errors are sent.
    pub const NONE: Self = Self(0);
    /// The start of a search.
    pub const PROGRESS: Self = Self(1);
    /// A message to add to the history.
    pub const APPEND: Self = Self(2);
    /// The documents that a search found.
    pub const SOURCES: Self = Self(4);
    /// All notifications.
    pub const ALL: Self = Self(7);

    /// Returns the union of both sets.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns `true` if this set contains all of `other`.
    #[must_use]
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Returns `true` if the set is empty.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Returns an iterator over the names of the notifications, in the order of the documentation.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        self.declarations().map(|(name, _)| name)
    }

    /// Returns the notification with this name.
    pub(super) fn by_name(name: &str) -> Option<Self> {
        DECLARATIONS
            .iter()
            .find(|(_, declared, _)| *declared == name)
            .map(|(tool, ..)| *tool)
    }

    fn declarations(self) -> impl Iterator<Item = (&'static str, &'static str)> {
        DECLARATIONS
            .into_iter()
            .filter(move |(tool, ..)| self.contains(*tool))
            .map(|(_, name, text)| (name, text))
    }

    /// Writes the declarations, as the elements of the request's `tools`.
    pub(super) fn write(self, place: ValueWriter<'_>) {
        // The texts are constant and valid JSON.
        let _ = place.array(self.declarations(), |(_, text), element| {
            element.raw(&Json::parse(Bytes::from_static(text.as_bytes())).unwrap_or_default());
            Ok(())
        });
    }
}

impl fmt::Debug for Tools {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.names()).finish()
    }
}

/// The declarations of the Meilisearch documentation, "Chat tooling reference", corrected to what
/// servers from 1.15 to 1.50 send: `function_arguments` instead of `function_parameters`, `sources`
/// instead of `documents`, and only the `required` members that are always present (an appended
/// message has two or three of its four members).
const DECLARATIONS: [(Tools, &str, &str); 3] = [
    (
        Tools::PROGRESS,
        PROGRESS,
        r#"{"type":"function","function":{"name":"_meiliSearchProgress","description":"Provides information about the current Meilisearch search operation","parameters":{"type":"object","properties":{"call_id":{"type":"string","description":"The call ID to track the sources of the search"},"function_name":{"type":"string","description":"The name of the function we are executing"},"function_arguments":{"type":"string","description":"The arguments of the function we are executing, encoded in JSON"}},"required":["call_id","function_name","function_arguments"],"additionalProperties":false},"strict":true}}"#,
    ),
    (
        Tools::APPEND,
        APPEND,
        r#"{"type":"function","function":{"name":"_meiliAppendConversationMessage","description":"Append a new message to the conversation based on what happened internally","parameters":{"type":"object","properties":{"role":{"type":"string","enum":["assistant","tool"],"description":"The role of the messages author, either `assistant` or `tool`"},"content":{"type":"string","description":"The contents of the `tool` message"},"tool_calls":{"type":"array","description":"The tool calls generated by the model, such as function calls","items":{"type":"object","properties":{"id":{"type":"string","description":"The ID of the tool call"},"type":{"type":"string","description":"The type of the tool. Currently, only function is supported"},"function":{"type":"object","description":"The function that the model called","properties":{"name":{"type":"string","description":"The name of the function to call"},"arguments":{"type":"string","description":"The arguments to call the function with, as generated by the model in JSON format. Note that the model does not always generate valid JSON"}}}}}},"tool_call_id":{"type":"string","description":"Tool call that this message is responding to"}},"required":["role"],"additionalProperties":false},"strict":false}}"#,
    ),
    (
        Tools::SOURCES,
        SOURCES,
        r#"{"type":"function","function":{"name":"_meiliSearchSources","description":"Provides sources of the search","parameters":{"type":"object","properties":{"call_id":{"type":"string","description":"The call ID to track the original search associated to those sources"},"sources":{"type":"array","items":{"type":"object"},"description":"The documents associated with the search. Only displayed attributes are returned"}},"required":["call_id","sources"],"additionalProperties":false},"strict":true}}"#,
    ),
];
