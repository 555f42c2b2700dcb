//! What is judged: one table of rules, a file of it for each protocol.

use serde::Serialize;

use super::Front;

/// How bad it is to break a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Level {
    /// A known reader fails, or shows something wrong.
    Error,
    /// Every known reader copes, or only some deployments suffer.
    Warning,
}

impl Level {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
        }
    }
}

/// One rule of a protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Rule {
    /// What it is called, such as `openbb/after-function-call`. It stays the same over releases.
    #[serde(rename = "rule")]
    pub id: &'static str,
    /// How bad it is to break it.
    pub level: Level,
    /// What must hold.
    pub says: &'static str,
    /// Which reader breaks, and how.
    pub why: &'static str,
    /// What to do about it.
    pub fix: &'static str,
}

/// Declares rules, each as a static and all of them as `RULES`: no rule is missing from the table.
macro_rules! rules {
    ($($name:ident = $level:ident $id:literal, $says:literal, $why:literal, $fix:literal;)+) => {
        $(
            pub(super) static $name: $crate::testing::check::rule::Rule =
                $crate::testing::check::rule::Rule {
                    id: $id,
                    level: $crate::testing::check::rule::Level::$level,
                    says: $says,
                    why: $why,
                    fix: $fix,
                };
        )+

        pub(super) static RULES: &[&$crate::testing::check::rule::Rule] = &[$(&$name),+];
    };
}
pub(super) use rules;

/// Every rule that an endpoint for `front` is judged by.
pub fn rules_of(front: Front) -> impl Iterator<Item = &'static Rule> {
    let mut tables = vec![super::http::RULES, super::pace::RULES, super::sse::RULES];
    match front {
        Front::OpenBb => tables.extend([
            super::cors::RULES,
            super::descriptor::RULES,
            super::openbb::RULES,
            super::calls::RULES,
        ]),
        Front::GitHub => tables.extend([
            super::lines::RULES,
            super::chunk::RULES,
            super::github::RULES,
            super::signature::RULES,
        ]),
        Front::OpenAi => tables.extend([
            super::lines::RULES,
            super::chunk::RULES,
            super::complete::RULES,
            super::openai::RULES,
        ]),
        Front::Meilisearch => tables.extend([
            super::lines::RULES,
            super::chunk::RULES,
            super::complete::RULES,
            super::meilisearch::RULES,
        ]),
    }
    tables.into_iter().flatten().copied()
}
