//! `wire decode`: the typed events of a stream, and what is wrong with it.

mod blocks;
mod meilisearch;
mod reader;

use clap::Args;
use copilot_wire::json::Json;
use copilot_wire::protocol::EventError;
use copilot_wire::sse::{Decoder, Event, Frame};
use serde::Serialize;

use crate::cli::{Front, LIMIT};
use crate::input::Input;
use crate::said::Said;
use crate::screen::{Screen, Style, plain, short};
use crate::verdict::{Failure, Verdict};
use blocks::Blocks;

/// The options of `wire decode`.
#[derive(Args, Debug)]
pub(crate) struct Options {
    /// The protocol of the stream
    #[arg(value_name = "PROTOCOL")]
    front: Front,
    #[command(flatten)]
    input: Input,
}

/// Shows every event as it comes.
pub(crate) fn run(options: &Options, screen: &mut Screen) -> Result<Verdict, Failure> {
    let mut reader = reader::of(options.front);
    let mut report = Report::new(screen);
    let mut frames = Decoder::with_budget(LIMIT);
    let mut blocks = Blocks::default();
    let mut pieces = options.input.pieces(None)?;
    while let Some(mut bytes) = pieces.next(report.screen)? {
        loop {
            let before = bytes;
            let next = frames.next(&mut bytes);
            let consumed = before.split_at_checked(before.len() - bytes.len());
            blocks.pass(consumed.map_or(before, |(consumed, _)| consumed));
            match next {
                Ok(Some(Frame::Event(event))) => {
                    report.event(&event, blocks.start(), reader.read(&event))?;
                }
                // Comments are not asked for.
                Ok(Some(_)) => {}
                Ok(None) => break,
                Err(error) => {
                    report.begin(blocks.start());
                    report.wrong(Wrong::of(&error.to_string()))?;
                    return report.end();
                }
            }
        }
    }
    if blocks.is_open() {
        report.begin(blocks.start());
        report.wrong(Wrong::of("the stream ends inside an event"))?;
    }
    if let Some(what) = reader.end() {
        report.begin(blocks.offset());
        report.wrong(Wrong::of(what))?;
    }
    report.end()
}

/// The lines of the output.
struct Report<'a> {
    screen: &'a mut Screen,
    /// Which event it is about, from 1.
    number: u64,
    /// Where that begins, in bytes.
    offset: u64,
    events: u64,
    wrong: u64,
    /// Whether nothing may follow.
    over: bool,
}

/// A line of JSON.
#[derive(Serialize)]
struct Line<'a> {
    number: u64,
    offset: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    event: Option<&'a str>,
    kind: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    text: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<Data<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    wrong: Option<&'a Wrong>,
}

/// The data of an event.
#[derive(Serialize)]
#[serde(untagged)]
enum Data<'a> {
    Json(Json),
    Text(&'a str),
}

/// What is wrong, and where in the data of the event.
#[derive(Serialize)]
struct Wrong {
    what: String,
    /// The place as a path, such as `choices[0].delta`.
    #[serde(skip_serializing_if = "String::is_empty")]
    path: String,
    /// The place in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    byte: Option<usize>,
}

impl Wrong {
    fn of(what: &str) -> Self {
        Self {
            what: what.to_owned(),
            path: String::new(),
            byte: None,
        }
    }
}

impl From<EventError> for Wrong {
    fn from(error: EventError) -> Self {
        match error {
            EventError::Data(error) => Self {
                what: format!("expected {}", error.expected()),
                path: error.path().to_owned(),
                byte: Some(error.offset()),
            },
            EventError::Shape(what) => Self::of(what),
            error => Self::of(&error.to_string()),
        }
    }
}

impl<'a> Report<'a> {
    fn new(screen: &'a mut Screen) -> Self {
        Self {
            screen,
            number: 0,
            offset: 0,
            events: 0,
            wrong: 0,
            over: false,
        }
    }

    /// What follows is about the next event, or the place where it should be.
    fn begin(&mut self, offset: u64) {
        self.number = self.events + 1;
        self.offset = offset;
    }

    fn event(
        &mut self,
        event: &Event<'_>,
        offset: u64,
        said: Vec<Result<Said, EventError>>,
    ) -> Result<(), Failure> {
        self.begin(offset);
        self.events += 1;
        let follows = self.over;
        for said in said {
            match said {
                Ok(said) => {
                    self.over |= said.over;
                    self.said(event, &said)?;
                    if let Some(what) = said.wrong {
                        self.wrong(Wrong::of(what))?;
                    }
                }
                Err(error) => {
                    self.said(event, &Said::new("unreadable", event.data()))?;
                    self.wrong(error.into())?;
                }
            }
        }
        if follows {
            let what = "follows what ends the stream, where readers have stopped";
            self.wrong(Wrong::of(what))?;
        }
        Ok(())
    }

    fn said(&mut self, event: &Event<'_>, said: &Said) -> Result<(), Failure> {
        if self.screen.is_json() {
            return self.screen.json_line(&Line {
                number: self.number,
                offset: self.offset,
                event: Some(event.name()),
                kind: &said.kind,
                text: &said.text,
                data: Some(match Json::parse(event.data().to_owned()) {
                    Ok(json) => Data::Json(json),
                    Err(_) => Data::Text(event.data()),
                }),
                wrong: None,
            });
        }
        let place = self.place();
        let (kind, text) = (plain(&said.kind), short(&said.text));
        let line = format!("{place}  {kind:<12}  {text}");
        self.screen.line(line.trim_end())
    }

    fn wrong(&mut self, wrong: Wrong) -> Result<(), Failure> {
        self.wrong += 1;
        if self.screen.is_json() {
            return self.screen.json_line(&Line {
                number: self.number,
                offset: self.offset,
                event: None,
                kind: "wrong",
                text: "",
                data: None,
                wrong: Some(&wrong),
            });
        }
        let place = self.place();
        let word = self.screen.paint(Style::Bad, format_args!("{:<12}", "WRONG"));
        let mut line = format!("{place}  {word}  {}", plain(&wrong.what));
        if !wrong.path.is_empty() {
            line.push_str(&format!(" at {}", plain(&wrong.path)));
        }
        if let Some(byte) = wrong.byte {
            line.push_str(&format!(" (byte {byte} of the data)"));
        }
        self.screen.line(line)
    }

    fn place(&self) -> String {
        let place = format!("{:>5}  {:>8}", self.number, self.offset);
        self.screen.paint(Style::Dim, place)
    }

    fn end(self) -> Result<Verdict, Failure> {
        if !self.screen.is_json() {
            let wrong = match self.wrong {
                0 => self.screen.paint(Style::Good, "nothing wrong"),
                count => self.screen.paint(Style::Bad, format_args!("{count} wrong")),
            };
            let plural = if self.events == 1 { "" } else { "s" };
            self.screen.line(format_args!("{} event{plural}, {wrong}", self.events))?;
        }
        Ok(match self.wrong {
            0 => Verdict::Clean,
            _ => Verdict::Wrong,
        })
    }
}
