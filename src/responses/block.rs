//! An open item with text: a message or reasoning.

use super::EventKind;
use crate::json::{Escape, Json, ValueWriter, escape};

/// The kind of an open item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BlockKind {
    Message,
    Reasoning,
}

/// An item while its text is streamed, with the text so far.
pub(super) struct Block {
    pub(super) kind: BlockKind,
    id: String,
    index: u64,
    /// The members that identify the item and the part, each after a comma.
    pub(super) place: Box<[u8]>,
    /// The escaped text so far, which is written three more times when the item is complete.
    text: Vec<u8>,
    /// The number of characters in the text.
    pub(super) chars: u64,
    /// The annotations so far, as the elements of an array.
    sources: Vec<u8>,
    /// The number of annotations.
    pub(super) annotations: u64,
}

const POLICY: Escape = Escape::JsonAndSeparators;

impl BlockKind {
    pub(super) fn prefix(self) -> &'static str {
        match self {
            Self::Message => "msg",
            Self::Reasoning => "rs",
        }
    }

    /// Returns a delta up to its number.
    pub(super) fn delta_head(self) -> &'static [u8] {
        match self {
            Self::Message => {
                b"event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"sequence_number\":"
            }
            Self::Reasoning => {
                b"event: response.reasoning_summary_text.delta\ndata: {\"type\":\"response.reasoning_summary_text.delta\",\"sequence_number\":"
            }
        }
    }

    /// Returns the members of the part after its text.
    fn tail(self) -> &'static [u8] {
        match self {
            Self::Message => b",\"logprobs\":[]",
            Self::Reasoning => b"",
        }
    }

    pub(super) fn part_added(self) -> EventKind {
        match self {
            Self::Message => EventKind::PartAdded,
            Self::Reasoning => EventKind::SummaryPartAdded,
        }
    }

    pub(super) fn text_done(self) -> EventKind {
        match self {
            Self::Message => EventKind::TextDone,
            Self::Reasoning => EventKind::SummaryDone,
        }
    }

    pub(super) fn part_done(self) -> EventKind {
        match self {
            Self::Message => EventKind::PartDone,
            Self::Reasoning => EventKind::SummaryPartDone,
        }
    }
}

impl Block {
    pub(super) fn new(kind: BlockKind, id: String, index: u64) -> Self {
        let part = match kind {
            BlockKind::Message => "content_index",
            BlockKind::Reasoning => "summary_index",
        };
        // Not escaped: the ids are this crate's own, of ASCII letters, digits and `_`. The part is
        // always the first, as an item has one.
        let place = format!(",\"item_id\":\"{id}\",\"output_index\":{index},\"{part}\":0");
        Self {
            kind,
            id,
            index,
            place: place.into_bytes().into(),
            text: Vec::new(),
            chars: 0,
            sources: Vec::new(),
            annotations: 0,
        }
    }

    /// Appends a piece of text and returns its start in the escaped text.
    #[inline]
    pub(super) fn push(&mut self, text: &str) -> usize {
        // Escaped once: the delta is copied from here, and so are the three repetitions.
        let start = self.text.len();
        escape(text, POLICY, &mut self.text);
        // Annotations count characters, not bytes, and not those of the escaped form.
        self.chars += text.chars().count() as u64;
        start
    }

    /// Returns the escaped text from a position.
    pub(super) fn text_from(&self, start: usize) -> &[u8] {
        self.text.get(start..).unwrap_or_default()
    }

    /// Appends the members of a delta after its number.
    #[inline]
    pub(super) fn delta_to(&self, start: usize, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.place);
        out.extend_from_slice(b",\"delta\":\"");
        out.extend_from_slice(self.text_from(start));
        out.push(b'"');
        out.extend_from_slice(self.kind.tail());
        out.extend_from_slice(b"}\n\n");
    }

    /// Adds an annotation.
    pub(super) fn annotate(&mut self, annotation: &Json) {
        if self.annotations > 0 {
            self.sources.push(b',');
        }
        self.sources.extend_from_slice(annotation.as_bytes());
        self.annotations += 1;
    }

    /// Appends the members of the event for the start of the item.
    pub(super) fn added_to(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b",\"output_index\":");
        ValueWriter::new(out, POLICY).u64(self.index);
        out.extend_from_slice(b",\"item\":{\"id\":\"");
        out.extend_from_slice(self.id.as_bytes());
        out.extend_from_slice(match self.kind {
            BlockKind::Message => {
                br#"","type":"message","status":"in_progress","role":"assistant","content":[]}"#
            }
            BlockKind::Reasoning => br#"","type":"reasoning","summary":[]}"#,
        });
    }

    /// Appends the members of the event for the start of the part.
    pub(super) fn part_added_to(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.place);
        out.extend_from_slice(b",\"part\":");
        part_to(self.kind, b"", b"", out);
    }

    /// Appends the members of the event that repeats the text.
    pub(super) fn text_done_to(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.place);
        out.extend_from_slice(b",\"text\":\"");
        out.extend_from_slice(&self.text);
        out.push(b'"');
        out.extend_from_slice(self.kind.tail());
    }

    /// Appends the members of the event that repeats the part.
    pub(super) fn part_done_to(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.place);
        out.extend_from_slice(b",\"part\":");
        part_to(self.kind, &self.text, &self.sources, out);
    }

    /// Appends the complete item.
    pub(super) fn item_to(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"{\"id\":\"");
        out.extend_from_slice(self.id.as_bytes());
        out.extend_from_slice(match self.kind {
            BlockKind::Message => {
                br#"","type":"message","status":"completed","role":"assistant","content":["#
            }
            BlockKind::Reasoning => br#"","type":"reasoning","summary":["#,
        });
        part_to(self.kind, &self.text, &self.sources, out);
        out.extend_from_slice(b"]}");
    }
}

fn part_to(kind: BlockKind, text: &[u8], annotations: &[u8], out: &mut Vec<u8>) {
    let (head, tail): (&[u8], &[u8]) = match kind {
        BlockKind::Message => (
            b"{\"type\":\"output_text\",\"text\":\"",
            b"],\"logprobs\":[]}",
        ),
        BlockKind::Reasoning => (b"{\"type\":\"summary_text\",\"text\":\"", b"}"),
    };
    out.extend_from_slice(head);
    out.extend_from_slice(text);
    out.push(b'"');
    if kind == BlockKind::Message {
        out.extend_from_slice(b",\"annotations\":[");
        out.extend_from_slice(annotations);
    }
    out.extend_from_slice(tail);
}

/// Appends a JSON string.
pub(super) fn push_string(text: &str, out: &mut Vec<u8>) {
    ValueWriter::new(out, POLICY).str(text);
}
