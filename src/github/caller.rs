//! The headers that the platform adds: the user's token and the client.

use http::HeaderMap;

/// The user's token, from `X-GitHub-Token`.
///
/// Use it as a bearer token for GitHub's REST API and Copilot's LLM endpoint. Its permissions are
/// those that both the user and the App's installation have. `Debug` does not print it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Token<'a>(&'a str);

impl<'a> Token<'a> {
    /// Returns the token of a request. The debug command line sends one only with an option.
    ///
    /// ```
    /// use copilot_wire::github::Token;
    ///
    /// let mut headers = http::HeaderMap::new();
    /// headers.insert("X-GitHub-Token", "ghu_secret".parse()?);
    /// let token = Token::from_headers(&headers);
    /// assert_eq!(token.map(Token::as_str), Some("ghu_secret"));
    /// assert_eq!(format!("{token:?}"), "Some(Token { .. })");
    /// # Ok::<(), http::header::InvalidHeaderValue>(())
    /// ```
    pub fn from_headers(headers: &'a HeaderMap) -> Option<Self> {
        header(headers, "x-github-token").map(Self)
    }

    /// Returns the token as text.
    #[must_use]
    pub fn as_str(self) -> &'a str {
        self.0
    }
}

opaque_debug!(impl[] Token for Token<'_>);

/// Returns the id of the user's client, from `Copilot-Integration-Id`. Pass it on to Copilot's LLM
/// endpoint.
pub fn integration_id(headers: &HeaderMap) -> Option<&str> {
    header(headers, "copilot-integration-id")
}

/// Returns the value of a header; `None` if it is absent or empty.
fn header<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let value = headers.get(name)?.to_str().ok()?;
    (!value.is_empty()).then_some(value)
}
