//! The settings, which come from the environment.

use std::env::{self, VarError};
use std::fmt;
use std::net::SocketAddr;
use std::str::FromStr;
use std::time::Duration;

use copilot_wire::conversations::{Conversations, MemoryConversationStore};
use copilot_wire::replies::Replies;
use copilot_wire::router::Keys;

/// The settings of the server, from its environment.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Settings {
    /// The address to listen on: `ADDRESS`, by default `127.0.0.1:7777`.
    pub address: SocketAddr,
    /// The users and their keys: `API_KEYS`, such as `ali=sesame,dorothy=poppy`. Required.
    pub keys: Keys,
    /// The number of turns that a user may begin in a minute: `PER_MINUTE`, by default 60.
    pub per_minute: u32,
    /// The number of turns that there may be at a time: `TURNS`, by default 256.
    pub turns: usize,
    /// The time between two words of the analyst: as a model would talk, or none for a test.
    pub pace: Option<Duration>,
    /// Replies that outlive their connections, by default none.
    pub replies: Option<Replies>,
    /// Conversations that clients continue by an id, by default in the memory of this server.
    pub conversations: Option<Conversations>,
}

/// A setting is missing or not valid. It names the setting and never shows its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SettingsError(&'static str);

impl Settings {
    /// Creates the default settings for these users and their keys.
    pub fn new(keys: Keys) -> Self {
        Self {
            address: SocketAddr::from(([127, 0, 0, 1], 7777)),
            keys,
            per_minute: 60,
            turns: 256,
            pace: None,
            replies: None,
            conversations: Some(Conversations::per_user(MemoryConversationStore::new())),
        }
    }

    /// Reads the settings.
    ///
    /// # Errors
    ///
    /// When `API_KEYS` is missing, or a setting is not valid.
    pub fn from_env() -> Result<Self, SettingsError> {
        let keys = env::var("API_KEYS").map_err(|_| SettingsError("API_KEYS"))?;
        let default = Self::new(keys.parse().map_err(|_| SettingsError("API_KEYS"))?);
        Ok(Self {
            address: setting("ADDRESS", default.address)?,
            per_minute: setting("PER_MINUTE", default.per_minute)?,
            turns: setting("TURNS", default.turns)?,
            ..default
        })
    }
}

fn setting<T: FromStr>(name: &'static str, default: T) -> Result<T, SettingsError> {
    match env::var(name) {
        Ok(value) => value.parse().map_err(|_| SettingsError(name)),
        Err(VarError::NotPresent) => Ok(default),
        Err(VarError::NotUnicode(_)) => Err(SettingsError(name)),
    }
}

impl fmt::Display for SettingsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the setting {} is missing or not valid", self.0)?;
        match self.0 {
            "API_KEYS" => f.write_str(": it must be like user=key,user=key"),
            _ => Ok(()),
        }
    }
}

impl std::error::Error for SettingsError {}
