//! The parsing stages of the original program.

use super::extract::{self, Malformed};
use super::{Reading, Reply, ReplyError, ReplyErrorKind, Stage, Thoughts};
use crate::json::{FaultKind, Value, parse, without_bad_escapes};

pub(super) fn read(text: &str) -> Reading {
    // The original removes all tabs, including those in strings.
    let text = text.replace('\t', "");
    let fault = match parse(&text) {
        Ok(value) => return done(value, Stage::Direct),
        Err(fault) => fault,
    };
    // Only the kind of the first fault selects the correction.
    let cured = match fault.kind {
        FaultKind::BadEscape => {
            let cured = without_bad_escapes(&text);
            match parse(&cured) {
                Ok(value) => return done(value, Stage::Corrected),
                Err(_) => cured,
            }
        }
        FaultKind::PropertyName => match parse(&with_quoted_names(&text)) {
            Ok(value) => return done(value, Stage::Corrected),
            Err(_) => return hard_fail(),
        },
        FaultKind::Other => text,
    };
    let balanced = with_balanced_braces(&cured);
    if let Ok(value) = parse(&balanced) {
        return done(value, Stage::Corrected);
    }
    extract(&cured)
}

pub(super) fn finish(damaged: &str, answer: &str) -> Reply {
    match parse(answer) {
        Ok(value) => reply(value, Stage::RepairedByModel),
        Err(_) => reply(damaged.into(), Stage::Unrepaired),
    }
}

/// Parses the text from the first opening to the last closing brace.
fn extract(text: &str) -> Reading {
    let Some(start) = text.find('{') else {
        return Reading::Damaged(text.to_owned());
    };
    let object = text.get(start..).unwrap_or_default();
    let Some(end) = object.rfind('}') else {
        return Reading::Damaged(object.to_owned());
    };
    let object = object.get(..=end).unwrap_or_default();
    match parse(object) {
        Ok(value) => done(value, Stage::Extracted),
        Err(_) => Reading::Damaged(object.to_owned()),
    }
}

/// Puts double quotes around every run of word characters directly before a colon, also in strings.
fn with_quoted_names(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    let mut word = String::new();
    for character in text.chars() {
        if character.is_alphanumeric() || character == '_' {
            word.push(character);
            continue;
        }
        if character == ':' && !word.is_empty() {
            out.push('"');
            out.push_str(&word);
            out.push('"');
        } else {
            out.push_str(&word);
        }
        word.clear();
        out.push(character);
    }
    out.push_str(&word);
    out
}

/// Balances braces, which are counted in the whole text including strings. Missing ones are
/// appended; if there are too many, all at the end are removed.
fn with_balanced_braces(text: &str) -> String {
    let opened = text.bytes().filter(|&byte| byte == b'{').count();
    let closed = text.bytes().filter(|&byte| byte == b'}').count();
    match opened.checked_sub(closed) {
        Some(missing) => format!("{text}{}", "}".repeat(missing)),
        None => text.trim_end_matches('}').to_owned(),
    }
}

fn done(value: Value, stage: Stage) -> Reading {
    Reading::Done(Box::new(reply(value, stage)))
}

fn hard_fail() -> Reading {
    let error = ReplyError {
        kind: ReplyErrorKind::InvalidJson,
        message: "Invalid JSON".to_owned(),
    };
    Reading::Done(Box::new(Reply {
        thoughts: Thoughts::default(),
        command: Err(error),
        stage: Stage::HardFail,
    }))
}

fn reply(value: Value, stage: Stage) -> Reply {
    Reply {
        thoughts: Thoughts::of(&value),
        command: extract::command(&value).map_err(error_text),
        stage,
    }
}

/// Returns the error in the words of the original, which partly are the texts of exceptions in Python 3.11.
fn error_text(malformed: Malformed) -> ReplyError {
    let message = match &malformed {
        Malformed::NoCommand => "Missing 'command' object in JSON".to_owned(),
        Malformed::NoName => "Missing 'name' field in 'command' object".to_owned(),
        Malformed::TextIndexed(_) => "string indices must be integers, not 'str'".to_owned(),
        Malformed::ListIndexed => "list indices must be integers or slices, not str".to_owned(),
        Malformed::NotIterable(name) => format!("argument of type '{name}' is not iterable"),
    };
    let kind = malformed.kind();
    ReplyError { kind, message }
}
