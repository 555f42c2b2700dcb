//! The lines that the user types.

use std::io::{self, BufRead, IsTerminal};

use tokio::sync::mpsc;

use crate::screen::{Screen, Style};
use crate::verdict::Failure;

/// The user's answer to a prompt.
pub(super) enum Said {
    Line(String),
    /// There is no terminal.
    Nothing,
    /// The input has ended, or Ctrl-C was pressed: this is no answer, not even a no.
    Left,
}

/// The lines of standard input.
pub(super) struct Lines {
    /// `None` without an input.
    lines: Option<mpsc::Receiver<io::Result<String>>>,
    terminal: bool,
}

impl Lines {
    /// Reads lines in a thread of its own, because a read cannot be cancelled. Without `talks`
    /// they are read from a terminal only.
    pub(super) fn new(talks: bool) -> Self {
        let terminal = io::stdin().is_terminal();
        Self {
            lines: (talks || terminal).then(read),
            terminal,
        }
    }

    /// Returns `true` if the input is a terminal.
    pub(super) fn is_terminal(&self) -> bool {
        self.terminal
    }

    /// Asks for a line.
    pub(super) async fn ask(&mut self, prompt: &str, screen: &mut Screen) -> Result<Said, Failure> {
        let Some(lines) = &mut self.lines else {
            return Ok(Said::Nothing);
        };
        if self.terminal && !screen.is_json() {
            let prompt = screen.paint(Style::Note, prompt);
            screen.text(format_args!("{prompt} "))?;
        }
        screen.flush()?;
        let line = tokio::select! {
            line = lines.recv() => line.transpose()?,
            // The thread's read cannot be ended: a line that is typed later waits in the channel
            // for the next question.
            stop = tokio::signal::ctrl_c() => {
                stop?;
                None
            }
        };
        let Some(line) = line else {
            if self.terminal && !screen.is_json() {
                screen.line("")?;
            }
            return Ok(Said::Left);
        };
        Ok(Said::Line(line))
    }
}

fn read() -> mpsc::Receiver<io::Result<String>> {
    // One line ahead: a file is read as fast as it is answered, not into memory.
    let (sender, receiver) = mpsc::channel(1);
    std::thread::spawn(move || {
        for line in io::stdin().lock().lines() {
            if sender.blocking_send(line).is_err() {
                break;
            }
        }
    });
    receiver
}
