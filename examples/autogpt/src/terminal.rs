//! The agent in a terminal.

use std::fmt::Write as _;
use std::io::{self, Write};

use async_trait::async_trait;
use autogpt::env::{Env, SystemEnv};
use autogpt::reply::Thoughts;
use autogpt::run::{Answer, End, Event, EventKind};
use autogpt::runner::{AutoGpt, Closed, Outlet, Turn, TurnEnd};
use autogpt::store::Conversation;
use tokio::io::{AsyncBufReadExt, BufReader};

/// The most of a result that is shown.
const SHOWN: usize = 600;

/// Talks until the run is over or the input ends.
pub(crate) async fn talk(agent: &AutoGpt) -> Result<(), Box<dyn std::error::Error>> {
    let mut lines = BufReader::new(tokio::io::stdin()).lines();
    let mut screen = Screen;
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

struct Screen;

impl Screen {
    fn write(&self, text: &str) -> io::Result<()> {
        let mut out = io::stdout().lock();
        writeln!(out, "{text}\n")?;
        out.flush()
    }
}

#[async_trait]
impl Outlet for Screen {
    async fn show(&mut self, event: Event) -> Result<(), Closed> {
        let speaker = event
            .agent
            .map_or_else(String::new, |name| format!("[{name}] "));
        let text = match &event.kind {
            EventKind::Thoughts(thoughts) => thoughts_text(thoughts),
            EventKind::Damaged(reason) => format!("The reply was no command: {reason}"),
            EventKind::Started(command) => format!("> {} {}", command.name, command.args),
            EventKind::Ended { text, .. } => shortened(text),
            EventKind::Notice(text) => text.clone(),
            _ => return Ok(()),
        };
        self.write(&format!("{speaker}{text}"))
            .map_err(|_| Closed::new())
    }
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
