//! The marks that the Workspace leaves in the agent's earlier answers.

use std::borrow::Cow;

const ARTIFACT: (&str, &str) = ("<|start_artifact_id|>", "<|end_artifact_id|>");
const CITATION: (&str, &str) = ("<|start_citation_id|>", "<|end_citation_id|>");

/// A piece of an earlier answer: see [`pieces`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Piece<'a> {
    /// Text that the agent wrote.
    Text(&'a str),
    /// Here stood the artifact of this name.
    Artifact(&'a str),
    /// Here stood the citation of this id.
    Citation(&'a str),
}

/// Takes an earlier answer apart into text and the places of its artifacts and citations.
///
/// When an answer held artifacts or citations, the Workspace sends it back with
/// `<|start_artifact_id|>NAME<|end_artifact_id|>` and
/// `<|start_citation_id|>ID<|end_citation_id|>` where they stood. A mark without an end is text.
pub fn pieces(text: &str) -> impl Iterator<Item = Piece<'_>> {
    let mut rest = text;
    let mut ends = Ends::default();
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let mut from = 0;
        while let Some(found) = rest.get(from..).and_then(|tail| tail.find("<|start_")) {
            let at = from + found;
            let (before, mark) = rest.split_at(at);
            if let Some((piece, after)) = ends.marked(mark) {
                if before.is_empty() {
                    rest = after;
                    return Some(piece);
                }
                rest = mark;
                return Some(Piece::Text(before));
            }
            from = at + 1;
        }
        Some(Piece::Text(std::mem::take(&mut rest)))
    })
}

/// Of which kinds of mark no end follows any more, so that no start looks for it again.
#[derive(Default)]
struct Ends {
    no_artifact: bool,
    no_citation: bool,
}

impl Ends {
    /// The mark that a text starts with, and what follows it. Each text is the end of the last.
    fn marked<'a>(&mut self, text: &'a str) -> Option<(Piece<'a>, &'a str)> {
        if let Some((name, after)) = between(text, ARTIFACT, &mut self.no_artifact) {
            return Some((Piece::Artifact(name), after));
        }
        let (id, after) = between(text, CITATION, &mut self.no_citation)?;
        Some((Piece::Citation(id), after))
    }
}

fn between<'a>(
    text: &'a str,
    (open, close): (&str, &str),
    none_follows: &mut bool,
) -> Option<(&'a str, &'a str)> {
    let inside = text.strip_prefix(open).filter(|_| !*none_follows)?;
    let found = inside.split_once(close);
    *none_follows = found.is_none();
    found
}

/// An earlier answer without the marks of its artifacts and citations.
///
/// ```
/// use copilot_wire::openbb::strip_markers;
///
/// let text = "Here: <|start_artifact_id|>Table_1a2b<|end_artifact_id|> Done.";
/// assert_eq!(strip_markers(text), "Here:  Done.");
/// ```
#[must_use]
pub fn strip_markers(text: &str) -> Cow<'_, str> {
    if !text.contains("<|start_") {
        return Cow::Borrowed(text);
    }
    let words = pieces(text).filter_map(|piece| match piece {
        Piece::Text(text) => Some(text),
        _ => None,
    });
    Cow::Owned(words.collect())
}
