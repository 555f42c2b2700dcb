//! Writers and readers of logs.

use std::time::Duration;

use bytes::Bytes;
use copilot_wire::protocol::Framing;
use copilot_wire::replies::{LogPage, ReplyEnd, ReplyId, ReplyMeta, ReplyStore, StoreError};
use tokio::time::{sleep, timeout};

/// A time that is too long for anything here.
pub(crate) const LIMIT: Duration = Duration::from_secs(60);

pub(crate) fn id() -> ReplyId {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).unwrap();
    ReplyId::from_bytes(bytes)
}

pub(crate) fn meta() -> ReplyMeta {
    ReplyMeta::new(Duration::from_secs(300), Duration::from_secs(300))
}

/// Creates a log with a few events.
pub(crate) async fn log(store: &dyn ReplyStore, count: u64) -> ReplyId {
    let id = id();
    store.create(&id, &meta()).await.unwrap();
    store.append(&id, 0..count, events(0, count)).await.unwrap();
    id
}

pub(crate) fn events(first: u64, count: u64) -> Bytes {
    let numbers = first..first + count;
    numbers
        .map(|number| format!("data: event {number}\n\n"))
        .collect::<String>()
        .into()
}

/// Returns the events of a page from a number on: pages begin with what was appended at a time.
pub(crate) fn since(page: &LogPage, from: u64) -> Bytes {
    assert!(page.first <= from, "{} > {from}", page.first);
    let before = Framing::Sse.skip(&page.events, from - page.first);
    page.events.slice(before..)
}

/// Appends one event, as often as it takes while Redis is away.
pub(crate) async fn insist(
    store: &dyn ReplyStore,
    id: &ReplyId,
    number: u64,
) -> Result<(), StoreError> {
    loop {
        match store
            .append(id, number..number + 1, events(number, 1))
            .await
        {
            Err(StoreError::Unavailable(_)) => sleep(Duration::from_millis(50)).await,
            answer => return answer.map(drop),
        }
    }
}

/// Reads a log to its end, over all failures of Redis.
pub(crate) async fn follow(
    store: &dyn ReplyStore,
    id: &ReplyId,
) -> Result<(Vec<u8>, ReplyEnd), StoreError> {
    let (mut all, mut next) = (Vec::new(), 0);
    loop {
        match store.read(id, next).await {
            Ok(page) => {
                all.extend_from_slice(&since(&page, next));
                next = page.next;
                if let Some(end) = page.end {
                    return Ok((all, end));
                }
            }
            Err(StoreError::Unavailable(_)) => sleep(Duration::from_millis(50)).await,
            Err(error) => return Err(error),
        }
    }
}

/// Waits, but not for ever.
pub(crate) async fn soon<T>(work: impl Future<Output = T>) -> T {
    timeout(LIMIT, work).await.expect("it hangs")
}
