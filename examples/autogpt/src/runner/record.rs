use serde::{Deserialize, Serialize};

use crate::run::Event;

/// What is stored for a conversation: its newest run, and the turn that is being answered.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Record {
    /// The run, as [`crate::run::Run::to_json`] gives it.
    pub(super) run: String,
    /// The id of the turn.
    pub(super) turn: String,
    /// How many messages of the human there were.
    pub(super) index: Option<u64>,
    /// What was shown in this turn, for a request that is sent again.
    pub(super) events: Vec<Event>,
}

impl Record {
    pub(super) fn read(json: &str) -> serde_json::Result<Self> {
        serde_json::from_str(json)
    }

    pub(super) fn to_json(&self) -> String {
        // Texts, numbers and lists: nothing in it can fail to serialise.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// A turn begins with nothing shown.
    pub(super) fn begin(&mut self, turn: String, index: Option<u64>) {
        self.turn = turn;
        self.index = index;
        self.events = Vec::new();
    }
}
