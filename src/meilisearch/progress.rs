//! A search begins.

use std::borrow::Cow;
use std::fmt;

use crate::json::model::{Field as _, model};
use crate::json::{Json, JsonError, Kind, Members};
use crate::protocol::shown::Size;

/// `_meiliSearchProgress`: a search begins. `Debug` does not show the arguments.
#[derive(Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// The id of the notification itself, unrelated to `call_id`. One is made for an empty one.
    pub id: String,
    /// The search; the sources and appended messages of it carry the same id. The model's provider
    /// chose it.
    pub call_id: String,
    /// The function that runs: `_meiliSearchInIndex`.
    pub function_name: String,
    /// The function's arguments as the model wrote them. Not always JSON: see
    /// [`search`](Self::search).
    pub function_arguments: String,
    /// Members that this crate does not know.
    pub unknown: Members,
}

/// What is searched for. `Debug` does not show the words.
#[derive(Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Search {
    /// The index.
    pub index_uid: String,
    /// The words; the server takes a missing one for an empty one.
    pub q: Option<String>,
    /// A filter expression, often empty. Servers before 1.16 know none.
    pub filter: Option<String>,
    /// Members that this crate does not know.
    pub unknown: Members,
}

impl Progress {
    /// A search in an index, with the arguments as the server's models write them.
    #[must_use]
    pub fn new(call_id: impl Into<String>, search: &Search) -> Self {
        Self {
            call_id: call_id.into(),
            function_name: super::tools::SEARCH.into(),
            function_arguments: search.to_arguments(),
            ..Self::default()
        }
    }

    /// The arguments as a search. The model wrote them, so they may be anything.
    ///
    /// # Errors
    ///
    /// When they are not JSON, or lack the index.
    pub fn search(&self) -> Result<Search, JsonError> {
        let json = Json::parse(self.function_arguments.clone())?;
        let search = Search::parse(json.as_bytes())?;
        match json
            .get("index_uid")
            .is_some_and(|uid| uid.kind() == Kind::String)
        {
            true => Ok(search),
            false => Err(json.reader().expected("a member `index_uid`")),
        }
    }

    /// Reads the arguments of the notification.
    pub(super) fn read(json: &Json) -> Option<Self> {
        let mut progress = Self::from_raw(json)?;
        // The second is the documentation's name for it; no server sends it.
        let arguments = |name| json.get(name)?.string().map(Cow::into_owned);
        if arguments("function_arguments").is_none() {
            progress.function_arguments = arguments("function_parameters")?;
            progress.unknown.retain(|key| key != "function_parameters");
        }
        Some(progress)
    }
}

model!(Progress, escape: Json {
    call_id: "call_id" always,
    function_name: "function_name" always,
    function_arguments: "function_arguments" always,
});

model!(Search, null: absent, escape: Json {
    index_uid: "index_uid" always,
    q: "q",
    filter: "filter",
});

impl Search {
    /// A search for words in an index.
    #[must_use]
    pub fn new(index_uid: impl Into<String>, q: impl Into<String>) -> Self {
        Self {
            index_uid: index_uid.into(),
            q: Some(q.into()),
            ..Self::default()
        }
    }

    /// Sets the filter expression.
    #[must_use]
    pub fn filter(mut self, filter: impl Into<String>) -> Self {
        self.filter = Some(filter.into());
        self
    }

    /// Returns the arguments of the call that makes this search.
    #[must_use]
    pub fn to_arguments(&self) -> String {
        self.to_raw().text().to_owned()
    }
}

impl fmt::Debug for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Progress")
            .field("id", &self.id)
            .field("call_id", &self.call_id)
            .field("function_name", &self.function_name)
            .field("function_arguments", &Size::of(&self.function_arguments))
            .field("unknown", &self.unknown)
            .finish()
    }
}

impl fmt::Debug for Search {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Search")
            .field("index_uid", &self.index_uid)
            .field("q", &self.q.as_deref().map(Size::of))
            .field("filter", &self.filter.as_deref().map(Size::of))
            .field("unknown", &self.unknown)
            .finish()
    }
}
