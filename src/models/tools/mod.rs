//! Tools that an agent runs itself, in the loop of a model that calls them.

mod agent_tool;
mod consent;
mod runs;
mod turn;

use std::collections::HashMap;
use std::fmt;

use bytes::Bytes;
use futures_core::Stream;

use super::{Profile, Prompt};
use crate::agent::{Reply, Request};
use crate::protocol::{AgentError, Protocol, Tool};

pub use agent_tool::AgentTool;
use consent::Consent;
use turn::Turn;

/// The tools that an agent runs itself, for a model that calls them in a loop: the model is asked, its calls are run,
/// and it is asked again with the results, until it answers without calls.
///
/// ```
/// use copilot_wire::models::{AgentTool, Toolset};
/// use copilot_wire::protocol::AgentError;
/// use serde::Deserialize;
/// use serde_json::json;
///
/// #[derive(Deserialize)]
/// struct Place {
///     at: String,
/// }
///
/// let schema = json!({"type": "object", "properties": {"at": {"type": "string"}}, "required": ["at"]});
/// let about = "Returns the height of the tide.";
/// let tide = AgentTool::new("get_tide", about, &schema, |place: Place| async move {
///     match &*place.at {
///         "Brest" => Ok("4.1 m"),
///         _ => Err(AgentError::new("no such place")),
///     }
/// })?;
/// let tools = Toolset::new().with(tide);
/// # let _ = tools;
/// # Ok::<(), AgentError>(())
/// ```
///
/// [`answer`](Self::answer) is the rest of an agent; the guide has [a whole one](crate::guide::tools).
pub struct Toolset<'a> {
    tools: Vec<AgentTool<'a>>,
    /// The position of each tool.
    names: HashMap<String, usize>,
    rounds: usize,
    parallel: usize,
    records_contents: bool,
    profile: Profile,
}

impl<'a> Toolset<'a> {
    /// Creates a set without tools.
    #[must_use]
    pub fn new() -> Self {
        Self {
            tools: Vec::new(),
            names: HashMap::new(),
            rounds: 8,
            parallel: 8,
            records_contents: false,
            profile: Profile::default(),
        }
    }

    /// Adds a tool. It replaces one of the same name.
    #[must_use]
    pub fn with(mut self, tool: AgentTool<'a>) -> Self {
        let known = self.names.get(tool.name()).copied();
        match known.and_then(|at| self.tools.get_mut(at)) {
            Some(known) => *known = tool,
            None => {
                self.names.insert(tool.name().to_owned(), self.tools.len());
                self.tools.push(tool);
            }
        }
        self
    }

    /// Sets the number of times that the model may call tools in one turn; 8 by default. Then it is asked once more, for
    /// an answer without calls.
    #[must_use]
    pub fn rounds(mut self, rounds: usize) -> Self {
        self.rounds = rounds;
        self
    }

    /// Sets the number of calls that run at the same time; 8 by default.
    #[must_use]
    pub fn parallel(mut self, calls: usize) -> Self {
        self.parallel = calls.max(1);
        self
    }

    /// Sets the profile of the model's server.
    #[must_use]
    pub fn profile(mut self, profile: &Profile) -> Self {
        self.profile = profile.clone();
        self
    }

    /// Records the contents of the calls of the model in their spans, like
    /// [`chat_with_contents`](super::chat_with_contents).
    #[must_use]
    pub fn record_contents(mut self) -> Self {
        self.records_contents = true;
        self
    }

    /// Answers a request with a model that may call these tools.
    ///
    /// `prompt` is the request to the model; its stream and its tools are set here. `post` sends the body of a request
    /// to the model's server and returns the bytes of the response, in pieces of any size.
    ///
    /// * Text, reasoning and usage are relayed as by a [`Relay`](super::Relay), and each run of a tool is shown by
    ///   [`Reply::tool_run`].
    /// * Arguments are converted where the schema allows one meaning. Other wrong arguments, unknown tools and failures
    ///   are results for the model, which may call again.
    /// * Everything in the model's answers goes back to it unchanged, with the signatures of reasoning.
    /// * A call of a tool that the *front end* offers ends the turn, as by [`Relay::end`](super::Relay::end). If the
    ///   model also calls a tool of the set, only that one runs, and the model is told to repeat the other call.
    /// * If a tool [asks](AgentTool::asks) first, no call of the answer runs, and the question ends the turn. After a
    ///   yes the model is told to repeat the call: a call of the same tools with the same arguments then runs, once.
    ///
    /// # Errors
    ///
    /// The errors of `post` and of the relay; [`AgentError`] if the model calls tools after the last round.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future drops the call of the model and all runs. Side effects of the runs up to this point remain.
    pub async fn answer<R, P, F, S, B, E>(
        &self,
        prompt: R,
        request: &Request<P>,
        reply: Reply<P>,
        post: impl FnMut(Bytes) -> F + Send,
    ) -> Result<(), AgentError>
    where
        R: Prompt,
        P: Protocol,
        F: Future<Output = Result<S, AgentError>> + Send,
        S: Stream<Item = Result<B, E>> + Send,
        B: AsRef<[u8]> + Send,
        E: Into<AgentError> + Send,
    {
        let asks = self.tools.iter().any(AgentTool::may_ask);
        let consent = Consent::new(request.decision().filter(|_| asks));
        Turn::<R::Upstream, P>::new(self, consent, prompt, request)
            .run(reply, post)
            .await
    }

    fn get(&self, name: &str) -> Option<&AgentTool<'a>> {
        self.tools.get(*self.names.get(name)?)
    }

    /// Returns the tools as the model sees them. `note` is added to the descriptions of those that ask.
    fn offered(&self, note: Option<&str>) -> Vec<Tool<'_>> {
        let tools = self.tools.iter();
        tools.map(|tool| tool.offered(note)).collect()
    }
}

impl Default for Toolset<'_> {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Toolset<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Toolset")
            .field("tools", &self.tools)
            .field("rounds", &self.rounds)
            .finish_non_exhaustive()
    }
}
