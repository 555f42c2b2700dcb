//! What is wrong with an event, and where.

use bytes::Bytes;
use copilot_wire::json::{JsonError, Kind, Reader};
use copilot_wire::protocol::EventError;
use copilot_wire::testing::check::Finding;
use serde::Serialize;

use crate::screen::short;

/// What is wrong, and where in the data of the event.
#[derive(Serialize)]
pub(super) struct Wrong {
    pub(super) what: String,
    /// The place as a path, such as `choices[0].delta`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) path: String,
    /// The place in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) byte: Option<usize>,
    /// The rule of the conformance kit, where it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) rule: Option<&'static str>,
}

impl Wrong {
    /// Something that has no place of its own.
    pub(super) fn of(what: &str) -> Self {
        Self {
            what: what.to_owned(),
            path: String::new(),
            byte: None,
            rule: None,
        }
    }

    /// The same, by the rule that says so too.
    pub(super) fn rule(self, rule: &'static str) -> Self {
        Self {
            rule: Some(rule),
            ..self
        }
    }

    /// What the conformance kit found. The bytes are shown where the event was not.
    pub(super) fn found(finding: &Finding) -> Self {
        let Finding { rule, bytes, .. } = finding;
        // Of a line, or of values that were written anew.
        let elsewhere = finding.offset.is_none() && !rule.id.starts_with("chunk/");
        let unseen = elsewhere || rule.id.starts_with("sse/");
        let got = match unseen && !bytes.is_empty() {
            true => format!(", got {}", short(bytes)),
            false => String::new(),
        };
        let what = format!("breaks {}: {}{got}", rule.id, rule.says);
        Self::of(&what).rule(rule.id)
    }

    /// Why an event with this data cannot be read.
    pub(super) fn with(error: EventError, data: &str) -> Self {
        let error = match error {
            EventError::Data(error) => error,
            EventError::Shape(what) => return Self::of(what),
            error => return Self::of(&error.to_string()),
        };
        // What is no JSON at all has no path yet.
        let data = Bytes::copy_from_slice(data.as_bytes());
        let walked = Reader::new(&data).and_then(|mut reader| walk(&mut reader, DEPTH));
        let path = walked.map_or_else(|error| error.path().to_owned(), |()| String::new());
        Self {
            what: format!("expected {}", error.expected()),
            path: if error.path().is_empty() {
                path
            } else {
                error.path().to_owned()
            },
            byte: Some(error.offset()),
            rule: None,
        }
    }
}

/// How deep paths go.
const DEPTH: usize = 32;

/// Reads a value down to its leaves, so that an error knows its path.
fn walk(reader: &mut Reader<'_>, depth: usize) -> Result<(), JsonError> {
    match reader.kind()? {
        _ if depth == 0 => reader.skip(),
        Kind::Object => reader.object(|reader, _| walk(reader, depth - 1)),
        Kind::Array => reader.array(|reader, _| walk(reader, depth - 1)),
        _ => reader.skip(),
    }
}
