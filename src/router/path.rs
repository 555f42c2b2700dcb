//! Paths with parameters.

use std::fmt::{self, Write as _};
use std::sync::Arc;

use super::mount_error::MountError;

/// The parameters of a path, with their names.
pub(super) type Params = Vec<(Box<str>, Box<str>)>;

/// A path such as `/chats/{workspace}/chat/completions`.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Path(Vec<Segment>);

#[derive(Clone, PartialEq, Eq)]
enum Segment {
    Text(Box<str>),
    Param(Box<str>),
}

impl Path {
    /// Parses a path. A trailing slash makes no difference.
    pub(super) fn parse(path: &str) -> Result<Self, MountError> {
        let invalid = || MountError::Path(path.to_owned());
        let path = path.strip_prefix('/').ok_or_else(invalid)?;
        let path = path.strip_suffix('/').unwrap_or(path);
        let segments = path.split('/').map(|segment| {
            let param = segment
                .strip_prefix('{')
                .and_then(|rest| rest.strip_suffix('}'));
            match param {
                Some(name) if !name.is_empty() => Ok(Segment::Param(name.into())),
                None if !segment.contains(['{', '}', '?', '#']) => {
                    Ok(Segment::Text(segment.into()))
                }
                _ => Err(invalid()),
            }
        });
        Ok(Self(segments.collect::<Result<_, _>>()?))
    }

    /// Returns the parameters if `path` matches. A trailing slash makes no difference.
    pub(super) fn matches(&self, path: &str) -> Option<Vec<(Box<str>, Box<str>)>> {
        let path = path.strip_prefix('/')?;
        let path = path.strip_suffix('/').unwrap_or(path);
        let (mut params, mut rest) = (Vec::new(), Some(path));
        for segment in &self.0 {
            // Compared in place, because most routes of a router fail at their first text.
            let after = match segment {
                Segment::Text(text) => rest?.strip_prefix(&**text)?,
                Segment::Param(name) => {
                    let (part, after) = rest?.split_at(rest?.find('/').unwrap_or(rest?.len()));
                    // Decoded after the split, so that an escaped slash is a part of its segment.
                    let value = percent_decode(part).filter(|it| !it.is_empty())?;
                    params.push((name.clone(), value));
                    after
                }
            };
            rest = match after {
                "" => None,
                after => Some(after.strip_prefix('/')?),
            };
        }
        rest.is_none().then_some(params)
    }

    /// Returns `true` if a path exists that matches both.
    pub(super) fn overlaps(&self, other: &Self) -> bool {
        let same = |(one, two): (&Segment, &Segment)| match (one, two) {
            (Segment::Text(one), Segment::Text(two)) => one == two,
            // A parameter matches any segment.
            _ => true,
        };
        self.0.len() == other.0.len() && self.0.iter().zip(&other.0).all(same)
    }
}

/// Returns the names and values of the parameters in a path that matches a template such as `/chats/{workspace}`.
/// Percent escapes are decoded. Empty if the path does not match or the template is not valid.
///
/// ```
/// use copilot_wire::router::path_params;
///
/// let params = path_params("/chats/{workspace}", "/chats/old%20films");
/// assert_eq!(params, [("workspace".into(), "old films".into())]);
/// ```
pub fn path_params(template: &str, path: &str) -> Vec<(Box<str>, Box<str>)> {
    let template = Path::parse(template).ok();
    template
        .and_then(|template| template.matches(path))
        .unwrap_or_default()
}

/// Escapes a text as one segment of a path: everything except ASCII letters, digits, `-`, `_`, `.` and `~` becomes
/// percent escapes.
///
/// The segments `.` and `..` are not escaped, because clients resolve them even if they are escaped.
pub fn escape_segment(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                out.push(char::from(byte));
            }
            _ => {
                // Writing to a string cannot fail.
                let _ = write!(out, "%{byte:02X}");
            }
        }
    }
    out
}

/// Returns the path of a route with its first parameters replaced by the values of a request. Requests for the same
/// path have the same result, whichever characters they escape.
pub(super) fn fill(route: &str, params: &Params) -> String {
    let mut values = params.iter().map(|(_, value)| &**value);
    let mut path = String::with_capacity(route.len());
    for segment in route.trim_matches('/').split('/') {
        path.push('/');
        match segment.starts_with('{') {
            // A slash in a value is not a separator.
            true => {
                let value = values.next().unwrap_or_default();
                path.push_str(&value.replace('%', "%25").replace('/', "%2F"));
            }
            false => path.push_str(segment),
        }
    }
    path
}

/// The path below which clients reach a router, such as `/agents`. Empty for the root.
#[derive(Clone, Debug, Default)]
pub(super) struct BasePath(Box<str>);

impl BasePath {
    pub(super) fn new(path: &str) -> Self {
        let path = path.trim_matches('/');
        Self(match path {
            "" => Box::default(),
            path => format!("/{path}").into(),
        })
    }

    pub(super) fn join(&self, path: &str) -> String {
        format!("{}{path}", self.0)
    }

    /// Returns `path` below the base path. At the root this is a clone of `path`.
    pub(super) fn join_shared(&self, path: &Arc<str>) -> Arc<str> {
        match &*self.0 {
            "" => Arc::clone(path),
            _ => self.join(path).into(),
        }
    }

    /// Returns the paths to look up for `path`: without two leading copies of the base path, without one, and
    /// unchanged.
    ///
    /// Some front ends resolve an advertised path against the URL that the user typed and others against its host, so
    /// the base path may occur twice, and each proxy may have stripped one copy.
    pub(super) fn strip<'a>(&self, path: &'a str) -> impl Iterator<Item = &'a str> {
        let once = |path: &'a str| match path.strip_prefix(&*self.0)? {
            "" => Some("/"),
            rest => rest.starts_with('/').then_some(rest),
        };
        let stripped = Some(path).filter(|_| !self.0.is_empty()).and_then(once);
        let twice = stripped.and_then(once);
        [twice, stripped, Some(path)].into_iter().flatten()
    }
}

/// Decodes percent escapes; `None` if one is not valid or the result is not UTF-8.
fn percent_decode(text: &str) -> Option<Box<str>> {
    let mut bytes = text.bytes();
    let mut out = Vec::with_capacity(text.len());
    while let Some(byte) = bytes.next() {
        if byte == b'%' {
            let high = char::from(bytes.next()?).to_digit(16)?;
            let low = char::from(bytes.next()?).to_digit(16)?;
            out.push(u8::try_from(high * 16 + low).ok()?);
        } else {
            out.push(byte);
        }
    }
    String::from_utf8(out).ok().map(String::into_boxed_str)
}

impl fmt::Debug for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for segment in &self.0 {
            match segment {
                Segment::Text(text) => write!(f, "/{text}")?,
                Segment::Param(name) => write!(f, "/{{{name}}}")?,
            }
        }
        Ok(())
    }
}
