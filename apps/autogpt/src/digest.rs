//! SHA-256 digests of lists of texts, in hexadecimal.

use sha2::{Digest, Sha256};

/// Returns the digest of a list of texts. Each text is preceded by its length, so that different lists are hashed
/// differently.
pub(crate) fn hex_digest(texts: &[&str]) -> String {
    let mut hasher = Sha256::new();
    for text in texts {
        hasher.update(text.len().to_be_bytes());
        hasher.update(text);
    }
    let bytes = hasher.finalize();
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
