//! `Reply`, `Body` and `Run` driven by a list of operations, against a model that says what must
//! come out: every byte, every result, every failure that is reported, every wake.
//!
//! Some operations are the agent's, which it finds on its script when it is polled; the others are
//! what happens around it: the body is polled, dropped or detached, another task uses the reply.

mod model;
mod plain;

use std::collections::VecDeque;
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use bytes::Bytes;
use copilot_wire::agent::Run;
use copilot_wire::protocol::{self, AgentError, Env, Environment, SendError, Status, Ticks};
use copilot_wire::{Agent, Body, Reply, Request, async_trait};
use futures::{Stream, StreamExt};

use super::input::Input;
use model::Model;
use plain::{Ask, Ending, FAIL, PANIC, Plain, Say, intended};

/// One thing that is said.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Line {
    /// A piece of text: a letter, so many times.
    Text(u8, usize),
    /// A text that panics half-way. Never by a bare poll: it is caught.
    TextPanics,
    Word,
    WordFails,
    WordPanics,
    Say(usize),
}

/// A step of the agent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Act {
    /// Says it, and waits as long as it takes.
    Speak(Line),
    /// Tries once, and gives up if it would have to wait.
    Try(Line),
    /// Sends the reply to another thread, which tries so often, and back.
    Thread(Line, u8),
    /// Runs a body inside, whose agent says something on the outer reply and on its own.
    Inner(Line, bool),
    /// Waits for the next poll.
    Yield,
    /// Ends the turn, well or not.
    End(bool),
    /// Drops the reply.
    Drop,
    /// Lets others have the reply.
    Give,
    /// Takes it back, if it is there.
    Take,
    /// Is done.
    Answer,
    Fail,
    Panic,
}

/// A step of the environment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Step {
    /// Puts an act on the script.
    Script(Act),
    /// Polls the body, on this thread or another.
    Poll(bool),
    Tick,
    DropBody,
    Detach,
    PollRun(bool),
    DropRun,
    /// Somebody else tries to say something, on this thread or another.
    Elsewhere(Line, bool),
    /// Somebody else ends the turn.
    EndElsewhere(bool),
    /// Somebody else drops the reply, in a panic or not.
    DropElsewhere(bool),
}

/// The result of a write or a poll.
#[derive(Clone, PartialEq)]
pub enum Outcome {
    Said,
    Closed,
    Waits,
    Unsupported,
    Invalid,
    Panicked,
    Done,
    Frame(Vec<u8>),
}

impl std::fmt::Debug for Outcome {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Said => "Said",
            Self::Closed => "Closed",
            Self::Waits => "Waits",
            Self::Unsupported => "Unsupported",
            Self::Invalid => "Invalid",
            Self::Panicked => "Panicked",
            Self::Done => "Done",
            Self::Frame(bytes) => {
                let start = String::from_utf8_lossy(&bytes[..bytes.len().min(80)]);
                return write!(f, "Frame({}, {start:?})", bytes.len());
            }
        })
    }
}

impl From<Result<(), SendError>> for Outcome {
    fn from(result: Result<(), SendError>) -> Self {
        match result {
            Ok(()) => Self::Said,
            Err(SendError::Closed) => Self::Closed,
            Err(SendError::Unsupported(_)) => Self::Unsupported,
            Err(SendError::Invalid(_)) => Self::Invalid,
            Err(error) => panic!("{error}"),
        }
    }
}

fn line(input: &mut Input<'_>) -> Line {
    let choice = input.below(12);
    let size = usize::from(input.byte());
    match choice {
        0..=2 => Line::Text(b'a' + (size % 26) as u8, size),
        // Some of these fill the body beyond its mark.
        3 | 4 => Line::Text(b'A' + (size % 26) as u8, size * 100),
        5 => Line::TextPanics,
        6 | 7 => Line::Word,
        8 => Line::WordFails,
        9 => Line::WordPanics,
        10 => Line::Say(size),
        _ => Line::Say(size * 90),
    }
}

fn step(input: &mut Input<'_>) -> Step {
    match input.below(32) {
        0..=3 => Step::Script(Act::Speak(line(input))),
        4 => Step::Script(Act::Try(line(input))),
        5 => Step::Script(Act::Thread(line(input), 1 + input.below(4))),
        6 => Step::Script(Act::Inner(line(input), input.flag())),
        7 => Step::Script(Act::Yield),
        8 => Step::Script(Act::End(input.flag())),
        9 => Step::Script(Act::Drop),
        10 | 11 => Step::Script(Act::Give),
        12 => Step::Script(Act::Take),
        13 => Step::Script(Act::Answer),
        14 => Step::Script(Act::Fail),
        15 => Step::Script(Act::Panic),
        16..=21 => Step::Poll(input.below(8) == 7),
        22 => Step::Tick,
        23 => Step::DropBody,
        24 => Step::Detach,
        25 | 26 => Step::PollRun(input.below(8) == 7),
        27 => Step::DropRun,
        28 | 29 => Step::Elsewhere(line(input), input.below(8) == 7),
        30 => Step::EndElsewhere(input.flag()),
        _ => Step::DropElsewhere(input.flag()),
    }
}

/// The state that the agent and the environment share.
#[derive(Default)]
pub struct Stage {
    script: Mutex<VecDeque<Act>>,
    prompter: Mutex<Option<Waker>>,
    /// The reply, while others may use it.
    table: Mutex<Option<Reply<Plain>>>,
    outcomes: Mutex<Vec<Outcome>>,
    incidents: Mutex<Vec<String>>,
    ticks: Mutex<usize>,
    /// The waker of the tick that is waited for.
    timer: Mutex<Option<Waker>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap()
}

impl Stage {
    fn poll_act(&self, cx: &Context<'_>) -> Poll<Act> {
        match lock(&self.script).pop_front() {
            Some(act) => Poll::Ready(act),
            None => {
                *lock(&self.prompter) = Some(cx.waker().clone());
                Poll::Pending
            }
        }
    }

    fn note(&self, outcome: impl Into<Outcome>) {
        let outcome = outcome.into();
        lock(&self.outcomes).push(outcome);
    }
}

struct World(Arc<Stage>);

impl Environment for World {
    fn ticks(&self, _: Duration) -> Option<Ticks> {
        let stage = Arc::clone(&self.0);
        Some(futures::stream::poll_fn(move |cx| stage.poll_tick(cx)).boxed())
    }
}

impl Stage {
    fn poll_tick(&self, cx: &Context<'_>) -> Poll<Option<()>> {
        let mut ticks = lock(&self.ticks);
        if *ticks == 0 {
            *lock(&self.timer) = Some(cx.waker().clone());
            return Poll::Pending;
        }
        *ticks -= 1;
        Poll::Ready(Some(()))
    }
}

/// Says one line; the only places that wait are in it.
async fn say(reply: &Reply<Plain>, line: Line) -> Result<(), SendError> {
    match line {
        Line::Text(letter, count) => {
            let text = char::from(letter).to_string().repeat(count);
            reply.text(&text).await
        }
        Line::TextPanics => reply.text(PANIC).await,
        Line::Word => reply.status(Status::new("well")).await,
        Line::WordFails => reply.status(Status::new(FAIL)).await,
        Line::WordPanics => reply.status(Status::new(PANIC)).await,
        Line::Say(count) => reply.send(Say("s".repeat(count))).await,
    }
}

/// Does the same, with panics caught at once.
async fn say_safely(reply: &Reply<Plain>, line: Line) -> Outcome {
    let mut saying = pin!(say(reply, line));
    poll_fn(
        |cx| match catch_unwind(AssertUnwindSafe(|| saying.as_mut().poll(cx))) {
            Ok(poll) => poll.map(Outcome::from),
            Err(_) => Poll::Ready(Outcome::Panicked),
        },
    )
    .await
}

/// Polls once.
fn try_once(reply: &Reply<Plain>, line: Line, waker: &Waker) -> Outcome {
    let mut cx = Context::from_waker(waker);
    match pin!(say_safely(reply, line)).poll(&mut cx) {
        Poll::Ready(outcome) => outcome,
        Poll::Pending => Outcome::Waits,
    }
}

struct Player;

#[async_trait]
impl Agent<Plain> for Player {
    async fn answer(&self, request: Request<Plain>, reply: Reply<Plain>) -> Result<(), AgentError> {
        let stage = Arc::clone(&request.0);
        let mut held = Some(reply);
        loop {
            let act = poll_fn(|cx| stage.poll_act(cx)).await;
            match act {
                Act::Yield => yield_once().await,
                Act::Answer => return Ok(()),
                Act::Fail => return Err(AgentError::new("on purpose")),
                Act::Panic => intended(),
                Act::Take if held.is_none() => held = lock(&stage.table).take(),
                _ => {}
            }
            let Some(reply) = held.take() else { continue };
            held = match act {
                Act::Speak(line) => {
                    stage.note(say_safely(&reply, line).await);
                    Some(reply)
                }
                Act::Try(line) => {
                    stage.note(try_once(&reply, line, Waker::noop()));
                    Some(reply)
                }
                Act::Thread(line, times) => {
                    for _ in 0..times {
                        stage.note(on_a_thread(|| try_once(&reply, line, Waker::noop())));
                    }
                    Some(reply)
                }
                Act::Inner(line, panics) => {
                    let (outcome, reply) = inner(reply, line, panics);
                    stage.note(outcome);
                    Some(reply)
                }
                Act::End(well) => {
                    stage.note(reply.end(Ending(well)));
                    None
                }
                Act::Drop => None,
                Act::Give => {
                    *lock(&stage.table) = Some(reply);
                    None
                }
                _ => Some(reply),
            };
        }
    }
}

fn on_a_thread<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| scope.spawn(work).join().unwrap())
}

async fn yield_once() {
    let mut yielded = false;
    poll_fn(|cx| {
        if std::mem::replace(&mut yielded, true) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

/// Returns the result, and the reply.
type Back = (Outcome, Reply<Plain>);

/// An agent that says something of its own and something on the reply of another body.
struct Within {
    outer: Mutex<Option<(Reply<Plain>, Line)>>,
    back: Arc<Mutex<Option<Back>>>,
    panics: bool,
}

#[async_trait]
impl Agent<Plain> for Within {
    async fn answer(&self, _: Request<Plain>, reply: Reply<Plain>) -> Result<(), AgentError> {
        reply.text("before").await?;
        let (outer, line) = lock(&self.outer).take().unwrap();
        let outcome = try_once(&outer, line, Waker::noop());
        *lock(&self.back) = Some((outcome, outer));
        reply.text("after").await?;
        if self.panics {
            intended();
        }
        Ok(())
    }
}

fn inner(outer: Reply<Plain>, line: Line, panics: bool) -> (Outcome, Reply<Plain>) {
    let back = Arc::default();
    let within = Within {
        outer: Mutex::new(Some((outer, line))),
        back: Arc::clone(&back),
        panics,
    };
    let request = Request::new(Ask(Arc::default()));
    let mut body = Body::run(within, request, &Env::default());
    let mut cx = Context::from_waker(Waker::noop());
    let end = if panics { model::SORRY } else { "finish\n" };
    let expected = format!("open\n<0before>\n<0after>\n{end}");
    let frame = body.poll_next_unpin(&mut cx);
    assert_eq!(frame, Poll::Ready(Some(Ok(Bytes::from(expected)))));
    assert_eq!(body.poll_next_unpin(&mut cx), Poll::Ready(None));
    let back = lock(&back).take();
    back.unwrap()
}

/// Wakes nobody, and counts.
#[derive(Default)]
struct Count(AtomicUsize);

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// Somebody who polls, and should be woken when that is worth it.
#[derive(Default)]
struct Poller {
    count: Arc<Count>,
    /// The number of wakes when it last returned `Pending`.
    waits: Option<usize>,
}

impl Poller {
    fn poll<T: Send>(
        &mut self,
        elsewhere: bool,
        poll: impl FnOnce(&mut Context<'_>) -> Poll<T> + Send,
    ) -> Poll<T> {
        // Read before the poll: a wake that comes during it counts.
        let before = self.count.0.load(Ordering::SeqCst);
        let waker = Waker::from(Arc::clone(&self.count));
        let work = || poll(&mut Context::from_waker(&waker));
        let poll = if elsewhere { on_a_thread(work) } else { work() };
        self.waits = poll.is_pending().then_some(before);
        poll
    }

    /// Returns `true` if it waits and was not woken.
    fn sleeps(&self) -> bool {
        self.waits == Some(self.count.0.load(Ordering::SeqCst))
    }
}

fn poll_body(body: &mut Body, poller: &mut Poller, elsewhere: bool) -> Outcome {
    match poller.poll(elsewhere, |cx| Pin::new(body).poll_next(cx)) {
        Poll::Pending => Outcome::Waits,
        // A body without a store is not interrupted.
        Poll::Ready(None | Some(Err(_))) => Outcome::Done,
        Poll::Ready(Some(Ok(frame))) => Outcome::Frame(frame.to_vec()),
    }
}

/// Reads the steps, of two bytes or more each.
pub fn reply(data: &[u8]) {
    let mut input = Input(data);
    let mut steps = Vec::new();
    while !input.is_empty() && steps.len() < 200 {
        steps.push(step(&mut input));
    }
    play(&steps);
}

/// Plays the steps in both worlds and compares after each.
pub fn play(steps: &[Step]) {
    let stage = Arc::new(Stage::default());
    let observer = Arc::clone(&stage);
    let env = Env::new(World(Arc::clone(&stage))).observe(move |turn| {
        let incident = match turn.outcome {
            protocol::Outcome::Failed { error, sent, .. } => {
                format!("failed {} {sent}", error.message())
            }
            protocol::Outcome::Panicked { sent, .. } => format!("panicked {sent}"),
            _ => return,
        };
        lock(&observer.incidents).push(incident);
    });
    let mut body = Some(Body::run(
        Player,
        Request::new(Ask(Arc::clone(&stage))),
        &env,
    ));
    drop(env);
    let mut run: Option<Run> = None;
    let (mut reader, mut runner) = (Poller::default(), Poller::default());
    let mut model = Model::default();

    for (at, &step) in steps.iter().enumerate() {
        match step {
            Step::Script(act) => {
                lock(&stage.script).push_back(act);
                let prompter = lock(&stage.prompter).take();
                if let Some(prompter) = prompter {
                    prompter.wake();
                }
            }
            Step::Tick => {
                *lock(&stage.ticks) += 1;
                let timer = lock(&stage.timer).take();
                if let Some(timer) = timer {
                    timer.wake();
                }
            }
            Step::Poll(elsewhere) => {
                if let Some(body) = &mut body {
                    stage.note(poll_body(body, &mut reader, elsewhere));
                    let done = lock(&stage.outcomes).last() == Some(&Outcome::Done);
                    assert_eq!(body.is_done(), done);
                }
            }
            Step::DropBody => {
                body = None;
                reader.waits = None;
            }
            Step::Detach => {
                if let Some(detached) = body.as_mut().and_then(Body::detach) {
                    run = Some(detached);
                }
            }
            Step::PollRun(elsewhere) => {
                if let Some(running) = &mut run {
                    let poll = runner.poll(elsewhere, |cx| Pin::new(running).poll(cx));
                    if poll.is_ready() {
                        run = None;
                    }
                    stage.note(if poll.is_ready() {
                        Outcome::Done
                    } else {
                        Outcome::Waits
                    });
                }
            }
            Step::DropRun => {
                run = None;
                runner.waits = None;
            }
            Step::Elsewhere(line, elsewhere) => {
                let table = lock(&stage.table);
                if let Some(reply) = &*table {
                    let work = || try_once(reply, line, Waker::noop());
                    stage.note(if elsewhere { on_a_thread(work) } else { work() });
                }
            }
            Step::EndElsewhere(well) => {
                let reply = lock(&stage.table).take();
                if let Some(reply) = reply {
                    stage.note(reply.end(Ending(well)));
                }
            }
            Step::DropElsewhere(panics) => {
                let reply = lock(&stage.table).take();
                let _ = catch_unwind(AssertUnwindSafe(|| {
                    let _reply = reply;
                    if panics {
                        intended();
                    }
                }));
            }
        }
        model.step(step);
        let sent = &steps[..=at];
        assert_eq!(
            *lock(&stage.outcomes),
            model.outcomes,
            "outcomes after {sent:?}"
        );
        lock(&stage.outcomes).clear();
        model.outcomes.clear();
        assert!(
            !(reader.sleeps() && model.has_news()),
            "the body is not woken after {sent:?}"
        );
        assert!(
            !(runner.sleeps() && model.run_can_go_on()),
            "the run is not woken after {sent:?}"
        );
    }

    // Whatever is left is let go of, and takes everything with it.
    drop(run);
    model.step(Step::DropRun);
    if let Some(body) = &mut body {
        lock(&stage.script).extend([Act::Drop, Act::Answer]);
        let prompter = lock(&stage.prompter).take();
        if let Some(prompter) = prompter {
            prompter.wake();
        }
        model.step(Step::Script(Act::Drop));
        model.step(Step::Script(Act::Answer));
        for _ in 0..1000 {
            drop(lock(&stage.table).take());
            model.step(Step::DropElsewhere(false));
            let outcome = poll_body(body, &mut reader, false);
            model.step(Step::Poll(false));
            assert_eq!(
                model.outcomes.pop(),
                Some(outcome.clone()),
                "at the end of {steps:?}"
            );
            if outcome == Outcome::Done {
                break;
            }
        }
        assert!(body.is_done(), "no end after {steps:?}");
    }
    drop(body);
    model.step(Step::DropBody);
    drop(lock(&stage.table).take());
    model.step(Step::DropElsewhere(false));
    assert_eq!(
        *lock(&stage.incidents),
        model.incidents,
        "incidents after {steps:?}"
    );
    lock(&stage.prompter).take();
    assert_eq!(
        Arc::strong_count(&stage),
        1,
        "something is left after {steps:?}"
    );
}
