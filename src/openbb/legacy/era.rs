//! Detection of the form of the protocol that a request uses.

use crate::json::{Json, Kind};
use crate::openbb::{AttachedContext, ContextEntry, Message, Options, QueryRequest, Role, Widgets};

/// A form of the protocol, named by the date of the first requests that use it.
///
/// Requests have no version. The era is the latest one that a member of the request belongs to.
/// Without any such member it is [`V2`](Self::V2), or [`E2`](Self::E2) if the widgets are a flat
/// list: a call then names one widget, which every front end with flat lists accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Era {
    /// January 2024: the prompt in `query`.
    E0,
    /// March 2024: `messages`, `use_docs`, flat widgets.
    E1,
    /// July 2024: named events.
    E2,
    /// 16 October 2024: the content of context and results in `data.content`.
    E3,
    /// November 2024: `widget_uuids`, results as lists; artifacts, citations and steps.
    E4,
    /// January 2025: widgets in three tiers, `data_sources`.
    E5,
    /// February 2025: files in results, `extra_state`.
    E6,
    /// May 2025: results and context as items.
    V1,
    /// May 2026: options as an object.
    V2,
    /// July 2026: members that no published package describes.
    Unpublished,
}

impl Era {
    /// Detects the era of a request.
    pub fn from_request(request: &QueryRequest) -> Self {
        // `messages` replaced `query` in March 2024.
        if !request.query.is_empty() {
            return Self::E0;
        }
        // The latest era of all members counts: an old form can be in an old message of the chat, while a new form
        // cannot come from an old front end.
        let history = request.messages.iter().filter_map(of_message).max();
        let context = request.context.as_ref().and_then(of_context);
        let flags = if request.has_any_of(&FLAGS) {
            Some(Self::E2)
        } else {
            request.has_any_of(&["use_docs"]).then_some(Self::E1)
        };
        match &request.widgets {
            // Flat lists were sent from E1 to E4, so the history cannot raise the era above that.
            Some(Widgets::Flat(_)) => {
                let found = history.max(context).max(flags).unwrap_or(Self::E2);
                return found.clamp(Self::E1, Self::E4);
            }
            // Tiers are sent since E5. Without a member of a later era the request is of today.
            Some(Widgets::Tiers(_)) => {
                let root = of_root(request);
                return root.max(history).unwrap_or(Self::V2).max(Self::E5);
            }
            None => {}
        }
        let root = of_root(request);
        root.max(history)
            .max(context)
            .max(flags)
            .unwrap_or(Self::V2)
    }

    /// Returns `true` if the front end supports steps, artifacts and citations.
    #[must_use]
    pub(in crate::openbb) fn has_artifacts(self) -> bool {
        self >= Self::E4
    }

    /// Returns `true` if the front end returns the state of a call with its result.
    #[must_use]
    pub(in crate::openbb) fn has_extra_state(self) -> bool {
        self >= Self::E6
    }
}

/// Flags that were sent from July 2024 until July 2025.
const FLAGS: [&str; 3] = [
    "allow_direct_retrieval",
    "force_findb_search",
    "custom_direct_retrieval_endpoints",
];

impl QueryRequest {
    /// Returns `true` if one of these members is present, with any value.
    fn has_any_of(&self, keys: &[&str]) -> bool {
        keys.iter().any(|key| match *key {
            "allow_direct_retrieval" if self.allow_direct_retrieval => true,
            "force_findb_search" if self.force_findb_search => true,
            "use_docs" if self.use_docs => true,
            key => self.unknown.get(key).is_some(),
        })
    }
}

fn of_root(request: &QueryRequest) -> Option<Era> {
    let is_unpublished = !request.model.is_empty()
        || !request.skills_catalog.is_empty()
        || !request.selected_skills.is_empty()
        || !request.semantic_views.is_empty()
        || !request.documents.is_empty()
        || request.has_any_of(&["available_semantic_views"])
        || request.option("client-sql").is_on();
    if is_unpublished {
        return Some(Era::Unpublished);
    }
    match &request.workspace_options {
        Some(Options::Map(_)) => return Some(Era::V2),
        Some(Options::List(_)) => return Some(Era::V1),
        None => {}
    }
    let v1 = request.api_keys.is_some()
        || !request.timezone.is_empty()
        || request.workspace_state.is_some()
        || !request.tools.is_empty();
    v1.then_some(Era::V1)
}

fn of_context(context: &AttachedContext) -> Option<Era> {
    let AttachedContext::Entries(entries) = context else {
        return Some(Era::E1);
    };
    let of_entry = |entry: &ContextEntry| match &entry.data {
        Some(data) if data.get("items").is_some() => Some(Era::V1),
        Some(data) if data.get("content").is_some() => Some(Era::E3),
        _ => entry.content.as_ref().map(|_| Era::E1),
    };
    entries.iter().filter_map(of_entry).max()
}

fn of_message(message: &Message) -> Option<Era> {
    match message.role() {
        Role::Ai => of_arguments(&message.call()?.input_arguments),
        Role::Tool => {
            let arguments = message.input_arguments.as_ref().and_then(of_arguments);
            arguments.max(of_result(message))
        }
        _ => None,
    }
}

fn of_arguments(arguments: &Json) -> Option<Era> {
    if let Some(sources) = arguments.get("data_sources") {
        let named = sources
            .elements()
            .any(|source| source.get("widget_uuid").is_some());
        return Some(if named { Era::V1 } else { Era::E5 });
    }
    if arguments.get("widget_uuids").is_some() {
        return Some(Era::E4);
    }
    arguments.get("widget_uuid").map(|_| Era::E2)
}

fn of_result(message: &Message) -> Option<Era> {
    let Some(data) = &message.data else {
        // The first results were one text in `content`, without `data`.
        return message.content.as_ref().map(|_| Era::E2);
    };
    if data.kind() == Kind::Object {
        return Some(Era::E3);
    }
    let of_entry = |entry: Json| {
        let has = |key: &str| entry.get(key).is_some();
        if has("items") || has("error_type") || has("status") || has("ok") {
            Some(Era::V1)
        } else if has("file_reference") || entry.get("data_format")?.get("data_type").is_some() {
            Some(Era::E6)
        } else {
            has("content").then_some(Era::E4)
        }
    };
    let found = data.elements().filter_map(of_entry).max();
    let beside_text = message
        .content
        .as_ref()
        .is_some_and(|json| json.kind() == Kind::String);
    if beside_text && found < Some(Era::V1) {
        // Rows beside an empty `content`.
        return Some(Era::E2);
    }
    found
}
