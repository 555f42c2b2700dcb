//! The Redis connection shared by runs and memories.

use std::io;
use std::time::Duration;

use redis::aio::{ConnectionManager, ConnectionManagerConfig};
use redis::{Client, RedisError};

use crate::http;

/// The time after which Redis deletes an unused key: 30 days, in milliseconds.
pub(crate) const TIME_TO_LIVE_MS: i64 = 30 * 24 * 60 * 60 * 1000;

/// The time limit of a connection attempt and of a command; far below the default lease.
const TIMEOUT: Duration = Duration::from_secs(5);

/// The number of connection attempts before commands fail, after 0.1, 0.2 and 0.4 seconds.
const RETRIES: usize = 3;

/// Creates a connection to `redis://` or `rediss://`. It is opened by the first command, and
/// reopened after a failure.
///
/// # Errors
///
/// The URL is not valid.
pub fn connect(url: &str) -> io::Result<ConnectionManager> {
    http::install_tls_provider();
    let config = ConnectionManagerConfig::new()
        .set_connection_timeout(Some(TIMEOUT))
        .set_response_timeout(Some(TIMEOUT))
        .set_number_of_retries(RETRIES);
    let client = Client::open(url).map_err(redis_error)?;
    ConnectionManager::new_lazy_with_config(client, config).map_err(redis_error)
}

/// Converts an error of the Redis client. Its message contains no URL and no password.
pub(crate) fn redis_error(error: RedisError) -> io::Error {
    io::Error::other(error)
}
