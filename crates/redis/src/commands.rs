//! A connection for keys that do not belong to the stores.

use std::fmt;
use std::io;
use std::sync::Arc;

use copilot_wire::replies::StoreError;
use redis::aio::ConnectionLike;
use redis::{Cmd, Pipeline, RedisFuture, Value};

use crate::connection::Connection;
use crate::url;

/// A connection for keys of an application, through the crate `redis` 1, to every kind of server that a
/// [store](crate::RedisReplyStore::connect) supports.
///
/// The first command opens the connection, as does the next one after a failure. A command fails at once while there
/// is no server, and after 2 seconds without an answer. In a cluster, all keys of a pipeline must be in one slot.
#[derive(Clone)]
pub struct RedisConnection(Arc<Connection>);

impl RedisConnection {
    /// Creates a connection to the servers at a [URL](crate::RedisReplyStore::connect).
    ///
    /// # Errors
    ///
    /// [`StoreError::Unavailable`] if the URL is not valid.
    pub fn new(url: &str) -> Result<Self, StoreError> {
        Ok(Self(Arc::new(Connection::new(url::parse(url)?))))
    }
}

impl ConnectionLike for RedisConnection {
    fn req_packed_command<'a>(&'a mut self, cmd: &'a Cmd) -> RedisFuture<'a, Value> {
        Box::pin(async move {
            let (mut link, number) = self.0.open().await.map_err(io::Error::other)?;
            let answer = link.req_packed_command(cmd).await;
            self.0.note(number, &answer).await;
            answer
        })
    }

    fn req_packed_commands<'a>(
        &'a mut self,
        cmd: &'a Pipeline,
        offset: usize,
        count: usize,
    ) -> RedisFuture<'a, Vec<Value>> {
        Box::pin(async move {
            let (mut link, number) = self.0.open().await.map_err(io::Error::other)?;
            let answer = link.req_packed_commands(cmd, offset, count).await;
            self.0.note(number, &answer).await;
            answer
        })
    }

    fn get_db(&self) -> i64 {
        self.0
            .like()
            .map_or(0, |server| server.redis_settings().db())
    }
}

impl fmt::Debug for RedisConnection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisConnection").finish_non_exhaustive()
    }
}
