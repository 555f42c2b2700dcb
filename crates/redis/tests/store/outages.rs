//! Redis goes, comes back, stands still, is full, or forgets.

use std::time::Duration;

use copilot_wire::replies::{ConversationKey, ReplyEnd, ReplyStore, StoreError};
use tokio::time::{sleep, timeout};

use crate::redis::Redis;
use crate::support::{events, follow, id, insist, log, meta, soon};

const MOMENT: Duration = Duration::from_millis(300);

/// Writes 300 events and follows them, while `trouble` happens to Redis; then compares.
async fn write_and_follow(mut redis: Redis, trouble: impl AsyncFnOnce(&mut Redis)) {
    let (writer, reader) = (redis.store().await, redis.store().await);
    let id = log(&writer, 1).await;
    let write = async {
        for number in 1..300 {
            insist(&writer, &id, number).await.unwrap();
            sleep(Duration::from_millis(10)).await;
        }
        while let Err(StoreError::Unavailable(_)) = writer.seal(&id, ReplyEnd::Done).await {}
    };
    let trouble = async {
        sleep(MOMENT).await;
        trouble(&mut redis).await;
    };
    let read = follow(&reader, &id);
    let ((), (), read) = soon(async { tokio::join!(write, trouble, read) }).await;
    let (all, end) = read.unwrap();
    assert_eq!(all, events(0, 300));
    assert_eq!(end, ReplyEnd::Done);
}

#[tokio::test]
#[ignore = "needs redis-server"]
async fn killed_and_restarted_from_its_log() {
    let redis = Redis::start("--appendonly yes --appendfsync always");
    write_and_follow(redis, async |redis| {
        for _ in 0..3 {
            redis.kill();
            sleep(MOMENT).await;
            redis.restart();
            sleep(MOMENT).await;
        }
    })
    .await;
}

#[tokio::test]
#[ignore = "needs redis-server"]
async fn paused_clients() {
    write_and_follow(Redis::start(""), async |redis| {
        redis.command("CLIENT PAUSE 5000 ALL");
    })
    .await;
}

#[tokio::test]
#[ignore = "needs redis-server"]
async fn a_frozen_server() {
    write_and_follow(Redis::start(""), async |redis| {
        redis.signal("STOP");
        sleep(Duration::from_secs(5)).await;
        redis.signal("CONT");
    })
    .await;
}

#[tokio::test]
#[ignore = "needs redis-server"]
async fn broken_connections() {
    write_and_follow(Redis::start(""), async |redis| {
        for kind in ["pubsub", "normal", "pubsub", "normal"] {
            redis.command(&format!("CLIENT KILL TYPE {kind}"));
            sleep(MOMENT).await;
        }
    })
    .await;
}

#[tokio::test]
#[ignore = "needs redis-server"]
async fn scripts_that_redis_forgets() {
    write_and_follow(Redis::start(""), async |redis| {
        redis.command("SCRIPT FLUSH");
    })
    .await;
}

/// A lease that ran out while Redis was away says nothing about its process.
#[tokio::test]
#[ignore = "needs redis-server"]
async fn away_for_longer_than_a_lease() {
    let mut redis = Redis::start("--appendonly yes --appendfsync always");
    let (writer, reader) = (redis.store().await, redis.store().await);
    let id = log(&writer, 1).await;
    let read = follow(&reader, &id);
    let write = async {
        redis.kill();
        sleep(Duration::from_secs(9)).await;
        redis.restart();
        sleep(Duration::from_secs(5)).await;
        insist(&writer, &id, 1).await.unwrap();
        writer.seal(&id, ReplyEnd::Done).await.unwrap();
    };
    let (read, ()) = soon(async { tokio::join!(read, write) }).await;
    assert_eq!(read.unwrap().1, ReplyEnd::Done);
}

#[tokio::test]
#[ignore = "needs redis-server"]
async fn restarted_empty() {
    let mut redis = Redis::start("");
    let (writer, reader) = (redis.store().await, redis.store().await);
    let conversation = ConversationKey::from_bytes([1; 32]);
    let id = id();
    writer
        .create(&id, &meta().conversation(conversation))
        .await
        .unwrap();
    writer.append(&id, 0..2, events(0, 2)).await.unwrap();
    redis.kill();
    redis.restart();
    assert!(matches!(
        soon(insist(&writer, &id, 2)).await,
        Err(StoreError::Gone)
    ));
    assert!(matches!(
        soon(follow(&reader, &id)).await,
        Err(StoreError::Gone)
    ));
    assert_eq!(reader.latest(&conversation).await.unwrap(), None);
    // New replies are stored as ever.
    log(&writer, 1).await;
}

/// Redis loses acknowledged writes, as in a failover to a replica.
#[tokio::test]
#[ignore = "needs redis-server"]
async fn lost_entries_are_never_skipped() {
    let redis = Redis::start("");
    let (writer, reader) = (redis.store().await, redis.store().await);
    let id = log(&writer, 1).await;
    for number in 1..5 {
        writer
            .append(&id, number..number + 1, events(number, 1))
            .await
            .unwrap();
    }
    redis.command(&format!("XDEL copilot-wire:reply:{{{id}}} 4-1"));
    let page = reader.read(&id, 0).await;
    assert!(matches!(page, Err(StoreError::Gone)), "{page:?}");
    redis.command(&format!("XDEL copilot-wire:reply:{{{id}}} 5-1"));
    redis.command("CLIENT KILL TYPE normal");
    let late = soon(insist(&writer, &id, 5)).await;
    assert!(matches!(late, Err(StoreError::Gone)), "{late:?}");
}

#[tokio::test]
#[ignore = "needs redis-server"]
async fn cancellation_over_broken_connections() {
    let mut redis = Redis::start("--appendonly yes --appendfsync always");
    let (writer, other) = (redis.store().await, redis.store().await);
    let id = log(&writer, 1).await;
    let mut cancelled = Box::pin(writer.cancelled(&id));
    let trouble = async {
        redis.command("CLIENT KILL TYPE pubsub");
        sleep(MOMENT).await;
        redis.command("CLIENT KILL TYPE normal");
        sleep(MOMENT).await;
        redis.kill();
        sleep(MOMENT).await;
        redis.restart();
        sleep(MOMENT).await;
        redis.command("CLIENT PAUSE 2500 ALL");
        sleep(Duration::from_secs(4)).await;
    };
    tokio::select! {
        () = &mut cancelled => panic!("nobody has cancelled"),
        () = trouble => {}
    }
    soon(async {
        while other.cancel(&id).await.is_err() {}
        cancelled.await;
    })
    .await;
}

/// The message is lost: the renewal of the lease finds the mark.
#[tokio::test]
#[ignore = "needs redis-server"]
async fn cancellation_without_messages() {
    let redis = Redis::start("");
    let (writer, other) = (redis.store().await, redis.store().await);
    let id = log(&writer, 1).await;
    let mut cancelled = Box::pin(writer.cancelled(&id));
    assert!(timeout(MOMENT, &mut cancelled).await.is_err());
    redis.command("ACL SETUSER default resetchannels");
    redis.command("CLIENT KILL TYPE pubsub");
    redis.command(&format!("SET copilot-wire:cancelled:{{{id}}} 1"));
    soon(cancelled).await;
    drop(other);
}

#[tokio::test]
#[ignore = "needs redis-server"]
async fn full() {
    let redis = Redis::start("--maxmemory 4mb --maxmemory-policy noeviction");
    let store = redis.store().await;
    let id = log(&store, 1).await;
    let mut number = 1;
    let full = loop {
        let large = format!("data: {}\n\n", "x".repeat(100_000));
        match store.append(&id, number..number + 1, large.into()).await {
            Ok(_) => number += 1,
            Err(error) => break error,
        }
    };
    assert!(matches!(full, StoreError::Full), "{full:?}");
    // Until even a small entry has no space.
    let refused = loop {
        match store.create(&crate::support::id(), &meta()).await {
            Ok(()) => {}
            Err(error) => break error,
        }
    };
    assert!(matches!(refused, StoreError::Full), "{refused:?}");
    let page = store.read(&id, 0).await.unwrap();
    assert!(!page.events.is_empty());
    // There is no space for the end either. The log goes, so that its readers do not wait for more.
    assert!(matches!(
        store.seal(&id, ReplyEnd::Failed).await,
        Err(StoreError::Gone)
    ));
    assert!(matches!(
        store.read(&id, page.next).await,
        Err(StoreError::Gone)
    ));
    log(&store, 1).await;
    // The lease of 8 seconds is renewed even without any space.
    redis.command("CONFIG SET maxmemory 1");
    sleep(Duration::from_secs(4)).await;
    let left = "EVAL return(redis.call('PTTL',redis.call('KEYS','copilot-wire:alive:*')[1])) 0";
    assert!(redis.number(left) > 5000);
}

/// A look counts only together with one shortly before it.
#[tokio::test]
#[ignore = "needs redis-server"]
async fn two_lapses_of_a_lease_far_apart() {
    let redis = Redis::start("");
    let (writer, reader) = (redis.store().await, redis.store().await);
    let id = log(&writer, 1).await;
    let mut next = 1;
    for _ in 0..2 {
        // The leases are renewed meanwhile, so they are deleted until the reader has looked.
        let leases = "redis.call('KEYS','copilot-wire:alive:*')";
        let delete = format!("EVAL return(redis.call('DEL','-',unpack({leases}))) 0");
        let look = reader.read(&id, next);
        tokio::pin!(look);
        let page = loop {
            match timeout(Duration::from_millis(10), &mut look).await {
                Ok(page) => break page.unwrap(),
                Err(_) => redis.command(&delete),
            };
        };
        assert_eq!(page.end, None);
        for _ in 0..60 {
            sleep(Duration::from_millis(100)).await;
            writer
                .append(&id, next..next + 1, events(next, 1))
                .await
                .unwrap();
            next = reader.read(&id, next).await.unwrap().next;
        }
    }
}

#[tokio::test]
#[ignore = "needs redis-server"]
async fn large_entries_are_read_a_few_at_a_time() {
    let redis = Redis::start("");
    let store = redis.store().await;
    let id = log(&store, 1).await;
    let large = format!("data: {}\n\n", "x".repeat(1000)).repeat(64);
    for batch in 0..32 {
        let first = 1 + batch * 64;
        store
            .append(&id, first..first + 64, large.clone().into())
            .await
            .unwrap();
    }
    store.seal(&id, ReplyEnd::Done).await.unwrap();
    redis.command("CONFIG RESETSTAT");
    let (all, _) = follow(&store, &id).await.unwrap();
    let sent = redis.command("INFO stats");
    let sent: String = redis::from_redis_value(sent).unwrap();
    let sent = sent.split("total_net_output_bytes:").nth(1).unwrap();
    let sent: usize = sent.lines().next().unwrap().parse().unwrap();
    assert!(sent < 5 * all.len(), "{sent} bytes for {}", all.len());
}

#[tokio::test]
#[ignore = "needs redis-server"]
async fn evicting() {
    let redis = Redis::start("--maxmemory 4mb --maxmemory-policy allkeys-lru");
    let (writer, reader) = (redis.store().await, redis.store().await);
    let victim = log(&writer, 1).await;
    let large = format!("data: {}\n\n", "x".repeat(50_000));
    // Eviction is a matter of chance.
    while redis.number(&format!("EXISTS copilot-wire:reply:{{{victim}}}")) == 1 {
        let other = log(&writer, 1).await;
        let appended = writer.append(&other, 1..2, large.clone().into()).await;
        assert!(
            matches!(appended, Ok(_) | Err(StoreError::Gone)),
            "{appended:?}"
        );
    }
    assert!(matches!(
        reader.read(&victim, 1).await,
        Err(StoreError::Gone)
    ));
    assert!(matches!(
        insist(&writer, &victim, 1).await,
        Err(StoreError::Gone)
    ));
}

/// The only message that says that somebody reads is lost, and events keep coming.
#[tokio::test]
#[ignore = "needs redis-server"]
async fn a_lost_follow() {
    let redis = Redis::start("");
    let (writer, reader) = (redis.store().await, redis.store().await);
    let id = log(&writer, 1).await;
    sleep(MOMENT).await;
    redis.command("CLIENT KILL TYPE pubsub");
    let read = async {
        let mut next = 1;
        for _ in 0..6 {
            next = reader.read(&id, next).await.unwrap().next;
        }
    };
    let mut paces = Vec::new();
    let write = async {
        for number in 1.. {
            paces.push(
                writer
                    .append(&id, number..number + 1, events(number, 1))
                    .await
                    .unwrap(),
            );
            sleep(Duration::from_millis(20)).await;
        }
    };
    soon(async {
        tokio::select! { () = read => {} () = write => {} }
    })
    .await;
    // A reader that is known gets events sooner.
    assert!(paces.last() < paces.first(), "{paces:?}");
}

/// Readers get nothing that the log has refused.
#[tokio::test]
#[ignore = "needs redis-server"]
async fn deleted_while_it_is_followed() {
    let redis = Redis::start("");
    let (writer, reader) = (redis.store().await, redis.store().await);
    let id = log(&writer, 1).await;
    assert_eq!(reader.read(&id, 1).await.unwrap().next, 1);
    writer.append(&id, 1..2, events(1, 1)).await.unwrap();
    assert_eq!(reader.read(&id, 1).await.unwrap().next, 2);
    redis.command(&format!("DEL copilot-wire:reply:{{{id}}}"));
    let (read, append) = soon(async {
        let append = writer.append(&id, 2..3, events(2, 1));
        tokio::join!(reader.read(&id, 2), append)
    })
    .await;
    assert!(matches!(append, Err(StoreError::Gone)), "{append:?}");
    assert!(matches!(read, Err(StoreError::Gone)), "{read:?}");
}

/// The mark of a reply that was cancelled before is looked for again where that has failed.
#[tokio::test]
#[ignore = "needs redis-server"]
async fn a_mark_that_could_not_be_read() {
    let redis = Redis::start("");
    let (writer, other) = (redis.store().await, redis.store().await);
    let id = log(&writer, 1).await;
    // The lease has been renewed since the subscription is there.
    sleep(Duration::from_secs(3)).await;
    other.cancel(&id).await.unwrap();
    // The message comes before the reply can be cancelled.
    sleep(MOMENT).await;
    redis.command("ACL SETUSER default -exists");
    let allow = async {
        sleep(MOMENT).await;
        redis.command("ACL SETUSER default +exists");
    };
    soon(async { tokio::join!(writer.cancelled(&id), allow) }).await;
}
