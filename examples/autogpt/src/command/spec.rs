use crate::json::Value;

/// What a command is called, takes, and whether it asks.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Spec {
    /// What the model calls it by.
    pub name: &'static str,
    /// What it is, in a few words.
    pub label: &'static str,
    /// Its arguments.
    pub parameters: Vec<Parameter>,
    /// Whether the human is asked first.
    pub policy: Policy,
}

impl Spec {
    /// A command that always asks and takes texts, given as pairs of name and hint.
    #[must_use]
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

    /// The same with a first argument that is the key of a sub-agent.
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

    /// The same with another policy.
    #[must_use]
    pub fn with_policy(self, policy: Policy) -> Self {
        Self { policy, ..self }
    }
}

/// An argument of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// What it means.
    pub hint: &'static str,
    /// Its type.
    pub kind: Kind,
}

/// The type of an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// The key of a sub-agent: a number, or a number in text.
    Key,
    /// Text.
    Text,
}

/// Whether the human is asked before a command runs.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Policy {
    /// Always: it writes, deletes, executes or spends.
    Always,
    /// Never: it reads.
    Never,
    /// When the function of its arguments says so.
    When(fn(&Value) -> bool),
}

impl Policy {
    /// Whether to ask for these arguments.
    #[must_use]
    pub fn asks(self, args: &Value) -> bool {
        match self {
            Self::Always => true,
            Self::Never => false,
            Self::When(asks) => asks(args),
        }
    }
}

/// Functions cannot be compared in a meaningful way, so no two `When` are equal.
impl PartialEq for Policy {
    fn eq(&self, other: &Self) -> bool {
        matches!(
            (self, other),
            (Self::Always, Self::Always) | (Self::Never, Self::Never)
        )
    }
}
