//! The terminal interface.

use std::fmt::Write as _;
use std::io::{self, Write};

use async_trait::async_trait;
use autogpt::agent_loop::reply::Thoughts;
use autogpt::agent_loop::run::{Answer, End, Event, EventKind};
use autogpt::agent_loop::runner::{AutoGpt, Closed, EventSink, Turn, TurnEnd};
use autogpt::env::{Env, SystemEnv};
use autogpt::escape;
use autogpt::memory::store::Conversation;
use tokio::io::{AsyncBufRead, AsyncBufReadExt, BufReader};

/// The notice when there is a new goal while an earlier run is still open.
const OPEN_RUN: &str = "An earlier run is not over. It goes on first, and the new goal waits until it \
    has ended; `n` ends it.";

/// Runs a dialog until the run ends or the input does. `has_goal` is `true` for a goal given by the
/// user.
pub(crate) async fn talk(
    agent: &AutoGpt,
    has_goal: bool,
) -> Result<(), Box<dyn std::error::Error>> {
    let answers = BufReader::new(tokio::io::stdin());
    converse(agent, has_goal, answers, Screen(io::stdout())).await
}

async fn converse<R: AsyncBufRead + Unpin, W: Write + Send>(
    agent: &AutoGpt,
    has_goal: bool,
    answers: R,
    mut screen: Screen<W>,
) -> Result<(), Box<dyn std::error::Error>> {
    let conversation = Conversation::anonymous("terminal");
    let mut answers = answers.lines();
    let mut goal_waits = has_goal && agent.has_run(&conversation).await?;
    if goal_waits {
        screen.write(OPEN_RUN)?;
    }
    // The first turn is empty, because the goals are in the profile. If a run is open, it repeats its question.
    let mut line = String::new();
    loop {
        // New for each line, because a terminal sends no turn twice.
        let id = SystemEnv.run_id()?;
        let turn = Turn::new(conversation.clone(), &id, Answer::Text(line));
        match agent.turn(turn, &mut screen).await? {
            TurnEnd::Ask(question) => screen.write(&question.text())?,
            TurnEnd::Finish(end) => {
                screen.write(&last_words(&end))?;
                if !std::mem::take(&mut goal_waits) {
                    return Ok(());
                }
                // The next turn starts a run with the goals of the profile.
                line = String::new();
                continue;
            }
            _ => screen.write("What is the goal?")?,
        }
        line = match answers.next_line().await? {
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
        // Escapes control sequences, whoever wrote the text.
        writeln!(self.0, "{}\n", escape::lines(text))?;
        self.0.flush()
    }
}

#[async_trait]
impl<W: Write + Send> EventSink for Screen<W> {
    async fn show(&mut self, event: Event) -> Result<(), Closed> {
        match event_text(&event) {
            Some(text) => self.write(&text).map_err(|_| Closed),
            None => Ok(()),
        }
    }
}

fn event_text(event: &Event) -> Option<String> {
    let speaker = event.agent.as_deref();
    let speaker = speaker.map_or_else(String::new, |name| format!("[{}] ", escape::line(name)));
    let text = match &event.kind {
        EventKind::Thoughts(thoughts) => thoughts_text(thoughts),
        EventKind::Damaged(reason) => format!("The reply was no command: {reason}"),
        EventKind::Started(command) => {
            format!("> {} {}", escape::line(&command.name), command.args)
        }
        EventKind::Ended { text, .. } => escape::shortened(text),
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
            // Writing to a string cannot fail.
            let _ = write!(out, "\n{heading}: {text}");
        }
    }
    if !thoughts.plan.is_empty() {
        let _ = write!(out, "\nPLAN:\n- {}", thoughts.plan.join("\n- "));
    }
    out
}

#[cfg(test)]
mod tests {
    use autogpt::agent_loop::prompt::Profile;
    use autogpt::setup::{Setup, State};

    use super::*;

    /// Returns the output for a user who types these lines.
    async fn output(setup: &Setup, goals: &[&str], typed: &str) -> String {
        let agent = setup.build(Profile::new("Bo", "a helper", goals)).unwrap();
        let mut out = Vec::new();
        let screen = Screen(&mut out);
        converse(&agent, !goals.is_empty(), typed.as_bytes(), screen)
            .await
            .unwrap();
        String::from_utf8(out).unwrap()
    }

    #[tokio::test]
    async fn a_goal_waits_for_the_run_before_it() {
        let folder = tempfile::tempdir().unwrap();
        let mut setup = Setup::new(|_| None);
        setup.workspace = folder.path().join("workspace");
        setup.state = Some(State::Folder(folder.path().join("state")));
        let first = output(&setup, &["first"], "").await;
        assert!(!first.contains(OPEN_RUN), "{first}");
        // The earlier run repeats its question and ends; then the new run asks.
        let second = output(&setup, &["second"], "n\n").await;
        assert!(second.starts_with(OPEN_RUN), "{second}");
        assert_eq!(second.matches("The run has ended.").count(), 1, "{second}");
        assert!(second.contains("THOUGHTS"), "{second}");
        assert!(
            second.trim_end().ends_with("what to do instead."),
            "{second}"
        );
        // Without a goal, only the open run continues.
        let third = output(&setup, &[], "n\n").await;
        assert!(!third.contains(OPEN_RUN), "{third}");
        assert!(third.trim_end().ends_with("The run has ended."), "{third}");
        let fourth = output(&setup, &["fourth"], "y\n").await;
        assert!(!fourth.contains(OPEN_RUN), "{fourth}");
        assert!(fourth.contains("Task complete"), "{fourth}");
    }

    #[test]
    fn nothing_steers_the_terminal() -> io::Result<()> {
        let mut screen = Screen(Vec::new());
        screen.write("a\r\u{1b}[2Kb\u{202e}\n\tc")?;
        assert_eq!(screen.0, b"a\\u{d}\\u{1b}[2Kb\\u{202e}\n\tc\n\n");
        Ok(())
    }
}
