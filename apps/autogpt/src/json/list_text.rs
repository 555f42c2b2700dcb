//! The text form of lists and objects: Python's `repr`, as in the original, or JSON.
//!
//! The Python form is needed byte for byte only where token totals must equal the original's: the
//! memory query, the memory message, and command results that are lists.

use unicode_properties::{GeneralCategory, UnicodeGeneralCategory};

use crate::json::Value;

/// The text form of lists and objects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ListText {
    /// Compact JSON.
    #[default]
    Json,
    /// The output of Python's `repr`.
    Python,
}

impl ListText {
    /// Returns the text of a value.
    #[must_use]
    pub fn of(self, value: &Value) -> String {
        match self {
            Self::Json => value.to_string(),
            Self::Python => {
                let mut out = String::new();
                python(value, &mut out);
                out
            }
        }
    }

    /// Returns the text of a list of pairs: tuples in Python, lists in JSON.
    #[must_use]
    pub fn of_pairs(self, pairs: &[(Value, Value)]) -> String {
        let (open, close, comma) = match self {
            Self::Json => ("[", "]", ","),
            Self::Python => ("(", ")", ", "),
        };
        let mut out = String::from("[");
        for (index, (first, second)) in pairs.iter().enumerate() {
            if index > 0 {
                out.push_str(comma);
            }
            out.push_str(open);
            out.push_str(&self.of(first));
            out.push_str(comma);
            out.push_str(&self.of(second));
            out.push_str(close);
        }
        out.push(']');
        out
    }
}

fn python(value: &Value, out: &mut String) {
    match value {
        Value::Null => out.push_str("None"),
        Value::Bool(true) => out.push_str("True"),
        Value::Bool(false) => out.push_str("False"),
        Value::Number(text) => out.push_str(&python_number(text)),
        Value::Text(text) => python_string(text, out),
        Value::List(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push_str(", ");
                }
                python(item, out);
            }
            out.push(']');
        }
        Value::Object(object) => {
            out.push('{');
            for (index, (name, item)) in object.iter().enumerate() {
                if index > 0 {
                    out.push_str(", ");
                }
                python_string(name, out);
                out.push_str(": ");
                python(item, out);
            }
            out.push('}');
        }
    }
}

/// Writes a Python string literal: in single quotes, unless the text contains one and no double
/// quote.
fn python_string(text: &str, out: &mut String) {
    let quote = match text.contains('\'') && !text.contains('"') {
        true => '"',
        false => '\'',
    };
    out.push(quote);
    for character in text.chars() {
        match character {
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\\' => out.push_str("\\\\"),
            c if c == quote => out.extend(['\\', c]),
            c if printable(c) => out.push(c),
            c => out.push_str(&match u32::from(c) {
                code @ ..=0xFF => format!("\\x{code:02x}"),
                code @ ..=0xFFFF => format!("\\u{code:04x}"),
                code => format!("\\U{code:08x}"),
            }),
        }
    }
    out.push(quote);
}

/// Returns `true` for characters that Python's `str.isprintable` accepts: not of a category
/// "other", and no separator but the space.
fn printable(character: char) -> bool {
    if character.is_ascii() {
        return matches!(character, ' '..='~');
    }
    !matches!(
        character.general_category(),
        GeneralCategory::Control
            | GeneralCategory::Format
            | GeneralCategory::Surrogate
            | GeneralCategory::PrivateUse
            | GeneralCategory::Unassigned
            | GeneralCategory::LineSeparator
            | GeneralCategory::ParagraphSeparator
            | GeneralCategory::SpaceSeparator
    )
}

/// Returns a number as Python prints it. Integers are unchanged; floats have the shortest digits,
/// with an exponent below 1e-4 and from 1e16 on.
fn python_number(text: &str) -> String {
    // Python's integers have no negative zero.
    if text == "-0" {
        return "0".to_owned();
    }
    let Ok(number) = text.parse::<f64>() else {
        return text.to_owned();
    };
    if !text.contains(['.', 'e', 'E']) {
        return text.to_owned();
    }
    // Python's parser turns numbers out of range into infinity.
    if number.is_infinite() {
        return if number > 0.0 { "inf" } else { "-inf" }.to_owned();
    }
    let size = number.abs();
    if size != 0.0 && !(1e-4..1e16).contains(&size) {
        // Rust and Python both print the shortest digits that read back; only the exponent differs.
        let shortest = format!("{number:e}");
        let (digits, exponent) = shortest.split_once('e').unwrap_or((&shortest, "0"));
        let (sign, exponent) = match exponent.strip_prefix('-') {
            Some(exponent) => ('-', exponent),
            None => ('+', exponent),
        };
        return format!("{digits}e{sign}{exponent:0>2}");
    }
    // `Debug` keeps the `.0` of whole numbers, as Python does.
    format!("{number:?}")
}
