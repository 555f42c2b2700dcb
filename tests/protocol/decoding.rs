//! Streams: their events, their data, and what a decoder does with an event that is like the one before.

use bytes::Bytes;
use copilot_wire::github::GitHub;
use copilot_wire::meilisearch::Meilisearch;
use copilot_wire::openai::OpenAi;
use copilot_wire::openbb::OpenBb;
use copilot_wire::protocol::{EventDecoder, EventError, Events, Framing, Payloads, Protocol};
use copilot_wire::responses::Responses;

fn decode<P: Protocol<Event: Clone>>(
    decoder: &mut EventDecoder<P>,
    mut input: &[u8],
) -> Result<Vec<P::Event>, EventError> {
    let mut events = Vec::new();
    while let Some(event) = decoder.next(&mut input)? {
        events.push(event.clone());
    }
    Ok(events)
}

/// Checks that frames are decoded one after the other as each of them alone.
fn like_alone<P: Protocol<Event: Clone + PartialEq + std::fmt::Debug>>(frames: [&str; 4]) {
    let mut decoder = EventDecoder::<P>::new();
    for frame in frames {
        let alone = decode(&mut EventDecoder::<P>::new(), frame.as_bytes());
        assert_eq!(decode(&mut decoder, frame.as_bytes()), alone, "{frame}");
    }
}

#[test]
fn an_empty_text_and_another_name_are_no_text_like_the_one_before() {
    let chunk = |text| {
        format!("data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"{text}\"}}}}]}}\n\n")
    };
    let chunks = [chunk("a"), chunk("b"), chunk(""), chunk("c")];
    let chunks = chunks.each_ref().map(|chunk| &**chunk);
    like_alone::<OpenAi>(chunks);
    like_alone::<GitHub>(chunks);
    like_alone::<Meilisearch>(chunks);
    let piece = |name, text| format!("event: {name}\ndata: {{\"delta\":\"{text}\"}}\n\n");
    let [message, other] = ["copilotMessageChunk", "copilotMessageChunks"];
    let pieces = [
        piece(message, "a"),
        piece(message, ""),
        piece(message, "b"),
        piece(other, "c"),
    ];
    like_alone::<OpenBb>(pieces.each_ref().map(|piece| &**piece));
}

#[test]
fn the_number_of_an_event_is_json_in_every_event() {
    let delta = |number: &str| {
        format!(
            "data: {{\"type\":\"response.output_text.delta\",\"sequence_number\":{number},\"delta\":\"a\"}}\n\n"
        )
    };
    let mut decoder = EventDecoder::<Responses>::new();
    for number in ["1", "2", "0", "10"] {
        let events = decode(&mut decoder, delta(number).as_bytes());
        assert!(events.is_ok(), "{number}");
        let events = decode(&mut decoder, delta(&format!("0{number}")).as_bytes());
        assert!(matches!(events, Err(EventError::Data(_))), "{events:?}");
        // The next event is like one that was decoded.
        decode(&mut decoder, delta("7").as_bytes()).unwrap();
        let events = decode(&mut decoder, delta("07").as_bytes());
        assert!(matches!(events, Err(EventError::Data(_))), "{events:?}");
    }
}

#[test]
fn a_limit_of_a_decoder_is_that_of_its_frames() {
    let frame = format!(
        "event: copilotMessageChunk\ndata: {{\"delta\":\"{}\"}}\n\n",
        "a".repeat(99)
    );
    let mut decoder = EventDecoder::<OpenBb>::new().limit(99);
    let events = decode(&mut decoder, frame.as_bytes());
    assert!(matches!(events, Err(EventError::Stream(_))), "{events:?}");
}

#[test]
fn a_queue_is_empty_until_an_event_is_pushed() {
    let mut events = Events::new();
    assert!(events.is_empty());
    events.push(1);
    assert!(!events.is_empty());
    assert_eq!((events.pop(), events.pop()), (Some(1), None));
    assert!(events.is_empty());
}

/// Returns the data that comes out after these pieces, read after each of them or after the last.
fn data(framing: Framing, pieces: &[&str], is_read_each: bool) -> Vec<Bytes> {
    let mut payloads = Payloads::new(framing);
    let mut data = Vec::new();
    for (at, piece) in pieces.iter().enumerate() {
        payloads.push(Bytes::copy_from_slice(piece.as_bytes()));
        if at == 0 {
            assert_eq!(payloads.is_empty(), piece.is_empty());
        }
        if is_read_each || at + 1 == pieces.len() {
            data.extend(std::iter::from_fn(|| payloads.next()));
            assert!(payloads.is_empty());
        }
    }
    data
}

/// Every stream in two and in three pieces: each event comes out with the piece that it ends in.
#[test]
fn data_comes_out_whole_however_its_stream_is_cut() {
    let events = "event: a\ndata: 1\n\n: ping\n\ndata: 2\ndata:3\n\ndata:\n\ndata: 45\n\n";
    for (framing, stream, expected) in [
        (Framing::Sse, events, ["1", "2\n3", "45"]),
        (Framing::Lines, "1\n\n23\n45\n", ["1", "23", "45"]),
    ] {
        for first in 0..=stream.len() {
            for second in first..=stream.len() {
                let pieces = [&stream[..first], &stream[first..second], &stream[second..]];
                for count in 1..=3 {
                    let pieces = &pieces[..count];
                    let whole = data(framing, &[&pieces.concat()], true);
                    assert_eq!(data(framing, pieces, true), whole, "{pieces:?}");
                    assert_eq!(data(framing, pieces, false), whole, "{pieces:?}");
                }
                assert_eq!(data(framing, &pieces, true), expected, "{pieces:?}");
            }
        }
    }
}
