//! The event stream against a second, naive reading of the standard.

use std::convert::Infallible;
use std::time::Duration;

use copilot_wire::sse::{
    Decoder, Event, EventId, EventName, EventWriter, Frame, TooLarge, comment, encode as write,
};
use eventsource_stream::Eventsource;
use futures::executor::block_on_stream;
use futures::stream;

use super::input::{Chunks, Input};

/// The expected output, in order.
#[derive(Clone, Debug, PartialEq)]
pub enum Seen {
    Event {
        name: String,
        data: String,
        id: String,
    },
    Comment(String),
    Retry(Duration),
}

/// Implements the standard's section 9.2.6 step by step: decode the whole, then lines, then fields.
pub fn naive(stream: &[u8]) -> Vec<Seen> {
    let stream = stream.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(stream);
    let text = String::from_utf8_lossy(stream);
    let mut seen = Vec::new();
    let (mut data, mut name, mut id) = (Vec::<String>::new(), String::new(), String::new());
    let mut last_id = String::new();
    let mut line = String::new();
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\r' => {
                characters.next_if_eq(&'\n');
            }
            '\n' => {}
            _ => {
                line.push(character);
                continue;
            }
        }
        let line = std::mem::take(&mut line);
        if line.is_empty() {
            last_id.clone_from(&id);
            if !data.is_empty() {
                seen.push(Seen::Event {
                    name: if name.is_empty() {
                        "message".into()
                    } else {
                        name.clone()
                    },
                    data: data.join("\n"),
                    id: last_id.clone(),
                });
            }
            data.clear();
            name.clear();
            continue;
        }
        if let Some(text) = line.strip_prefix(':') {
            seen.push(Seen::Comment(text.into()));
            continue;
        }
        let (field, value) = line.split_once(':').unwrap_or((&line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => name = value.into(),
            "data" => data.push(value.into()),
            "id" if !value.contains('\0') => id = value.into(),
            "retry" if !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit()) => {
                seen.push(Seen::Retry(Duration::from_millis(
                    value.parse().unwrap_or(u64::MAX),
                )));
            }
            _ => {}
        }
    }
    seen
}

/// Returns the output of our decoder, and its error.
pub fn ours(stream: &[u8], how: u8, limit: usize) -> (Vec<Seen>, Option<TooLarge>) {
    let mut decoder = Decoder::new()
        .limit(limit)
        .report_comments(true)
        .report_retry(true);
    let mut seen = Vec::new();
    for mut chunk in Chunks::new(stream, how) {
        loop {
            match decoder.next(&mut chunk) {
                Ok(Some(Frame::Event(event))) => seen.push(Seen::Event {
                    name: event.name().into(),
                    data: event.data().into(),
                    id: event.id().into(),
                }),
                Ok(Some(Frame::Comment(text))) => seen.push(Seen::Comment(text.into_owned())),
                Ok(Some(Frame::Retry(time))) => seen.push(Seen::Retry(time)),
                Ok(Some(frame)) => panic!("an unknown frame: {frame:?}"),
                Ok(None) => {
                    assert!(chunk.is_empty(), "input was left behind");
                    break;
                }
                Err(error) => {
                    assert_eq!(decoder.next(&mut &b"data: x\n\n"[..]), Err(error));
                    return (seen, Some(error));
                }
            }
        }
    }
    (seen, None)
}

/// Returns the events that another decoder reads, sse-stream. It is asked only where it follows the standard: in what is
/// not UTF-8 it finds an error, comments are not reported, and a block has one time of reconnection, which is ignored
/// beyond 64 bits. It also returns blocks without data, of which the id counts, and leaves the last id to its caller.
fn peer(stream: &str, how: u8) -> Vec<Seen> {
    let chunks = Chunks::new(stream.as_bytes(), how).map(Ok::<_, Infallible>);
    let blocks = sse_stream::SseByteStream::new(stream::iter(chunks));
    let mut seen = Vec::new();
    let mut last_id = String::new();
    for block in block_on_stream(blocks) {
        let block = block.unwrap();
        last_id = block.id.unwrap_or(last_id);
        let name = block.event.filter(|name| !name.is_empty());
        if let Some(data) = block.data {
            seen.push(Seen::Event {
                name: name.unwrap_or_else(|| "message".into()),
                data,
                id: last_id.clone(),
            });
        }
    }
    seen
}

/// Returns the events that the decoder of a client for models reads, eventsource-stream. It is asked only
/// about what we write: it panics at a byte order mark and reads a CR otherwise than the standard says.
fn client(stream: &str) -> Vec<Seen> {
    let events = stream::iter([Ok::<_, Infallible>(stream)]).eventsource();
    let events = block_on_stream(events).map(|event| {
        let event = event.unwrap();
        Seen::Event {
            name: event.event,
            data: event.data,
            id: event.id,
        }
    });
    events.collect()
}

fn only_events(seen: &[Seen]) -> Vec<Seen> {
    let is_event = |seen: &&Seen| matches!(seen, Seen::Event { .. });
    seen.iter().filter(is_event).cloned().collect()
}

/// Decodes a stream. The first byte is the size of the chunks, the second the decoder's limit.
pub fn decode(data: &[u8]) {
    let mut input = Input(data);
    let (how, budget) = (input.byte(), input.byte());
    let stream = input.0;
    let expected = naive(stream);
    assert_eq!(ours(stream, how, usize::MAX), (expected.clone(), None));
    let expected_events = only_events(&expected);
    assert_eq!(peer(&String::from_utf8_lossy(stream), how), expected_events);

    // Under a budget: the same frames, as far as it goes, for any chunks.
    let limit = usize::from(budget);
    let (seen, error) = ours(stream, how, limit);
    assert_eq!(seen, expected[..seen.len()]);
    assert_eq!(ours(stream, 0, limit), (seen.clone(), error));
    if error.is_none() {
        assert_eq!(seen.len(), expected.len());
    }

    // Without the reports the events are the same.
    let mut decoder = Decoder::new().limit(usize::MAX);
    let mut events = Vec::new();
    for mut chunk in Chunks::new(stream, how) {
        while let Ok(Some(frame)) = decoder.next(&mut chunk) {
            let Frame::Event(event) = frame else {
                panic!("not asked for: {frame:?}")
            };
            events.push(event.into_owned());
        }
    }
    assert_eq!(expected_events.len(), events.len());
    let retries = expected.iter().rev().find_map(|seen| match seen {
        Seen::Retry(time) => Some(*time),
        _ => None,
    });
    assert_eq!(decoder.retry(), retries);

    // And written again they are read again.
    let mut again = Vec::new();
    for event in &events {
        write(event, &mut again);
    }
    let mut read = naive(&again).into_iter();
    let mut last_id = String::new();
    for event in &events {
        // An empty id is not written: a reader stays on the one before.
        if !event.id().is_empty() {
            event.id().clone_into(&mut last_id);
        }
        let expected = Seen::Event {
            name: event.name().into(),
            data: event.data().into(),
            id: last_id.clone(),
        };
        assert_eq!(read.next(), Some(expected));
    }
    assert_eq!(read.next(), None);
}

/// Writes hostile fields in every way, and checks that the decoder returns exactly these events.
pub fn encode(data: &[u8]) {
    let mut input = Input(data);
    let how = input.byte();
    let mut out = Vec::new();
    let mut expected = Vec::new();
    let mut last_id = String::new();
    while !input.is_empty() {
        let shape = input.byte();
        let (name, id, text) = (input.text(), input.text(), input.text());
        let name_ok = !name.is_empty() && !name.contains(['\r', '\n']);
        let id_ok = !id.contains(['\r', '\n', '\0']);
        let name = EventName::try_from(name);
        let id = EventId::try_from(id);
        assert_eq!((name.is_ok(), id.is_ok()), (name_ok, id_ok));
        let lines = text.replace("\r\n", "\n").replace('\r', "\n");

        if shape & 1 != 0 {
            comment(&text, &mut out);
            for line in lines.split('\n') {
                let space = if line.is_empty() { "" } else { " " };
                expected.push(Seen::Comment(format!("{space}{line}")));
            }
        }
        let length = out.len();
        if shape & 2 != 0 {
            // Never finished: nothing of it is there.
            let mut writer = EventWriter::new(&mut out);
            if let Ok(name) = &name {
                writer = writer.name(name);
            }
            drop(writer.retry(Duration::from_millis(9)).data(&text));
            assert_eq!(out.len(), length);
        }
        let mut seen_name = "message";
        if shape & 4 != 0 {
            let mut event = Event::new(text.as_str());
            if let Ok(name) = &name {
                event = event.named(name);
                seen_name = name.as_str();
            }
            if let Ok(id) = &id {
                event = event.identified(id);
                if !id.as_str().is_empty() {
                    id.as_str().clone_into(&mut last_id);
                }
            }
            write(&event, &mut out);
        } else {
            let mut writer = EventWriter::new(&mut out);
            if let Ok(name) = &name {
                writer = writer.name(name);
                seen_name = name.as_str();
            }
            if let Ok(id) = &id {
                writer = writer.id(id);
                id.as_str().clone_into(&mut last_id);
            }
            if shape & 8 != 0 {
                let time = Duration::from_millis(shape.into());
                writer = writer.retry(time);
                expected.push(Seen::Retry(time));
            }
            let writer = if shape & 16 != 0 {
                writer.data_with(|out| {
                    out.extend_from_slice(text.as_bytes());
                    Ok::<(), ()>(())
                })
            } else {
                Ok(writer.data(&text))
            };
            writer.unwrap().finish();
        }
        expected.push(Seen::Event {
            name: seen_name.into(),
            data: lines,
            id: last_id.clone(),
        });
    }
    // No byte order mark of ours stands at the start: an encoder's first byte is a field's or a colon.
    assert_eq!(naive(&out), expected);
    let text = std::str::from_utf8(&out).unwrap();
    assert_eq!(peer(text, how), only_events(&expected));
    assert_eq!(client(text), only_events(&expected));
    assert_eq!(ours(&out, how, usize::MAX), (expected, None));
}
