//! Every case of `fixtures/sse/conformance.json`, with every way to cut it into chunks.

use std::time::Duration;

use copilot_wire::sse::{Decoder, EventId, EventName, EventWriter, Frame, comment};
use serde_json::Value;

const CASES: &str = include_str!("../../fixtures/sse/conformance.json");

#[derive(Debug, Default, PartialEq)]
struct Outcome {
    /// Name, data and last event id.
    events: Vec<[String; 3]>,
    retry: Vec<Duration>,
    comments: Vec<String>,
    last_event_id: String,
}

impl Outcome {
    fn expected(value: &Value) -> Self {
        let events = value["events"].as_array().unwrap().iter();
        Self {
            events: events
                .map(|event| {
                    [
                        text_or_parts(event, "type"),
                        text_or_parts(event, "data"),
                        text(&event["last_event_id"]),
                    ]
                })
                .collect(),
            retry: list(&value["retry"])
                .map(|retry| Duration::from_millis(retry.as_u64().unwrap()))
                .collect(),
            comments: list(&value["comments"]).map(text).collect(),
            last_event_id: text(&value["last_event_id"]),
        }
    }

    fn decode<'c>(chunks: impl IntoIterator<Item = &'c [u8]>) -> Self {
        let mut decoder = Decoder::new().report_comments(true).report_retry(true);
        let mut outcome = Self::default();
        for mut chunk in chunks {
            while let Some(frame) = decoder.next(&mut chunk).unwrap() {
                match frame {
                    Frame::Event(event) => {
                        outcome
                            .events
                            .push([event.name(), event.data(), event.id()].map(str::to_owned));
                    }
                    Frame::Comment(text) => outcome.comments.push(text.into_owned()),
                    Frame::Retry(time) => outcome.retry.push(time),
                    _ => panic!("unknown frame"),
                }
            }
            assert!(chunk.is_empty());
        }
        decoder
            .last_event_id()
            .clone_into(&mut outcome.last_event_id);
        assert_eq!(decoder.retry(), outcome.retry.last().copied());
        outcome
    }

    /// Without the comments and retries that a decoder skips unless it is told to report them.
    fn events_only(chunks: &[u8]) -> Vec<[String; 3]> {
        let mut decoder = Decoder::new();
        let mut rest = chunks;
        let mut events = Vec::new();
        while let Some(frame) = decoder.next(&mut rest).unwrap() {
            let Frame::Event(event) = frame else {
                panic!("not asked for: {frame:?}")
            };
            events.push([event.name(), event.data(), event.id()].map(str::to_owned));
        }
        events
    }
}

fn cases(kind: &str) -> Vec<Value> {
    let mut file: Value = serde_json::from_str(CASES).unwrap();
    let Value::Array(cases) = file[kind].take() else {
        panic!("{kind} is not a list")
    };
    cases
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

fn text_or_parts(value: &Value, key: &str) -> String {
    match &value[key] {
        Value::String(text) => text.clone(),
        _ => list(&value[format!("{key}_parts")])
            .map(|part| {
                let repeat = part["repeat"].as_u64().unwrap();
                part["text"]
                    .as_str()
                    .unwrap()
                    .repeat(usize::try_from(repeat).unwrap())
            })
            .collect(),
    }
}

fn input(case: &Value) -> Vec<u8> {
    match &case["input_b64"] {
        Value::String(base64) => from_base64(base64),
        _ => text_or_parts(case, "input").into_bytes(),
    }
}

fn from_base64(text: &str) -> Vec<u8> {
    let digits = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let (mut bits, mut count, mut bytes) = (0_u32, 0, Vec::new());
    for digit in text.bytes().filter(|&byte| byte != b'=') {
        let value = digits.iter().position(|&known| known == digit).unwrap();
        bits = (bits << 6 | u32::try_from(value).unwrap()) & 0xFFFF;
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count & 0xFF) as u8);
        }
    }
    bytes
}

/// Cuts at ascending offsets; a repeated one gives an empty chunk.
fn cut<'b>(bytes: &'b [u8], splits: &[usize]) -> Vec<&'b [u8]> {
    let starts = std::iter::once(0).chain(splits.iter().copied());
    let ends = splits.iter().copied().chain([bytes.len()]);
    starts
        .zip(ends)
        .map(|(start, end)| &bytes[start..end])
        .collect()
}

/// SplitMix64: random borders without a dependency, the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        usize::try_from((mixed ^ mixed >> 31) % bound as u64).unwrap()
    }

    fn splits(&mut self, len: usize) -> Vec<usize> {
        let mut splits: Vec<_> = (0..self.below(12)).map(|_| self.below(len + 1)).collect();
        splits.sort_unstable();
        splits
    }
}

#[test]
fn every_stream_gives_the_listed_outcome_however_it_is_cut() {
    let mut random = Random(1);
    let cases = cases("parse");
    assert_eq!(cases.len(), 115);
    for case in &cases {
        let name = case["name"].as_str().unwrap();
        let bytes = input(case);
        let expected = Outcome::expected(&case["expected"]);
        let given: Vec<usize> = list(&case["splits"])
            .map(|split| usize::try_from(split.as_u64().unwrap()).unwrap())
            .collect();

        assert_eq!(
            Outcome::decode(cut(&bytes, &given)),
            expected,
            "{name}, as given"
        );
        assert_eq!(Outcome::decode([&bytes[..]]), expected, "{name}, whole");
        assert_eq!(
            Outcome::decode(bytes.chunks(1)),
            expected,
            "{name}, byte by byte"
        );
        assert_eq!(
            Outcome::events_only(&bytes),
            expected.events,
            "{name}, events only"
        );
        for _ in 0..50 {
            let splits = random.splits(bytes.len());
            assert_eq!(
                Outcome::decode(cut(&bytes, &splits)),
                expected,
                "{name}, at {splits:?}"
            );
        }
    }
}

#[test]
fn every_border_between_two_chunks_gives_the_same_outcome() {
    for case in cases("parse") {
        let bytes = input(&case);
        if bytes.len() > 2_000 {
            continue;
        }
        let expected = Outcome::expected(&case["expected"]);
        for border in 0..=bytes.len() {
            assert_eq!(
                Outcome::decode(cut(&bytes, &[border])),
                expected,
                "{}",
                case["name"]
            );
        }
    }
}

/// Writes one block of an `encode` case, or says why it cannot be written.
fn write(fields: &Value, out: &mut Vec<u8>) -> Result<(), String> {
    if let Some(text) = fields["comment"].as_str() {
        comment(text, out);
        return Ok(());
    }
    let mut writer = EventWriter::new(out);
    if let Some(name) = fields["event"].as_str() {
        writer = writer.name(&EventName::try_from(name).map_err(|error| error.to_string())?);
    }
    if let Some(id) = fields["id"].as_str() {
        writer = writer.id(&EventId::try_from(id).map_err(|error| error.to_string())?);
    }
    if let Some(millis) = fields["retry"].as_u64() {
        writer = writer.retry(Duration::from_millis(millis));
    }
    if let Some(data) = fields["data"].as_str() {
        writer = writer.data(data);
    }
    writer.finish();
    Ok(())
}

#[test]
fn every_list_of_fields_arrives_as_it_was_written() {
    let cases = cases("encode");
    assert_eq!(cases.len(), 26);
    for case in &cases {
        let name = case["name"].as_str().unwrap();
        let mut out = Vec::new();
        let written: Result<(), _> =
            list(&case["fields"]).try_for_each(|block| write(block, &mut out));

        if case["invalid"].is_string() {
            assert!(written.is_err(), "{name}");
            assert!(out.is_empty(), "{name}: a refused event leaves no bytes");
            continue;
        }
        assert_eq!(written, Ok(()), "{name}");
        let expected = Outcome::expected(&case["expected"]);
        for chunk_size in [1, out.len()] {
            let mut outcome = Outcome::decode(out.chunks(chunk_size));
            for comment in &mut outcome.comments {
                if comment.starts_with(' ') {
                    comment.remove(0);
                }
            }
            assert_eq!(outcome, expected, "{name}");
        }
    }
}
