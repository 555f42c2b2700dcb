//! What `Debug` shows of an address.

use std::fmt;

/// An address without what could let somebody in: name and password, and the query.
pub(super) struct Address<'a>(pub(super) &'a str);

impl fmt::Debug for Address<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_scheme = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
        let (scheme, rest) = match self.0.split_once("://") {
            Some((scheme, rest)) if scheme.chars().all(is_scheme) => (scheme, rest),
            _ => ("", self.0),
        };
        // The last `@`: a password may hold one, whatever it should.
        let (hidden, shown) = match rest.rsplit_once('@') {
            Some((before, _)) if before.contains(['?', '#']) => ("…", ""),
            Some((_, host)) => ("…@", host),
            None => ("", rest),
        };
        let shown = shown.split(['?', '#']).next().unwrap_or_default();
        let colon = if scheme.is_empty() { "" } else { "://" };
        write!(f, "\"{scheme}{colon}{hidden}{}\"", shown.escape_debug())
    }
}
