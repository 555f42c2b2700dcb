//! Random digits, of which ids are made.

/// Returns 32 random hexadecimal digits, which cannot be guessed.
pub(super) fn random() -> Option<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).ok()?;
    Some(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Returns `true` for digits in the form of [`random`].
pub(super) fn is_random(digits: &str) -> bool {
    digits.len() == 32 && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
}
