//! Virtual time: pauses, keep-alive, and wakes from outside.

use std::pin::pin;
use std::sync::{Arc, mpsc};
use std::task::{Context, Wake, Waker};
use std::thread;
use std::time::Duration;

use copilot_wire::protocol::{AgentError, Environment, Protocol};
use copilot_wire::{Agent, Reply, Request, async_trait};
use copilot_wire_kit::openai::OpenAiClient;
use copilot_wire_kit::openbb::Workspace;
use copilot_wire_kit::{Clock, FrontEnd, Harness, Script, Step};
use futures::channel::oneshot;
use futures::executor::block_on;

fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

#[test]
fn a_pause_takes_its_time_and_none_of_ours() {
    let clock = Clock::new();
    let script = Script::new(&clock).turn([
        Step::text("one"),
        Step::pause(seconds(2)),
        Step::text(" two"),
        Step::pause(seconds(7200)),
        Step::text(" three"),
    ]);
    let mut harness = Harness::new(OpenAiClient::new("m"), script).clock(&clock);
    let turn = block_on(harness.prompt("count")).unwrap();
    assert_eq!(format!("{turn:#}"), "    0.000 s  text: one two three\n");
    let times: Vec<_> = turn
        .effects()
        .iter()
        .map(|(time, _)| time.as_secs())
        .collect();
    assert_eq!(times, [0, 2, 7202]);
    assert_eq!(turn.duration(), seconds(7202));
    assert_eq!(clock.elapsed(), seconds(7202));
}

#[test]
fn silence_is_broken_by_keep_alive() {
    let clock = Clock::new();
    let pause = |wait| {
        Script::new(&clock).turn([Step::text("a"), Step::pause(seconds(wait)), Step::text("b")])
    };
    let pings = |wait| {
        let mut harness = Harness::new(Workspace::new(), pause(wait)).clock(&clock);
        let turn = block_on(harness.prompt("hello")).unwrap();
        assert_eq!(turn.text(), "ab");
        let text = String::from_utf8(turn.bytes().to_vec()).unwrap();
        text.matches(": ping\n\n").count()
    };
    assert_eq!(pings(7), 0);
    assert_eq!(pings(20), 1);
    assert_eq!(
        pings(60),
        6,
        "after 15 seconds, and every half interval from there"
    );
}

#[test]
fn what_is_not_the_clocks_is_waited_for() {
    /// Waits for another thread.
    struct Patient(std::sync::Mutex<mpsc::Sender<oneshot::Sender<()>>>);
    #[async_trait]
    impl<P: Protocol> Agent<P> for Patient {
        async fn answer(&self, _: Request<P>, reply: Reply<P>) -> Result<(), AgentError> {
            let (wake, woken) = oneshot::channel();
            self.0.lock().unwrap().send(wake)?;
            woken.await?;
            Ok(reply.text("at last").await?)
        }
    }
    let (waiting, wakers) = mpsc::channel::<oneshot::Sender<()>>();
    let other = thread::spawn(move || wakers.recv().unwrap().send(()));
    let mut harness = Harness::new(Workspace::new(), Patient(waiting.into()));
    let turn = block_on(harness.prompt("hello")).unwrap();
    assert_eq!(turn.to_string(), "text: at last\n");
    assert_eq!(turn.duration(), Duration::ZERO);
    other.join().unwrap().unwrap();
}

#[test]
fn ids_and_times_are_the_same_in_every_run() {
    let run = || {
        let clock = Clock::new();
        let script = Script::new(&clock).turn([Step::text("hi")]);
        let mut harness = Harness::new(OpenAiClient::new("m"), script);
        block_on(harness.prompt("hello")).unwrap().bytes().to_vec()
    };
    assert_eq!(run(), run());
    assert!(
        String::from_utf8(run())
            .unwrap()
            .contains("\"created\":1767225600")
    );
}

#[test]
fn a_clock_is_moved_by_hand_as_well() {
    let clock = Clock::new();
    let sleep = clock.sleep(seconds(3));
    clock.advance(seconds(2));
    assert_eq!(clock.elapsed(), seconds(2));
    let mut sleep = Box::pin(sleep);
    let early = block_on(async { futures::poll!(&mut sleep) });
    assert!(early.is_pending());
    clock.advance(seconds(1));
    block_on(sleep);
    assert_eq!(clock.elapsed(), seconds(3));
}

#[test]
fn a_turn_that_is_dropped_stops_its_sleep() {
    let clock = Clock::new();
    let script = Script::new(&clock)
        .turn([Step::text("one"), Step::Stall])
        .turn([Step::text("two")]);
    let mut harness = Harness::new(OpenAiClient::new("m"), script).clock(&clock);
    let say = harness.prompt("hello");
    let stalled = block_on(async { futures::poll!(Box::pin(say)).is_pending() });
    assert!(stalled);
    let turn = block_on(harness.prompt("again")).unwrap();
    assert_eq!(turn.text(), "two");
    let sent = harness.front_end().request();
    assert!(
        String::from_utf8(sent.body().to_vec())
            .unwrap()
            .contains("again")
    );
}

#[test]
fn a_time_that_never_comes_is_not_waited_for_by_the_clock() {
    /// Counts the wakes.
    struct Count(mpsc::Sender<()>);
    impl Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.send(()).unwrap();
        }
    }
    // What tokio takes for the far future.
    let thirty_years = seconds(86400 * 365 * 30);
    for far in [Duration::MAX, Duration::MAX - seconds(1), thirty_years] {
        let clock = Clock::new();
        let script = Script::new(&clock).turn([
            Step::pause(seconds(60)),
            Step::text("a"),
            Step::pause(far),
            Step::text("b"),
        ]);
        let mut harness = Harness::new(Workspace::new(), script).clock(&clock);
        let (waker, wakes) = mpsc::channel();
        let waker = Waker::from(Arc::new(Count(waker)));
        let mut say = pin!(harness.prompt("hello"));
        // The turn is stuck, and says so by waiting for ever.
        loop {
            let poll = say.as_mut().poll(&mut Context::from_waker(&waker));
            assert!(poll.is_pending());
            if wakes.try_iter().count() == 0 {
                break;
            }
            assert_eq!(clock.elapsed().max(seconds(60)), seconds(60));
        }
        assert_eq!(clock.elapsed(), seconds(60));
    }
}

#[test]
fn the_clock_has_an_end() {
    let clock = Clock::new();
    let sleep = clock.sleep(Duration::MAX);
    clock.advance(Duration::MAX);
    let end = clock.elapsed();
    assert!(end < Duration::MAX);
    let passed = clock.now().duration_since(Clock::new().now());
    assert_eq!(passed.unwrap(), end);
    clock.advance(seconds(1));
    assert_eq!(clock.elapsed(), end);
    let late = clock.sleep(seconds(1));
    let (sleep, late) = (Box::pin(sleep), Box::pin(late));
    block_on(async {
        assert!(futures::poll!(sleep).is_pending());
        assert!(futures::poll!(late).is_pending());
    });
}

#[test]
fn a_wake_may_come_back_to_the_clock() {
    /// Moves the clock on when it is woken, and looks at it when it is dropped.
    struct Curious(Clock);
    impl Wake for Curious {
        fn wake(self: Arc<Self>) {
            self.0.advance(seconds(10));
        }
    }
    impl Drop for Curious {
        fn drop(&mut self) {
            let _ = self.0.elapsed();
        }
    }
    let clock = Clock::new();
    let curious = || Waker::from(Arc::new(Curious(clock.clone())));
    let mut sleep = Box::pin(clock.sleep(seconds(1)));
    let mut tick = clock.ticks(seconds(1)).unwrap();
    for _ in 0..2 {
        // The second time round the first wakers are replaced.
        let waker = curious();
        let mut cx = Context::from_waker(&waker);
        assert!(sleep.as_mut().poll(&mut cx).is_pending());
        assert!(tick.as_mut().poll_next(&mut cx).is_pending());
    }
    drop(tick);
    clock.advance(seconds(2));
    assert_eq!(clock.elapsed(), seconds(11), "time only goes forward");
    let mut dropped = Box::pin(clock.sleep(seconds(1)));
    let waker = curious();
    let poll = dropped.as_mut().poll(&mut Context::from_waker(&waker));
    assert!(poll.is_pending());
    drop(waker);
    drop(dropped);
    assert_eq!(clock.elapsed(), seconds(11));
}
