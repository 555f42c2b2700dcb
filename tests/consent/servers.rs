//! Servers that share a store of replies share the key, and what was answered.

use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use copilot_wire::protocol::Env;
use copilot_wire::replies::{
    ConversationKey, LogPage, MemoryReplyStore, Replies, ReplyEnd, ReplyId, ReplyMeta, ReplyState,
    ReplyStore, StoreError, Task,
};
use futures::executor::block_on;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::{Asker, Server, code};

/// A store of two servers, which can be away.
#[derive(Clone, Debug, Default)]
struct Common {
    store: Arc<MemoryReplyStore>,
    away: Arc<AtomicBool>,
}

impl Common {
    fn here(&self) -> Result<&MemoryReplyStore, StoreError> {
        match self.away.load(Ordering::Relaxed) {
            true => Err(StoreError::Unavailable("away".into())),
            false => Ok(&self.store),
        }
    }
}

#[async_trait]
impl ReplyStore for Common {
    async fn create(&self, id: &ReplyId, meta: &ReplyMeta) -> Result<(), StoreError> {
        self.here()?.create(id, meta).await
    }
    async fn append(
        &self,
        id: &ReplyId,
        numbers: std::ops::Range<u64>,
        events: Bytes,
    ) -> Result<Duration, StoreError> {
        self.here()?.append(id, numbers, events).await
    }
    async fn seal(&self, id: &ReplyId, end: ReplyEnd) -> Result<ReplyEnd, StoreError> {
        self.here()?.seal(id, end).await
    }
    async fn read(&self, id: &ReplyId, from: u64) -> Result<LogPage, StoreError> {
        self.here()?.read(id, from).await
    }
    async fn state(&self, id: &ReplyId) -> Result<ReplyState, StoreError> {
        self.here()?.state(id).await
    }
    async fn note_reader(&self, id: &ReplyId) -> Result<(), StoreError> {
        self.here()?.note_reader(id).await
    }
    async fn latest(&self, conversation: &ConversationKey) -> Result<Option<ReplyId>, StoreError> {
        self.here()?.latest(conversation).await
    }
    async fn cancel(&self, id: &ReplyId) -> Result<(), StoreError> {
        self.here()?.cancel(id).await
    }
    async fn cancelled(&self, id: &ReplyId) {
        self.store.cancelled(id).await;
    }
}

fn spawn(task: Task) {
    std::thread::spawn(move || block_on(task)).join().unwrap();
}

fn server(store: &Common) -> Server {
    let agent = Asker::new("Delete all files?", "rm -rf thesis");
    Server::with(&agent, |router| {
        router.resumable(Replies::single_user(store.clone(), spawn))
    })
}

#[test]
fn an_answer_counts_once_on_all_of_them() {
    let store = Common::default();
    let (one, other) = (server(&store), server(&store));
    let question = one.post(&["c"]);
    let yes = format!("yes {}", code(&question));
    assert_eq!(other.post(&["c", &question, &yes]), "Accepted delete-1");
    assert_eq!(one.post(&["c", &question, &yes]), "Used delete-1");
    assert_eq!(other.post(&["c", &question, &yes]), "Used delete-1");
}

#[test]
fn a_turn_that_is_repeated_closes_its_question_on_all_of_them() {
    let store = Common::default();
    let (one, other) = (server(&store), server(&store));
    let question = one.post(&["c"]);
    let _ = one.post(&["c"]);
    let yes = format!("yes {}", code(&question));
    assert_eq!(other.post(&["c", &question, &yes]), "Used delete-1");
}

#[test]
fn nothing_is_accepted_while_the_store_is_away() {
    let store = Common::default();
    let (one, other) = (server(&store), server(&store));
    let question = one.post(&["c"]);
    let yes = format!("yes {}", code(&question));
    // It has the key by now.
    let _ = other.post(&["say"]);
    store.away.store(true, Ordering::Relaxed);
    assert_eq!(other.post(&["c", &question, &yes]), "Unchecked delete-1");
    // A question that is asked again then needs no store until it is answered.
    let again = other.post(&["d"]);
    store.away.store(false, Ordering::Relaxed);
    let yes = format!("yes {}", code(&again));
    assert_eq!(one.post(&["d", &again, &yes]), "Accepted delete-1");
}

#[test]
fn a_server_that_starts_without_the_store_answers_its_own_questions() {
    let store = Common::default();
    store.away.store(true, Ordering::Relaxed);
    let one = server(&store);
    let question = one.post(&["c"]);
    store.away.store(false, Ordering::Relaxed);
    let yes = format!("yes {}", code(&question));
    assert_eq!(one.post(&["c", &question, &yes]), "Accepted delete-1");
    let other = server(&store);
    let question = one.post(&["d"]);
    let yes = format!("yes {}", code(&question));
    assert_eq!(other.post(&["d", &question, &yes]), "Accepted delete-1");
}

/// Their key is random.
#[test]
fn servers_of_another_store_do_not_share_the_key() {
    let (one, other) = (server(&Common::default()), server(&Common::default()));
    // Both have their keys by now.
    assert_eq!(other.post(&["say"]), one.post(&["say"]));
    let question = one.post(&["c"]);
    let yes = format!("yes {}", code(&question));
    assert_ne!(other.post(&["c", &question, &yes]), "Accepted delete-1");
    assert_eq!(one.post(&["c", &question, &yes]), "Accepted delete-1");
}

/// The store forgets by a clock of its own, which may be ahead for a day.
#[test]
fn an_answer_counts_once_on_all_of_them_wherever_the_clock_goes() {
    const NOW: u64 = 29_900_000;
    for step in [-1_440, -62, 1, 62, 120, 1_440_i64] {
        let clock = super::Hand::default();
        clock.set(NOW);
        let store = Common {
            store: Arc::new(MemoryReplyStore::new().env(Env::new(clock.clone()))),
            ..Common::default()
        };
        let (one, other) = (server(&store), server(&store));
        let set = |minute| [&clock, &one.clock, &other.clock].map(|clock| clock.set(minute));
        let question = one.post(&["c"]);
        let yes = format!("yes {}", code(&question));
        assert_eq!(one.post(&["c", &question, &yes]), "Accepted delete-1");
        set(NOW.saturating_add_signed(step));
        let more = one.post(&["d"]);
        let _ = one.post(&["d", &more, &format!("yes {}", code(&more))]);
        set(NOW);
        for server in [&other, &one] {
            assert_eq!(
                server.post(&["c", &question, &yes]),
                "Used delete-1",
                "{step}"
            );
        }
    }
}
