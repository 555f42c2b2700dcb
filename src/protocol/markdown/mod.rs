//! The parts of the shared vocabulary as Markdown, for front ends that have only text.
//!
//! Text from data (cells, titles, excerpts) is escaped: it can neither
//! end its cell or list item, nor become an image, HTML, or a link with a misleading text.

mod plain;
mod source;
mod table;

pub use plain::escape_markdown;
pub(crate) use source::sources;
pub(crate) use table::table;

use super::Notice;

/// Returns a notice as a paragraph, with blank lines around it.
pub(crate) fn notice(notice: &Notice) -> String {
    format!("\n\n**Error:** {}\n\n", escape_markdown(&notice.message))
}
