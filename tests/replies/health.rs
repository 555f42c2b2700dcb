//! What operators see of the store.

use copilot_wire::ui_stream::UiStream;

use crate::server::{Talker, ask, in_virtual_time, memory, read, replies, router, seconds};
use crate::spy::{Fault, Spy};

#[test]
fn an_outage_is_reported() {
    in_virtual_time(async {
        let store = Spy::new(memory());
        let replies = replies(store.clone());
        let router = router::<UiStream>(Talker::default(), Some(replies.clone()));
        let health = replies.health();
        assert_eq!(
            (health.reachable, health.since, health.calls),
            (true, None, 0)
        );
        store.fail(3..100_000, Fault::Unavailable);
        let body = ask::<UiStream>(&router, "ada").await;
        seconds(5).await;
        let health = replies.health();
        assert!(!health.reachable && health.failures > 3 && health.running == 1);
        assert_eq!(health.error.unwrap(), "reply store unavailable: away");
        let since = health.since.unwrap();
        store.fail(0..0, Fault::Unavailable);
        seconds(5).await;
        read(body).await;
        let back = replies.health();
        assert!(back.reachable && back.since.unwrap() > since);
        assert_eq!((back.running, back.unstored), (0, 0));
        assert_eq!(back.failures, health.failures);
        assert!(back.calls > health.calls);
    });
}

#[test]
fn a_full_store_is_reported_and_reachable() {
    in_virtual_time(async {
        let store = Spy::new(memory());
        store.fail_all("append", Fault::Full);
        let replies = replies(store);
        let router = router::<UiStream>(Talker::default(), Some(replies.clone()));
        read(ask::<UiStream>(&router, "ada").await).await;
        let health = replies.health();
        assert!(health.reachable && health.failures > 0);
        assert_eq!(health.since, None);
        assert_eq!(health.error.unwrap(), "reply store is full");
    });
}

/// Once when it begins, and once when it is over.
#[cfg(feature = "tracing")]
#[test]
fn an_outage_is_logged_once() {
    let log = Log::default();
    // With two of them no event is dismissed for all because another test's thread has no subscriber.
    let _second = tracing::Dispatch::new(Log::default());
    tracing::subscriber::with_default(log.clone(), || {
        in_virtual_time(async {
            let store = Spy::new(memory());
            let router = router::<UiStream>(Talker::default(), Some(replies(store.clone())));
            for _ in 0..2 {
                store.fail(0..100_000, Fault::Unavailable);
                read(ask::<UiStream>(&router, "ada").await).await;
                seconds(5).await;
                store.fail(0..0, Fault::Unavailable);
                seconds(5).await;
                read(ask::<UiStream>(&router, "ada").await).await;
            }
        });
    });
    let events = log.0.lock().unwrap().clone();
    let outage = [
        "ERROR message=the store of replies is unreachable error=reply store unavailable: away",
        "INFO message=the store of replies is reachable again",
    ];
    assert_eq!(events, [outage, outage].concat());
}

/// Writes down what is said about the store.
#[cfg(feature = "tracing")]
#[derive(Clone, Default)]
struct Log(std::sync::Arc<std::sync::Mutex<Vec<String>>>);

#[cfg(feature = "tracing")]
impl tracing::Subscriber for Log {
    fn enabled(&self, _: &tracing::Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, _: &tracing::span::Attributes<'_>) -> tracing::Id {
        tracing::Id::from_u64(1)
    }

    fn event(&self, event: &tracing::Event<'_>) {
        struct Line(String);
        impl tracing::field::Visit for Line {
            fn record_debug(&mut self, field: &tracing::field::Field, value: &dyn std::fmt::Debug) {
                self.0 += &format!(" {}={value:?}", field.name());
            }
        }
        let mut line = Line(event.metadata().level().to_string());
        event.record(&mut line);
        if line.0.contains("the store") {
            self.0.lock().unwrap().push(line.0);
        }
    }

    fn record(&self, _: &tracing::Id, _: &tracing::span::Record<'_>) {}
    fn record_follows_from(&self, _: &tracing::Id, _: &tracing::Id) {}
    fn enter(&self, _: &tracing::Id) {}
    fn exit(&self, _: &tracing::Id) {}
}
