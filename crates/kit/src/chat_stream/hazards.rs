//! The request for a text that breaks careless servers.

use serde_json::json;

use crate::check::{HAZARDS, Rule, Trial};

/// Creates a request for the text that is hard to repeat.
pub(crate) fn hazards(rule: &'static Rule) -> Trial {
    let message = json!({"role": "user", "content": HAZARDS});
    let body = json!({"model": "gpt-4o-mini", "stream": true, "messages": [message]});
    Trial::new(Some(rule), "text that breaks lines", body.to_string())
}
