//! Replies that outlive their connections, and conversations, in a store that several servers may share.

use std::error::Error;

#[cfg(any(feature = "redis", feature = "sqlite"))]
use copilot_wire::conversations::Conversations;
use copilot_wire::replies::{MemoryReplyStore, Replies, ReplyStore};

use crate::Settings;

/// Sets the stores as the arguments say: `--resumable` for replies in memory, `--redis URL` for replies and
/// conversations that several servers share, `--sqlite FILE` for those of one server that restarts.
///
/// # Errors
///
/// When the arguments are not these, the URL, its password or the certificate of Redis is wrong, the file cannot be
/// opened, or the program was built without the feature `redis` or `sqlite`. It starts while Redis is away.
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
        (Some("--sqlite"), Some(file)) if arguments.next().is_none() => sqlite(settings, &file),
        _ => Err("usage: axum-server [--resumable | --redis URL | --sqlite FILE]".into()),
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

/// All users have 4 GiB, and each one's conversations 64 MiB.
#[cfg(feature = "sqlite")]
fn sqlite(settings: &mut Settings, file: &str) -> Result<(), Box<dyn Error>> {
    let store = crate::SqliteStore::open(file, 4 << 30, 64 << 20);
    let store = store.map_err(|error| format!("--sqlite {file}: {error}"))?;
    settings.conversations = Some(Conversations::per_user(store.clone()));
    settings.replies = Some(replies(store));
    Ok(())
}

#[cfg(not(feature = "sqlite"))]
fn sqlite(_: &mut Settings, _: &str) -> Result<(), Box<dyn Error>> {
    Err("--sqlite needs the feature `sqlite`".into())
}

/// Binds replies to the user whom the guard has found.
fn replies(store: impl ReplyStore + 'static) -> Replies {
    Replies::per_user(store, tokio::spawn)
}
