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
use tokio::io::{AsyncBufRead, AsyncBufReadExt, BufReader};

/// The most of a result that is shown.
const SHOWN: usize = 600;

/// Said when there is a goal, and an older one is not done.
const OLDER: &str = "An earlier run is not over. It goes on first, and the new goal waits until it \
    has ended; `n` ends it.";

/// Talks until the run is over or the input ends; `has_goal` says whether the user gave a new goal.
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
        screen.write(OLDER)?;
    }
    // The goals are in the profile, so the first turn says nothing. If a run waits, it asks again.
    let mut line = String::new();
    loop {
        let id = SystemEnv::new().run_id()?;
        let turn = Turn::new(conversation.clone(), &id, Answer::Text(line));
        match agent.turn(turn, &mut screen).await? {
            TurnEnd::Ask(question) => screen.write(&question.text())?,
            TurnEnd::Finish(end) => {
                screen.write(&last_words(&end))?;
                if !std::mem::take(&mut goal_waits) {
                    return Ok(());
                }
                // The next turn starts a run, for the goals of the profile.
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
    use autogpt::prompt::Profile;
    use autogpt::setup::Setup;

    use super::*;

    /// What the terminal shows to somebody who types these lines.
    async fn shown(setup: &Setup, goals: &[&str], typed: &str) -> String {
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
        setup.state = Some(folder.path().join("state"));
        let first = shown(&setup, &["first"], "").await;
        assert!(!first.contains(OLDER), "{first}");
        // The older run asks again and ends, and the new one asks.
        let second = shown(&setup, &["second"], "n\n").await;
        assert!(second.starts_with(OLDER), "{second}");
        assert_eq!(second.matches("The run has ended.").count(), 1, "{second}");
        assert!(second.contains("THOUGHTS"), "{second}");
        assert!(
            second.trim_end().ends_with("what to do instead."),
            "{second}"
        );
        // Without a goal, what waits goes on, and that is all.
        let third = shown(&setup, &[], "n\n").await;
        assert!(!third.contains(OLDER), "{third}");
        assert!(third.trim_end().ends_with("The run has ended."), "{third}");
        let fourth = shown(&setup, &["fourth"], "y\n").await;
        assert!(!fourth.contains(OLDER), "{fourth}");
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
