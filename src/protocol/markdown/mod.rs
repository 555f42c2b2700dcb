//! The nearest honest equivalent of a word in Markdown, for front ends that have only text.
//!
//! What comes from data (cells, titles, excerpts) is shown as the text that it is: it can neither
//! break out of its place nor become an image, HTML, or a link that reads other than it leads.

mod open;
mod plain;
mod question;
mod source;
mod table;

pub(crate) use open::OpenConstructs;
pub(crate) use question::{decision, question};
pub(crate) use source::sources;
pub(crate) use table::table;

use super::Notice;
use plain::plain;

/// A notice as a paragraph, with blank lines around it.
pub(crate) fn notice(notice: &Notice) -> String {
    format!("\n\n**Error:** {}\n\n", plain(&notice.message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_notice_is_one_paragraph() {
        let text = notice(&Notice::new("no rows:\n<b>x</b>"));
        assert_eq!(text, "\n\n**Error:** no rows: \\<b\\>x\\</b\\>\n\n");
    }
}
