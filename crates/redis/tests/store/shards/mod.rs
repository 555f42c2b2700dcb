//! The stores in a cluster.

pub(crate) mod cluster;

use std::time::Duration;

use copilot_wire::conversations::{ConversationStore, RecordKey};
use copilot_wire::replies::{ReplyEnd, ReplyId, ReplyStore, StoreError};
use copilot_wire_kit::{check_conversation_store, check_reply_store, check_user_limit};
use copilot_wire_redis::{RedisConversationStore, RedisReplyStore};
use tokio::time::{sleep, timeout};

use self::cluster::Shards;
use crate::support::{events, follow, id, insist, log, meta, soon};

#[tokio::test]
#[ignore = "needs redis-server"]
async fn rules() {
    let shards = Shards::start(false, "");
    // One server of a cluster is enough to find all.
    let url = shards.servers[1].url();
    let (one, other) = (
        shards.store().await,
        RedisReplyStore::connect(url).await.unwrap(),
    );
    check_reply_store([&one, &other], sleep).await.unwrap();
    let alone = RedisConversationStore::connect(shards.url()).await.unwrap();
    check_conversation_store([&one.conversations(), &alone], sleep)
        .await
        .unwrap();
    let limited = other.conversations().user_limit(1 << 20);
    check_user_limit(&limited, 1 << 20).await.unwrap();
}

/// Returns the id of a log that is at a master.
fn id_at(shards: &Shards, master: usize) -> ReplyId {
    loop {
        let id = id();
        if shards.slot(&key(&id)).1 == master {
            return id;
        }
    }
}

fn key(id: &ReplyId) -> String {
    format!("copilot-wire:reply:{{{id}}}")
}

/// Writes events until `is_over`, and their end. Returns their number.
async fn write(store: &RedisReplyStore, id: &ReplyId, is_over: impl AsyncFn() -> bool) -> u64 {
    let mut number = 0;
    while !is_over().await {
        insist(store, id, number).await.unwrap();
        number += 1;
        sleep(Duration::from_millis(10)).await;
    }
    while let Err(StoreError::Unavailable(_)) = store.seal(id, ReplyEnd::Done).await {}
    number
}

/// A slot moves from server to server while its log is written and read: nothing is lost, doubled or out of order.
#[tokio::test]
#[ignore = "needs redis-server"]
async fn slots_that_move() {
    let shards = Shards::start(false, "");
    let (writer, reader) = (shards.store().await, shards.store().await);
    let id = id();
    writer.create(&id, &meta()).await.unwrap();
    let (slot, owner) = shards.slot(&key(&id));
    let is_over = tokio::sync::watch::Sender::new(false);
    let moves = async {
        let mut at = owner;
        for turn in 0..6 {
            let next = (at + 1) % 3;
            let time = [100, 0, 700][turn % 3];
            shards
                .move_slot(slot, at, next, Duration::from_millis(time))
                .await;
            at = next;
            sleep(Duration::from_millis(200)).await;
        }
        is_over.send_replace(true);
    };
    let write = write(&writer, &id, async || *is_over.borrow());
    let read = async { follow(&reader, &id).await };
    let (count, (), read) = soon(async { tokio::join!(write, moves, read) }).await;
    assert!(count > 50, "{count}");
    assert_eq!(read.unwrap(), (events(0, count).to_vec(), ReplyEnd::Done));
    assert_eq!(
        soon(follow(&reader, &id)).await.unwrap().0,
        events(0, count)
    );
}

/// A master is killed and comes back: what the others have goes on meanwhile, and then everything does.
#[tokio::test]
#[ignore = "needs redis-server"]
async fn a_master_is_away() {
    let mut shards = Shards::start(false, "--appendonly yes --appendfsync always");
    let (writer, reader) = (shards.store().await, shards.store().await);
    let conversations = [writer.conversations(), reader.conversations()];
    let ids = [0, 1, 2].map(|master| id_at(&shards, master));
    for id in &ids {
        writer.create(id, &meta()).await.unwrap();
    }
    // A user at each master.
    let user = |master| {
        let mut users = (0..).map(|number: u32| RecordKey::new(&number.to_string(), "/", "1"));
        let at = |key: &RecordKey| {
            let user = key.to_string();
            shards.slot(&format!("{{{}}}", &user[..32])).1 == master
        };
        users.find(at).unwrap()
    };
    let users = [0, 1, 2].map(user);
    let minute = Duration::from_secs(60);
    for user in &users {
        conversations[0]
            .put(user, "turn".into(), minute)
            .await
            .unwrap();
    }
    let insist_all = async |numbers: std::ops::Range<u64>, masters: &[usize]| {
        for number in numbers {
            for master in masters {
                soon(insist(&writer, &ids[*master], number)).await.unwrap();
            }
        }
    };
    insist_all(0..20, &[0, 1, 2]).await;
    shards.servers[1].kill();
    insist_all(20..40, &[0, 2]).await;
    let found = soon(async {
        loop {
            let found = conversations[1].get(&[users[0], users[2]], minute).await;
            match found {
                Ok(found) => break found,
                Err(_) => sleep(Duration::from_millis(50)).await,
            }
        }
    });
    assert_eq!(found.await, [Some("turn".into()), Some("turn".into())]);
    assert!(conversations[1].get(&[users[1]], minute).await.is_err());
    assert!(matches!(
        reader.read(&ids[1], 0).await,
        Err(StoreError::Unavailable(_))
    ));
    for master in [0, 2] {
        let page = soon(async {
            loop {
                // At the first attempt its readers may be told that the cluster is looked at anew.
                if let Ok(page) = reader.read(&ids[master], 0).await {
                    break page;
                }
            }
        });
        assert_eq!(page.await.next, 40);
    }
    shards.servers[1].restart();
    insist_all(20..40, &[1]).await;
    insist_all(40..60, &[0, 1, 2]).await;
    for id in &ids {
        while writer.seal(id, ReplyEnd::Done).await.is_err() {}
        let read = soon(follow(&reader, id)).await.unwrap();
        assert_eq!(read, (events(0, 60).to_vec(), ReplyEnd::Done));
    }
    let found = conversations[1].get(&users, minute).await.unwrap();
    assert_eq!(found, vec![Some("turn".into()); 3]);
}

/// A master is killed for good, and its replica takes over. What was acknowledged and not yet copied may be lost: then
/// readers get a failure, never a text with a gap.
#[tokio::test]
#[ignore = "needs redis-server"]
async fn a_replica_takes_over() {
    let mut shards = Shards::start(true, "");
    let (writer, reader) = (shards.store().await, shards.store().await);
    let ids = [0, 1, 2].map(|master| id_at(&shards, master));
    for id in &ids {
        writer.create(id, &meta()).await.unwrap();
    }
    let key = RecordKey::new("ann", "/", "1");
    let (_, victim) = shards.slot(&format!("{{{}}}", &key.to_string()[..32]));
    let minute = Duration::from_secs(60);
    writer
        .conversations()
        .put(&key, "turn".into(), minute)
        .await
        .unwrap();
    let writes = ids.each_ref().map(|id| {
        let writer = &writer;
        async move {
            for number in 0..400 {
                match insist(writer, id, number).await {
                    Ok(()) => sleep(Duration::from_millis(15)).await,
                    // Something was lost.
                    Err(error) => return Err(error),
                }
            }
            while let Err(StoreError::Unavailable(_)) = writer.seal(id, ReplyEnd::Done).await {}
            Ok(())
        }
    });
    let [one, two, three] = writes;
    let kill = async {
        sleep(Duration::from_secs(1)).await;
        shards.servers[victim].kill();
    };
    let read = |number: usize| follow(&reader, &ids[number]);
    let all = async { tokio::join!(one, two, three, read(0), read(1), read(2), kill) };
    let (one, two, three, first, second, third, ()) = soon(all).await;
    for (number, (written, read)) in [(one, first), (two, second), (three, third)]
        .into_iter()
        .enumerate()
    {
        match read {
            Ok(read) => assert_eq!(read, (events(0, 400).to_vec(), ReplyEnd::Done)),
            Err(StoreError::Gone) => assert_eq!(number, victim, "{written:?}"),
            Err(error) => panic!("{error}"),
        }
    }
    let found = writer.conversations().get(&[key], minute).await.unwrap();
    assert_eq!(found, [Some("turn".into())]);
    // Everything works as before, with what was at the master that is gone.
    let again = id_at(&shards, victim);
    writer.create(&again, &meta()).await.unwrap();
    let mut cancelled = Box::pin(writer.cancelled(&again));
    assert!(
        timeout(Duration::from_millis(300), &mut cancelled)
            .await
            .is_err()
    );
    reader.cancel(&again).await.unwrap();
    soon(cancelled).await;
}

/// The server that subscriptions are at goes away: another one takes them.
#[tokio::test]
#[ignore = "needs redis-server"]
async fn messages_come_by_any_server() {
    let shards = Shards::start(false, "");
    let (writer, reader) = (shards.store().await, shards.store().await);
    let id = log(&writer, 1).await;
    let mut cancelled = Box::pin(writer.cancelled(&id));
    for server in &shards.servers {
        server.command("CLIENT KILL TYPE pubsub");
        assert!(
            timeout(Duration::from_secs(1), &mut cancelled)
                .await
                .is_err()
        );
    }
    reader.cancel(&id).await.unwrap();
    soon(cancelled).await;
}

/// A store that is dropped gives up its lease, wherever that is.
#[tokio::test]
#[ignore = "needs redis-server"]
async fn a_lease_is_given_up() {
    let shards = Shards::start(false, "");
    let reader = shards.store().await;
    for _ in 0..6 {
        let writer = shards.store().await;
        let id = log(&writer, 1).await;
        drop(writer);
        // Far below the time that a lease lasts.
        let read = timeout(Duration::from_secs(5), follow(&reader, &id))
            .await
            .unwrap();
        assert_eq!(read.unwrap(), (events(0, 1).to_vec(), ReplyEnd::Lost));
    }
}
