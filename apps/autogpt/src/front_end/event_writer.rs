//! Writes the events of a turn to a reply.

use async_trait::async_trait;
use copilot_wire::Reply;
use copilot_wire::protocol::{Capabilities, Citation, Notice, Protocol, SendError, Status};

use super::markdown::without_images;
use super::style::Style;
use crate::agent_loop::reply::{Command, Thoughts};
use crate::agent_loop::run::{Event, EventKind, Question};
use crate::agent_loop::runner::{Closed, EventSink};
use crate::commands::Source;
use crate::escape::{self, shortened};
use crate::json::Value;

/// A writer of events that collects the cited sources.
pub(super) struct EventWriter<'a, P: Protocol> {
    reply: &'a Reply<P>,
    style: Style,
    sources: Vec<Source>,
}

impl<'a, P: Protocol> EventWriter<'a, P> {
    pub(super) fn new(reply: &'a Reply<P>) -> Self {
        Self {
            reply,
            style: Style::of::<P>(),
            sources: Vec::new(),
        }
    }

    /// Writes a paragraph.
    pub(super) async fn paragraph(&self, text: &str) -> Result<(), SendError> {
        self.reply.text(&format!("{text}\n\n")).await
    }

    /// Writes the text before a question that is a dialog: how to answer, and the id by which a typed `n` is
    /// recognised.
    pub(super) async fn instructions(&self, question: &Question) -> Result<(), SendError> {
        if self.style == Style::Plain {
            return Ok(());
        }
        let answers = question.dialog_answers();
        let text = format!("{answers} (question `{}`)", question.id());
        self.paragraph(&text).await
    }

    /// Cites the collected sources, each once; `asks` if a question follows.
    pub(super) async fn cite(&mut self, asks: bool) -> Result<(), SendError> {
        let sources = std::mem::take(&mut self.sources);
        if asks && self.is_text(Capabilities::CITATIONS) && !sources.is_empty() {
            let items: Vec<String> = sources.iter().map(|it| self.item(it)).collect();
            return self
                .paragraph(&format!("Sources:\n\n{}", items.join("\n")))
                .await;
        }
        for source in sources {
            let title = if source.title.is_empty() {
                &source.url
            } else {
                &source.title
            };
            let mut citation = Citation::new(title).url(&source.url);
            if !source.excerpt.is_empty() {
                citation = citation.excerpt(shortened(&source.excerpt));
            }
            self.reply.cite(citation).await?;
        }
        Ok(())
    }

    /// Returns `true` if the library would write this part as Markdown above a question in text, where no markup is
    /// allowed.
    fn is_text(&self, form: Capabilities) -> bool {
        self.style == Style::Plain && !P::CAPABILITIES.contains(form)
    }

    /// Returns a source as an item of a list.
    fn item(&self, source: &Source) -> String {
        let mut item = format!("- {}", self.style.words(&source.url));
        if !source.title.is_empty() {
            let title = self.style.words(&source.title);
            item = format!("- {title} ({})", self.style.words(&source.url));
        }
        if !source.excerpt.is_empty() {
            let excerpt = self.style.words(&shortened(&source.excerpt));
            item.push_str(&format!(": {excerpt}"));
        }
        item
    }

    async fn event(&mut self, event: Event) -> Result<(), SendError> {
        let speaker = event.agent.as_deref();
        match event.kind {
            EventKind::Thoughts(thoughts) => self.thoughts(&thoughts, speaker).await,
            EventKind::Damaged(reason) => {
                let status = Status::warning(attributed(speaker, "The reply was no command"));
                let status = status.detail("Reason", excerpt(&reason));
                self.reply.status(status).await
            }
            EventKind::Started(command) => self.started(&command, speaker).await,
            EventKind::Ended {
                name,
                ok: true,
                text,
            } => {
                let status = Status::new(attributed(speaker, &format!("{name} is done")));
                self.reply
                    .status(status.detail("Result", excerpt(&text)))
                    .await
            }
            EventKind::Ended { name, text, .. } => {
                if self.is_text(Capabilities::ERRORS) {
                    let text = format!(
                        "{}: {}",
                        self.style.words(&name),
                        self.style.words(&shortened(&text))
                    );
                    let text = format!("Error: {}{text}", self.speaker(speaker));
                    return self.paragraph(&text).await;
                }
                let message = attributed(speaker, &format!("{name}: {}", shortened(&text)));
                let notice = Notice::new(message).code("command_failed");
                self.reply
                    // The name comes from the model as well.
                    .error(notice.identifier(without_images(&name)))
                    .await
            }
            EventKind::Sources(sources) => {
                for source in sources {
                    let known = self.sources.iter().any(|known| known.url == source.url);
                    if !known {
                        self.sources.push(source);
                    }
                }
                Ok(())
            }
            EventKind::Notice(text) => {
                let text = self.style.words(&text);
                self.paragraph(&format!("{}{text}", self.speaker(speaker)))
                    .await
            }
        }
    }

    async fn thoughts(&self, thoughts: &Thoughts, speaker: Option<&str>) -> Result<(), SendError> {
        let text = thoughts.text.as_deref().filter(|text| !text.is_empty());
        let speak = thoughts.speak.as_deref().filter(|text| !text.is_empty());
        let mut status = Status::new(attributed(speaker, text.or(speak).unwrap_or("Thinking")));
        let plan = thoughts.plan.join("\n");
        let details = [
            ("Reasoning", thoughts.reasoning.as_deref()),
            ("Plan", Some(plan.as_str())),
            ("Criticism", thoughts.criticism.as_deref()),
        ];
        for (name, detail) in details {
            if let Some(detail) = detail.filter(|detail| !detail.is_empty()) {
                status = status.detail(name, without_images(detail));
            }
        }
        self.reply.status(status).await?;
        match (speaker, speak, text) {
            // The words of a sub-agent are for its parent, not for the user.
            (Some(_), ..) => Ok(()),
            (None, Some(speak), _) => self.paragraph(&self.style.words(speak)).await,
            (None, None, Some(text)) if !has_steps::<P>() => {
                self.paragraph(&self.style.thought(text)).await
            }
            (None, None, _) => Ok(()),
        }
    }

    async fn started(&self, command: &Command, speaker: Option<&str>) -> Result<(), SendError> {
        let mut status = Status::new(attributed(speaker, &format!("Running {}", command.name)));
        if let Value::Object(args) = &command.args {
            for (name, value) in args.iter() {
                let value = value
                    .as_text()
                    .map_or_else(|| value.to_string(), str::to_owned);
                status = status.detail(without_images(name), excerpt(&value));
            }
        }
        self.reply.status(status).await?;
        if has_steps::<P>() {
            return Ok(());
        }
        let line = format!("{} {}", command.name, command.args);
        let line = self.style.code(&line);
        self.paragraph(&format!("{}Running {line}", self.speaker(speaker)))
            .await
    }

    /// Returns the speaker's name as the start of a text.
    fn speaker(&self, name: Option<&str>) -> String {
        let name = name.map(|name| self.style.words(&escape::line(name)));
        name.map_or_else(String::new, |name| format!("{name}: "))
    }
}

#[async_trait]
impl<P: Protocol> EventSink for EventWriter<'_, P> {
    async fn show(&mut self, event: Event) -> Result<(), Closed> {
        match self.event(event).await {
            Err(SendError::Closed) => Err(Closed),
            // An event that one front end cannot show does not stop the turn.
            Ok(()) | Err(_) => Ok(()),
        }
    }
}

/// Returns `text` with the speaker's name in front, without images.
fn attributed(speaker: Option<&str>, text: &str) -> String {
    match speaker {
        Some(name) => without_images(&format!("{name}: {text}")),
        None => without_images(text),
    }
}

/// Returns the start of a text, without images.
fn excerpt(text: &str) -> String {
    without_images(&shortened(text))
}

/// Returns `true` if the front end shows statuses. Otherwise the important ones are written as
/// text.
fn has_steps<P: Protocol>() -> bool {
    P::CAPABILITIES.contains(Capabilities::STEPS)
}
