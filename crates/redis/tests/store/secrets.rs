//! Passwords, and what a user of Redis has to be allowed.

use std::time::Duration;

use copilot_wire::replies::{ReplyStore, StoreError};
use copilot_wire_kit::{check_conversation_store, check_reply_store, check_user_limit};
use copilot_wire_redis::RedisReplyStore;
use tokio::time::sleep;

use crate::redis::{Redis, rights};
use crate::support::id;

/// A user with the rights that the README lists can do everything, and needs each of them.
#[tokio::test]
#[ignore = "needs redis-server"]
async fn a_user_for_a_prefix() {
    let redis = Redis::start("");
    let rights = rights("chat", "sesame", "chat:");
    redis.command(&rights);
    let url = redis.url().replace("//", "//chat:sesame@");
    let database = RedisReplyStore::connect(format!("{url}1")).prefix("chat:");
    assert!(database.clone().await.is_err());
    let connect = || RedisReplyStore::connect(&url).prefix("chat:");
    let (one, other) = (connect().await.unwrap(), connect().await.unwrap());
    check_reply_store([&one, &other], sleep).await.unwrap();
    let conversations = one.conversations();
    check_conversation_store([&conversations, &other.conversations()], sleep)
        .await
        .unwrap();
    let limited = conversations.user_limit(1 << 20);
    check_user_limit(&limited, 1 << 20).await.unwrap();
    // The subscription is looked after every five seconds.
    sleep(Duration::from_secs(6)).await;
    let elsewhere = RedisReplyStore::connect(&url)
        .prefix("other:")
        .await
        .unwrap_err();
    assert_eq!(
        elsewhere.to_string(),
        "reply store unavailable: redis: NOPERM"
    );
    let statistics: String = redis::from_redis_value(redis.command("INFO commandstats")).unwrap();
    let unused = rights
        .split_whitespace()
        .filter_map(|it| it.strip_prefix('+'));
    let unused: Vec<_> = unused
        .filter(|it| !statistics.contains(&format!("cmdstat_{it}:")))
        .collect();
    assert_eq!(unused, [""; 0]);
    redis.command("ACL SETUSER chat +select");
    database.await.unwrap();
}

fn hides(error: &StoreError, url: &str) {
    let shown = format!("{error} {error:?} {:?}", std::error::Error::source(error));
    assert!(!shown.contains("wr0ng") && !shown.contains(url), "{shown}");
}

#[tokio::test]
#[ignore = "needs redis-server"]
async fn no_secret_is_shown() {
    let redis = Redis::start("--requirepass sesame");
    let port = redis.port();
    let urls = [
        format!("redis://:wr0ng@127.0.0.1:{port}/"),
        format!("redis://ali:wr0ng@127.0.0.1:{port}/"),
        format!("redis://:wr0ng@127.0.0.1:{port}/wr0ng"),
        "redis://:wr0ng@[/".to_owned(),
        "wr0ng".to_owned(),
        "http://wr0ng@localhost/".to_owned(),
    ];
    for url in urls {
        let connect = RedisReplyStore::connect(&url);
        assert!(!format!("{connect:?}").contains("wr0ng"));
        hides(&connect.await.unwrap_err(), &url);
    }
    // Nobody is there yet.
    for url in [
        "redis://:wr0ng@127.0.0.1:1/",
        "rediss://:wr0ng@127.0.0.1:1/",
    ] {
        let store = RedisReplyStore::connect(url).await.unwrap();
        hides(&store.read(&id(), 0).await.unwrap_err(), url);
        assert!(!format!("{store:?}").contains("wr0ng"));
    }
    let url = format!("redis://:sesame@127.0.0.1:{port}/");
    let store = RedisReplyStore::connect(url).await.unwrap();
    assert!(!format!("{store:?}").contains("sesame"));
}
