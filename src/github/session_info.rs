//! The context message of github.com.

use std::iter::Copied;
use std::slice;

/// The content of github.com's `_session` message (recorded request).
///
/// The content is lines of `Key: value`. The client wrote it, not the user: do not display it, and
/// do not use it as a prompt.
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
    /// Parses the content of the message.
    pub fn parse(content: &'a str) -> Self {
        // A value may contain colons; the key ends at the first colon with a space.
        let lines = content.lines().filter_map(|line| line.split_once(": "));
        Self {
            lines: lines.map(|(key, value)| (key, value.trim_end())).collect(),
        }
    }

    /// Returns the value of a key.
    pub fn get(&self, key: &str) -> Option<&'a str> {
        // The last one, as everywhere for repeated names.
        let line = self.lines.iter().rev().find(|(name, _)| *name == key);
        line.map(|&(_, value)| value)
            .filter(|value| !value.is_empty())
    }

    /// Returns an iterator over all lines, in order.
    pub fn iter(&self) -> Copied<slice::Iter<'_, (&'a str, &'a str)>> {
        self.lines.iter().copied()
    }

    /// Returns the date and time in UTC, such as `2024-08-26 19:43:13`.
    pub fn date_time(&self) -> Option<&'a str> {
        self.get("Current Date and Time (UTC)")
    }

    /// Returns the URL of the page that the user views. The line is absent if the URL was redacted.
    pub fn url(&self) -> Option<&'a str> {
        self.get("User's Current URL")
    }

    /// Returns the user's login.
    pub fn login(&self) -> Option<&'a str> {
        self.get("Current User's Login")
    }
}

impl<'s, 'a> IntoIterator for &'s SessionInfo<'a> {
    type Item = (&'a str, &'a str);
    type IntoIter = Copied<slice::Iter<'s, (&'a str, &'a str)>>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}
