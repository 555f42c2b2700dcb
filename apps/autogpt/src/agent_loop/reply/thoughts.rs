//! The thoughts in a reply.

use serde::{Deserialize, Serialize};

use crate::json::ListText;
use crate::json::Value;

/// The thoughts of a model in addition to its command. Each part is optional, and is only shown to the user.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Thoughts {
    /// The thought.
    pub text: Option<String>,
    /// The reasoning.
    pub reasoning: Option<String>,
    /// The plan, line by line.
    pub plan: Vec<String>,
    /// The self-criticism.
    pub criticism: Option<String>,
    /// A summary for the user.
    pub speak: Option<String>,
}

impl Thoughts {
    /// Returns the thoughts in the value of a reply.
    pub(super) fn of(reply: &Value) -> Self {
        let Some(thoughts) = reply.member("thoughts") else {
            return Self::default();
        };
        let text = |name| Some(thoughts.member(name)?.as_text()?.to_owned());
        Self {
            text: text("text"),
            reasoning: text("reasoning"),
            plan: thoughts.member("plan").map(plan_lines).unwrap_or_default(),
            criticism: text("criticism"),
            speak: text("speak"),
        }
    }

    /// Returns thoughts that consist of one text.
    pub(super) fn plain(text: &str) -> Self {
        Self {
            text: Some(text.trim().to_owned()).filter(|text| !text.is_empty()),
            ..Self::default()
        }
    }

    /// Returns `true` if all parts are empty.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Returns the lines of a plan. A list is joined by newlines and an object is converted to text;
/// then each line is trimmed and loses its leading dashes.
fn plan_lines(plan: &Value) -> Vec<String> {
    let text = match plan {
        Value::Null => return Vec::new(),
        Value::Text(text) => text.clone(),
        Value::List(items) => {
            let texts: Vec<String> = items.iter().map(item_text).collect();
            texts.join("\n")
        }
        other => ListText::Python.of(other),
    };
    let lines = text.split('\n');
    let lines = lines.map(|line| line.trim_start_matches(['-', ' ']).trim().to_owned());
    lines.filter(|line| !line.is_empty()).collect()
}

fn item_text(item: &Value) -> String {
    match item {
        Value::Text(text) => text.clone(),
        other => ListText::Python.of(other),
    }
}
