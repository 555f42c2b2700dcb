//! What the user types.

use std::io::{self, BufRead, IsTerminal};

use tokio::sync::mpsc;

use crate::screen::{Screen, Style};
use crate::verdict::Failure;

/// The lines of standard input.
pub(super) struct Lines {
    /// None: nobody is asked.
    lines: Option<mpsc::Receiver<io::Result<String>>>,
    terminal: bool,
}

impl Lines {
    /// Reads them in a thread of their own, because a read cannot be called off. Without `talks`
    /// they are read from a terminal only.
    pub(super) fn new(talks: bool) -> Self {
        let terminal = io::stdin().is_terminal();
        Self {
            lines: (talks || terminal).then(read),
            terminal,
        }
    }

    /// Whether a person types them.
    pub(super) fn is_terminal(&self) -> bool {
        self.terminal
    }

    /// Asks for a line. `None` at the end, and when the user presses Ctrl-C.
    pub(super) async fn ask(
        &mut self,
        prompt: &str,
        screen: &mut Screen,
    ) -> Result<Option<String>, Failure> {
        let Some(lines) = &mut self.lines else {
            return Ok(None);
        };
        if self.terminal && !screen.is_json() {
            let prompt = screen.paint(Style::Note, prompt);
            screen.text(format_args!("{prompt} "))?;
        }
        screen.flush()?;
        let line = tokio::select! {
            line = lines.recv() => line.transpose()?,
            stop = tokio::signal::ctrl_c() => {
                stop?;
                None
            }
        };
        if line.is_none() && self.terminal && !screen.is_json() {
            screen.line("")?;
        }
        Ok(line)
    }
}

fn read() -> mpsc::Receiver<io::Result<String>> {
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
