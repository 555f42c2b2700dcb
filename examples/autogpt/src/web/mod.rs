//! The web: pages as text, and search. Everything that comes from it is data, not instructions.

mod fetch;
mod page;
mod search;
mod summary;

pub use fetch::{Fetch, Fetched, GuardedFetch, WebError, is_public};
pub use page::Page;
pub use search::{GoogleSearch, Search, SearxngSearch};
pub use summary::{chunks, summarise};
