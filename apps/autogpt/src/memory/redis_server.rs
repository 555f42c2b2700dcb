//! The Redis connection shared by runs and memories.

use std::io;

use copilot_wire_redis::RedisConnection;
use redis::RedisError;

/// The time after which Redis deletes an unused key: 30 days, in milliseconds.
pub(crate) const TIME_TO_LIVE_MS: i64 = 30 * 24 * 60 * 60 * 1000;

/// Creates a connection to one server, a cluster, or the master that Sentinels name. It is opened by the first
/// command, and reopened after a failure.
///
/// # Errors
///
/// The URL is not valid.
pub fn connect(url: &str) -> io::Result<RedisConnection> {
    RedisConnection::new(url).map_err(io::Error::other)
}

/// Converts an error of the Redis client. Its message contains no URL and no password.
pub(crate) fn redis_error(error: RedisError) -> io::Error {
    io::Error::other(error)
}
