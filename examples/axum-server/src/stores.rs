//! Replies that outlive their connections, and conversations, in a store that several servers may share.

use std::error::Error;

#[cfg(feature = "redis")]
use copilot_wire::conversations::Conversations;
use copilot_wire::replies::{MemoryReplyStore, Replies, ReplyStore};

use crate::Settings;

/// Sets the stores as the arguments say: `--resumable` for replies in memory, `--redis URL` for replies and
/// conversations that several servers share.
///
/// # Errors
///
/// When the arguments are not these, the URL, its password or the certificate of Redis is wrong, or the program was
/// built without the feature `redis`. It starts while Redis is away.
pub async fn stores(
    settings: &mut Settings,
    mut arguments: impl Iterator<Item = String>,
) -> Result<(), Box<dyn Error>> {
    match (arguments.next().as_deref(), arguments.next()) {
        (None, _) => Ok(()),
        (Some("--resumable"), None) => {
            settings.replies = Some(replies(MemoryReplyStore::new()));
            Ok(())
        }
        (Some("--redis"), Some(url)) if arguments.next().is_none() => redis(settings, url).await,
        _ => Err("usage: axum-server [--resumable | --redis URL]".into()),
    }
}

#[cfg(feature = "redis")]
async fn redis(settings: &mut Settings, url: String) -> Result<(), Box<dyn Error>> {
    let store = copilot_wire_redis::RedisReplyStore::connect(url).await?;
    settings.conversations = Some(Conversations::per_user(store.conversations()));
    settings.replies = Some(replies(store));
    Ok(())
}

#[cfg(not(feature = "redis"))]
async fn redis(_: &mut Settings, _: String) -> Result<(), Box<dyn Error>> {
    Err("--redis needs the feature `redis`".into())
}

/// Binds replies to the user whom the guard has found.
fn replies(store: impl ReplyStore + 'static) -> Replies {
    Replies::per_user(store, tokio::spawn)
}
