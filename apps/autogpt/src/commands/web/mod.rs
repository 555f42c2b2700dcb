//! Web pages as text, and web search. Content of the web is data for the model, and never instructions.

mod commands;
mod fetch;
mod page;
mod search;
mod summary;

pub use commands::{BrowseWebsite, WebSearch};
pub use fetch::{Fetch, Fetched, GuardedFetch, WebError, is_public};
pub use page::Page;
pub use search::{GoogleSearch, Search, SearxngSearch};
pub use summary::{chunks, summarise};
