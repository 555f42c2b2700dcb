//! Replies that outlive the connection on which they were requested.
//!
//! Without this module a reply ends with its connection: a page that is reloaded loses the answer.
//! [`Router::resumable`](crate::Router::resumable) gives a router [`Replies`]. Agents then run in their own tasks, and
//! their output is also appended to a log in a [`ReplyStore`], from which any server that shares the store can send it
//! again.
//!
//! # Tasks
//!
//! | part | runs | does |
//! |---|---|---|
//! | pump | as a task, one per reply | polls the body, which runs the agent; puts frames into local memory; appends them to the log, one append at a time, as often as the store requests |
//! | tail | in the body of each response | takes events from local memory, or from the log if another process runs the reply |
//!
//! A tail does not wait for the log while local memory has the events that it needs, and the pump waits for tails only
//! once storing has ended. The end of a log is written once: by the pump, or by a server that finds the pump's server
//! dead.

mod configuration;
mod health;
mod limits;
mod local;
mod memory;
mod pump;
mod questions;
mod runs;
mod store;
mod tail;
mod user;

pub use configuration::Replies;
pub use health::StoreHealth;
pub use memory::MemoryReplyStore;
pub use runs::Task;
pub use store::{
    ConversationKey, LogPage, ReplyEnd, ReplyId, ReplyMeta, ReplyState, ReplyStore, StoreError,
};
pub use user::UserReplies;
