//! Virtual time: pauses, keep-alive, and wakes from outside.

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use copilot_wire::protocol::{AgentError, Protocol};
use copilot_wire::testing::{Clock, FrontEnd, OpenAiClient, Script, Stage, Step, Workspace};
use copilot_wire::{Agent, Reply, Request, async_trait};
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
    let mut stage = Stage::new(OpenAiClient::new("m"), script).clock(&clock);
    let turn = block_on(stage.say("count")).unwrap();
    assert_eq!(format!("{turn:#}"), "    0.000 s  text: one two three\n");
    let times: Vec<_> = turn
        .heard()
        .iter()
        .map(|(time, _)| time.as_secs())
        .collect();
    assert_eq!(times, [0, 2, 7202]);
    assert_eq!(turn.took(), seconds(7202));
    assert_eq!(clock.elapsed(), seconds(7202));
}

#[test]
fn silence_is_broken_by_keep_alive() {
    let clock = Clock::new();
    let pause = |wait| {
        Script::new(&clock).turn([Step::text("a"), Step::pause(seconds(wait)), Step::text("b")])
    };
    let pings = |wait| {
        let mut stage = Stage::new(Workspace::new(), pause(wait)).clock(&clock);
        let turn = block_on(stage.say("hello")).unwrap();
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
    let mut stage = Stage::new(Workspace::new(), Patient(waiting.into()));
    let turn = block_on(stage.say("hello")).unwrap();
    assert_eq!(turn.to_string(), "text: at last\n");
    assert_eq!(turn.took(), Duration::ZERO);
    other.join().unwrap().unwrap();
}

#[test]
fn ids_and_times_are_the_same_in_every_run() {
    let run = || {
        let clock = Clock::new();
        let script = Script::new(&clock).turn([Step::text("hi")]);
        let mut stage = Stage::new(OpenAiClient::new("m"), script);
        block_on(stage.say("hello")).unwrap().bytes().to_vec()
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
    let mut stage = Stage::new(OpenAiClient::new("m"), script).clock(&clock);
    let say = stage.say("hello");
    let stalled = block_on(async { futures::poll!(Box::pin(say)).is_pending() });
    assert!(stalled);
    let turn = block_on(stage.say("again")).unwrap();
    assert_eq!(turn.text(), "two");
    let sent = stage.front_end().request();
    assert!(
        String::from_utf8(sent.body().to_vec())
            .unwrap()
            .contains("again")
    );
}
