//! Replies that outlive their connections, for front ends that can ask for them again.

use std::error::Error;

use copilot_wire::replies::{MemoryReplyStore, Replies, ReplyStore};

/// Reads the arguments: `--resumable` for one server, `--redis URL` for several that share their replies.
///
/// # Errors
///
/// When the arguments are not these, the URL, its password or the certificate of Redis is wrong, or the program was
/// built without the feature `redis`. It starts while Redis is away.
pub async fn replies(
    mut arguments: impl Iterator<Item = String>,
) -> Result<Option<Replies>, Box<dyn Error>> {
    match (arguments.next().as_deref(), arguments.next()) {
        (None, _) => Ok(None),
        (Some("--resumable"), None) => Ok(Some(of(MemoryReplyStore::new()))),
        (Some("--redis"), Some(url)) if arguments.next().is_none() => redis(url).await.map(Some),
        _ => Err("usage: axum-server [--resumable | --redis URL]".into()),
    }
}

#[cfg(feature = "redis")]
async fn redis(url: String) -> Result<Replies, Box<dyn Error>> {
    Ok(of(copilot_wire_redis::RedisReplyStore::connect(url).await?))
}

#[cfg(not(feature = "redis"))]
async fn redis(_: String) -> Result<Replies, Box<dyn Error>> {
    Err("--redis needs the feature `redis`".into())
}

/// Binds replies to the user whom the guard has found.
fn of(store: impl ReplyStore + 'static) -> Replies {
    Replies::per_user(store, tokio::spawn)
}
