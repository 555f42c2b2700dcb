//! Rules, and tables of them.

use serde::Serialize;

/// The severity of a broken rule, in ascending order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Severity {
    /// Every known reader works, or only some deployments are affected.
    Warning,
    /// A known reader fails, or shows something wrong.
    Error,
}

impl Severity {
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
    /// The id, such as `chunk/done`. It is stable over releases.
    #[serde(rename = "rule")]
    pub id: &'static str,
    /// The severity of a finding.
    pub level: Severity,
    /// The requirement.
    pub says: &'static str,
    /// The reader that fails, and how.
    pub why: &'static str,
    /// The remedy.
    pub fix: &'static str,
}

impl Rule {
    /// Creates a rule.
    pub const fn new(
        level: Severity,
        id: &'static str,
        says: &'static str,
        why: &'static str,
        fix: &'static str,
    ) -> Self {
        Self {
            id,
            level,
            says,
            why,
            fix,
        }
    }
}

/// Declares rules: a static for each one, and the table `RULES` of all of them. Each declaration has the name of the
/// static, the level, and the other fields of a [`Rule`] in their order.
///
/// ```
/// use copilot_wire_kit::check::{Rule, rules};
///
/// rules! {
///     OPEN_BLOCK = Error "pager/open-block",
///         "every block that starts ends",
///         "the Pager shows the block as unfinished",
///         "end the block before the answer ends";
/// }
///
/// const ALL: &[&[&Rule]] = &[RULES];
/// ```
///
/// [`Rule`]: crate::check::Rule
#[macro_export]
macro_rules! rules {
    ($($name:ident = $level:ident $id:literal, $says:literal, $why:literal, $fix:literal;)+) => {
        $(
            pub(crate) static $name: $crate::check::Rule =
                $crate::check::Rule::new(
                    $crate::check::Severity::$level, $id, $says, $why, $fix,
                );
        )+

        pub(crate) static RULES: &[&$crate::check::Rule] = &[$(&$name),+];
    };
}
