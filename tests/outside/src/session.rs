//! One reply as it is written.

use std::convert::Infallible;

use copilot_wire::json::Escape;
use copilot_wire::protocol::{self, Failure, Framing, Part, SendError, TextFrame};
use serde_json::{Value, json};

use crate::Note;

/// One reply: its blocks, or the document that they become.
#[derive(Debug)]
pub struct Session {
    stream: bool,
    /// The number of the newest block.
    block: u64,
    /// The bytes around text while that block is open: the first text opens it.
    open: Option<TextFrame>,
    beats: u64,
    /// The text and the notes of a document.
    text: String,
    notes: Vec<String>,
}

impl Session {
    pub(crate) fn new(stream: bool) -> Self {
        Self {
            stream,
            block: 0,
            open: None,
            beats: 0,
            text: String::new(),
            notes: Vec::new(),
        }
    }

    /// Writes a frame. Of a document nothing is written before its end.
    fn write(&self, name: &str, data: &Value, out: &mut Vec<u8>) {
        if self.stream {
            out.extend_from_slice(format!("event: {name}\ndata: {data}\n\n").as_bytes());
        }
    }

    fn close(&mut self, out: &mut Vec<u8>) {
        if self.open.take().is_some() {
            self.write("end", &json!({"block": self.block}), out);
        }
    }

    fn note(&mut self, text: &str, out: &mut Vec<u8>) {
        self.close(out);
        self.notes.push(text.to_owned());
        self.write("note", &json!({"text": text}), out);
    }
}

impl protocol::Session for Session {
    type Output = Note;
    type Ending = Infallible;

    fn text_frame(&self) -> Option<TextFrame> {
        self.open.clone()
    }

    fn text(&mut self, text: &str, out: &mut Vec<u8>) -> Result<(), SendError> {
        if !self.stream {
            self.text.push_str(text);
            return Ok(());
        }
        if self.open.is_none() {
            self.block += 1;
            self.write("start", &json!({"block": self.block}), out);
        }
        let frame = self.open.get_or_insert_with(|| delta(self.block));
        frame.write(text, out);
        Ok(())
    }

    fn part(&mut self, part: Part<'_>, out: &mut Vec<u8>) -> Result<(), SendError> {
        match part {
            Part::Status(status) => self.note(&status.message, out),
            Part::ToolRun(run) => self.note(&run.to_status().message, out),
            Part::Cite(source) => self.note(&source.title, out),
            Part::Table(table) => self.note(&table.name, out),
            Part::Chart(chart) => self.note(&chart.name, out),
            Part::Error(notice) => self.note(&notice.message, out),
            Part::Confirm(question) => self.text(&question.to_text()?, out)?,
            Part::Calls(_) => return Err(SendError::Unsupported("the Pager runs no tools")),
            // The Pager has no form for other parts.
            _ => {}
        }
        Ok(())
    }

    fn output(&mut self, Note(text): &Note, out: &mut Vec<u8>) -> Result<(), SendError> {
        self.note(text, out);
        Ok(())
    }

    fn ending(&mut self, never: &Infallible, _: &mut Vec<u8>) -> Result<(), SendError> {
        match *never {}
    }

    fn keep_alive(&mut self, _: Framing, out: &mut Vec<u8>) {
        self.beats += 1;
        self.write("beat", &json!({"beats": self.beats}), out);
    }

    /// Writes the end of the last block and the end of the answer: two events in one frame.
    fn finish(&mut self, out: &mut Vec<u8>) {
        if !self.stream {
            let document = json!({"text": self.text, "notes": self.notes});
            out.extend_from_slice(document.to_string().as_bytes());
            return;
        }
        let block = self.open.as_ref().map(|_| self.block);
        self.write("end", &json!({"block": block, "done": true}), out);
    }

    fn fail(&mut self, failure: &Failure<'_>, out: &mut Vec<u8>) {
        let failed = json!({"failed": failure.message, "again": failure.retryable});
        self.close(out);
        self.write("failed", &failed, out);
    }
}

/// The bytes around every piece of text of a block.
fn delta(block: u64) -> TextFrame {
    let head = format!("event: delta\ndata: {{\"block\":{block},\"text\":\"");
    TextFrame::new(head, &b"\"}\n\n"[..], Escape::Json)
}
