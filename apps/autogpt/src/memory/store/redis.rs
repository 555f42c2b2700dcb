//! Runs in Redis.

use std::sync::LazyLock;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use copilot_wire_redis::RedisConnection;
use redis::Script;

use super::{Claim, Conversation, RunStore, Saved, StoreError};
use crate::env::random_id;
use crate::memory::redis_server::{TIME_TO_LIVE_MS, redis_error};

/// The default lease of a claim.
const LEASE: Duration = Duration::from_secs(30);

/// A store of runs in Redis, for any number of servers.
///
/// Each conversation is one hash with the fields `token` and `owner` of the last claim, `revision`,
/// `record`, and one field for each started execution. They share one time to live, so a record
/// never outlives its started marks. The lease of a claim is a second key, which expires.
///
/// Only the hash protects a run: saving and starting need the largest token, which each claim increments, and saving
/// needs the expected revision. The lease only determines when another server may claim.
#[derive(Clone)]
pub struct RedisRunStore {
    redis: RedisConnection,
    lease: Duration,
}

/// Claims: KEYS hash, lease; ARGV owner, lease in ms, time to live in ms. Returns the token, or 0.
static CLAIM: LazyLock<Script> = LazyLock::new(|| {
    Script::new(
        // Redis runs a script atomically, so there is no claim between the lease and the new token.
        r"if not redis.call('SET', KEYS[2], ARGV[1], 'NX', 'PX', ARGV[2]) then return 0 end
        local token = redis.call('HINCRBY', KEYS[1], 'token', 1)
        redis.call('HSET', KEYS[1], 'owner', ARGV[1])
        redis.call('PEXPIRE', KEYS[1], ARGV[3])
        return token",
    )
});

/// Renews: KEYS hash, lease; ARGV token, lease in ms. Returns 1, or 0 for an older token.
///
/// An expired lease is set again: while the token is the largest, there was no later claim.
static RENEW: LazyLock<Script> = LazyLock::new(|| {
    Script::new(
        r"local found = redis.call('HMGET', KEYS[1], 'token', 'owner')
        if found[1] ~= ARGV[1] then return 0 end
        redis.call('SET', KEYS[2], found[2], 'PX', ARGV[2])
        return 1",
    )
});

/// Releases: KEYS lease; ARGV owner. A lease of another owner is not changed.
static RELEASE: LazyLock<Script> = LazyLock::new(|| {
    Script::new(
        // Compared and deleted atomically, because after the lease has expired the key may belong to another server.
        r"if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
        return redis.call('DEL', KEYS[1])",
    )
});

/// Saves: KEYS hash; ARGV token, expected revision, new revision, record, time to live in ms.
static SAVE: LazyLock<Script> = LazyLock::new(|| {
    Script::new(
        r"local found = redis.call('HMGET', KEYS[1], 'token', 'revision')
        if found[1] ~= ARGV[1] or (found[2] or '0') ~= ARGV[2] then return 0 end
        redis.call('HSET', KEYS[1], 'revision', ARGV[3], 'record', ARGV[4])
        redis.call('PEXPIRE', KEYS[1], ARGV[5])
        return 1",
    )
});

/// Starts: KEYS hash; ARGV token, execution. Returns 1, 0 if it was started before, -1 for an older
/// token.
static START: LazyLock<Script> = LazyLock::new(|| {
    Script::new(
        r"if redis.call('HGET', KEYS[1], 'token') ~= ARGV[1] then return -1 end
        return redis.call('HSETNX', KEYS[1], 'started:' .. ARGV[2], '1')",
    )
});

impl RedisRunStore {
    /// Creates a store with leases of 30 seconds.
    pub fn new(redis: RedisConnection) -> Self {
        let lease = LEASE;
        Self { redis, lease }
    }

    /// Sets the lease of claims: the time for which the runs of a server that died are blocked.
    #[must_use]
    pub fn with_lease(self, lease: Duration) -> Self {
        Self { lease, ..self }
    }
}

impl std::fmt::Debug for RedisRunStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RedisRunStore")
            .field("lease", &self.lease)
            .finish_non_exhaustive()
    }
}

#[async_trait]
impl RunStore for RedisRunStore {
    async fn claim(&self, conversation: &Conversation) -> Result<Option<Claim>, StoreError> {
        // A new owner for each claim: the release of an expired claim must not delete the lease of
        // the next one.
        let owner = random_id().map_err(std::io::Error::other)?;
        // Created before the request is sent, so that a future that is dropped while it waits releases the claim that
        // it may have.
        let mut release = Release {
            redis: self.redis.clone(),
            lease: lease_key(conversation),
            owner,
            is_owner: true,
        };
        // Before the request, so that the lease ends here before it ends in Redis.
        let start = Instant::now();
        let token: u64 = CLAIM
            .key(run_key(conversation))
            .key(&release.lease)
            .arg(&release.owner)
            .arg(milliseconds(self.lease))
            .arg(TIME_TO_LIVE_MS)
            .invoke_async(&mut self.redis.clone())
            .await
            .map_err(redis_error)?;
        // After an error `is_owner` stays set: the request may have been executed.
        if token == 0 {
            release.is_owner = false;
            return Ok(None);
        }
        let claim = Claim::new(conversation.clone(), release);
        Ok(Some(claim.with_lease(token, start, self.lease)))
    }

    async fn renew(&self, claim: &Claim) -> Result<(), StoreError> {
        let conversation = claim.conversation();
        let start = Instant::now();
        let renewed: bool = RENEW
            .key(run_key(conversation))
            .key(lease_key(conversation))
            .arg(claim.token())
            .arg(milliseconds(self.lease))
            .invoke_async(&mut self.redis.clone())
            .await
            .map_err(redis_error)?;
        if !renewed {
            return Err(StoreError::Conflict);
        }
        claim.extend(start);
        Ok(())
    }

    async fn load(&self, conversation: &Conversation) -> Result<Option<Saved>, StoreError> {
        let saved: (Option<u64>, Option<String>) = redis::cmd("HMGET")
            .arg(run_key(conversation))
            .arg(&["revision", "record"])
            .query_async(&mut self.redis.clone())
            .await
            .map_err(redis_error)?;
        let (revision, record) = saved;
        Ok(revision
            .zip(record)
            .map(|(revision, record)| Saved::new(revision, record)))
    }

    async fn save(&self, claim: &Claim, expected: u64, record: &str) -> Result<u64, StoreError> {
        let revision = expected.checked_add(1).ok_or(StoreError::Conflict)?;
        let saved: bool = SAVE
            .key(run_key(claim.conversation()))
            .arg(claim.token())
            .arg(expected)
            .arg(revision)
            .arg(record)
            .arg(TIME_TO_LIVE_MS)
            .invoke_async(&mut self.redis.clone())
            .await
            .map_err(redis_error)?;
        saved.then_some(revision).ok_or(StoreError::Conflict)
    }

    async fn start(&self, claim: &Claim, id: &str) -> Result<bool, StoreError> {
        let started: i64 = START
            .key(run_key(claim.conversation()))
            .arg(claim.token())
            .arg(id)
            .invoke_async(&mut self.redis.clone())
            .await
            .map_err(redis_error)?;
        match started {
            -1 => Err(StoreError::Conflict),
            started => Ok(started == 1),
        }
    }
}

/// The release of a lease, performed on drop while `is_owner` is set.
struct Release {
    redis: RedisConnection,
    lease: String,
    owner: String,
    is_owner: bool,
}

impl Drop for Release {
    fn drop(&mut self) {
        // Without a runtime, or if the command is lost, the lease expires.
        let Some(runtime) = tokio::runtime::Handle::try_current()
            .ok()
            .filter(|_| self.is_owner)
        else {
            return;
        };
        let mut redis = self.redis.clone();
        let mut release = RELEASE.key(&self.lease);
        release.arg(&self.owner);
        runtime.spawn(async move { release.invoke_async::<()>(&mut redis).await });
    }
}

/// Returns the key of the hash. The braces put both keys of a conversation into one slot of a Redis
/// cluster.
fn run_key(conversation: &Conversation) -> String {
    format!("autogpt:{{{}}}:run", conversation.as_str())
}

fn lease_key(conversation: &Conversation) -> String {
    format!("autogpt:{{{}}}:lease", conversation.as_str())
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
