//! Markdown for the parts of the shared vocabulary, for front ends that show only text.
//!
//! Text from data (cells, titles, excerpts) is escaped: it cannot end its cell or list item, and it cannot become an
//! image, HTML, or a link with a misleading text.

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
