//! The stored form of a conversation.

use serde::{Deserialize, Serialize};

use crate::agent_loop::run::Event;

/// The stored record of a conversation: its last run, and the turn that is being answered.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Record {
    /// The run, from [`crate::agent_loop::run::Run::to_json`].
    pub(super) run: String,
    /// The id of the turn.
    pub(super) turn: String,
    /// The events of the turn, which are shown again if the request is sent again.
    pub(super) events: Vec<Event>,
}

impl Record {
    pub(super) fn read(json: &str) -> serde_json::Result<Self> {
        serde_json::from_str(json)
    }

    pub(super) fn to_json(&self) -> String {
        // The record consists of texts, numbers and lists, whose serialization cannot fail.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Starts a turn without events.
    pub(super) fn begin(&mut self, turn: String) {
        self.turn = turn;
        self.events = Vec::new();
    }
}
