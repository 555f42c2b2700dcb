//! JSON pointers.

/// Returns `true` if `text` is a JSON pointer (RFC 6901): empty, or segments that each begin with a slash. Inside a
/// segment a tilde is written as `~0` and a slash as `~1`.
pub fn is_pointer(text: &str) -> bool {
    // RFC 6901, section 3.
    let escapes = || text.split('~').skip(1);
    (text.is_empty() || text.starts_with('/')) && escapes().all(|rest| rest.starts_with(['0', '1']))
}
