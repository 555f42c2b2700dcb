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
    /// The input has ended, or Ctrl-C was pressed: the question has no answer, not even a refusal.
    Left,
}

/// The lines read from standard input.
pub(super) struct Lines {
    /// `None` if no lines are read.
    lines: Option<mpsc::Receiver<io::Result<String>>>,
    terminal: bool,
}

impl Lines {
    /// Reads lines in a separate thread, because a read cannot be cancelled. Unless `talks` is set, lines are read only
    /// from a terminal.
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

    /// Shows a prompt and waits for a line.
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
            // The read of the thread cannot be cancelled: a line that is typed later answers the next prompt.
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
    // The capacity is one line, so that a file is read no faster than its lines are answered.
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
