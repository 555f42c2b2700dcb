//! Wrappers that show foreign text in `Debug` and error messages without its secrets.

use std::fmt;

/// A text of which `Debug` shows only the length or the beginning.
pub trait Redact {
    /// Returns a value whose `Debug` shows the length of the text: users may paste secrets into a chat.
    fn size(&self) -> impl fmt::Debug;

    /// Returns a value whose `Debug` shows the beginning of the text: a name may be of any length.
    fn cut(&self) -> impl fmt::Debug;
}

impl Redact for String {
    fn size(&self) -> impl fmt::Debug {
        Size::of(self)
    }

    fn cut(&self) -> impl fmt::Debug {
        Cut(self)
    }
}

impl<T: Redact> Redact for Option<T> {
    fn size(&self) -> impl fmt::Debug {
        self.as_ref().map(T::size)
    }

    fn cut(&self) -> impl fmt::Debug {
        self.as_ref().map(T::cut)
    }
}

/// A value of which `Debug` shows only that it is present.
#[allow(clippy::exhaustive_structs, reason = "derived code creates it")]
pub struct Hidden;

impl fmt::Debug for Hidden {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("…")
    }
}

/// A text of which `Debug` shows only the length.
pub(crate) struct Size(usize);

impl Size {
    pub(crate) fn of(text: &str) -> Self {
        Self(text.len())
    }
}

impl fmt::Debug for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes", self.0)
    }
}

/// The beginning of a name, which may be of any length.
pub(crate) struct Cut<'a>(pub(crate) &'a str);

/// The maximum number of characters of a name that are shown: providers allow function names of up to 64.
const SHOWN: usize = 64;

impl fmt::Display for Cut<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.char_indices().nth(SHOWN) {
            Some((end, _)) => write!(f, "{}…", self.0.get(..end).unwrap_or_default()),
            None => f.write_str(self.0),
        }
    }
}

impl fmt::Debug for Cut<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.to_string())
    }
}

/// A URL of which `Debug` hides the parts that may contain credentials: user name and password, query, and fragment. A
/// text that is neither a URL with a scheme nor a path from `/` is hidden: a key may have been given in place of the
/// URL.
///
/// ```
/// use copilot_wire::protocol::RedactedUrl;
///
/// let url = RedactedUrl("https://ada:secret@example.com/data?key=secret");
/// assert_eq!(format!("{url:?}"), r#""https://…@example.com/data""#);
/// ```
#[allow(clippy::exhaustive_structs, reason = "a wrapper, as it is used")]
pub struct RedactedUrl<'a>(pub &'a str);

impl fmt::Debug for RedactedUrl<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_scheme = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
        let (scheme, rest) = match self.0.split_once("://") {
            Some((scheme, rest)) if scheme.chars().all(is_scheme) => (scheme, rest),
            _ if self.0.starts_with('/') => ("", self.0),
            _ => return f.write_str("\"…\""),
        };
        // The last `@`: a password may contain an `@`, although it should be escaped.
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
