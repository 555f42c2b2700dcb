//! The rules of stores.

mod conversations;
#[cfg(feature = "resumable")]
mod replies;

pub use conversations::{check_conversation_store, check_user_limit};
#[cfg(feature = "resumable")]
pub use replies::{check_dead_server, check_reply_store};

use std::fmt;
use std::future::{Future, poll_fn};
use std::hash::{BuildHasher, RandomState};
use std::pin::Pin;
use std::task::Poll;

use crate::BoxError;
use crate::race::race;

/// A wait on the clock of the stores.
type Pause<'a> = Pin<Box<dyn Future<Output = ()> + Send + 'a>>;

/// Runs one check, up to the time limit.
async fn rule(
    name: &str,
    check: impl Future<Output = Result<(), BoxError>>,
    limit: impl Future<Output = ()>,
) -> Result<(), BoxError> {
    let ended = race(check, limit).await;
    let ended = ended.unwrap_or_else(|| Err("no answer within 30 seconds".into()));
    ended.map_err(|error| format!("{name}: {error}").into())
}

/// Runs all futures concurrently.
async fn all<T>(futures: impl Iterator<Item = impl Future<Output = T>>) -> Vec<T> {
    enum Slot<F, T> {
        Runs(F),
        Done(T),
    }
    let mut slots: Vec<Slot<Pin<Box<_>>, T>> = futures.map(|f| Slot::Runs(Box::pin(f))).collect();
    poll_fn(|cx| {
        for slot in &mut slots {
            if let Slot::Runs(future) = slot {
                if let Poll::Ready(done) = future.as_mut().poll(cx) {
                    *slot = Slot::Done(done);
                }
            }
        }
        match slots.iter().all(|slot| matches!(slot, Slot::Done(_))) {
            true => Poll::Ready(()),
            false => Poll::Pending,
        }
    })
    .await;
    let done = slots.into_iter().filter_map(|slot| match slot {
        Slot::Done(done) => Some(done),
        Slot::Runs(_) => None,
    });
    done.collect()
}

fn same<T: PartialEq + fmt::Debug>(what: &str, got: &T, wanted: &T) -> Result<(), BoxError> {
    match got == wanted {
        true => Ok(()),
        false => Err(format!("{what} is {got:?} in place of {wanted:?}").into()),
    }
}

/// Returns random bytes, from the random seeds of hash tables.
fn random_key() -> [u8; 32] {
    let mut bytes = [0; 32];
    for part in bytes.chunks_exact_mut(8) {
        part.copy_from_slice(&RandomState::new().hash_one(0).to_ne_bytes());
    }
    bytes
}
