//! The agent in a terminal.

use std::fmt::Write as _;
use std::io::{self, Write};

use async_trait::async_trait;
use autogpt::env::{Env, SystemEnv};
use autogpt::reply::Thoughts;
use autogpt::run::{Answer, End, Event, EventKind};
use autogpt::runner::{AutoGpt, Closed, Outlet, Turn, TurnEnd};
use autogpt::store::Conversation;
use autogpt::visible;
use tokio::io::{AsyncBufReadExt, BufReader};

/// The most of a result that is shown.
const SHOWN: usize = 600;

/// Talks until the run is over or the input ends.
pub(crate) async fn talk(agent: &AutoGpt) -> Result<(), Box<dyn std::error::Error>> {
    let mut lines = BufReader::new(tokio::io::stdin()).lines();
    let mut screen = Screen(io::stdout());
    // The goals are in the profile, so the first turn says nothing. If a run waits, it asks again.
    let mut line = String::new();
    loop {
        let id = SystemEnv::new().run_id()?;
        let conversation = Conversation::anonymous("terminal");
        let turn = Turn::new(conversation, &id, Answer::Text(line));
        match agent.turn(turn, &mut screen).await? {
            TurnEnd::Ask(question) => screen.write(&question.text())?,
            TurnEnd::Finish(end) => return Ok(screen.write(&last_words(&end))?),
            _ => screen.write("What is the goal?")?,
        }
        line = match lines.next_line().await? {
            Some(line) => line,
            None => return Ok(()),
        };
    }
}

fn last_words(end: &End) -> String {
    match end {
        End::Complete(reason) => format!("Task complete. {reason}"),
        End::Limit(reason) => format!("The run has ended. {reason}"),
        _ => "The run has ended.".to_owned(),
    }
}

struct Screen<W>(W);

impl<W: Write> Screen<W> {
    fn write(&mut self, text: &str) -> io::Result<()> {
        // Whoever wrote it, it does not get to steer the terminal.
        writeln!(self.0, "{}\n", visible::lines(text))?;
        self.0.flush()
    }
}

#[async_trait]
impl<W: Write + Send> Outlet for Screen<W> {
    async fn show(&mut self, event: Event) -> Result<(), Closed> {
        match event_text(&event) {
            Some(text) => self.write(&text).map_err(|_| Closed::new()),
            None => Ok(()),
        }
    }
}

fn event_text(event: &Event) -> Option<String> {
    let speaker = event.agent.as_deref();
    let speaker = speaker.map_or_else(String::new, |name| format!("[{}] ", visible::line(name)));
    let text = match &event.kind {
        EventKind::Thoughts(thoughts) => thoughts_text(thoughts),
        EventKind::Damaged(reason) => format!("The reply was no command: {reason}"),
        EventKind::Started(command) => {
            format!("> {} {}", visible::line(&command.name), command.args)
        }
        EventKind::Ended { text, .. } => shortened(text),
        EventKind::Notice(text) => text.clone(),
        _ => return None,
    };
    Some(format!("{speaker}{text}"))
}

fn thoughts_text(thoughts: &Thoughts) -> String {
    let mut out = String::from("THOUGHTS: ");
    out.push_str(thoughts.text.as_deref().unwrap_or("-"));
    let parts = [
        ("REASONING", &thoughts.reasoning),
        ("CRITICISM", &thoughts.criticism),
    ];
    for (heading, text) in parts {
        if let Some(text) = text {
            // Writing into a string cannot fail.
            let _ = write!(out, "\n{heading}: {text}");
        }
    }
    if !thoughts.plan.is_empty() {
        let _ = write!(out, "\nPLAN:\n- {}", thoughts.plan.join("\n- "));
    }
    out
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}...", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_steers_the_terminal() -> io::Result<()> {
        let mut screen = Screen(Vec::new());
        screen.write("a\r\u{1b}[2Kb\u{202e}\n\tc")?;
        assert_eq!(screen.0, b"a\\u{d}\\u{1b}[2Kb\\u{202e}\n\tc\n\n");
        Ok(())
    }
}
