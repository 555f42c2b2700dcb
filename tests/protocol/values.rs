//! Small types that protocols share.

use std::time::{Duration, SystemTime};

use copilot_wire::protocol::{
    AgentError, Confirmation, Env, Environment, OneLine, Outcome, Question, Refusal, Room,
    date_time,
};
use http::StatusCode;

/// The same bytes each time.
struct Bytes(u8);

impl Environment for Bytes {
    fn now(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(3_723)
    }

    fn random(&self, bytes: &mut [u8]) {
        bytes.fill(self.0);
    }
}

/// RFC 9562, section 5.4.
#[test]
fn an_id_is_a_random_uuid() {
    for (byte, expected) in [
        (0xff, "ffffffff-ffff-4fff-bfff-ffffffffffff"),
        (0x00, "00000000-0000-4000-8000-000000000000"),
    ] {
        let env = Env::new(Bytes(byte));
        assert_eq!(env.uuid(), expected);
        assert_eq!(env.new_id("a"), format!("a_{}", expected.replace('-', "")));
    }
}

#[test]
fn a_time_is_written_to_the_second() {
    let env = Env::new(Bytes(0));
    assert_eq!(date_time(env.unix_time()), "1970-01-01T01:02:03Z");
    assert_eq!(date_time(951_782_399), "2000-02-28T23:59:59Z");
    assert_eq!(date_time(951_782_400), "2000-02-29T00:00:00Z");
}

#[test]
fn only_what_is_hidden_is_escaped_on_one_line() {
    for (text, expected) in [
        ("naïve \"日本\" \\ 😀", "naïve \"日本\" \\ 😀"),
        ("a\tb\u{85}", r"a\tb\u{85}"),
        ("\u{2028}\u{2029}\u{ad}", r"\u{2028}\u{2029}\u{ad}"),
    ] {
        assert_eq!(OneLine(text).to_string(), expected);
    }
}

#[test]
fn a_room_is_full_beyond_its_limit() {
    let mut room = Room::<10>::default();
    assert_eq!(room.check(10).ok(), Some(10));
    assert!(room.check(11).is_err());
    room.take(4).unwrap();
    assert!(room.take(7).is_err());
    room.take(6).unwrap();
}

#[test]
fn a_fault_is_a_failure_or_a_panic() {
    let (error, refusal) = (AgentError::new(""), Refusal::new(StatusCode::OK, ""));
    let (error, refusal) = (&error, &refusal);
    for (outcome, is_fault) in [
        (Outcome::Failed { error, sent: true }, true),
        (Outcome::Panicked { sent: false }, true),
        (Outcome::Answered, false),
        (Outcome::Refused(refusal), false),
        (Outcome::Cancelled, false),
        (Outcome::ShutDown, false),
        (Outcome::ClientLeft, false),
    ] {
        assert_eq!(outcome.is_fault(), is_fault, "{outcome:?}");
    }
}

#[test]
fn debug_of_a_question_is_that_of_its_confirmation() {
    let confirmation = Confirmation::new("1", "Go?", "Now.");
    let ask = |_: &Confirmation| Ok(String::new());
    let question = Question::new(&confirmation, &ask);
    assert_eq!(
        format!("{question:?}"),
        format!("Question({confirmation:?})")
    );
}
