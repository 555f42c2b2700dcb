//! The versions of the protocol.

/// The version of the protocol without sessions.
pub const STATELESS: &str = "2026-07-28";

/// The versions of the protocol that are served, the newest first.
pub const VERSIONS: [&str; 5] = [
    STATELESS,
    "2025-11-25",
    "2025-06-18",
    "2025-03-26",
    "2024-11-05",
];

/// The oldest version whose results may contain links, and whose clients may have dialogs.
pub(super) const LINKS_SINCE: &str = "2025-06-18";

/// The two forms of the protocol.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Era {
    /// From 2026-07-28 on: each request is complete in itself.
    Stateless,
    /// Until 2025-11-25: `initialize` begins a session.
    #[default]
    Session,
}
