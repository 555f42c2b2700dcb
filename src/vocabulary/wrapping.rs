//! Text that clients add to a user's message.

use std::borrow::Cow;

/// The beginnings and ends of the texts that clients send in the user's place, in any dialect: recorded from Claude
/// Code 2.1.197 and 2.1.330, Codex 0.169.0 and qwen-code 0.24.4, except `<user_instructions>`, which only earlier
/// versions of Codex send. The last two are the summaries of compactions, which a model wrote.
const WRAPPINGS: &[(&str, &str)] = &[
    ("<system-reminder>", "</system-reminder>"),
    ("<local-command-caveat>", "</local-command-caveat>"),
    ("<command-name>/", "</command-args>"),
    ("<local-command-stdout>", "</local-command-stdout>"),
    ("<environment_context>", "</environment_context>"),
    ("<user_instructions>", "</user_instructions>"),
    ("# AGENTS.md instructions for ", "</INSTRUCTIONS>"),
    ("<turn_aborted>", "</turn_aborted>"),
    (
        "This session is being continued from a previous conversation that ran out of context.",
        "",
    ),
    (
        "Another language model started to solve this problem and produced a summary of its thinking process.",
        "",
    ),
];

const OPEN: &str = "<current_datetime>";
const CLOSE: &str = "</current_datetime>";

/// Splits the text of a user message into the prefix that Copilot's command line adds, which is an element with the
/// time and a blank line, and the user's own text.
pub(super) fn split_reminder(text: Cow<'_, str>) -> (Option<Cow<'_, str>>, Cow<'_, str>) {
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

/// Returns `true` if a client wrote the whole text in the user's place: it consists of one or more of [`WRAPPINGS`],
/// with white space between them. One with an empty end continues to the end of the text.
pub(super) fn is_wrapping(text: &str) -> bool {
    let mut rest = text.trim();
    loop {
        let Some((inside, close)) = WRAPPINGS
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
