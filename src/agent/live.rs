//! The state of a live body: it polls the agent, and takes its output out of the channel.

use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;

use super::channel::Frames;
use super::run::Run;
use super::staging::Staging;
use super::wakeup::Wakeup;
use crate::conversations::{Recording, Storing};
use crate::protocol::{Env, Ticks};
use crate::sync::Exclusive;

/// The maximum time of silence before a keep-alive is sent.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// Returns the ticks of keep-alives: each one reports silence since the previous tick, so silence is noticed after one
/// to two periods, and the period is half the time.
pub(super) fn ticks(env: &Env) -> Option<Ticks> {
    env.ticks(KEEP_ALIVE / 2)
}

/// The state of a body that runs an agent.
pub(super) struct Live {
    pub(super) frames: Arc<dyn Frames>,
    /// The running agent. `None` once the agent has ended or was detached.
    run: Option<Run>,
    /// The staging buffer, while `run` is `Some`.
    staging: Option<Box<Staging>>,
    wakeup: Wakeup,
    detached: bool,
    /// `true` once the first frame was sent.
    begun: bool,
    pub(super) ticks: Option<Exclusive<Ticks>>,
    /// `true` if nothing was sent since the last tick.
    silent: bool,
    pub(super) done: bool,
    /// The recording of the turn; `None` after its end.
    pub(super) recording: Option<Recording>,
    /// The last frame of the answer, which is sent once the turn is stored.
    storing: Option<(Exclusive<Storing>, Bytes)>,
}

impl Live {
    pub(super) fn new(
        run: Run,
        frames: Arc<dyn Frames>,
        wakeup: Wakeup,
        ticks: Option<Ticks>,
    ) -> Self {
        Self {
            run: Some(run),
            staging: frames.stage(),
            frames,
            wakeup,
            detached: false,
            begun: false,
            ticks: ticks.map(Exclusive::new),
            silent: false,
            done: false,
            recording: None,
            storing: None,
        }
    }

    /// Takes the agent out of the body. Dropping the body no longer stops the agent then.
    pub(super) fn detach(&mut self) -> Option<Run> {
        self.detached = true;
        self.frames.unstage(self.staging.take());
        self.run.take()
    }

    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        if self.done {
            return Poll::Ready(None);
        }
        if self.storing.is_some() {
            return self.poll_stored(cx);
        }
        self.poll_agent(cx);
        match self.poll_frame() {
            Poll::Ready(Some(frame)) => {
                self.silent = false;
                // Checked here, because most protocols end a cancelled turn like an answer.
                let cancelled = self.recording.is_some() && self.frames.is_cancelled();
                self.recording.take_if(|_| cancelled);
                if let Some(storing) = self.recording.as_mut().and_then(|it| it.push(&frame)) {
                    self.recording = None;
                    self.storing = Some((Exclusive::new(storing), frame));
                    return self.poll_stored(cx);
                }
                Poll::Ready(Some(frame))
            }
            Poll::Ready(None) => {
                self.done = true;
                self.ticks = None;
                Poll::Ready(None)
            }
            Poll::Pending => self.poll_keep_alive(),
        }
    }

    /// Returns the last frame of the answer once the turn is stored, because the client's next request continues the
    /// turn.
    fn poll_stored(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let Some((storing, _)) = &mut self.storing else {
            return Poll::Pending;
        };
        let Poll::Ready(stored) = storing.get().as_mut().poll(cx) else {
            return Poll::Pending;
        };
        if !stored {
            self.frames.set_unstored(true);
        }
        Poll::Ready(self.storing.take().map(|(_, frame)| frame))
    }

    pub(super) fn poll_output(&mut self, cx: &Context<'_>) -> Poll<()> {
        self.poll_agent(cx);
        // The report is cleared before the check, as in `poll_frame`: a later report wakes the task.
        self.wakeup.channel();
        match self.frames.has_output(self.staging.as_deref()) {
            true => Poll::Ready(()),
            false => Poll::Pending,
        }
    }

    fn poll_agent(&mut self, cx: &Context<'_>) {
        self.wakeup.set_reader(cx);
        if self.wakeup.is_stopped() {
            self.drop_run();
        }
        if let Some(run) = &mut self.run {
            if let Some(waker) = self.wakeup.agent() {
                // The context has the agent's own waker, so that only wakes of this waker cause the next poll of the
                // agent.
                let polled;
                let mut cx = Context::from_waker(waker);
                (polled, self.staging) = run.poll_staged(&mut cx, self.staging.take());
                if polled.is_ready() {
                    self.drop_run();
                }
            }
        }
    }

    fn drop_run(&mut self) {
        // The buffer is returned first: dropping the run may run code of the agent, which may panic.
        self.frames.unstage(self.staging.take());
        self.run = None;
    }

    /// Returns all unsent bytes as one frame. Takes no lock if the channel has reported nothing, so that only text of
    /// this poll is unsent.
    fn poll_frame(&mut self) -> Poll<Option<Bytes>> {
        let news = self.wakeup.channel();
        match &mut self.staging {
            Some(staging) if self.begun && !news => {
                let frame = staging.take_frame();
                staging.sent += frame.len() as u64;
                match frame.is_empty() {
                    true => Poll::Pending,
                    false => Poll::Ready(Some(frame)),
                }
            }
            staging => {
                let agent = self.run.as_ref().map(|_| &self.wakeup);
                let polled = self.frames.poll_frame(staging.as_deref_mut(), agent);
                self.begun |= polled.is_ready();
                polled
            }
        }
    }

    fn poll_keep_alive(&mut self) -> Poll<Option<Bytes>> {
        let (Some(ticks), Some(waker)) = (&mut self.ticks, self.wakeup.timer()) else {
            return Poll::Pending;
        };
        let mut cx = Context::from_waker(waker);
        loop {
            match ticks.get().as_mut().poll_next(&mut cx) {
                Poll::Ready(Some(())) if self.silent => {
                    let frame = self.frames.keep_alive(self.staging.as_deref());
                    if !frame.is_empty() {
                        self.wakeup.poll_timer_again();
                        return Poll::Ready(Some(frame));
                    }
                }
                // Every frame clears the flag, so the next tick finds out whether a frame was sent in between.
                Poll::Ready(Some(())) => self.silent = true,
                Poll::Ready(None) => {
                    self.ticks = None;
                    return Poll::Pending;
                }
                Poll::Pending => return Poll::Pending,
            }
        }
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        // From here on writes fail. The agent is dropped after that, so nothing is sent that it writes while it is
        // dropped.
        self.frames.unstage(self.staging.take());
        self.frames.detach(self.detached);
        self.wakeup.forget_reader();
    }
}
