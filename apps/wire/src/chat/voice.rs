//! Shows an answer on a terminal or as lines of JSON.

use copilot_wire::protocol::{Confirmation, Level, Table, ToolCall};
use copilot_wire_kit::{Effect, Node};

use super::table;
use crate::node::compact;
use crate::screen::{Screen, Style, lines, plain, short};
use crate::verdict::Failure;

/// The display of an agent's effects.
pub(super) struct Voice<'a> {
    pub(super) screen: &'a mut Screen,
    /// `true` in the middle of a line of text.
    inside_line: bool,
    /// `true` if the current line is reasoning.
    reasons: bool,
    /// `true` once anything was shown.
    pub(super) has_output: bool,
}

impl<'a> Voice<'a> {
    pub(super) fn new(screen: &'a mut Screen) -> Self {
        Self {
            screen,
            inside_line: false,
            reasons: false,
            has_output: false,
        }
    }

    /// Shows an effect of an event.
    pub(super) fn receive(&mut self, effect: &Effect) -> Result<(), Failure> {
        self.has_output |= !matches!(effect, Effect::Text(text) if text.is_empty());
        if self.screen.is_json() {
            return self.screen.json_line(&node(effect));
        }
        match effect {
            Effect::Text(text) | Effect::Reasoning(text) => {
                let reasons = matches!(effect, Effect::Reasoning(_));
                if std::mem::replace(&mut self.reasons, reasons) != reasons {
                    self.end()?;
                }
                if let Some(last) = text.chars().next_back() {
                    // An empty piece does not change the position of the cursor.
                    self.inside_line = last != '\n';
                }
                // Text of the agent must not move the cursor or set colours.
                let text = lines(text).to_string();
                match reasons {
                    true => self.screen.text(self.screen.paint(Style::Dim, text)),
                    false => self.screen.text(text),
                }
            }
            Effect::Table(table) | Effect::Chart(table) => self.table(table),
            Effect::Error(notice) => self.line(Style::Bad, &format!("! {}", notice.message)),
            Effect::Status(status) => {
                let style = match status.level {
                    Level::Info => Style::Dim,
                    _ => Style::Note,
                };
                // In its one-line form.
                self.line(style, &short(&format!("- {effect}")))
            }
            effect => self.line(Style::Dim, &short(&format!("- {effect}"))),
        }
    }

    fn table(&mut self, table: &Table) -> Result<(), Failure> {
        let description = table.description.as_deref();
        let description = description.map_or_else(String::new, |text| format!(": {text}"));
        self.line(Style::Bold, &format!("{}{description}", table.name))?;
        for line in table::lines(&table.rows) {
            self.screen.line(line)?;
        }
        Ok(())
    }

    /// Shows a call that the front end makes.
    pub(super) fn call(&mut self, call: &ToolCall) -> Result<(), Failure> {
        if self.screen.is_json() {
            return self.screen.json_line(&Node::object([
                ("kind", "call".into()),
                ("name", call.name.as_str().into()),
                ("arguments", call.arguments.clone().into()),
            ]));
        }
        let call = format!("> {} {}", call.name, compact(&call.arguments));
        self.line(Style::Note, &call)
    }

    /// Shows a question, unless it is part of the text.
    pub(super) fn question(&mut self, question: &Confirmation) -> Result<(), Failure> {
        if self.screen.is_json() {
            return self.screen.json_line(&Node::object([
                ("kind", "question".into()),
                ("id", question.id.as_str().into()),
                ("title", question.title.as_str().into()),
                ("message", question.message.as_str().into()),
            ]));
        }
        self.end()?;
        if !question.title.is_empty() {
            self.line(Style::Note, &format!("? {}", question.title))?;
        }
        if !question.message.is_empty() {
            self.screen.line(lines(&question.message))?;
        }
        Ok(())
    }

    /// Reports an empty answer, on a terminal only: for programs, no line means the same.
    pub(super) fn nothing(&mut self) -> Result<(), Failure> {
        match self.screen.is_json() {
            true => Ok(()),
            false => self.line(Style::Dim, "(no answer)"),
        }
    }

    /// Shows a fault of the answer.
    pub(super) fn wrong(&mut self, what: &str) -> Result<(), Failure> {
        if self.screen.is_json() {
            let wrong = [("kind", "wrong".into()), ("what", what.into())];
            return self.screen.json_line(&Node::object(wrong));
        }
        self.line(Style::Bad, &format!("WRONG: {what}"))
    }

    /// Ends the current line of text.
    pub(super) fn end(&mut self) -> Result<(), Failure> {
        if std::mem::take(&mut self.inside_line) {
            self.screen.line("")?;
        }
        Ok(())
    }

    /// Writes a complete line.
    fn line(&mut self, style: Style, text: &str) -> Result<(), Failure> {
        self.end()?;
        let text = self.screen.paint(style, plain(text));
        self.screen.line(text)
    }
}

fn node(effect: &Effect) -> Node {
    let table = |kind: &str, table: &Table| {
        Node::object([
            ("kind", kind.into()),
            ("name", table.name.as_str().into()),
            ("description", table.description.as_deref().into()),
            ("rows", table.rows.clone().into()),
        ])
    };
    match effect {
        Effect::Text(text) => {
            Node::object([("kind", "text".into()), ("text", text.as_str().into())])
        }
        Effect::Reasoning(text) => {
            Node::object([("kind", "reasoning".into()), ("text", text.as_str().into())])
        }
        Effect::ToolRun(run) => {
            let outcome = match &run.outcome {
                Ok(result) => ("result", result.clone().into()),
                Err(message) => ("error", message.as_str().into()),
            };
            Node::object([
                ("kind", "tool_run".into()),
                ("name", run.name.as_str().into()),
                ("arguments", run.arguments.clone().into()),
                outcome,
            ])
        }
        Effect::Usage(usage) => Node::object([
            ("kind", "usage".into()),
            ("input_tokens", usage.input_tokens.into()),
            ("output_tokens", usage.output_tokens.into()),
        ]),
        Effect::Status(status) => {
            let details = status.details.iter().map(|(name, value)| {
                Node::object([
                    ("name", name.as_str().into()),
                    ("value", value.as_str().into()),
                ])
            });
            let level = match status.level {
                Level::Info => "info",
                Level::Warning => "warning",
                _ => "error",
            };
            Node::object([
                ("kind", "status".into()),
                ("level", level.into()),
                ("message", status.message.as_str().into()),
                ("details", Node::list(details)),
            ])
        }
        Effect::Citation(citation) => Node::object([
            ("kind", "citation".into()),
            ("title", citation.title.as_str().into()),
            ("url", citation.url.as_deref().into()),
            ("document", citation.document.as_deref().into()),
        ]),
        Effect::Table(rows) => table("table", rows),
        Effect::Chart(rows) => table("chart", rows),
        Effect::Suggestions(texts) => Node::object([
            ("kind", "suggestions".into()),
            ("texts", Node::list(texts.iter().map(String::as_str))),
        ]),
        Effect::Error(notice) => Node::object([
            ("kind", "error".into()),
            ("code", notice.code.as_ref().into()),
            ("message", notice.message.as_str().into()),
            ("identifier", notice.identifier.as_deref().into()),
        ]),
        Effect::Other { name, data } => Node::object([
            ("kind", "other".into()),
            ("name", name.as_str().into()),
            ("data", data.clone().into()),
        ]),
        other => Node::object([
            ("kind", "other".into()),
            ("text", plain(&other.to_string()).as_ref().into()),
        ]),
    }
}
