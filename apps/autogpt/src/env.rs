//! The clock and the random generator, as a trait, so that tests can replace them.

use std::fmt;

use time::OffsetDateTime;
use time::macros::format_description;

/// A source of dates and run ids.
pub trait Env: Send + Sync + fmt::Debug {
    /// Returns the date as `Wed Apr 12 09:49:23 2023`.
    fn now(&self) -> String;

    /// Returns an id that cannot be guessed.
    ///
    /// # Errors
    ///
    /// [`NoRandomness`] if the system has none.
    fn run_id(&self) -> Result<String, NoRandomness>;
}

/// The error of a system without random bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the system gave no random bytes")]
pub struct NoRandomness;

/// The clock (in UTC) and the random generator of the system.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemEnv;

impl Env for SystemEnv {
    fn now(&self) -> String {
        let form = format_description!(
            "[weekday repr:short] [month repr:short] [day padding:space] [hour]:[minute]:[second] \
             [year]"
        );
        OffsetDateTime::now_utc().format(form).unwrap_or_default()
    }

    fn run_id(&self) -> Result<String, NoRandomness> {
        random_id()
    }
}

/// Returns 128 random bits as hexadecimal text.
pub(crate) fn random_id() -> Result<String, NoRandomness> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|_| NoRandomness)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
