//! Places of values in a document.

use std::fmt;

use super::scan::skip_space;
use super::string::skip_string;
use super::value::Json;

/// The place of a value in a JSON document, such as `messages[3].role`. It is made of references, so that nothing is
/// allocated for a place that nobody prints.
#[derive(Clone, Copy, Debug, Default)]
#[must_use]
pub struct Place<'a> {
    outer: Option<&'a Self>,
    step: Step<'a>,
}

#[derive(Clone, Copy, Debug, Default)]
enum Step<'a> {
    #[default]
    Document,
    Member(&'a str),
    Element(usize),
}

impl<'a> Place<'a> {
    /// Returns the place of a member of the object at this place.
    pub fn member(&'a self, name: &'a str) -> Self {
        Self {
            outer: Some(self),
            step: Step::Member(name),
        }
    }

    /// Returns the place of an element of the array at this place.
    pub fn element(&'a self, index: usize) -> Self {
        Self {
            outer: Some(self),
            step: Step::Element(index),
        }
    }
}

impl Place<'_> {
    /// Returns `true` if this is a place inside of one of these members of the document, or inside of an element of one.
    pub(crate) fn is_inside(&self, members: &[&str]) -> bool {
        let (mut place, mut depth) = (self, 0);
        while let Some(outer) = place.outer.filter(|outer| outer.outer.is_some()) {
            (place, depth) = (outer, depth + 1);
        }
        let is_element = depth == 1 && matches!(self.step, Step::Element(_));
        let is_named = matches!(place.step, Step::Member(name) if members.contains(&name));
        is_named && depth > 0 && !is_element
    }
}

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(outer) = self.outer {
            outer.fmt(f)?;
        }
        match self.step {
            Step::Document => Ok(()),
            Step::Element(index) => write!(f, "[{index}]"),
            Step::Member(name) => {
                let is_first = self.outer.is_some_and(|it| it.outer.is_none());
                f.write_str(if is_first { "" } else { "." })?;
                f.write_str(name)
            }
        }
    }
}

/// Calls `each` with a value of another type than its place has, unless the value says nothing.
pub(super) fn odd(place: &Place<'_>, value: &Json, each: &mut dyn FnMut(&Place<'_>, &Json)) {
    if says_something(value) {
        each(place, value);
    }
}

/// Returns `true` if a value has a number, or a text that is not empty. Not recursive, however deep the value is.
pub(super) fn says_something(value: &Json) -> bool {
    let bytes = value.text().as_bytes();
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'0'..=b'9' => return true,
            b'"' => {
                // A valid text has no error.
                let Ok((end, _)) = skip_string(bytes, at + 1) else {
                    return true;
                };
                let is_name = bytes.get(skip_space(bytes, end)) == Some(&b':');
                if !is_name && end > at + 2 {
                    return true;
                }
                at = end;
            }
            _ => at += 1,
        }
    }
    false
}
