//! An open item with text: a message, a refusal or reasoning.

use std::ops::Range;

use super::{Annotation, Content, ContentPart, EventKind, Item, StreamEvent};
use crate::json::{Escape, Json, List, Members, escape};

/// The kind of an open item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BlockKind {
    Message,
    /// A message whose only part is a refusal.
    Refusal,
    /// A summary of reasoning.
    Reasoning,
    /// Reasoning itself.
    RawReasoning,
}

impl BlockKind {
    pub(super) fn is_reasoning(self) -> bool {
        matches!(self, Self::Reasoning | Self::RawReasoning)
    }

    pub(super) fn prefix(self) -> &'static str {
        match self {
            Self::Message | Self::Refusal => "msg",
            Self::Reasoning | Self::RawReasoning => "rs",
        }
    }

    /// Returns the kinds of the events of a part: its start, a piece, the end of its text, and its end.
    pub(super) fn events(self) -> [EventKind; 4] {
        use EventKind::{
            PartAdded, PartDone, ReasoningDelta, ReasoningDone, RefusalDelta, RefusalDone,
            SummaryDelta, SummaryDone, SummaryPartAdded, SummaryPartDone, TextDelta, TextDone,
        };
        match self {
            Self::Message => [PartAdded, TextDelta, TextDone, PartDone],
            Self::Refusal => [PartAdded, RefusalDelta, RefusalDone, PartDone],
            Self::RawReasoning => [PartAdded, ReasoningDelta, ReasoningDone, PartDone],
            Self::Reasoning => [SummaryPartAdded, SummaryDelta, SummaryDone, SummaryPartDone],
        }
    }
}

/// An item while its text is streamed, with the text so far.
pub(super) struct Block {
    pub(super) kind: BlockKind,
    id: String,
    index: u64,
    /// The bytes of a delta event before its text; they contain the number of the last delta.
    head: Vec<u8>,
    number: u64,
    /// The range of the number in the bytes before the text.
    digits: Range<usize>,
    /// The bytes of a delta event after its text.
    tail: &'static str,
    pub(super) text: String,
    /// The number of characters in the text.
    pub(super) chars: u64,
    pub(super) annotations: Vec<Annotation>,
    /// The members of the item that this crate does not know, such as the encrypted content of reasoning.
    pub(super) unknown: Members,
}

impl Block {
    pub(super) fn new(kind: BlockKind, id: String, index: u64) -> Self {
        let [_, name, ..] = kind.events();
        let (name, part, tail) = match kind {
            BlockKind::Message => (name.as_str(), "content_index", "\",\"logprobs\":[]}\n\n"),
            BlockKind::Refusal | BlockKind::RawReasoning => {
                (name.as_str(), "content_index", "\"}\n\n")
            }
            BlockKind::Reasoning => (name.as_str(), "summary_index", "\"}\n\n"),
        };
        let start = [
            "event: ",
            name,
            "\ndata: {\"type\":\"",
            name,
            "\",\"sequence_number\":",
        ];
        // Not escaped: the ids are this crate's own, of ASCII letters, digits and `_`.
        let (of, at) = ("0,\"item_id\":\"", "\",\"output_index\":");
        let rest = [
            of,
            &id,
            at,
            &index.to_string(),
            ",\"",
            part,
            "\":0,\"delta\":\"",
        ];
        let at = start.iter().map(|text| text.len()).sum();
        let head = start.into_iter().chain(rest).collect::<String>();
        Self {
            kind,
            head: head.into(),
            number: 0,
            digits: at..at + 1,
            tail,
            id,
            index,
            text: String::new(),
            chars: 0,
            annotations: Vec::new(),
            unknown: Members::new(),
        }
    }

    /// Adds a piece of text.
    #[inline]
    pub(super) fn push(&mut self, text: &str) {
        self.text.push_str(text);
        // Annotations count characters, not bytes.
        self.chars += text.chars().count() as u64;
    }

    /// Writes a piece of text. Delta events of an item differ only in number and text.
    #[inline]
    pub(super) fn write_delta(&mut self, number: u64, text: &str, out: &mut Vec<u8>) {
        self.set_number(number);
        out.extend_from_slice(&self.head);
        escape(text, Escape::JsonAndSeparators, out);
        out.extend_from_slice(self.tail.as_bytes());
    }

    /// Sets the number of the next delta, which usually is the next number: then its last digit changes in place.
    #[inline]
    fn set_number(&mut self, number: u64) {
        let last = self.head.get_mut(self.digits.end - 1);
        match last {
            Some(last @ b'0'..=b'8') if number == self.number + 1 => *last += 1,
            _ => {
                let digits = number.to_string();
                let end = self.digits.start + digits.len();
                drop(self.head.splice(self.digits.clone(), digits.into_bytes()));
                self.digits.end = end;
            }
        }
        self.number = number;
    }

    /// Returns an empty list of log probabilities, because the schema requires the member.
    pub(super) fn logprobs(&self) -> Option<List<Json>> {
        (self.kind == BlockKind::Message).then(List::new)
    }

    /// Creates an event of the item's only part.
    pub(super) fn event(&self, kind: EventKind) -> StreamEvent {
        let is_reasoning = self.kind == BlockKind::Reasoning;
        StreamEvent {
            item_id: Some(self.id.clone()),
            output_index: Some(self.index),
            content_index: (!is_reasoning).then_some(0),
            summary_index: is_reasoning.then_some(0),
            ..StreamEvent::new(kind)
        }
    }

    /// Creates the part.
    pub(super) fn part(&self, text: String) -> ContentPart {
        match self.kind {
            BlockKind::Message => ContentPart {
                annotations: Some(self.annotations.clone().into()),
                logprobs: self.logprobs(),
                ..ContentPart::output_text(text)
            },
            BlockKind::Refusal => ContentPart::refusal(text),
            BlockKind::RawReasoning => ContentPart::new("reasoning_text", text),
            BlockKind::Reasoning => ContentPart::new("summary_text", text),
        }
    }

    /// Creates the item.
    pub(super) fn item(&self, status: &str, parts: Vec<ContentPart>) -> Item {
        let id = Some(self.id.clone());
        match self.kind {
            BlockKind::Message | BlockKind::Refusal => Item {
                id,
                status: Some(status.into()),
                unknown: self.unknown.clone(),
                ..Item::message("assistant", parts)
            },
            BlockKind::Reasoning | BlockKind::RawReasoning => Item {
                id,
                kind: "reasoning".into(),
                content: match self.kind {
                    BlockKind::RawReasoning => parts.clone().into(),
                    _ => Content::default(),
                },
                summary: Some(Box::new(match self.kind {
                    BlockKind::RawReasoning => List::new(),
                    _ => parts.into(),
                })),
                unknown: self.unknown.clone(),
                ..Item::default()
            },
        }
    }
}
