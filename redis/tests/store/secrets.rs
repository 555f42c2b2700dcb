//! Passwords, and what a user of Redis has to be allowed.

use copilot_wire::testing::check_reply_store;
use copilot_wire_redis::RedisReplyStore;
use tokio::time::sleep;

use crate::redis::Redis;

/// The rules for a user of Redis that the guide shows.
const ACL: &str = "ACL SETUSER chat on >sesame ~chat:* &chat:* -@all +xadd +xrange +xrevrange +get +set \
    +hset +hget +hmget +time +del +exists +pexpire +pttl +publish +subscribe +unsubscribe +ping +evalsha +script|load";

#[tokio::test]
async fn a_user_for_a_prefix() {
    let redis = Redis::start("");
    redis.command(ACL);
    let url = redis.url().replace("//", "//chat:sesame@");
    let connect = || RedisReplyStore::connect(&url).prefix("chat:");
    let (one, other) = (connect().await.unwrap(), connect().await.unwrap());
    check_reply_store([&one, &other], sleep).await.unwrap();
    let elsewhere = RedisReplyStore::connect(&url)
        .prefix("other:")
        .await
        .unwrap_err();
    assert_eq!(
        elsewhere.to_string(),
        "reply store unavailable: redis: NOPERM"
    );
}

#[tokio::test]
async fn no_secret_is_shown() {
    let redis = Redis::start("--requirepass sesame");
    let port = redis.port();
    let urls = [
        format!("redis://:wr0ng@127.0.0.1:{port}/"),
        format!("redis://ali:wr0ng@127.0.0.1:{port}/"),
        format!("redis://:wr0ng@127.0.0.1:{port}/wr0ng"),
        "redis://:wr0ng@127.0.0.1:1/".to_owned(),
        "rediss://:wr0ng@127.0.0.1:1/".to_owned(),
        "redis://:wr0ng@[/".to_owned(),
        "wr0ng".to_owned(),
        "http://wr0ng@localhost/".to_owned(),
    ];
    for url in urls {
        let connect = RedisReplyStore::connect(&url);
        assert!(!format!("{connect:?}").contains("wr0ng"));
        let error = connect.await.unwrap_err();
        let shown = format!("{error} {error:?} {:?}", std::error::Error::source(&error));
        assert!(!shown.contains("wr0ng") && !shown.contains(&url), "{shown}");
    }
    let url = format!("redis://:sesame@127.0.0.1:{port}/");
    let store = RedisReplyStore::connect(url).await.unwrap();
    assert!(!format!("{store:?}").contains("sesame"));
}
