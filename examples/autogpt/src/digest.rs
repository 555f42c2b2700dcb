//! SHA-256 of a list of texts, as hexadecimal text.

use sha2::{Digest, Sha256};

/// The digest of texts; each is preceded by its length, so no two lists run together.
pub(crate) fn hex_digest(texts: &[&str]) -> String {
    let mut hasher = Sha256::new();
    for text in texts {
        hasher.update(text.len().to_be_bytes());
        hasher.update(text);
    }
    let bytes = hasher.finalize();
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
