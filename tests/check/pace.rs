//! Agents that think before they speak, and what collects their words.

use copilot_wire_kit::check::check;
use futures::executor::block_on;

use crate::script::{Answer, Asked, Front, Piece, Script};
use crate::streams::HELLO;

fn found(
    fault: impl Fn(&Asked<'_>, Answer) -> Answer + Send + Sync + 'static,
) -> Vec<&'static str> {
    let script = Script::new(Front::OpenAi, fault);
    block_on(check(&script, script.target())).rules().collect()
}

/// The text three times, all at once and late.
fn collected(answer: Answer) -> Answer {
    let answer = answer.said(HELLO, &HELLO.repeat(3));
    let text = answer.text();
    answer.pieces([Piece::Late, Piece::Bytes(text.into())])
}

/// The same, with a pause behind the first piece of text.
fn paced(asked: &Asked<'_>, answer: Answer) -> Answer {
    let answer = collected(answer);
    if !asked.has("stream_options") {
        return answer;
    }
    let text = answer.text();
    let (begun, rest) = text.split_at(text.find(HELLO).unwrap() + HELLO.len());
    let (begun, rest) = (begun.to_owned(), rest.to_owned());
    let bytes = |text: String| Piece::Bytes(text.into());
    answer.pieces([Piece::Late, bytes(begun), Piece::Late, bytes(rest)])
}

#[test]
fn words_that_are_collected_are_found() {
    assert_eq!(found(|_, answer| collected(answer)), ["http/collected"]);
    // However many pieces they come in.
    let found = found(|_, answer| {
        let answer = collected(answer);
        let text = answer.text();
        let events = text.split_inclusive("\n\n").map(str::to_owned);
        let events: Vec<_> = events.map(|event| Piece::Bytes(event.into())).collect();
        answer.pieces([Piece::Late].into_iter().chain(events))
    });
    assert_eq!(found, ["http/collected"]);
}

#[test]
fn one_answer_that_comes_as_it_is_said_clears_the_others() {
    assert!(found(paced).is_empty());
}

#[test]
fn an_agent_that_thinks_may_say_what_it_thought() {
    let found = found(|_, answer| {
        let text = answer.text();
        answer.pieces([Piece::Late, Piece::Bytes(text.into())])
    });
    assert!(found.is_empty(), "{found:?}");
}
