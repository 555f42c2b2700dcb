//! The tools of an agent.

use std::collections::HashMap;
use std::fmt;

use super::AgentTool;
use crate::models::Profile;
use crate::protocol::Tool;

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
#[must_use]
pub struct Toolset<'a> {
    pub(super) tools: Vec<AgentTool<'a>>,
    /// The position of each tool.
    names: HashMap<String, usize>,
    pub(super) rounds: usize,
    pub(super) parallel: usize,
    pub(super) records_contents: bool,
    pub(super) profile: Profile,
}

impl<'a> Toolset<'a> {
    /// Creates a set without tools.
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
    pub fn rounds(mut self, rounds: usize) -> Self {
        self.rounds = rounds;
        self
    }

    /// Sets the number of calls that run at the same time; 8 by default.
    pub fn parallel(mut self, calls: usize) -> Self {
        self.parallel = calls.max(1);
        self
    }

    /// Sets the profile of the model's server.
    pub fn profile(mut self, profile: &Profile) -> Self {
        self.profile = profile.clone();
        self
    }

    /// Records the contents of the calls of the model in their spans, like
    /// [`chat_with_contents`](crate::models::chat_with_contents).
    pub fn record_contents(mut self) -> Self {
        self.records_contents = true;
        self
    }

    pub(super) fn get(&self, name: &str) -> Option<&AgentTool<'a>> {
        self.tools.get(*self.names.get(name)?)
    }

    /// Returns the tools as the model sees them. `note` is added to the descriptions of those that ask.
    pub(super) fn offered(&self, note: Option<&str>) -> Vec<Tool<'_>> {
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
