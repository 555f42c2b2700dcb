//! The store in memory.

use std::time::Duration;

use bytes::Bytes;
use copilot_wire::replies::{
    MemoryReplyStore, ReplyEnd, ReplyId, ReplyMeta, ReplyStore as _, StoreError, count_events,
    skip_events,
};
use copilot_wire::testing::check_reply_store;

use crate::server::{env, in_virtual_time};

fn store() -> MemoryReplyStore {
    MemoryReplyStore::new().env(env())
}

fn meta() -> ReplyMeta {
    ReplyMeta::new(Duration::from_secs(60), Duration::from_secs(10))
}

#[test]
fn keeps_the_rules() {
    in_virtual_time(async {
        let store = store();
        check_reply_store([&store, &store], tokio::time::sleep)
            .await
            .unwrap();
        tokio::time::sleep(Duration::from_secs(120)).await;
        assert!(store.is_empty());
    });
}

#[test]
fn an_end_is_read_from_its_name() {
    let ends = [
        ReplyEnd::Done,
        ReplyEnd::Failed,
        ReplyEnd::Cancelled,
        ReplyEnd::Lost,
    ];
    for end in ends {
        assert_eq!(end.to_string().parse(), Ok(end));
    }
    assert!("Done".parse::<ReplyEnd>().is_err());
}

#[test]
fn is_bounded() {
    in_virtual_time(async {
        let store = store().limit(4000);
        let id = ReplyId::from_bytes([1; 32]);
        store.create(&id, &meta()).await.unwrap();
        let events = Bytes::from(format!("data: {}\n\n", "x".repeat(3000)));
        store.append(&id, 0, events.clone()).await.unwrap();
        let full = store.append(&id, 1, events.clone()).await;
        assert!(matches!(full, Err(StoreError::Full)), "{full:?}");
        let other = ReplyId::from_bytes([2; 32]);
        let full = store.create(&other, &meta()).await;
        assert!(matches!(full, Err(StoreError::Full)), "{full:?}");
        // What has expired makes space.
        store.seal(&id, ReplyEnd::Done).await.unwrap();
        tokio::time::sleep(Duration::from_secs(11)).await;
        store.create(&other, &meta()).await.unwrap();
        store.append(&other, 0, events).await.unwrap();
        assert_eq!(store.len(), 1);
    });
}

#[test]
fn events_are_counted_by_blank_lines() {
    let events = b"data: a\ndata: b\n\n: ping\n\nid: 1\ndata\n\n";
    assert_eq!(count_events(events), 3);
    let at = [0, 17, 25, 37, 37];
    for (count, at) in at.into_iter().enumerate() {
        assert_eq!(skip_events(events, count as u64), at, "{count}");
    }
    assert_eq!(count_events(b""), 0);
    // At any place, among any number of bytes.
    for length in 1..600 {
        let event = format!("{}\n\n", "x".repeat(length));
        let events = event.repeat(5);
        assert_eq!(count_events(events.as_bytes()), 5, "{length}");
        let lines = vec![b'\n'; length + 1];
        assert_eq!(count_events(&lines), length as u64);
    }
    assert_eq!(skip_events(b"", 3), 0);
}
