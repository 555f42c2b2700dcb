//! The memory of a run: damaged ones, and their end.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use autogpt::agent_loop::run::{End, Event, EventKind};
use autogpt::agent_loop::runner::TurnEnd;
use autogpt::memory::store::{Conversation, MemoryStore};
use autogpt::memory::{ByteCounts, LocalMemories, Memories, Memory, MemoryError};

use crate::bench::Bench;
use crate::scripted::command;

#[tokio::test]
async fn a_damaged_memory_is_left_alone_and_gone_without() {
    let bench = Bench::new(Arc::new(MemoryStore::default()));
    let files = || std::fs::read_dir(bench.folder.path()).unwrap();
    bench.reply(&command("effect", "{}"));
    bench.reply(&command("effect", r#"{"other":1}"#));
    bench.say(1, "goal").await;
    bench.say(2, "y").await;
    let file = files().next().unwrap().unwrap().path();
    std::fs::write(&file, "damaged").unwrap();
    // As after a restart: a memory that is open is not read again.
    let embedder = Arc::new(ByteCounts);
    let mut next = Bench::new(Arc::clone(&bench.agent.store));
    next.agent.memories = Arc::new(LocalMemories::new(bench.folder.path(), embedder).unwrap());
    let (end, events) = next.say(3, "y").await;
    assert_eq!(end, TurnEnd::Finish(End::Complete("end".to_owned())));
    assert_eq!(next.runs(), 1);
    let told =
        |event: &&Event| matches!(&event.kind, EventKind::Notice(text) if text.contains("damaged"));
    assert_eq!(events.iter().filter(told).count(), 1, "{events:?}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "damaged");
    assert_eq!(files().count(), 1);
}

/// Counts how many memories were opened.
#[derive(Debug)]
struct Opened(LocalMemories, AtomicUsize);

#[async_trait]
impl Memories for Opened {
    async fn of(&self, conversation: &str) -> Result<Arc<dyn Memory>, MemoryError> {
        self.1.fetch_add(1, Ordering::SeqCst);
        self.0.of(conversation).await
    }

    async fn release(&self, conversation: &str) {
        self.0.release(conversation).await;
    }
}

#[tokio::test]
async fn a_memory_is_kept_as_long_as_its_run() {
    let mut bench = Bench::new(Arc::new(MemoryStore::default()));
    let memories = LocalMemories::volatile(Arc::new(ByteCounts));
    let memories = Arc::new(Opened(memories, AtomicUsize::new(0)));
    bench.agent.memories = Arc::clone(&memories) as _;
    let conversation = Conversation::anonymous("c");
    let count = async || {
        let memory = memories.0.of(conversation.as_str()).await;
        memory.unwrap().relevant("", 9).await.unwrap().len()
    };
    let (end, _) = bench.say(1, "y").await;
    assert_eq!(end, TurnEnd::NoRun);
    assert_eq!(memories.1.load(Ordering::SeqCst), 0);
    bench.reply(&command("effect", "{}"));
    bench.reply(&command("effect", r#"{"other":1}"#));
    bench.say(2, "goal").await;
    bench.say(3, "y").await;
    assert_eq!(count().await, 1);
    let (end, _) = bench.say(4, "y").await;
    assert!(matches!(end, TurnEnd::Finish(_)));
    assert_eq!(count().await, 0);
    // A run that the store forgot takes its memory with it. (Both have the same id.)
    bench.agent.store = Arc::new(MemoryStore::default());
    bench.reply(&command("effect", "{}"));
    bench.reply(&command("effect", r#"{"other":1}"#));
    bench.say(5, "goal").await;
    bench.say(6, "y").await;
    assert_eq!(count().await, 1);
    bench.agent.store = Arc::new(MemoryStore::default());
    bench.reply(&command("effect", "{}"));
    bench.say(7, "another goal").await;
    assert_eq!(count().await, 0);
}
