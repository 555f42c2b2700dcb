//! A model of reply, body and run, without locks, staging or wakers.

use std::collections::VecDeque;

use super::plain::{PANIC, Reply};
use super::{Act, Line, Outcome, Step};

/// The number of unsent bytes at which a write waits.
const HIGH_WATER: usize = 16 * 1024;

/// The end of a turn whose agent failed without a message.
pub const SORRY: &str = "fail Sorry, something went wrong and the answer is incomplete.\n";

#[derive(Clone, Copy, PartialEq)]
enum Turn {
    Open,
    Ended,
    Closed,
}

#[derive(Clone, Copy, PartialEq)]
enum Reader {
    Attached,
    Gone,
    Drained,
}

#[derive(Clone, Copy, PartialEq)]
enum Holder {
    Agent,
    Table,
    Nobody,
}

#[derive(Clone, Copy, PartialEq)]
enum End {
    Answered,
    Failed,
    Panicked,
    Dropped,
}

pub struct Model {
    /// The results of the steps, which the driver compares and clears.
    pub outcomes: Vec<Outcome>,
    pub incidents: Vec<String>,
    script: VecDeque<Act>,
    waiting: Vec<u8>,
    words: usize,
    turn: Turn,
    reader: Reader,
    holder: Holder,
    /// The reply went down with a panic.
    in_panic: bool,
    end: Option<End>,
    /// The state of the agent: dropped, polled by the body, or detached.
    alive: bool,
    detached: bool,
    /// `detach` was called, so the end of the body does not close the reply.
    drain: bool,
    /// The number of waiting bytes that came from elsewhere since the agent last wrote in its own poll. The
    /// others lie where only that poll can see them.
    beside: usize,
    /// The agent stands in the middle of this.
    blocked: Option<Act>,
    done: bool,
    silent: bool,
    ticks: usize,
}

impl Default for Model {
    fn default() -> Self {
        Self {
            outcomes: Vec::new(),
            incidents: Vec::new(),
            script: VecDeque::new(),
            waiting: b"open\n".to_vec(),
            words: 0,
            turn: Turn::Open,
            reader: Reader::Attached,
            holder: Holder::Agent,
            in_panic: false,
            end: None,
            alive: true,
            detached: false,
            drain: false,
            beside: 0,
            blocked: None,
            done: false,
            silent: false,
            ticks: 0,
        }
    }
}

impl Model {
    /// `true` if a waiting reader must be woken.
    pub fn has_news(&self) -> bool {
        self.reader == Reader::Attached
            && !self.done
            && (!self.waiting.is_empty() || self.turn == Turn::Closed)
    }

    /// `true` if a waiting run must be woken.
    pub fn run_can_go_on(&self) -> bool {
        let full = self.reader == Reader::Attached && self.waiting.len() >= HIGH_WATER;
        self.alive && self.detached && matches!(self.blocked, Some(Act::Speak(_))) && !full
    }

    pub fn step(&mut self, step: Step) {
        match step {
            Step::Script(act) => self.script.push_back(act),
            Step::Tick => self.ticks += 1,
            Step::Poll(_) => self.poll(),
            Step::DropBody if self.reader == Reader::Attached => {
                self.reader = if self.drain {
                    Reader::Drained
                } else {
                    Reader::Gone
                };
                self.waiting.clear();
                if !self.detached {
                    self.drop_agent();
                }
            }
            Step::Detach if self.reader == Reader::Attached => {
                self.drain = true;
                self.detached |= self.alive;
            }
            Step::PollRun(_) if self.detached && self.alive => {
                self.poll_agent();
                self.outcomes.push(if self.alive {
                    Outcome::Waits
                } else {
                    Outcome::Done
                });
            }
            Step::DropRun if self.detached => self.drop_agent(),
            Step::Elsewhere(line, _) if self.holder == Holder::Table => {
                let before = self.waiting.len();
                let outcome = self.say(line, before);
                self.beside += self.waiting.len() - before;
                self.outcomes.push(outcome);
            }
            Step::EndElsewhere(well) if self.holder == Holder::Table => self.say_ending(well),
            Step::DropElsewhere(panics) if self.holder == Holder::Table => self.release(panics),
            _ => {}
        }
    }

    fn poll(&mut self) {
        if self.reader != Reader::Attached {
            return;
        }
        let outcome = if self.done {
            Outcome::Done
        } else {
            if !self.detached {
                self.poll_agent();
            }
            if !self.waiting.is_empty() {
                self.silent = false;
                self.beside = 0;
                Outcome::Frame(std::mem::take(&mut self.waiting))
            } else if self.turn == Turn::Closed {
                self.done = true;
                Outcome::Done
            } else {
                self.keep_alive()
            }
        };
        self.outcomes.push(outcome);
    }

    /// Checks that a whole silent tick has passed.
    fn keep_alive(&mut self) -> Outcome {
        while self.ticks > 0 {
            self.ticks -= 1;
            if self.silent {
                return Outcome::Frame(format!(":{}\n", self.words).into_bytes());
            }
            self.silent = true;
        }
        Outcome::Waits
    }

    fn poll_agent(&mut self) {
        if !self.alive {
            return;
        }
        if self.detached {
            // The run takes all bytes at the start of its poll; the body has its own since its last one.
            self.beside = 0;
        }
        while let Some(act) = self.blocked.take().or_else(|| self.script.pop_front()) {
            let holds = self.holder == Holder::Agent;
            match act {
                Act::Yield => break,
                Act::Answer => self.finish_agent(End::Answered),
                Act::Fail => self.finish_agent(End::Failed),
                Act::Panic => self.finish_agent(End::Panicked),
                Act::Take if self.holder == Holder::Table => self.holder = Holder::Agent,
                Act::Speak(line) if holds => match self.say(line, self.waiting.len()) {
                    Outcome::Waits => {
                        self.blocked = Some(act);
                        break;
                    }
                    outcome => self.said(line, outcome),
                },
                Act::Try(line) if holds => {
                    let outcome = self.say(line, self.waiting.len());
                    if outcome == Outcome::Waits {
                        self.outcomes.push(outcome);
                    } else {
                        self.said(line, outcome);
                    }
                }
                Act::Thread(line, times) if holds => {
                    for _ in 0..times {
                        self.say_beside(line);
                    }
                }
                Act::Inner(line, _) if holds => self.say_beside(line),
                Act::End(well) if holds => self.say_ending(well),
                Act::Drop if holds => self.release(false),
                Act::Give if holds => self.holder = Holder::Table,
                _ => {}
            }
            if !self.alive {
                break;
            }
        }
    }

    /// Adds a write of the agent in its own poll, after writes from elsewhere.
    fn said(&mut self, line: Line, outcome: Outcome) {
        if !matches!(line, Line::Text(_, 0)) {
            self.beside = 0;
        }
        self.outcomes.push(outcome);
    }

    /// Adds a write from elsewhere while the agent is polled. Only writes from the same place
    /// counts as waiting: what the agent said lies where others cannot see it.
    fn say_beside(&mut self, line: Line) {
        let before = self.waiting.len();
        let outcome = self.say(line, self.beside);
        self.beside += self.waiting.len() - before;
        self.outcomes.push(outcome);
    }

    fn say(&mut self, line: Line, counted: usize) -> Outcome {
        if let Line::Text(_, 0) = line {
            // Empty text sends nothing, so it cannot fail.
            return Outcome::Said;
        }
        if self.turn != Turn::Open || self.reader == Reader::Gone {
            return Outcome::Closed;
        }
        if counted >= HIGH_WATER && self.reader == Reader::Attached {
            return Outcome::Waits;
        }
        let bytes = match line {
            Line::Text(letter, count) => {
                let text = char::from(letter).to_string().repeat(count);
                format!("<{}{text}>\n", self.words)
            }
            Line::Word => {
                self.words += 1;
                "word well\n".into()
            }
            Line::Say(count) => format!("say {}\n", "s".repeat(count)),
            Line::WordFails => return Outcome::Unsupported,
            Line::TextPanics if Reply::has_frame(self.words) => {
                format!("<{}{PANIC}>\n", self.words)
            }
            Line::TextPanics | Line::WordPanics => return Outcome::Panicked,
        };
        self.write(&bytes);
        Outcome::Said
    }

    fn say_ending(&mut self, well: bool) {
        let outcome = if self.turn != Turn::Open || self.reader == Reader::Gone {
            Outcome::Closed
        } else if well {
            self.write("ending\n");
            self.turn = Turn::Ended;
            Outcome::Said
        } else {
            Outcome::Invalid
        };
        self.outcomes.push(outcome);
        self.release(false);
    }

    fn write(&mut self, bytes: &str) {
        if self.reader == Reader::Attached {
            self.waiting.extend_from_slice(bytes.as_bytes());
        }
    }

    fn release(&mut self, in_panic: bool) {
        self.holder = Holder::Nobody;
        self.in_panic = in_panic;
        self.close();
    }

    fn finish_agent(&mut self, end: End) {
        self.alive = false;
        if self.holder == Holder::Agent {
            self.release(end == End::Panicked);
        }
        self.end = Some(end);
        self.close();
    }

    fn drop_agent(&mut self) {
        if self.alive {
            self.finish_agent(End::Dropped);
        }
    }

    /// Closes the turn when the agent is done and the reply is dropped.
    fn close(&mut self) {
        let Some(end) = self.end else { return };
        if self.holder != Holder::Nobody || self.turn == Turn::Closed {
            return;
        }
        let end = if end == End::Answered && self.in_panic {
            End::Panicked
        } else {
            end
        };
        let open = self.turn == Turn::Open;
        self.turn = Turn::Closed;
        let sent = open && self.reader == Reader::Attached;
        match end {
            End::Failed if open => self.write("fail on purpose\n"),
            End::Panicked | End::Dropped if open => self.write(SORRY),
            _ => self.write("finish\n"),
        }
        match end {
            End::Failed => self.incidents.push(format!("failed on purpose {sent}")),
            End::Panicked => self.incidents.push(format!("panicked {sent}")),
            End::Answered | End::Dropped => {}
        }
    }
}
