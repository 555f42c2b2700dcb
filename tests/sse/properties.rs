//! Properties of every event and every stream: nothing is forged, nothing is lost, no chunk border
//! matters, and nothing is buffered beyond the limit.

use std::borrow::Cow;
use std::time::Duration;

use copilot_wire::sse::{
    Decoder, Event, EventId, EventName, EventWriter, Frame, TooLarge, comment, encode,
};
use proptest::prelude::*;

/// Decodes with the given chunk sizes, over and over, and reports everything.
fn decode(mut stream: &[u8], sizes: &[usize]) -> Vec<Frame<'static>> {
    let mut decoder = Decoder::new().report_comments(true).report_retry(true);
    let mut sizes = sizes.iter().copied().cycle();
    let mut frames = Vec::new();
    while !stream.is_empty() {
        let size = sizes.next().unwrap_or(stream.len()).min(stream.len());
        let (mut chunk, rest) = stream.split_at(size);
        while let Some(frame) = decoder.next(&mut chunk).unwrap() {
            frames.push(match frame {
                Frame::Event(event) => Frame::Event(event.into_owned()),
                Frame::Comment(text) => Frame::Comment(text.into_owned().into()),
                frame => frame_retry(&frame),
            });
        }
        stream = rest;
    }
    frames
}

fn frame_retry(frame: &Frame<'_>) -> Frame<'static> {
    let Frame::Retry(time) = frame else {
        panic!("unknown frame: {frame:?}")
    };
    Frame::Retry(*time)
}

fn whole(stream: &[u8]) -> Vec<Frame<'static>> {
    decode(stream, &[stream.len()])
}

/// The line ends that arrive: the format carries LF only.
fn with_lf(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\r', "\n")
}

/// Text made of what breaks encoders, and anything else.
fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("\n"),
        Just("\r"),
        Just("\r\n"),
        Just("\r\n\n"),
        Just("\n\ndata: evil\n\n"),
        Just("data:"),
        Just("event: evil"),
        Just("id: evil"),
        Just(": "),
        Just(" "),
        Just("\t"),
        Just("\0"),
        Just("\u{b}\u{c}\u{1c}\u{85}"),
        Just("\u{2028}\u{2029}"),
        Just("\u{feff}"),
        Just("\u{1f980}"),
    ]
    .prop_map(str::to_owned);
    let any = prop::collection::vec(any::<char>(), 0..12).prop_map(String::from_iter);
    prop::collection::vec(prop_oneof![3 => piece, 1 => any], 0..8).prop_map(|all| all.concat())
}

fn event() -> impl Strategy<Value = Event<'static>> {
    (text(), text(), text()).prop_map(|(name, data, id)| {
        let name = EventName::try_from(name.replace(['\r', '\n'], ""));
        let id = EventId::try_from(id.replace(['\r', '\n', '\0'], "")).unwrap();
        let event = Event::new(data).identified(&id);
        match &name {
            Ok(name) => event.named(name).into_owned(),
            Err(_) => event.into_owned(),
        }
    })
}

/// Bytes that look like a stream, well-formed or not.
fn stream() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        4 => Just(&b"\n"[..]),
        2 => Just(&b"\r"[..]),
        2 => Just(&b"\r\n"[..]),
        4 => Just(&b"data: "[..]),
        2 => Just(&b"data"[..]),
        2 => Just(&b"event:"[..]),
        2 => Just(&b"id: "[..]),
        2 => Just(&b"retry: 9"[..]),
        2 => Just(&b":"[..]),
        2 => Just(&b"text"[..]),
        1 => Just(&b"\0"[..]),
        1 => Just(&b"\xEF\xBB\xBF"[..]),
        1 => Just(&b"\xEF"[..]),
        1 => Just(&b"\xF0\x9F\xA6"[..]),
        1 => Just(&b"\x80"[..]),
        1 => Just(&b"a line that is longer than the words and blocks that are searched at once, by far"[..]),
    ];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

pub(crate) fn sizes() -> impl Strategy<Value = Vec<usize>> {
    prop::collection::vec(1_usize..20, 1..10)
}

proptest! {
    #[test]
    fn an_event_arrives_alone_and_as_it_was(event in event(), sizes in sizes()) {
        let mut out = Vec::new();
        encode(&event, &mut out);
        let arrives = EventParts::of(&event);
        for frames in [whole(&out), decode(&out, &sizes)] {
            let [Frame::Event(decoded)] = frames.as_slice() else { panic!("{frames:?}") };
            prop_assert_eq!(EventParts::of(decoded), EventParts { data: with_lf(&arrives.data), ..arrives.clone() });
        }
    }

    #[test]
    fn one_event_comes_out_for_each_that_goes_in(events in prop::collection::vec(event(), 0..6)) {
        let mut out = Vec::new();
        let mut expected = Vec::new();
        let mut last_id = String::new();
        for event in &events {
            comment(event.data(), &mut out);
            encode(event, &mut out);
            if !event.id().is_empty() {
                event.id().clone_into(&mut last_id);
            }
            expected.push(EventParts { data: with_lf(event.data()), id: last_id.clone(), ..EventParts::of(event) });
        }
        let decoded: Vec<_> = whole(&out)
            .iter()
            .filter_map(|frame| match frame {
                Frame::Event(event) => Some(EventParts::of(event)),
                _ => None,
            })
            .collect();
        prop_assert_eq!(decoded, expected);
    }

    #[test]
    fn data_written_in_place_is_the_same_as_data(data in text()) {
        let mut expected = b"before".to_vec();
        EventWriter::new(&mut expected).data(&data).finish();
        let mut out = b"before".to_vec();
        let writer = EventWriter::new(&mut out).data_with(|out| {
            out.extend_from_slice(data.as_bytes());
            Ok::<(), ()>(())
        });
        writer.unwrap().finish();
        prop_assert_eq!(out, expected);
    }

    #[test]
    fn chunk_borders_do_not_matter(stream in stream(), sizes in sizes()) {
        let expected = whole(&stream);
        prop_assert_eq!(&decode(&stream, &sizes), &expected);
        prop_assert_eq!(&decode(&stream, &[1]), &expected);
    }

    #[test]
    fn a_budget_is_exceeded_at_the_same_frame_for_any_chunks(
        stream in stream(),
        sizes in sizes(),
        limit in 0_usize..60,
    ) {
        let run = |sizes: &[usize]| {
            let mut decoder = Decoder::new().limit(limit).report_comments(true);
            let mut rest = stream.as_slice();
            let mut sizes = sizes.iter().copied().cycle();
            let mut frames = 0;
            while !rest.is_empty() {
                let (mut chunk, tail) = rest.split_at(sizes.next().unwrap().min(rest.len()));
                loop {
                    match decoder.next(&mut chunk) {
                        Ok(Some(_)) => frames += 1,
                        Ok(None) => break,
                        Err(error) => return (frames, Some(error)),
                    }
                }
                rest = tail;
            }
            (frames, None)
        };
        let expected = run(&[stream.len().max(1)]);
        prop_assert_eq!(run(&sizes), expected);
        prop_assert_eq!(run(&[1]), expected);
    }

    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200), sizes in sizes()) {
        prop_assert_eq!(decode(&bytes, &sizes), whole(&bytes));
    }

    #[test]
    fn names_and_ids_refuse_exactly_what_a_line_cannot_carry(text in text()) {
        let name = EventName::try_from(text.as_str());
        prop_assert_eq!(name.is_err(), text.is_empty() || text.contains(['\r', '\n']));
        if let Ok(name) = &name {
            prop_assert_eq!(name.as_str(), &text);
            prop_assert_eq!(name.as_ref(), &text);
            prop_assert_eq!(name.to_string(), text.as_str());
            let event = Event::new("").named(name);
            prop_assert_eq!(event.name(), &text);
        }
        prop_assert_eq!(EventName::try_from(text.clone()), name);

        let id = EventId::try_from(text.as_str());
        let refused = text.find(['\r', '\n', '\0']);
        prop_assert_eq!(id.as_ref().err().map(|error| error.offset()), refused);
        if let Ok(id) = &id {
            prop_assert_eq!(id.as_str(), &text);
            prop_assert_eq!(id.as_ref(), &text);
            prop_assert_eq!(id.to_string(), text.as_str());
            let event = Event::new("").identified(id);
            prop_assert_eq!(event.id(), &text);
        }
        prop_assert_eq!(EventId::try_from(text), id);
    }
}

#[derive(Clone, Debug, PartialEq)]
struct EventParts {
    name: String,
    data: String,
    id: String,
}

impl EventParts {
    fn of(event: &Event<'_>) -> Self {
        Self {
            name: event.name().into(),
            data: event.data().into(),
            id: event.id().into(),
        }
    }
}

#[test]
fn an_event_inside_one_chunk_is_borrowed_from_it() {
    let stream = "event: tick\ndata: caf\u{e9}\n\n";
    let mut decoder = Decoder::new();
    let mut chunk = stream.as_bytes();
    let Some(Frame::Event(event)) = decoder.next(&mut chunk).unwrap() else {
        panic!("no event")
    };
    let place = stream.as_bytes().as_ptr_range();
    assert!(place.contains(&event.data().as_ptr()));
    assert!(matches!(event.into_data(), Cow::Borrowed("caf\u{e9}")));
}

#[test]
fn an_event_that_starts_like_the_last_one_may_be_cut_anywhere() {
    let stream =
        b"event: a\ndata: one\n\nevent: a\ndata: two\ndata: three\n\nevent: a\ndata: four\r\n\r\n\
        event: a\ndata: five\nevent: b\n\ndata: six\n\ndata: seven\n\nevent: a\ndata: \n\n";
    let expected = whole(stream);
    assert_eq!(expected.len(), 7);
    for first in 1..stream.len() {
        for second in 1..=stream.len() - first {
            let sizes = [first, second, stream.len()];
            assert_eq!(decode(stream, &sizes), expected, "{sizes:?}");
        }
    }
}

#[test]
fn a_name_that_comes_again_is_not_copied_again() {
    let long = "n".repeat(1000);
    let stream = format!("event: tick\ndata: 1\n\nevent: tick\ndata: 2\n\nevent: {long}\ndata\n\n");
    let mut decoder = Decoder::new();
    let mut chunk = stream.as_bytes();
    let mut name = || {
        let Some(Frame::Event(event)) = decoder.next(&mut chunk).unwrap() else {
            panic!("no event")
        };
        (event.name().to_owned(), event.name().as_ptr())
    };
    let first = name();
    assert_eq!(first.0, "tick");
    assert_eq!(name(), first);
    // Only short names are remembered; any other is borrowed from the chunk.
    let third = name();
    assert_eq!(third.0, long);
    assert!(stream.as_bytes().as_ptr_range().contains(&third.1));
}

#[test]
fn every_buffer_counts_towards_the_budget() {
    let long = "x".repeat(90);
    let streams = [
        format!("data: {long}{long}"),
        format!("{long}{long}\n"),
        format!(": {long}{long}\n"),
        format!("event: {long}{long}"),
        format!("id: {long}{long}"),
        format!("data: {long}\ndata: {long}\n"),
        format!("event: {long}\ndata: {long}\n"),
        format!("id: {long}\ndata: {long}\n"),
        format!("id: {long}\n\ndata: {long}\n"),
        "data\n".repeat(150),
        // One that starts like the last one.
        format!("data: x\n\ndata: {long}{long}\n\n"),
    ];
    for stream in &streams {
        for size in [1, 7, stream.len()] {
            let mut decoder = Decoder::new().limit(128);
            let mut chunks = stream.as_bytes().chunks(size);
            let error = chunks.find_map(|mut chunk| {
                loop {
                    match decoder.next(&mut chunk) {
                        Ok(Some(_)) => {}
                        end => break end.err(),
                    }
                }
            });
            assert_eq!(error, Some(TooLarge::new(128)), "{stream:?}");
            let mut more = &b"data: x\n\n"[..];
            assert_eq!(decoder.next(&mut more), Err(TooLarge::new(128)));
        }
    }
}

#[test]
fn the_default_limit_is_a_mebibyte() {
    for (length, fits) in [(1 << 20, true), ((1 << 20) + 1, false)] {
        let line = "x".repeat(length) + "\n";
        let mut decoder = Decoder::new();
        let result = decoder.next(&mut line.as_bytes());
        assert_eq!(result.is_ok(), fits, "{length}");
    }
}

#[test]
fn an_event_that_starts_like_the_last_one_needs_no_more_than_that() {
    let mut decoder = Decoder::new().limit(8);
    for (chunk, data) in [
        ("data: a\n\n", Some("a")),
        ("data: b", None),
        ("c\n\n", Some("bc")),
    ] {
        let frame = decoder.next(&mut chunk.as_bytes()).unwrap();
        assert_eq!(frame, data.map(|data| Frame::Event(Event::new(data))));
    }
}

#[test]
fn a_field_that_is_replaced_counts_no_more() {
    for (limit, first, second) in [
        (15, "event: abcd\n", "event: efgh\ndata: 12345\n\n"),
        (12, "id: abcd\n", "id: efgh\ndata: 12\n\n"),
    ] {
        let mut decoder = Decoder::new().limit(limit);
        assert_eq!(decoder.next(&mut first.as_bytes()), Ok(None));
        let event = decoder.next(&mut second.as_bytes());
        assert!(matches!(event, Ok(Some(_))), "{second}");
    }
}

#[test]
fn a_budget_is_for_one_event_not_for_the_stream() {
    let stream = format!("event: tick\ndata: {}\n: ping\n\n", "x".repeat(90)).repeat(1_000);
    for size in [1, 16, 1_460, stream.len()] {
        let mut decoder = Decoder::new().limit(128);
        let mut events = 0;
        for mut chunk in stream.as_bytes().chunks(size) {
            while decoder.next(&mut chunk).unwrap().is_some() {
                events += 1;
            }
        }
        assert_eq!(events, 1_000);
    }
}

#[test]
fn errors_say_what_and_where_but_not_the_payload() {
    let error = TooLarge::new(128);
    assert_eq!(error.to_string(), "larger than the limit of 128 bytes");
    let error = EventName::try_from("").unwrap_err();
    assert_eq!(
        (error.to_string().as_str(), error.offset()),
        ("event name is empty", 0)
    );
    let error = EventId::try_from("secret\0").unwrap_err();
    assert_eq!(error.to_string(), "event id holds a null at byte 6");
    assert!(!format!("{error:?}").contains("secret"));

    let mut decoder = Decoder::new();
    decoder.next(&mut &b"data: secret"[..]).unwrap();
    assert!(!format!("{decoder:?}").contains("secret"));
}

#[test]
fn an_event_that_is_not_finished_is_taken_back() {
    let mut out = b"data: first\n\n".to_vec();
    let name = EventName::from_static("tick").unwrap();

    let failed = EventWriter::new(&mut out)
        .name(&name)
        .data_with(|out| {
            out.extend_from_slice(b"half");
            Err("no more")
        })
        .map(EventWriter::finish);
    assert_eq!(failed, Err("no more"));

    let unwound = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        EventWriter::new(&mut out)
            .name(&name)
            .data_with::<()>(|_| panic!("in the middle"))
            .map(EventWriter::finish)
    }));
    assert!(unwound.is_err());
    assert_eq!(out, b"data: first\n\n");
}

#[test]
fn a_retry_beyond_u64_saturates() {
    let mut decoder = Decoder::new();
    let stream = format!("retry: {}0\n", u64::MAX);
    assert_eq!(decoder.next(&mut stream.as_bytes()), Ok(None));
    assert_eq!(decoder.retry(), Some(Duration::from_millis(u64::MAX)));
}

#[test]
fn a_block_without_its_blank_line_changes_nothing() {
    let mut decoder = Decoder::new();
    let mut chunk = &b"id: 1\n\nid: 2\ndata: x\n"[..];
    assert_eq!(decoder.next(&mut chunk), Ok(None));
    assert_eq!(decoder.last_event_id(), "1");
}
