//! Which form of the protocol a request has.

use super::{Context, Message, Options, QueryRequest, Role, Widgets};
use crate::json::{Json, Kind};

/// A form of the protocol, named by the time from which requests had it.
///
/// No request says its era. It is that of the newest sign in it; without any sign
/// [`V2`](Self::V2), and [`E2`](Self::E2) when the widgets are a flat list: a call then names one
/// widget, which every front end with flat lists understood.
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
    /// Since July 2026: members that no published package models.
    Newest,
}

impl Era {
    /// Finds the era of a request.
    #[must_use]
    pub fn of(request: &QueryRequest) -> Self {
        if !request.query.is_empty() {
            return Self::E0;
        }
        let history = request.messages.iter().filter_map(of_message).max();
        let context = request.context.as_ref().and_then(of_context);
        let flags = if request.has_any_of(&FLAGS) {
            Some(Self::E2)
        } else {
            request.has_any_of(&["use_docs"]).then_some(Self::E1)
        };
        match &request.widgets {
            Some(Widgets::Flat(_)) => {
                let found = history.max(context).max(flags).unwrap_or(Self::E2);
                return found.clamp(Self::E1, Self::E4);
            }
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

    /// Whether the front end knows steps, artifacts and citations.
    #[must_use]
    pub fn has_artifacts(self) -> bool {
        self >= Self::E4
    }

    /// Whether what is sent along with a call comes back with its result.
    #[must_use]
    pub fn has_extra_state(self) -> bool {
        self >= Self::E6
    }
}

/// Flags that came in July 2024 and were gone a year later.
const FLAGS: [&str; 3] = [
    "allow_direct_retrieval",
    "force_findb_search",
    "custom_direct_retrieval_endpoints",
];

impl QueryRequest {
    /// Whether a member is there, with any value.
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
    let newest = !request.model.is_empty()
        || !request.skills_catalog.is_empty()
        || !request.selected_skills.is_empty()
        || !request.semantic_views.is_empty()
        || !request.documents.is_empty()
        || request.has_any_of(&["available_semantic_views"])
        || request.option("client-sql").is_on();
    if newest {
        return Some(Era::Newest);
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

fn of_context(context: &Context) -> Option<Era> {
    let Context::Entries(entries) = context else {
        return Some(Era::E1);
    };
    let of_entry = |entry: &super::ContextEntry| match &entry.data {
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
        // Raw rows beside an empty `content`.
        return Some(Era::E2);
    }
    found
}
