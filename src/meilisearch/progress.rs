//! Notifications of the start of a search.

use std::borrow::Cow;

use crate::json::{Json, JsonError, Kind, Members, Wire};

/// `_meiliSearchProgress`: the start of a search. `Debug` does not print the arguments.
#[derive(Clone, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
#[wire(escape = Json)]
pub struct SearchProgress {
    /// The id of the notification, unrelated to `call_id`. An empty one is replaced by a random
    /// one.
    #[wire(skip)]
    pub id: String,
    /// The id of the search, which its sources and appended messages repeat. The model's provider
    /// chose it.
    #[wire(always)]
    pub call_id: String,
    /// The name of the function: `_meiliSearchInIndex`.
    #[wire(always)]
    pub function_name: String,
    /// The arguments of the function, as written by the model. They are not always valid JSON: see
    /// [`search`](Self::search).
    #[wire(always, content)]
    pub function_arguments: String,
    /// Members that this crate does not know.
    pub unknown: Members,
}

/// The arguments of a search. `Debug` does not print the query.
#[derive(Clone, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
#[wire(null_is_absent, escape = Json, new = "Creates a search in an index.")]
pub struct Search {
    /// The uid of the index that is searched.
    #[wire(always, new)]
    pub index_uid: String,
    /// The search query. The server treats an absent one as empty.
    #[wire(content, new)]
    pub q: Option<String>,
    /// A filter expression, often empty. Servers before 1.16 do not support it.
    #[wire(content, set = "Sets the filter expression.")]
    pub filter: Option<String>,
    /// Members that this crate does not know.
    pub unknown: Members,
}

impl SearchProgress {
    /// Creates the notification of a search, with the arguments in the form that the server's
    /// models write.
    pub fn new(call_id: impl Into<String>, search: &Search) -> Self {
        Self {
            call_id: call_id.into(),
            function_name: super::tools::SEARCH.into(),
            function_arguments: search.to_arguments(),
            ..Self::default()
        }
    }

    /// Parses the arguments as a search. The model wrote them, so they can be invalid.
    ///
    /// # Errors
    ///
    /// If the arguments are not JSON or have no index.
    pub fn search(&self) -> Result<Search, JsonError> {
        let json = Json::parse(self.function_arguments.clone())?;
        let search = Search::parse(json.as_bytes())?;
        // `from_json` reads leniently; the server itself refuses arguments without an index.
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
        // The second name is the documentation's; no server sends it.
        let arguments = |name| json.get(name)?.string().map(Cow::into_owned);
        if arguments("function_arguments").is_none() {
            progress.function_arguments = arguments("function_parameters")?;
            progress.unknown.retain(|key| key != "function_parameters");
        }
        Some(progress)
    }
}

impl Search {
    /// Returns the arguments of the call for this search.
    pub fn to_arguments(&self) -> String {
        self.to_raw().text().to_owned()
    }
}
