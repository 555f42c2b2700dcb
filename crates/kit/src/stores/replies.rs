//! The rules of a store for replies.

use std::fmt;
use std::future::{Future, poll_fn};
use std::ops::Range;
use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;

use bytes::Bytes;

use super::{Pause, all, random_key, rule, same};
use crate::BoxError;
use crate::race::race;
use copilot_wire::protocol::Framing;
use copilot_wire::replies::{
    ConversationKey, LogPage, ReplyEnd, ReplyId, ReplyMeta, ReplyState, ReplyStore, StoreError,
};

/// Checks that a store follows the rules of [`ReplyStore`].
///
/// `stores` are two connections to one store, as two servers have them; both may be the same connection. `sleep` waits
/// on the clock of the store. Every check uses its own ids, so the store need not be empty; it needs space for 2 MiB.
///
/// # Errors
///
/// The first rule that was broken, and how.
pub async fn check_reply_store<F>(
    stores: [&dyn ReplyStore; 2],
    sleep: impl Fn(Duration) -> F + Sync,
) -> Result<(), BoxError>
where
    F: Future<Output = ()> + Send,
{
    let [one, other] = stores;
    let sleep = |time| -> Pause<'_> { Box::pin(sleep(time)) };
    let pair = Pair {
        one,
        other,
        sleep: &sleep,
    };
    let limit = || sleep(Duration::from_secs(30));
    rule("appends are idempotent", pair.idempotent(), limit()).await?;
    rule("a gap is an error", pair.gap(), limit()).await?;
    rule("one seal wins", pair.seals(), limit()).await?;
    rule("nothing follows a seal", pair.sealed(), limit()).await?;
    rule("pages are parts of the log", pair.pages(), limit()).await?;
    rule("positions have no limit", pair.positions(), limit()).await?;
    rule("readers are woken", pair.woken(), limit()).await?;
    rule("a read waits for a second", pair.waits(), limit()).await?;
    rule("the latest reply is found", pair.latest(), limit()).await?;
    rule("a reply is cancelled", pair.cancel(), limit()).await?;
    rule("readers are noted", pair.noted(), limit()).await?;
    rule("unknown ids lead nowhere", pair.unknown(), limit()).await?;
    rule("ended logs expire", pair.expires(), limit()).await?;
    rule("logs without an end expire", pair.outlived(), limit()).await
}

/// Checks that a store ends the logs of a server that has died, for stores that several servers share.
///
/// `kill` makes the server of the store `dead` appear dead to the other servers, without notice to that server: for
/// example, by deleting its lease. `reader` is the store of another server, and `sleep` waits on the clock of the
/// store. The log must end within 30 seconds.
///
/// # Errors
///
/// The way in which the rule was broken.
pub async fn check_dead_server<F>(
    dead: &dyn ReplyStore,
    reader: &dyn ReplyStore,
    kill: impl AsyncFnOnce(),
    sleep: impl Fn(Duration) -> F + Sync,
) -> Result<(), BoxError>
where
    F: Future<Output = ()> + Send,
{
    let sleep = |time| -> Pause<'_> { Box::pin(sleep(time)) };
    let pair = Pair {
        one: dead,
        other: reader,
        sleep: &sleep,
    };
    let limit = sleep(Duration::from_secs(30));
    rule("the log of a dead server ends", pair.dies(kill), limit).await
}

/// Checks that a call failed with the wanted error.
fn fails<T: fmt::Debug>(
    what: &str,
    got: Result<T, StoreError>,
    wanted: impl Fn(&StoreError) -> bool,
) -> Result<(), BoxError> {
    match got {
        Err(error) if wanted(&error) => Ok(()),
        got => Err(format!("{what} returned {got:?}").into()),
    }
}

fn id() -> ReplyId {
    ReplyId::from_bytes(random_key())
}

const MINUTE: Duration = Duration::from_secs(60);

fn meta() -> ReplyMeta {
    ReplyMeta::new(MINUTE, MINUTE)
}

/// Returns the events with these numbers.
fn events(numbers: Range<u64>) -> Bytes {
    let events = numbers.map(|number| format!("data: event {number} {}\n\n", "x".repeat(200)));
    events.collect::<String>().into()
}

/// The number of the first event of a piece that is larger than a page.
const LARGE: u64 = 1000;

struct Pair<'a> {
    one: &'a dyn ReplyStore,
    other: &'a dyn ReplyStore,
    sleep: &'a (dyn Fn(Duration) -> Pause<'a> + Sync),
}

/// Appends the events with these numbers.
async fn put(
    store: &dyn ReplyStore,
    id: &ReplyId,
    numbers: Range<u64>,
) -> Result<Duration, StoreError> {
    store.append(id, numbers.clone(), events(numbers)).await
}

fn gone(error: &StoreError) -> bool {
    matches!(error, StoreError::Gone)
}

impl Pair<'_> {
    /// Creates a log with `count` events, appended seven at a time.
    async fn log(&self, count: u64) -> Result<ReplyId, BoxError> {
        let id = id();
        self.one.create(&id, &meta()).await?;
        // Pieces of several events, so that reads also begin within a piece.
        let mut first = 0;
        while first < count {
            let next = count.min(first + 7);
            put(self.one, &id, first..next).await?;
            first = next;
        }
        Ok(id)
    }

    /// Reads the next page that is not empty or has the end, from a number on.
    async fn read(&self, id: &ReplyId, from: u64) -> Result<LogPage, BoxError> {
        loop {
            let page = self.other.read(id, from).await?;
            if !page.events.is_empty() || page.end.is_some() {
                return Ok(page);
            }
        }
    }

    /// Reads an ended log from a number to its end.
    async fn read_all(&self, id: &ReplyId, from: u64) -> Result<(Vec<u8>, ReplyEnd), BoxError> {
        let (mut all, mut next) = (Vec::new(), from);
        loop {
            let page = self.read(id, next).await?;
            let counted = page.first + Framing::Sse.count(&page.events);
            same("the next number of a page", &page.next, &counted)?;
            let before = next.checked_sub(page.first);
            let before = before.ok_or("a page begins behind the event that was asked for")?;
            // A larger page would let one reader hold a whole log in memory.
            if page.events.len() > 64 * 1024 && page.first != LARGE {
                return Err(format!("a page has {} bytes", page.events.len()).into());
            }
            let skipped = Framing::Sse.skip(&page.events, before);
            all.extend_from_slice(page.events.get(skipped..).unwrap_or_default());
            next = page.next;
            if let Some(end) = page.end {
                return Ok((all, end));
            }
        }
    }

    /// Checks the events and the end of a log.
    async fn holds(&self, id: &ReplyId, count: u64, end: ReplyEnd) -> Result<(), BoxError> {
        let (all, ended) = self.read_all(id, 0).await?;
        same("the log", &Bytes::from(all), &events(0..count))?;
        same("the end", &ended, &end)
    }

    async fn idempotent(&self) -> Result<(), BoxError> {
        let id = self.log(0).await?;
        for _ in 0..3 {
            put(self.one, &id, 0..2).await?;
        }
        put(self.one, &id, 2..5).await?;
        // The same piece from the other server: a writer that lost the answer tries again over any
        // connection.
        put(self.other, &id, 2..5).await?;
        put(self.one, &id, 0..2).await?;
        let again = self.one.create(&id, &meta()).await;
        fails("a second `create`", again, |error| {
            matches!(error, StoreError::Exists)
        })?;
        // The store must check and append in one step: with two steps, several of these appends pass the check.
        let racing = (0..20).map(|_| put(self.one, &id, 5..6));
        for answer in all(racing).await {
            answer?;
        }
        self.one.seal(&id, ReplyEnd::Done).await?;
        self.holds(&id, 6, ReplyEnd::Done).await
    }

    async fn gap(&self) -> Result<(), BoxError> {
        let id = self.log(3).await?;
        let late = put(self.one, &id, 4..5).await;
        fails("an append behind a gap", late, gone)?;
        let empty = self.log(0).await?;
        let late = self.one.append(&empty, 1..2, events(1..2)).await;
        fails("an append behind a gap at the start", late, gone)?;
        // The refused append must have left nothing: the right number is still the next one.
        put(self.one, &id, 3..4).await?;
        let page = self.read(&id, 3).await?;
        same("the page", &page, &LogPage::new(3..4, events(3..4), None))
    }

    async fn seals(&self) -> Result<(), BoxError> {
        let id = self.log(1).await?;
        // Both servers seal with different ends: every caller must get the end that won.
        let ends = [ReplyEnd::Failed, ReplyEnd::Cancelled, ReplyEnd::Lost];
        let seals = (0..100_usize).map(|number| {
            let store = match number % 2 {
                0 => self.one,
                _ => self.other,
            };
            let end = ends.get(number % 3).copied().unwrap_or(ReplyEnd::Done);
            let id = &id;
            async move { store.seal(id, end).await }
        });
        let seen = all(seals).await;
        let seen = seen.into_iter().collect::<Result<Vec<_>, _>>()?;
        let (_, end) = self.read_all(&id, 0).await?;
        same("what the seals return", &seen, &vec![end; 100])
    }

    async fn sealed(&self) -> Result<(), BoxError> {
        // An empty log has no last event at which a store could put the end.
        for count in [0, 1, 9] {
            let id = self.log(count).await?;
            self.other.seal(&id, ReplyEnd::Lost).await?;
            let late = put(self.one, &id, count..count + 1).await;
            fails("an append behind the end", late, |error| {
                matches!(error, StoreError::Sealed(ReplyEnd::Lost))
            })?;
            self.holds(&id, count, ReplyEnd::Lost).await?;
        }
        Ok(())
    }

    async fn pages(&self) -> Result<(), BoxError> {
        let id = self.log(LARGE).await?;
        // One piece of more than a page, after many small ones.
        put(self.one, &id, LARGE..1900).await?;
        self.one.seal(&id, ReplyEnd::Failed).await?;
        let count = 1900;
        // Positions around the bounds of appended pieces, at the end, and after it, where a page has only the end.
        for from in [0, 1, 6, 7, 8, 499, 999, 1000, 1001, 1500, 1899, 1900, 5000] {
            let (all, end) = self.read_all(&id, from).await?;
            if all != events(from..count) {
                let message = format!("the log from {from} on is not the tail of the log");
                return Err(message.into());
            }
            same("the end", &end, &ReplyEnd::Failed)?;
        }
        Ok(())
    }

    /// Numbers come from clients, so any number is possible.
    async fn positions(&self) -> Result<(), BoxError> {
        let id = self.log(9).await?;
        let exact = 1 << 53;
        let most = [i64::MAX as u64, u64::MAX - 1, u64::MAX];
        let far = [10, exact, exact + 1].into_iter().chain(most);
        let read = |from| async move { (from, self.other.read(&id, from).await) };
        // Concurrently, because each call waits.
        for (from, page) in all(far.clone().map(read)).await {
            let empty = LogPage::new(from..from, Bytes::new(), None);
            same("a page beyond a log that goes on", &page?, &empty)?;
            let numbers = from..from.saturating_add(1);
            let late = self.one.append(&id, numbers, events(9..10)).await;
            fails("an append far behind the end", late, gone)?;
        }
        // The refused appends have changed nothing.
        self.other.note_reader(&id).await?;
        let mut state = ReplyState::new(10);
        state.attended = true;
        put(self.one, &id, 9..10).await?;
        same("the state", &self.other.state(&id).await?, &state)?;
        self.one.seal(&id, ReplyEnd::Done).await?;
        for from in far {
            let end = LogPage::new(from..from, Bytes::new(), Some(ReplyEnd::Done));
            let page = self.other.read(&id, from).await?;
            same("a page beyond a log that has ended", &page, &end)?;
        }
        self.holds(&id, 10, ReplyEnd::Done).await
    }

    async fn woken(&self) -> Result<(), BoxError> {
        let id = self.log(0).await?;
        let write = async {
            for number in 0..20 {
                put(self.one, &id, number..number + 1).await?;
                poll_fn(|cx| {
                    cx.waker().wake_by_ref();
                    Poll::Ready(())
                })
                .await;
            }
            self.one.seal(&id, ReplyEnd::Cancelled).await?;
            Ok(())
        };
        // The reader comes first in the list, so it already waits when the first event is appended.
        let read: Pin<Box<dyn Future<Output = Result<(), BoxError>> + Send>> =
            Box::pin(self.holds(&id, 20, ReplyEnd::Cancelled));
        let both = all([read, Box::pin(write)].into_iter()).await;
        both.into_iter().collect()
    }

    async fn waits(&self) -> Result<(), BoxError> {
        let id = self.log(2).await?;
        let page = self.other.read(&id, 2).await?;
        same("the page", &page, &LogPage::new(2..2, Bytes::new(), None))
    }

    async fn dies(&self, kill: impl AsyncFnOnce()) -> Result<(), BoxError> {
        let (id, ended) = (self.log(9).await?, self.log(1).await?);
        self.one.seal(&ended, ReplyEnd::Done).await?;
        let before = self.read(&id, 0).await?;
        let all = LogPage::new(0..9, events(0..9), None);
        same("the log of a live server", &before, &all)?;
        kill().await;
        self.holds(&id, 9, ReplyEnd::Lost).await?;
        // The server was only paused, and continues.
        let sealed = |error: &StoreError| matches!(error, StoreError::Sealed(ReplyEnd::Lost));
        fails("a late append", put(self.one, &id, 9..10).await, sealed)?;
        let late = self.one.seal(&id, ReplyEnd::Done).await?;
        same("the end that a late seal returns", &late, &ReplyEnd::Lost)?;
        let (_, end) = self.read_all(&ended, 0).await?;
        same("the end of a reply that had ended", &end, &ReplyEnd::Done)
    }

    async fn latest(&self) -> Result<(), BoxError> {
        let conversation = ConversationKey::from_bytes(random_key());
        let none = self.other.latest(&conversation).await?;
        same("the latest reply of an unknown conversation", &none, &None)?;
        // Twice: the later reply replaces the earlier one.
        for _ in 0..2 {
            let id = id();
            let meta = meta().conversation(conversation);
            self.one.create(&id, &meta).await?;
            let latest = self.other.latest(&conversation).await?;
            same("the latest reply", &latest, &Some(id))?;
            self.one.seal(&id, ReplyEnd::Done).await?;
            let latest = self.other.latest(&conversation).await?;
            same("the latest reply after its end", &latest, &Some(id))?;
        }
        Ok(())
    }

    async fn cancel(&self) -> Result<(), BoxError> {
        // The bystander shows that a cancellation reaches only its own reply.
        let (id, bystander) = (self.log(1).await?, self.log(1).await?);
        let moment = || (self.sleep)(Duration::from_millis(300));
        let early = race(self.one.cancelled(&id), moment()).await;
        same("the wait before anybody cancels", &early, &None)?;
        let wait: Pin<Box<dyn Future<Output = Result<(), StoreError>> + Send>> = Box::pin(async {
            self.one.cancelled(&id).await;
            Ok(())
        });
        let both = all([wait, Box::pin(self.other.cancel(&id))].into_iter()).await;
        both.into_iter().collect::<Result<(), _>>()?;
        // A cancellation is also reported later, and may be repeated.
        self.one.cancelled(&id).await;
        self.other.cancel(&id).await?;
        let other = race(self.one.cancelled(&bystander), moment()).await;
        same("the wait of another reply", &other, &None)?;
        self.one.seal(&bystander, ReplyEnd::Done).await?;
        self.other.cancel(&bystander).await?;
        // A reply that has ended keeps its end.
        self.holds(&bystander, 1, ReplyEnd::Done).await
    }

    async fn noted(&self) -> Result<(), BoxError> {
        let id = self.log(3).await?;
        let mut state = ReplyState::new(3);
        same("the state", &self.other.state(&id).await?, &state)?;
        // A reader may be noted several times.
        for _ in 0..2 {
            self.other.note_reader(&id).await?;
            state.attended = true;
            same("the state", &self.one.state(&id).await?, &state)?;
        }
        self.one.seal(&id, ReplyEnd::Done).await?;
        state.end = Some(ReplyEnd::Done);
        same("the state", &self.other.state(&id).await?, &state)?;
        let other = self.log(4).await?;
        (self.sleep)(Duration::from_secs(1)).await;
        let state = self.one.state(&other).await?;
        same("the state of another reply", &state, &ReplyState::new(4))
    }

    async fn unknown(&self) -> Result<(), BoxError> {
        let id = id();
        fails("`append`", put(self.one, &id, 0..1).await, gone)?;
        fails("`seal`", self.one.seal(&id, ReplyEnd::Done).await, gone)?;
        fails("`read`", self.one.read(&id, 0).await, gone)?;
        fails("`cancel`", self.one.cancel(&id).await, gone)?;
        fails("`state`", self.one.state(&id).await, gone)?;
        fails("`note_reader`", self.one.note_reader(&id).await, gone)?;
        let moment = (self.sleep)(Duration::from_millis(300));
        let cancelled = race(self.one.cancelled(&id), moment).await;
        same("the wait for a cancellation", &cancelled, &None)
    }

    async fn expires(&self) -> Result<(), BoxError> {
        let (id, conversation) = (id(), ConversationKey::from_bytes(random_key()));
        let meta = ReplyMeta::new(MINUTE, Duration::from_secs(2)).conversation(conversation);
        self.one.create(&id, &meta).await?;
        put(self.one, &id, 0..1).await?;
        (self.sleep)(Duration::from_secs(3)).await;
        // The time to keep a log counts from its end: a running log that is older is still there.
        put(self.one, &id, 1..2).await?;
        self.one.seal(&id, ReplyEnd::Done).await?;
        self.holds(&id, 2, ReplyEnd::Done).await?;
        (self.sleep)(Duration::from_secs(3)).await;
        let late = self.other.read(&id, 0).await;
        fails("`read` of an expired log", late, gone)?;
        let latest = self.other.latest(&conversation).await?;
        same("the latest reply", &latest, &None)?;
        let late = put(self.one, &id, 2..3).await;
        fails("`append` to an expired log", late, gone)
    }

    async fn outlived(&self) -> Result<(), BoxError> {
        let id = id();
        let meta = ReplyMeta::new(Duration::from_secs(2), MINUTE);
        self.one.create(&id, &meta).await?;
        put(self.one, &id, 0..1).await?;
        (self.sleep)(Duration::from_secs(3)).await;
        let late = self.other.read(&id, 0).await;
        fails("`read` of an outlived log", late, gone)?;
        let late = put(self.one, &id, 1..2).await;
        fails("`append` to an outlived log", late, gone)
    }
}
