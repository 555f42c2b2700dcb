//! Who calls: the headers that the platform adds.

use std::fmt;

use http::HeaderMap;

/// The user's token, from `X-GitHub-Token`.
///
/// It works with `Authorization: Bearer` on GitHub's REST API and on Copilot's LLM endpoint, with
/// what both the user and the App's installation may do. `Debug` does not show it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Token<'a>(&'a str);

impl<'a> Token<'a> {
    /// The token of a request. The debug command line sends none unless it is told to.
    ///
    /// ```
    /// use copilot_wire::github::Token;
    ///
    /// let mut headers = http::HeaderMap::new();
    /// headers.insert("X-GitHub-Token", "ghu_secret".parse().unwrap());
    /// let token = Token::of(&headers).unwrap();
    /// assert_eq!(token.as_str(), "ghu_secret");
    /// assert_eq!(format!("{token:?}"), "Token(..)");
    /// ```
    #[must_use]
    pub fn of(headers: &'a HeaderMap) -> Option<Self> {
        header(headers, "x-github-token").map(Self)
    }

    /// The token itself.
    #[must_use]
    pub fn as_str(self) -> &'a str {
        self.0
    }
}

impl fmt::Debug for Token<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(..)")
    }
}

/// The client that the user sits at, from `Copilot-Integration-Id`. Pass it on to Copilot's LLM
/// endpoint.
#[must_use]
pub fn integration_id(headers: &HeaderMap) -> Option<&str> {
    header(headers, "copilot-integration-id")
}

/// A header's value; an empty one counts as missing.
fn header<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let value = headers.get(name)?.to_str().ok()?;
    (!value.is_empty()).then_some(value)
}
