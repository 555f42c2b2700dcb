//! The lines that `wire decode` writes.

use std::ops::Range;

use copilot_wire::json::Json;
use copilot_wire::protocol::EventError;
use copilot_wire::sse::Event;
use copilot_wire_kit::Summary;
use copilot_wire_kit::check::{self, Severity};
use serde::Serialize;

use super::wrong::Wrong;
use crate::screen::{Screen, Style, plain, short};
use crate::verdict::{self, Failure, Verdict};

/// The lines of the output.
pub(super) struct Report<'a> {
    pub(super) screen: &'a mut Screen,
    /// `true` if the deltas of each event are shown too.
    deltas: bool,
    /// The number of the event, starting at 1.
    number: u64,
    /// The offset of the event in bytes.
    offset: u64,
    events: u64,
    wrong: u64,
    /// The end of each event in bytes, and `true` if the event has a fault.
    ends: Vec<(u64, bool)>,
    /// The broken rules that were reported without the conformance kit.
    rules: Vec<&'static str>,
    /// `true` if the stream has had its last event.
    over: bool,
    /// `true` if a fault after the last event was shown.
    end_wrong: bool,
}

/// A line of JSON.
#[derive(Serialize)]
struct Line<'a> {
    number: u64,
    offset: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    event: Option<&'a str>,
    kind: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'a str>,
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

impl<'a> Report<'a> {
    pub(super) fn new(screen: &'a mut Screen, deltas: bool) -> Self {
        Self {
            screen,
            deltas,
            number: 0,
            offset: 0,
            events: 0,
            wrong: 0,
            ends: Vec::new(),
            rules: Vec::new(),
            over: false,
            end_wrong: false,
        }
    }

    /// Moves to the next event, or to the position of a missing event.
    pub(super) fn begin(&mut self, offset: u64) {
        self.number = self.events + 1;
        self.offset = offset;
    }

    /// Shows an event at a range of bytes.
    pub(super) fn event(
        &mut self,
        event: &Event<'_>,
        place: Range<u64>,
        lines: Vec<Result<Summary, EventError>>,
    ) -> Result<(), Failure> {
        let before = self.wrong;
        self.begin(place.start);
        self.events += 1;
        // Read before this event is processed, because the last event of a stream does not follow itself.
        let follows = self.over;
        for line in lines {
            match line {
                Ok(line) => {
                    self.over |= line.is_last;
                    self.line(event, &line)?;
                    if let Some(what) = line.failure {
                        self.wrong(Wrong::of(what))?;
                    }
                }
                Err(error) => {
                    self.line(event, &Summary::new("unreadable", event.data()))?;
                    self.wrong(Wrong::with(error, event.data()))?;
                }
            }
        }
        if follows {
            let what = "follows what ends the stream, where readers have stopped";
            self.wrong(Wrong::of(what))?;
        }
        self.ends.push((place.end, self.wrong > before));
        Ok(())
    }

    /// Shows the findings of the conformance kit that were not reported yet. A finding without an offset is about the
    /// complete stream and is shown at `end`.
    pub(super) fn findings(
        &mut self,
        report: &check::Report,
        tolerated: &[&str],
        end: u64,
    ) -> Result<(), Failure> {
        let mut findings: Vec<_> = report.findings.iter().collect();
        // In the order of the events, as they were shown. Findings about the complete stream come last.
        findings.sort_by_key(|finding| finding.offset.unwrap_or(usize::MAX));
        for finding in findings {
            let offset = finding.offset.map_or(end, |offset| offset as u64);
            let event = self.ends.partition_point(|(end, _)| *end <= offset);
            let said = self.ends.get(event).is_some_and(|(_, wrong)| *wrong);
            // One cause is reported once: an event that could not be read also breaks rules.
            if said || self.rules.contains(&finding.rule.id) {
                continue;
            }
            self.number = event as u64 + 1;
            self.offset = offset;
            let wrong = Wrong::found(finding);
            // Readers accept faults of the official servers.
            if finding.rule.level == Severity::Error && !tolerated.contains(&finding.rule.id) {
                self.wrong(wrong)?;
            } else {
                self.show("warning", &wrong)?;
            }
        }
        Ok(())
    }

    /// Returns `true` if a fault after the last event was shown.
    pub(super) fn is_end_wrong(&self) -> bool {
        self.end_wrong
    }

    fn line(&mut self, event: &Event<'_>, line: &Summary) -> Result<(), Failure> {
        if self.screen.is_json() {
            return self.screen.json_line(&Line {
                number: self.number,
                offset: self.offset,
                event: Some(event.name()),
                kind: &line.kind,
                text: Some(&line.text),
                data: Some(match Json::parse(event.data().to_owned()) {
                    Ok(json) => Data::Json(json),
                    Err(_) => Data::Text(event.data()),
                }),
                wrong: None,
            });
        }
        let place = self.place();
        let (kind, text) = (plain(&line.kind), short(&line.text));
        let shown = match &*kind {
            // White space at the ends of the text is significant.
            "text" | "refusal" => format!("{place}  {kind:<12}  \"{text}\""),
            _ => format!("{place}  {kind:<12}  {text}"),
        };
        self.screen.line(shown.trim_end())?;
        let deltas = line.deltas.iter().filter(|_| self.deltas);
        let mut deltas = deltas.map(|delta| format!("{:17}+ {}", "", short(delta)));
        deltas.try_for_each(|delta| self.screen.line(delta))
    }

    /// Shows a fault.
    pub(super) fn wrong(&mut self, wrong: Wrong) -> Result<(), Failure> {
        self.wrong += 1;
        self.rules.extend(wrong.rule);
        self.end_wrong |= self.number > self.events;
        self.show("wrong", &wrong)
    }

    fn show(&mut self, kind: &str, wrong: &Wrong) -> Result<(), Failure> {
        if self.screen.is_json() {
            return self.screen.json_line(&Line {
                number: self.number,
                offset: self.offset,
                event: None,
                kind,
                text: None,
                data: None,
                wrong: Some(wrong),
            });
        }
        let place = self.place();
        let word = match kind {
            "wrong" => self
                .screen
                .paint(Style::Bad, format_args!("{:<12}", "WRONG")),
            kind => self.screen.paint(Style::Note, format_args!("{kind:<12}")),
        };
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

    /// Reports the reason why a stream has no events, if it has none.
    pub(super) fn unless_event(&mut self, why: String) {
        if self.events == 0 {
            self.wrong += 1;
            verdict::tell(why);
        }
    }

    /// Writes the summary.
    pub(super) fn end(self) -> Result<Verdict, Failure> {
        if !self.screen.is_json() {
            let wrong = match self.wrong {
                0 => self.screen.paint(Style::Good, "nothing wrong"),
                count => self.screen.paint(Style::Bad, format_args!("{count} wrong")),
            };
            let plural = if self.events == 1 { "" } else { "s" };
            self.screen
                .line(format_args!("{} event{plural}, {wrong}", self.events))?;
        }
        Ok(match self.wrong {
            0 => Verdict::Clean,
            _ => Verdict::Wrong,
        })
    }
}
