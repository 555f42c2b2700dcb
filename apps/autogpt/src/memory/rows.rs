//! Functions that all memories share: checked vectors, and the search for similar ones.

use super::{Embedder, MemoryError};

/// The text by which an error report about an unreadable reply is recognised. Such reports are not stored.
pub(super) const NOT_STORED: &str = "Command Error:";

/// Returns the vector of a text, after checking its length and its numbers.
pub(super) async fn checked_vector(
    embedder: &dyn Embedder,
    text: &str,
) -> Result<Vec<f32>, MemoryError> {
    let vector = embedder.embed(text).await?;
    let is_whole = vector.len() == embedder.dimension();
    if !is_whole || vector.iter().any(|number| !number.is_finite()) {
        let reason = "the vector is of another kind".to_owned();
        return Err(MemoryError::Embedding(reason));
    }
    Ok(vector)
}

/// Returns the indexes of the rows with the largest dot products, by falling score. Of equal rows
/// the later comes first.
pub(super) fn most_relevant<'a>(
    rows: impl Iterator<Item = &'a [f32]>,
    query: &[f32],
    count: usize,
) -> Vec<usize> {
    let score = |row: &[f32]| row.iter().zip(query).map(|(a, b)| a * b).sum::<f32>();
    let mut scored: Vec<(f32, usize)> = rows.map(score).zip(0..).collect();
    // A total order: an overflow to infinity or NaN must not make the sort panic.
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(b.1.cmp(&a.1)));
    scored.into_iter().take(count).map(|(_, row)| row).collect()
}
