//! Text that clients add to a user's message.

use std::borrow::Cow;

const OPEN: &str = "<current_datetime>";
const CLOSE: &str = "</current_datetime>";

/// Splits the text of a user message into the prefix that Copilot's command line adds, which is an element with the
/// time and a blank line, and the user's own text.
#[must_use]
pub fn split_reminder(text: Cow<'_, str>) -> (Option<Cow<'_, str>>, Cow<'_, str>) {
    // Only at the very start: elsewhere the same words are the user's.
    let Some(inside) = text.strip_prefix(OPEN) else {
        return (None, text);
    };
    let Some(length) = inside.find(CLOSE) else {
        return (None, text);
    };
    let end = OPEN.len() + length + CLOSE.len();
    match text {
        Cow::Borrowed(text) => {
            let (reminder, typed) = text.split_at(end);
            (
                Some(Cow::Borrowed(reminder)),
                Cow::Borrowed(typed.trim_start()),
            )
        }
        Cow::Owned(mut reminder) => {
            let typed = reminder.split_off(end).trim_start().to_owned();
            (Some(Cow::Owned(reminder)), Cow::Owned(typed))
        }
    }
}

/// Returns `true` if a client wrote the whole text in the user's place: it consists of one or more of `forms`, each a
/// beginning and an end, with white space between them. A form with an empty end continues to the end of the text.
#[must_use]
pub fn is_wrapping(text: &str, forms: &[(&str, &str)]) -> bool {
    let mut rest = text.trim();
    loop {
        let Some((inside, close)) = forms
            .iter()
            .find_map(|(open, close)| Some((rest.strip_prefix(open)?, *close)))
        else {
            // If the user wrote words before, between or after them, the whole text is the user's.
            return false;
        };
        match inside.split_once(close) {
            Some((_, after)) if !close.is_empty() => rest = after.trim_start(),
            Some(_) => return true,
            None => return false,
        }
        if rest.is_empty() {
            return true;
        }
    }
}
