//! Turns that go wrong, and reports of them.

use std::sync::{Arc, Mutex};
use std::task::Poll;

use copilot_wire::json::Json;
use copilot_wire::openbb::FunctionCall;
use copilot_wire::protocol::{AgentError, Env, SendError};
use futures::executor::block_on;
use futures::{FutureExt, StreamExt};

use crate::support::*;

#[test]
fn a_failure_is_sent_in_the_form_of_the_protocol() {
    let error = || AgentError::new("The database is away.");
    let told = body(move |reply| async move {
        reply.text("one").await?;
        Err(error())
    });
    assert_eq!(
        whole(told),
        chunk("one") + &chunk("\\n\\nThe database is away.")
    );

    // The cause is for the observer, not for the user.
    let cause = std::io::Error::other("password=hunter2");
    let told = body(move |_| {
        let cause = std::io::Error::new(cause.kind(), cause.to_string());
        async { Err(cause.into()) }
    });
    assert_eq!(whole(told), failed());
}

#[test]
fn a_panic_is_sent_as_a_failure_and_the_body_ends() {
    let told = body(|reply| async move {
        reply.text("one").await?;
        panic!("a bug in the agent");
    });
    assert_eq!(whole(told), chunk("one") + &failed());
    let before_the_first_await = body(|_| -> std::future::Ready<_> { panic!("at once") });
    assert_eq!(whole(before_the_first_await), failed());
}

#[test]
fn a_panic_in_a_drop_is_sent_as_a_failure() {
    struct Bomb;
    impl Drop for Bomb {
        fn drop(&mut self) {
            panic!("a bug in a drop");
        }
    }
    let told = body(|reply| async move {
        let _bomb = Bomb;
        reply.text("one").await?;
        Ok(())
    });
    assert_eq!(whole(told), chunk("one") + &failed());
}

#[test]
fn nothing_follows_an_ending_and_the_observer_is_called() {
    let observer = Arc::new(Observer::default());
    let env = observed(&observer);
    let call = || {
        FunctionCall::new(
            "get_widget_data",
            &std::collections::BTreeMap::from([("widget_uuid", "x")]),
        )
        .unwrap()
    };
    let ending = "event: copilotFunctionCall\ndata: {\"function\":\"get_widget_data\",";

    let failed_late = body_in(&env, move |reply| async move {
        reply.end(call())?;
        Err(AgentError::new("too late"))
    });
    let text = whole(failed_late);
    assert!(
        text.starts_with(ending) && text.matches("event:").count() == 1,
        "{text}"
    );

    let panicked_late = body_in(&env, move |reply| async move {
        reply.end(call())?;
        panic!("too late");
    });
    let text = whole(panicked_late);
    assert!(
        text.starts_with(ending) && text.matches("event:").count() == 1,
        "{text}"
    );

    let in_time = body_in(&env, |_| async { Err(AgentError::new("in time")) });
    assert_eq!(whole(in_time), chunk("\\n\\nin time"));

    let heard = observer.incidents.lock().unwrap().clone();
    assert_eq!(
        heard,
        [
            "openbb too late false",
            "openbb panicked false",
            "openbb in time true"
        ]
    );
}

#[test]
fn a_disconnect_is_no_failure() {
    let observer = Arc::new(Observer::default());
    let env = observed(&observer);
    let mut body = body_in(&env, |reply| async move {
        reply.text("one").await?;
        std::future::pending().await
    });
    assert!(poll(&mut body).is_ready());
    drop(body);
    assert!(observer.incidents.lock().unwrap().is_empty());
}

#[test]
fn a_cancelled_turn_takes_no_text_and_drops_its_agent() {
    let (alive, kept) = (Arc::new(()), Arc::new(Mutex::new(None)));
    let (held, slot) = (Arc::clone(&alive), Arc::clone(&kept));
    let mut body = body(move |reply| {
        let held = Arc::clone(&held);
        let reply = Arc::new(reply);
        slot.lock().unwrap().replace(Arc::clone(&reply));
        async move {
            reply.text("one").await?;
            std::future::pending::<()>().await;
            drop(held);
            Ok(())
        }
    });
    assert_eq!(poll(&mut body), Poll::Ready(Some(chunk("one"))));
    let before = Arc::strong_count(&alive);
    body.canceller().unwrap().cancel();
    let reply = kept.lock().unwrap().take().unwrap();
    let late = reply.text("two").now_or_never();
    assert!(matches!(late, Some(Err(SendError::Closed))), "{late:?}");
    assert_eq!(poll(&mut body), Poll::Ready(None));
    assert!(Arc::strong_count(&alive) < before);
}

#[test]
fn an_answer_that_was_not_read_to_its_end_is_a_disconnect() {
    for (read, outcome) in [(true, "answered"), (false, "client_left")] {
        let outcomes = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&outcomes);
        let env =
            Env::default().observe(move |turn| log.lock().unwrap().push(turn.outcome.as_str()));
        let kept = Arc::new(Mutex::new(None));
        let slot = Arc::clone(&kept);
        let mut body = body_in(&env, move |reply| {
            slot.lock().unwrap().replace(reply);
            async { Ok(()) }
        });
        assert!(poll(&mut body).is_pending());
        let reply = kept.lock().unwrap().take().unwrap();
        block_on(reply.text("one")).unwrap();
        drop(reply);
        if read {
            assert!(poll(&mut body).is_ready());
        }
        drop(body);
        assert_eq!(*outcomes.lock().unwrap(), [outcome]);
    }
}

#[test]
fn a_panic_in_an_inner_body_stays_there() {
    let outer = body(|reply| async move {
        let mut inner = body(|reply| async move {
            reply.text("inner").await?;
            panic!("inner");
        });
        let mut length = 0;
        while let Some(Ok(frame)) = inner.next().await {
            length += frame.len();
        }
        reply.text(&format!("[{length}]")).await?;
        Ok(())
    });
    let length = (chunk("inner") + &failed()).len();
    assert_eq!(whole(outer), chunk(&format!("[{length}]")));
}

#[test]
fn a_reply_dropped_by_a_panic_elsewhere_is_a_failure() {
    let told = body(|reply| async move {
        reply.text("one").await?;
        let other = std::thread::spawn(move || {
            let _reply = reply;
            panic!("elsewhere");
        });
        assert!(other.join().is_err());
        Ok(())
    });
    assert_eq!(whole(told), chunk("one") + &failed());
}

#[test]
fn a_failing_serialisation_writes_nothing_and_the_turn_goes_on() {
    struct Fails;
    impl serde::Serialize for Fails {
        fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            use serde::ser::{Error, SerializeSeq};
            let mut seq = serializer.serialize_seq(None)?;
            seq.serialize_element("half an event")?;
            Err(S::Error::custom("half-way"))
        }
    }
    struct Endless;
    impl serde::Serialize for Endless {
        fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            serializer.serialize_newtype_struct("Endless", self)
        }
    }
    struct Deep;
    impl serde::Serialize for Deep {
        fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            serializer.collect_seq([self])
        }
    }
    let body = body(|reply| async move {
        reply.text("one").await?;
        assert!(FunctionCall::new("f", &Fails).is_err());
        assert!(FunctionCall::new("f", &Endless).is_err());
        assert!(Json::encode(&Deep).is_err());
        reply.text("two").await?;
        Ok(())
    });
    assert_eq!(whole(body), chunk("one") + &chunk("two"));
}

#[test]
fn a_panicking_observer_does_not_affect_the_turn() {
    let env = Env::default().observe(|_| panic!("a bug in the observer"));
    let told = body_in(&env, |reply| async move {
        reply.text("one").await?;
        panic!("a bug in the agent");
    });
    assert_eq!(whole(told), chunk("one") + &failed());
    let told = body_in(&env, |reply| async move {
        let other = std::thread::spawn(move || {
            let _reply = reply;
            panic!("elsewhere");
        });
        assert!(other.join().is_err());
        Ok(())
    });
    assert_eq!(whole(told), failed());
}
