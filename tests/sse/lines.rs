//! Properties of every stream of lines: no chunk border matters, nothing is lost, and nothing is buffered beyond the
//! limit.

use std::borrow::Cow;
use std::time::Duration;

use copilot_wire::lines::Decoder;
use copilot_wire::protocol::{Frames, Framing};
use copilot_wire::sse::{Event, Frame, TooLarge};
use proptest::prelude::*;

use crate::properties::sizes;

/// Decodes with the given chunk sizes, over and over, up to the end or the error.
fn decode(mut stream: &[u8], sizes: &[usize], limit: usize) -> (Vec<String>, Result<(), TooLarge>) {
    let mut decoder = Decoder::new().limit(limit);
    let mut sizes = sizes.iter().copied().cycle();
    let mut lines = Vec::new();
    while !stream.is_empty() {
        let size = sizes.next().unwrap().min(stream.len());
        let (mut chunk, rest) = stream.split_at(size);
        loop {
            match decoder.next(&mut chunk) {
                Ok(Some(line)) => lines.push(line.into_owned()),
                Ok(None) => break,
                Err(error) => {
                    assert_eq!(decoder.next(&mut chunk), Err(error));
                    assert_eq!(decoder.end(), None);
                    return (lines, Err(error));
                }
            }
        }
        stream = rest;
    }
    lines.extend(decoder.end());
    assert_eq!(decoder.end(), None);
    (lines, Ok(()))
}

/// The lines of a stream, without a decoder.
fn expected(stream: &[u8]) -> Vec<String> {
    let lines = stream.split(|byte| *byte == b'\n');
    let lines = lines.map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    let lines = lines.filter(|line| !line.trim_ascii().is_empty());
    lines
        .map(|line| String::from_utf8_lossy(line).into_owned())
        .collect()
}

/// Bytes that look like a stream, well-formed or not.
fn stream() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        4 => Just(&b"\n"[..]),
        2 => Just(&b"\r"[..]),
        2 => Just(&b"\r\n"[..]),
        4 => Just(&b"{\"a\":1}"[..]),
        2 => Just(&b" "[..]),
        1 => Just(&b"\0"[..]),
        1 => Just(&b"\xEF\xBB\xBF"[..]),
        1 => Just(&b"\xF0\x9F\xA6"[..]),
        1 => Just(&b"\x80"[..]),
        1 => Just(&b"\xe2\x80\xa8"[..]),
        1 => Just(&b"a line that is longer than the words and blocks that are searched at once, by far"[..]),
    ];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn no_chunk_border_matters(stream in stream(), sizes in sizes()) {
        let whole = (expected(&stream), Ok(()));
        for sizes in [&sizes[..], &[1], &[usize::MAX]] {
            prop_assert_eq!(&decode(&stream, sizes, usize::MAX), &whole);
        }
    }

    #[test]
    fn the_limit_is_that_of_a_line(stream in stream(), sizes in sizes(), limit in 0_usize..100) {
        let whole = decode(&stream, &[usize::MAX], limit);
        let too_large = |line: &[u8]| line.strip_suffix(b"\r").unwrap_or(line).len() > limit;
        let fails = stream.split(|byte| *byte == b'\n').any(too_large);
        prop_assert_eq!(whole.1.is_err(), fails);
        for sizes in [&sizes[..], &[1]] {
            prop_assert_eq!(&decode(&stream, sizes, limit), &whole);
        }
    }

    #[test]
    fn boundaries_are_found(lines in prop::collection::vec("[^\r\n]{0,300}", 0..20)) {
        for framing in [Framing::Sse, Framing::Lines] {
            let event = |line: &String| match framing {
                Framing::Sse => format!("data: {line}\n\n"),
                _ => format!("{{{line}}}\n"),
            };
            let events: Vec<_> = lines.iter().map(event).collect();
            let all = events.concat();
            prop_assert_eq!(framing.count(all.as_bytes()), events.len() as u64);
            let mut at = 0;
            for (count, event) in events.iter().enumerate() {
                prop_assert_eq!(framing.skip(all.as_bytes(), count as u64), at);
                at += event.len();
            }
            for beyond in [events.len() as u64, u64::MAX] {
                prop_assert_eq!(framing.skip(all.as_bytes(), beyond), all.len());
            }
        }
    }
}

#[test]
fn a_whole_line_is_borrowed() {
    let mut decoder = Decoder::new();
    let mut input = &b"one\r\n\ntwo\nth"[..];
    for line in ["one", "two"] {
        assert!(matches!(decoder.next(&mut input), Ok(Some(Cow::Borrowed(text))) if text == line));
    }
    assert_eq!(decoder.next(&mut input), Ok(None));
    assert_eq!(decoder.next(&mut &b"ree\n"[..]), Ok(Some("three".into())));
    assert_eq!(decoder.end(), None);
}

#[test]
fn a_carriage_return_at_the_limit_may_belong_to_the_line_end() {
    let mut decoder = Decoder::new().limit(3);
    assert_eq!(decoder.next(&mut &b"abc\r"[..]), Ok(None));
    assert_eq!(decoder.next(&mut &b"\n"[..]), Ok(Some("abc".into())));
}

/// With a quadratic decoder this test does not end.
#[test]
fn a_long_line_may_come_byte_by_byte() {
    let line = "x".repeat(1024 * 1024);
    let (lines, end) = decode(format!("{line}\n").as_bytes(), &[1], line.len());
    assert_eq!(end, Ok(()));
    assert!(lines == [line]);
}

#[test]
fn events_are_counted_by_their_ends() {
    let sse = b"data: a\ndata: b\n\n: ping\n\nid: 1\ndata\n\n";
    let lines = b"{\"a\":1}\n{}\n[2]\n";
    for (framing, events, at) in [
        (Framing::Sse, &sse[..], [0, 17, 25, 37, 37]),
        (Framing::Lines, &lines[..], [0, 8, 11, 15, 15]),
    ] {
        assert_eq!(framing.count(events), 3);
        for (count, at) in at.into_iter().enumerate() {
            assert_eq!(framing.skip(events, count as u64), at, "{count}");
        }
        assert_eq!(framing.count(b""), 0);
        assert_eq!(framing.skip(b"", 3), 0);
        // At any place, among any number of bytes.
        for length in 1..600 {
            let event = [&b"x".repeat(length), framing.boundary()].concat();
            assert_eq!(framing.count(&event.repeat(5)), 5, "{length}");
        }
    }
    for length in 1..600 {
        assert_eq!(Framing::Sse.count(&vec![b'\n'; length + 1]), length as u64);
        assert_eq!(Framing::Lines.count(&vec![b'\n'; length]), length as u64);
    }
}

#[test]
fn a_framing_has_its_constants() {
    let of = |framing: Framing| (framing.content_type(), framing.keep_alive());
    assert_eq!(of(Framing::Sse), ("text/event-stream", &b": ping\n\n"[..]));
    assert_eq!(of(Framing::Lines), ("application/x-ndjson", &b""[..]));
}

#[test]
fn frames_of_either_framing_are_decoded_alike() {
    let stream = |framing, data: &str| match framing {
        Framing::Sse => format!("retry: 7\ndata: {data}\n\ndata: cut"),
        _ => format!("{data}\ncut"),
    };
    let retry = Some(Duration::from_millis(7));
    for (framing, end, retry) in [
        (Framing::Sse, None, retry),
        (Framing::Lines, Some(Event::new("cut")), None),
    ] {
        let text = stream(framing, "12345");
        let mut input = text.as_bytes();
        let mut frames = Frames::new(framing).limit(11);
        let event = Frame::Event(Event::new("12345"));
        assert_eq!(frames.retry(), None);
        assert_eq!(frames.next(&mut input), Ok(Some(event)));
        assert_eq!(frames.next(&mut input), Ok(None));
        assert_eq!(frames.retry(), retry);
        assert_eq!(frames.end(), end);
        assert_eq!(frames.end(), None);

        let mut frames = Frames::new(framing).limit(11);
        let text = stream(framing, "123456789012");
        let error = Err(TooLarge::new(11));
        assert_eq!(frames.next(&mut text.as_bytes()), error, "{framing:?}");
    }
}
