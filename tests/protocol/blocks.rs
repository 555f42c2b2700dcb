//! A protocol of blocks, with all the defaults: each event is a line.

use std::convert::Infallible;

use copilot_wire::json::Escape;
use copilot_wire::protocol::{
    Block, Blocks, Citation, Completion, Delta, End, Part, SendError, Session, TextFrame, Writer,
};

/// `twice` breaks the rule that pieces differ in one text only.
#[derive(Default)]
struct Plain {
    twice: bool,
}

impl Blocks for Plain {
    type Output = Vec<&'static str>;
    type Ending = Infallible;
    type Event = String;

    fn write(&self, event: &String, out: &mut Vec<u8>) {
        out.extend_from_slice(event.as_bytes());
        out.push(b'\n');
    }

    fn document(answer: Completion, out: &mut Vec<u8>) {
        out.extend_from_slice(answer.text().as_bytes());
    }

    fn piece(&self, block: Block, text: String) -> Option<String> {
        let text = serde_json::Value::from(text);
        let sign = if block == Block::Text { 't' } else { 'r' };
        Some(match self.twice {
            true => format!("{sign}{text}{text}"),
            false => format!("{sign}{text}"),
        })
    }

    fn output(
        &mut self,
        events: &Vec<&'static str>,
        to: &mut Writer<'_, Self>,
    ) -> Result<(), SendError> {
        for event in events {
            to.event(self, *event);
        }
        Ok(())
    }

    fn ending(&mut self, ending: &Infallible, _: &mut Writer<'_, Self>) -> Result<(), SendError> {
        match *ending {}
    }

    fn end(&mut self, end: End<'_>, to: &mut Writer<'_, Self>) -> Result<(), SendError> {
        if let End::Failed(_) = end {
            to.fail();
            to.event(self, "failed");
            return Ok(());
        }
        to.event(self, "end");
        Ok(())
    }

    fn reply_id(&self) -> Option<&str> {
        Some("r-1")
    }
}

fn stream(twice: bool) -> Session<Plain> {
    Session::new(Plain { twice })
}

fn document() -> Session<Plain> {
    // Ten bytes of text, and what a first piece takes besides.
    let answer = Completion::new().limit(10 + 128);
    Session::new(Plain::default()).document(answer, |event, to| to(Delta::Text(event)))
}

/// Writes three texts, three pieces of reasoning and a text, as a reply does.
fn write(session: &mut Session<Plain>, out: &mut Vec<u8>) {
    for text in ["a", "b", "c\u{2028}"] {
        match session.text_frame() {
            Some(frame) => frame.write(text, out),
            None => session.text(text, out).unwrap(),
        }
    }
    for text in ["x", "y", "z"] {
        session.part(Part::Reasoning(text), out).unwrap();
        assert!(session.text_frame().is_none());
    }
    session.text("d", out).unwrap();
}

#[test]
fn a_piece_is_an_event_of_its_block() {
    for twice in [false, true] {
        let (mut session, mut out) = (stream(twice), Vec::new());
        write(&mut session, &mut out);
        session.finish(&mut out);
        // A frame escapes as the protocol does, and there is none for a text that occurs twice.
        let expected = match twice {
            false => "t\"a\"\nt\"b\"\nt\"c\u{2028}\"\nr\"x\"\nr\"y\"\nr\"z\"\nt\"d\"\nend\n",
            true => {
                "t\"a\"\"a\"\nt\"b\"\"b\"\nt\"c\u{2028}\"\"c\u{2028}\"\nr\"x\"\"x\"\nr\"y\"\"y\"\nr\"z\"\"z\"\n\
                 t\"d\"\"d\"\nend\n"
            }
        };
        assert_eq!(String::from_utf8(out).unwrap(), expected);
        assert_eq!(session.reply_id(), Some("r-1"));
    }
}

#[test]
fn a_frame_is_made_for_the_third_piece_of_a_block() {
    let (mut session, mut out) = (stream(false), Vec::new());
    for has_frame in [false, true, true] {
        session.text("a", &mut out).unwrap();
        assert_eq!(session.text_frame().is_some(), has_frame);
    }
}

#[test]
fn a_document_has_the_same_pieces() {
    let answer = Completion::new();
    let session = Session::new(Plain::default());
    let mut session = session.document(answer, |event, to| to(Delta::Text(event)));
    let mut out = Vec::new();
    write(&mut session, &mut out);
    assert!(out.is_empty());
    session.finish(&mut out);
    let expected = "t\"a\"bc\u{2028}r\"x\"r\"y\"r\"z\"t\"d\"end";
    assert_eq!(String::from_utf8(out).unwrap(), expected);
}

#[test]
fn a_document_that_is_full_is_an_error_whatever_comes_after() {
    let (mut session, mut out) = (document(), Vec::new());
    let events = |events: &[&'static str]| events.to_vec();
    let full = session.output(&events(&["12345678901", "b"]), &mut out);
    assert!(matches!(full, Err(SendError::TooLarge(_))), "{full:?}");
    let fits = events(&["123456789", "b"]);
    assert_eq!(session.output(&fits, &mut out), Ok(()));
}

#[test]
fn a_cancelled_reply_ends_with_its_sources_as_every_other() {
    let mut ends = Vec::new();
    for cancelled in [false, true] {
        let (mut session, mut out) = (stream(false), Vec::new());
        let citation = Citation::new("notes");
        session.part(Part::Cite(&citation), &mut out).unwrap();
        assert!(out.is_empty());
        match cancelled {
            true => session.cancelled(&mut out),
            false => session.finish(&mut out),
        }
        ends.push(String::from_utf8(out).unwrap());
    }
    let end = "t\"\\n\\n**Sources**\\n\\n- notes\\n\"\nend\n";
    assert_eq!(ends, [end, end]);
}

#[test]
fn a_piece_has_at_most_a_mebibyte() {
    const MEBIBYTE: usize = 1 << 20;
    for (text, lengths) in [
        ("a".repeat(MEBIBYTE), vec![MEBIBYTE]),
        ("a".repeat(MEBIBYTE + 1), vec![MEBIBYTE, 1]),
        // `é` is not cut.
        (
            "a".to_owned() + &"é".repeat(MEBIBYTE / 2),
            vec![MEBIBYTE - 1, 2],
        ),
    ] {
        let (mut session, mut out) = (stream(false), Vec::new());
        session.text(&text, &mut out).unwrap();
        let out = String::from_utf8(out).unwrap();
        let written: Vec<usize> = out.lines().map(|line| line.len() - "t\"\"".len()).collect();
        assert_eq!(written, lengths);
    }
}

/// A protocol with a beginning, and an answer that cannot be ended.
struct Endless;

impl Blocks for Endless {
    type Output = Infallible;
    type Ending = Infallible;
    type Event = &'static str;

    fn write(&self, event: &&'static str, out: &mut Vec<u8>) {
        out.extend_from_slice(event.as_bytes());
    }

    fn begin(&mut self, to: &mut Writer<'_, Self>) {
        to.event(self, "begun ");
    }

    fn output(&mut self, never: &Infallible, _: &mut Writer<'_, Self>) -> Result<(), SendError> {
        match *never {}
    }

    fn ending(&mut self, never: &Infallible, _: &mut Writer<'_, Self>) -> Result<(), SendError> {
        match *never {}
    }

    fn end(&mut self, end: End<'_>, to: &mut Writer<'_, Self>) -> Result<(), SendError> {
        match end {
            End::Failed(_) => {
                to.event(self, "failed");
                Ok(())
            }
            _ => {
                to.event(self, "half an end");
                Err(SendError::Unsupported("the end"))
            }
        }
    }
}

#[test]
fn an_end_that_fails_leaves_one_beginning_and_the_failure() {
    let (mut session, mut out) = (Session::new(Endless), Vec::new());
    session.finish(&mut out);
    assert_eq!(out, b"begun failed");
}

#[test]
fn text_without_pieces_is_left_out_and_a_frame_is_used_from_the_first_piece_on() {
    let (mut session, mut out) = (Session::new(Endless), Vec::new());
    session.text("a", &mut out).unwrap();
    assert_eq!(out, b"begun ");
    let frame = TextFrame::from_static(b"<", b">", Escape::Json);
    let (mut session, mut out) = (Session::new(Endless).frame(frame), Vec::new());
    assert!(session.text_frame().is_some());
    for text in ["a", "b\u{2028}"] {
        session.text(text, &mut out).unwrap();
        // There is no form for it, and the text goes on.
        session.part(Part::Reasoning("r"), &mut out).unwrap();
    }
    assert_eq!(String::from_utf8(out).unwrap(), "begun <a><b\u{2028}>");
}
