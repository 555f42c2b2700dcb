//! A tool that an agent runs itself.

use std::borrow::Cow;
use std::fmt;
use std::pin::Pin;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::json::{Json, JsonError, WriteError};
use crate::protocol::{AgentError, Contents, Tool};
use crate::vocabulary::schema::Schema;

/// The result of a run.
pub(super) type Outcome = Result<Contents<'static>, AgentError>;

/// A run of a tool.
pub(super) type Run<'a> = Pin<Box<dyn Future<Output = Outcome> + Send + 'a>>;

type Start<'a> = dyn Fn(&Json) -> Result<Run<'a>, JsonError> + Send + Sync + 'a;

type Ask<'a> = dyn Fn(&Json) -> Result<Option<String>, JsonError> + Send + Sync + 'a;

/// A tool that an agent runs itself, for a [`Toolset`](super::Toolset).
pub struct AgentTool<'a> {
    name: String,
    description: String,
    parameters: Json,
    schema: Schema,
    start: Box<Start<'a>>,
    ask: Option<Box<Ask<'a>>>,
}

impl<'a> AgentTool<'a> {
    /// Creates a tool. `schema` is the JSON schema of the arguments: a value of `serde_json`, of `schemars`, or any other
    /// that serializes to it. `run` gets the arguments, and returns contents for the model: a text, [`Json`], a file, or
    /// [`Contents`] of several.
    ///
    /// The model reads the [message](AgentError::message) of an error, and the user sees it, so it must have no secrets.
    /// The message of an error that another error was converted to with `?` says nothing about the cause.
    ///
    /// # Errors
    ///
    /// [`WriteError`] if the schema cannot be serialized.
    pub fn new<T, F, O>(
        name: impl Into<String>,
        description: impl Into<String>,
        schema: &(impl Serialize + ?Sized),
        run: impl Fn(T) -> F + Send + Sync + 'a,
    ) -> Result<Self, WriteError>
    where
        T: DeserializeOwned,
        F: Future<Output = Result<O, AgentError>> + Send + 'a,
        O: Into<Contents<'static>>,
    {
        let parameters = Json::encode(schema)?;
        Ok(Self {
            name: name.into(),
            description: description.into(),
            schema: Schema::new(&parameters),
            parameters,
            start: Box::new(move |arguments| {
                let run = run(arguments.decode()?);
                Ok(Box::pin(async move { run.await.map(Into::into) }))
            }),
            ask: None,
        })
    }

    /// Sets the question that the user must agree to before the tool runs: a sentence such as `Delete notes.md?`, or
    /// `None` if these arguments need no question. The name of the tool is shown with it. A front end without dialogs shows
    /// the question without markup.
    pub fn asks<T: DeserializeOwned>(
        mut self,
        question: impl Fn(T) -> Option<String> + Send + Sync + 'a,
    ) -> Self {
        self.ask = Some(Box::new(move |arguments| Ok(question(arguments.decode()?))));
        self
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn may_ask(&self) -> bool {
        self.ask.is_some()
    }

    /// Returns the tool as the model sees it. `note` is added to the description of a tool that asks.
    pub(super) fn offered(&self, note: Option<&str>) -> Tool<'_> {
        let description = match note.filter(|_| self.may_ask()) {
            Some(note) => Cow::Owned(format!("{}\n\n{note}", self.description)),
            None => Cow::Borrowed(&*self.description),
        };
        Tool::new(&*self.name, description).parameters(self.parameters.clone())
    }

    /// Reads the arguments that a model has written, and converts them where the schema allows one meaning.
    ///
    /// # Errors
    ///
    /// A sentence for the model.
    pub(super) fn read(&self, arguments: &Json) -> Result<Json, String> {
        let arguments = self.schema.coerce(arguments);
        let checked = self.schema.check(&arguments);
        checked.map_err(|fault| format!("wrong arguments: {fault}"))?;
        Ok(arguments)
    }

    /// Returns the question for the user; `None` if there is none.
    pub(super) fn question(&self, arguments: &Json) -> Result<Option<String>, String> {
        let question = self.ask.as_ref().map(|ask| ask(arguments)).transpose();
        Ok(question.map_err(wrong)?.flatten())
    }

    /// Starts a run.
    pub(super) fn start(&self, arguments: &Json) -> Result<Run<'a>, String> {
        (self.start)(arguments).map_err(wrong)
    }
}

fn wrong(error: JsonError) -> String {
    format!("wrong arguments: {error}")
}

impl fmt::Debug for AgentTool<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AgentTool")
            .field("name", &self.name)
            .field("asks", &self.may_ask())
            .finish_non_exhaustive()
    }
}
