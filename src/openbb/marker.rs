//! Markers of artifacts and citations in the agent's earlier answers.

use std::borrow::Cow;

const ARTIFACT: (&str, &str) = ("<|start_artifact_id|>", "<|end_artifact_id|>");
const CITATION: (&str, &str) = ("<|start_citation_id|>", "<|end_citation_id|>");

/// A piece of an earlier answer, see [`pieces`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Piece<'a> {
    /// Text that the agent wrote.
    Text(&'a str),
    /// The position of the artifact with this name.
    Artifact(&'a str),
    /// The position of the citation with this id.
    Citation(&'a str),
}

/// Splits an earlier answer into text and the positions of its artifacts and citations.
///
/// The Workspace sends an answer with artifacts or citations back with
/// `<|start_artifact_id|>NAME<|end_artifact_id|>` and `<|start_citation_id|>ID<|end_citation_id|>`
/// in their places. A start marker without an end marker is text.
pub fn pieces(text: &str) -> impl Iterator<Item = Piece<'_>> {
    let mut rest = text;
    let (mut no_artifact, mut no_citation) = (false, false);
    let mut marked = move |mark| {
        let artifact = between(mark, ARTIFACT, &mut no_artifact);
        let artifact = artifact.map(|(name, after)| (Piece::Artifact(name), after));
        artifact.or_else(|| {
            let (id, after) = between(mark, CITATION, &mut no_citation)?;
            Some((Piece::Citation(id), after))
        })
    };
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let mut from = 0;
        while let Some(found) = rest.get(from..).and_then(|tail| tail.find("<|start_")) {
            let at = from + found;
            let (before, mark) = rest.split_at(at);
            if let Some((piece, after)) = marked(mark) {
                if before.is_empty() {
                    rest = after;
                    return Some(piece);
                }
                rest = mark;
                return Some(Piece::Text(before));
            }
            // `<` is one byte, so this is a character boundary. What only looks like a marker is
            // text.
            from = at + 1;
        }
        Some(Piece::Text(std::mem::take(&mut rest)))
    })
}

/// Splits a text after the marker that it begins with. `none_follows` is set where there is no end marker, so that
/// the search for one does not run again for every start: the work stays linear. Every call must get a suffix of the
/// text of the call before.
fn between<'a>(
    text: &'a str,
    (open, close): (&str, &str),
    none_follows: &mut bool,
) -> Option<(&'a str, &'a str)> {
    let inside = text.strip_prefix(open).filter(|_| !*none_follows)?;
    let found = inside.split_once(close);
    // Later texts are suffixes of this one, so an end that is not here is not in them either.
    *none_follows = found.is_none();
    found
}

/// Returns an earlier answer without the markers of its artifacts and citations.
///
/// ```
/// use copilot_wire::openbb::strip_markers;
///
/// let text = "Here: <|start_artifact_id|>Table_1a2b<|end_artifact_id|> Done.";
/// assert_eq!(strip_markers(text), "Here:  Done.");
/// ```
pub fn strip_markers(text: &str) -> Cow<'_, str> {
    if memchr::memmem::find(text.as_bytes(), b"<|start_").is_none() {
        return Cow::Borrowed(text);
    }
    let texts = pieces(text).filter_map(|piece| match piece {
        Piece::Text(text) => Some(text),
        _ => None,
    });
    Cow::Owned(texts.collect())
}
