//! A search begins.

use std::borrow::Cow;
use std::fmt;

use crate::json::{Json, JsonError, Kind, Members, Reader};
use crate::protocol::shown::Size;

use super::quote::Quoted;

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
            function_arguments: search.to_json(),
            ..Self::default()
        }
    }

    /// The arguments as a search. The model wrote them, so they may be anything.
    ///
    /// # Errors
    ///
    /// When they are not JSON, or lack the index.
    pub fn search(&self) -> Result<Search, JsonError> {
        Search::read(&self.function_arguments)
    }

    pub(super) fn read(json: &Json) -> Option<Self> {
        let mut progress = Self::default();
        let mut seen = false;
        let mut reader = json.reader();
        let read = reader.object_keeping(&mut progress.unknown, |reader, key| {
            let text = match &*key {
                "call_id" => &mut progress.call_id,
                "function_name" => &mut progress.function_name,
                // The documentation's name for it; no server sends it.
                "function_arguments" | "function_parameters"
                    if !seen && reader.is(Kind::String) =>
                {
                    seen = true;
                    &mut progress.function_arguments
                }
                _ => return Ok(()),
            };
            if let Some(value) = reader.string()? {
                *text = value.into_owned();
            }
            Ok(())
        });
        (read.is_ok() && seen).then_some(progress)
    }

    pub(super) fn write(&self, arguments: &mut Quoted<'_>) {
        arguments
            .raw(r#"{"call_id":"#)
            .str(&self.call_id)
            .raw(r#","function_name":"#)
            .str(&self.function_name)
            .raw(r#","function_arguments":"#)
            .str(&self.function_arguments)
            .members(&self.unknown)
            .raw("}");
    }
}

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

    /// Reads the arguments of a search.
    ///
    /// # Errors
    ///
    /// When they are not a JSON object, or lack the index.
    pub fn read(arguments: &str) -> Result<Self, JsonError> {
        let json = Json::parse(arguments.as_bytes().to_vec())?;
        let mut search = Self::default();
        let mut index = None;
        let mut reader: Reader<'_> = json.reader();
        reader.object_keeping(&mut search.unknown, |reader, key| {
            let text = |value: Option<Cow<'_, str>>| value.map(Cow::into_owned);
            match &*key {
                "index_uid" => index = text(reader.string()?),
                // `null` is allowed for both.
                "q" => search.q = text(reader.string()?),
                "filter" => search.filter = text(reader.string()?),
                _ => {}
            }
            Ok(())
        })?;
        search.index_uid = index.ok_or_else(|| json.reader().expected("a member `index_uid`"))?;
        Ok(search)
    }

    /// The arguments as JSON.
    #[must_use]
    pub fn to_json(&self) -> String {
        let mut out = Vec::new();
        let mut object = crate::json::ObjectWriter::new(&mut out, crate::json::Escape::Json);
        object
            .str("index_uid", &self.index_uid)
            .opt_str("q", self.q.as_deref())
            .opt_str("filter", self.filter.as_deref())
            .members(&self.unknown);
        object.finish();
        String::from_utf8(out).unwrap_or_default()
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
