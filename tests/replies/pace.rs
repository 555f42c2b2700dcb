//! Events gather for as long as the store says before they are appended.

use std::time::Duration;

use copilot_wire::replies::{ReplyEnd, ReplyStore as _};
use copilot_wire::ui_stream::UiStream;

use crate::server::{Talker, ask, in_virtual_time, memory, read, replies, router, seconds};
use crate::spy::Spy;

/// Runs a reply of 100 words, 50 a second, to its end; returns the number of appends, and what a connected reader and
/// the log have.
fn run(pace: Duration, size: usize) -> (usize, Vec<u8>, Vec<u8>) {
    in_virtual_time(async {
        let store = Spy::new(memory());
        store.pace(pace);
        let talker = Talker {
            words: 100,
            size,
            pause: Duration::from_millis(20),
        };
        let router = router::<UiStream>(talker, Some(replies(store.clone())));
        let own = read(ask::<UiStream>(&router, "ada").await).await;
        // The last events wait for nothing: the log has its end at once.
        let state = store.state(&store.last()).await.unwrap();
        assert_eq!(state.end, Some(ReplyEnd::Done), "{pace:?}");
        seconds(1).await;
        let appends = store.calls().into_iter().filter(|call| *call == "append");
        let (appends, mut log, mut next) = (appends.count(), Vec::new(), 0);
        while next < state.next {
            let page = store.read(&store.last(), next).await.unwrap();
            log.extend_from_slice(&page.events);
            next = page.next;
        }
        (appends, own, log)
    })
}

#[test]
fn events_gather() {
    let (every, own, log) = run(Duration::ZERO, 1);
    assert_eq!(own, log);
    assert!(every >= 100, "{every}");
    // The first append and the last one, and one every 300 ms.
    let (paced, own, log) = run(Duration::from_millis(300), 1);
    assert_eq!(own, log);
    assert!((6..=9).contains(&paced), "{paced}");
    // Also after more than a full batch altogether.
    let (paced, own, log) = run(Duration::from_millis(300), 1500);
    assert_eq!(own, log);
    assert!((6..=9).contains(&paced), "{paced}");
    // A second counts, however long the store says.
    let (slow, own, log) = run(Duration::MAX, 1);
    assert_eq!(own, log);
    assert!((3..=4).contains(&slow), "{slow}");
    // Full batches do not wait: otherwise memory would grow.
    let (large, own, log) = run(Duration::MAX, 40_000);
    assert_eq!(own, log);
    assert!(large >= 50, "{large}");
}
