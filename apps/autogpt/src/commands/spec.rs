//! The description of a command: for the model, and for the decision whether to ask the user.

use crate::json::Value;

/// The specification of a command.
#[derive(Clone, Debug, PartialEq)]
pub struct Spec {
    /// The name by which the model calls it.
    pub name: &'static str,
    /// A short description.
    pub label: &'static str,
    /// Its arguments.
    pub parameters: Vec<Parameter>,
    /// The approval policy.
    pub policy: Policy,
}

impl Spec {
    /// Creates the specification of a command that always asks and takes texts, given as pairs of
    /// name and hint.
    pub fn new(
        name: &'static str,
        label: &'static str,
        texts: &[(&'static str, &'static str)],
    ) -> Self {
        let text = |&(name, hint): &(&'static str, &'static str)| Parameter {
            name,
            hint,
            kind: Kind::Text,
        };
        Self {
            name,
            label,
            parameters: texts.iter().map(text).collect(),
            policy: Policy::Always,
        }
    }

    /// Adds the key of a sub-agent as the first argument.
    #[must_use]
    pub fn with_key(mut self) -> Self {
        let key = Parameter {
            name: "key",
            hint: "key",
            kind: Kind::Key,
        };
        self.parameters.insert(0, key);
        self
    }

    /// Sets the approval policy.
    #[must_use]
    pub fn with_policy(self, policy: Policy) -> Self {
        Self { policy, ..self }
    }
}

/// An argument of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// A hint at its meaning.
    pub hint: &'static str,
    /// Its type.
    pub kind: Kind,
}

/// The type of an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The key of a sub-agent: a number, or a number in text.
    Key,
    /// Text.
    Text,
}

/// The policy that decides whether a command asks the user for approval.
#[derive(Clone, Copy, Debug)]
pub enum Policy {
    /// The command always asks: it writes, deletes, executes or spends.
    Always,
    /// The command never asks: it only reads.
    Never,
    /// The command asks if this function of its arguments returns `true`.
    When(fn(&Value) -> bool),
}

impl Policy {
    /// Returns `true` if the command asks for these arguments.
    #[must_use]
    pub fn asks(self, args: &Value) -> bool {
        match self {
            Self::Always => true,
            Self::Never => false,
            Self::When(asks) => asks(args),
        }
    }
}

/// Function pointers have no reliable equality, so two `When` are never equal.
impl PartialEq for Policy {
    fn eq(&self, other: &Self) -> bool {
        matches!(
            (self, other),
            (Self::Always, Self::Always) | (Self::Never, Self::Never)
        )
    }
}
