//! The context message of github.com.

/// What the `_session` message of github.com says (recorded request).
///
/// Its content is lines of `Key: value`. It is the client's, not the user's words: neither show it
/// nor take it for a prompt.
///
/// ```
/// use copilot_wire::github::SessionInfo;
///
/// let info = SessionInfo::parse("Current Date and Time (UTC): 2024-08-26 19:43:13\nCurrent User's Login: gr2m\n");
/// assert_eq!(info.date_time(), Some("2024-08-26 19:43:13"));
/// assert_eq!(info.login(), Some("gr2m"));
/// assert_eq!(info.url(), None);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionInfo<'a> {
    lines: Vec<(&'a str, &'a str)>,
}

impl<'a> SessionInfo<'a> {
    /// Reads the content of the message.
    #[must_use]
    pub fn parse(content: &'a str) -> Self {
        // A value may hold colons of its own; the key ends at the first one with a space.
        let lines = content.lines().filter_map(|line| line.split_once(": "));
        Self {
            lines: lines.map(|(key, value)| (key, value.trim_end())).collect(),
        }
    }

    /// The value of a line by its key.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&'a str> {
        let line = self.lines.iter().rev().find(|(name, _)| *name == key);
        line.map(|&(_, value)| value)
            .filter(|value| !value.is_empty())
    }

    /// All lines, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&'a str, &'a str)> {
        self.lines.iter().copied()
    }

    /// The date and time in UTC, such as `2024-08-26 19:43:13`.
    #[must_use]
    pub fn date_time(&self) -> Option<&'a str> {
        self.get("Current Date and Time (UTC)")
    }

    /// The page that the user looks at. The line is missing when the URL was redacted.
    #[must_use]
    pub fn url(&self) -> Option<&'a str> {
        self.get("User's Current URL")
    }

    /// The user's login.
    #[must_use]
    pub fn login(&self) -> Option<&'a str> {
        self.get("Current User's Login")
    }
}
