//! The faults of an event.

use bytes::Bytes;
use copilot_wire::json::{JsonError, Kind, Reader};
use copilot_wire::protocol::EventError;
use copilot_wire_kit::check::Finding;
use serde::Serialize;

use crate::screen::short;

/// A fault of an event, with its place.
#[derive(Serialize)]
pub(super) struct Wrong {
    pub(super) what: String,
    /// The position as a path, such as `choices[0].delta`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) path: String,
    /// The position in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) byte: Option<usize>,
    /// The broken rule of the conformance kit, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) rule: Option<&'static str>,
}

impl Wrong {
    /// Creates a fault without a place.
    pub(super) fn of(what: &str) -> Self {
        Self {
            what: what.to_owned(),
            path: String::new(),
            byte: None,
            rule: None,
        }
    }

    /// Sets the rule that the fault breaks.
    pub(super) fn rule(self, rule: &'static str) -> Self {
        Self {
            rule: Some(rule),
            ..self
        }
    }

    /// Creates a fault from a finding of the conformance kit. The excerpt is included if the event was not shown.
    pub(super) fn found(finding: &Finding) -> Self {
        let Finding { rule, bytes, .. } = finding;
        // The excerpt is from a line, or was serialized again.
        let elsewhere = finding.offset.is_none() && !rule.id.starts_with("chunk/");
        let framing = rule.id.starts_with("sse/") || rule.id.starts_with("lines/");
        let unseen = elsewhere || framing;
        let got = match unseen && !bytes.is_empty() {
            true => format!(", got {}", short(bytes)),
            false => String::new(),
        };
        let what = format!("breaks {}: {}{got}", rule.id, rule.says);
        Self::of(&what).rule(rule.id)
    }

    /// Creates the fault of an event that cannot be read.
    pub(super) fn with(error: EventError, data: &str) -> Self {
        let error = match error {
            EventError::Data(error) => error,
            EventError::Invalid(what) => return Self::of(what),
            error => return Self::of(&error.to_string()),
        };
        // Data that is not JSON has no path.
        let data = Bytes::copy_from_slice(data.as_bytes());
        let walked = Reader::new(&data).and_then(|mut reader| walk(&mut reader, DEPTH));
        // The protocol's reader may report a syntax error without a path. Reading the data again as plain JSON finds
        // the path.
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

/// The maximum depth of paths.
const DEPTH: usize = 32;

/// Reads a value down to its leaves, so that an error has a path.
fn walk(reader: &mut Reader<'_>, depth: usize) -> Result<(), JsonError> {
    match reader.kind()? {
        _ if depth == 0 => reader.skip(),
        Kind::Object => reader.object(|reader, _| walk(reader, depth - 1)),
        Kind::Array => reader.array(|reader, _| walk(reader, depth - 1)),
        _ => reader.skip(),
    }
}
