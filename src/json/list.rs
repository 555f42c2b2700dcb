//! Lists that retain invalid elements.

use std::ops::{Deref, DerefMut};

use super::error::JsonError;
use super::kind::Kind;
use super::object_writer::ValueWriter;
use super::place::{Place, odd, says_something};
use super::reader::Reader;
use super::value::Json;
use super::wire::Wire;

/// A list that retains invalid elements instead of failing.
///
/// It dereferences to a slice of the valid elements. An element that cannot be read as a `T`, such
/// as a `null` among widgets, is retained as raw JSON and written in its position.
///
/// ```
/// use copilot_wire::json::List;
///
/// let mut urls: List<String> = ["https://example.com".to_owned()].into_iter().collect();
/// urls.push("https://example.org".to_owned());
/// assert_eq!(urls.len(), 2);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct List<T> {
    known: Vec<T>,
    /// The invalid elements. Nearly always `None`, so that a list is small and fast to copy.
    odd: Option<Box<Odd>>,
}

/// Invalid elements, each with the number of valid elements before it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Odd(Vec<(usize, Json)>);

impl<T> List<T> {
    /// Creates an empty list.
    pub const fn new() -> Self {
        Self {
            known: Vec::new(),
            odd: None,
        }
    }

    /// Returns an iterator over the invalid elements.
    pub fn invalid(&self) -> impl Iterator<Item = &Json> {
        self.odd().iter().map(|(_, json)| json)
    }

    /// Returns an iterator over all elements in order, the invalid ones as raw JSON.
    pub fn all(&self) -> impl Iterator<Item = Result<&T, &Json>> {
        let mut odd = self.odd().iter().peekable();
        let mut known = self.known.iter();
        std::iter::from_fn(move || {
            let before = self.known.len() - known.len();
            let next = odd.next_if(|(at, _)| *at <= before);
            next.map(|it| Err(&it.1)).or_else(|| known.next().map(Ok))
        })
    }

    /// Returns an iterator over the valid elements in order, each with the invalid ones directly before it, and last those
    /// behind all of them.
    #[allow(dead_code, reason = "not every protocol has them in its history")]
    pub(crate) fn rows(
        &self,
    ) -> impl DoubleEndedIterator<Item = (impl ExactSizeIterator<Item = &Json>, Option<&T>)> {
        (0..=self.known.len()).map(move |at| {
            let start = self.odd().partition_point(|(before, _)| *before < at);
            let end = self.odd().partition_point(|(before, _)| *before <= at);
            let row = self.odd().get(start..end).unwrap_or_default();
            (row.iter().map(|(_, json)| json), self.known.get(at))
        })
    }

    fn odd(&self) -> &[(usize, Json)] {
        self.odd.as_ref().map_or(&[], |odd| &odd.0)
    }

    /// Removes the valid elements for which `keep` returns `false`.
    pub fn retain(&mut self, mut keep: impl FnMut(&T) -> bool) {
        let (mut at, mut removed) = (0, 0);
        let mut odd = self.odd.iter_mut().flat_map(|odd| &mut odd.0).peekable();
        self.known.retain(|value| {
            while let Some((before, _)) = odd.next_if(|(before, _)| *before <= at) {
                *before -= removed;
            }
            let kept = keep(value);
            at += 1;
            removed += usize::from(!kept);
            kept
        });
        odd.for_each(|(before, _)| *before -= removed);
    }

    /// Appends an element.
    pub fn push(&mut self, value: T) {
        push(&mut self.known, value);
    }
}

/// Appends to a list of which nobody knows the length. It grows by a quarter: were it doubled, it would take up to
/// three times the memory.
pub(crate) fn push<T>(list: &mut Vec<T>, value: T) {
    if list.len() == list.capacity() {
        list.reserve_exact(4 + list.len() / 4);
    }
    list.push(value);
}

impl<T> Deref for List<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.known
    }
}

impl<T> DerefMut for List<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.known
    }
}

impl<T> Default for List<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> From<Vec<T>> for List<T> {
    fn from(known: Vec<T>) -> Self {
        Self { known, odd: None }
    }
}

impl<T> FromIterator<T> for List<T> {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
        let mut list = Self::new();
        list.extend(values);
        list
    }
}

impl<T> Extend<T> for List<T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, values: I) {
        let values = values.into_iter();
        // Not for each of several extensions, which would move the list each time.
        if self.known.is_empty() {
            self.known.reserve_exact(values.size_hint().0);
        }
        values.for_each(|value| self.push(value));
    }
}

impl<T> IntoIterator for List<T> {
    type Item = T;
    type IntoIter = std::vec::IntoIter<T>;

    fn into_iter(self) -> Self::IntoIter {
        self.known.into_iter()
    }
}

impl<'a, T> IntoIterator for &'a List<T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.known.iter()
    }
}

impl<'a, T> IntoIterator for &'a mut List<T> {
    type Item = &'a mut T;
    type IntoIter = std::slice::IterMut<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.known.iter_mut()
    }
}

/// Makes room for the element of an array at which the reader is.
///
/// Most lists have one element, and a request lives as long as its stream. A long list of short elements gets room for
/// all others at once, which are counted: were it doubled each time, it would take three times the memory.
fn reserve<T>(list: &mut Vec<T>, reader: &Reader<'_>) {
    const LONG: usize = 64;
    match list.len() {
        length if length < list.capacity() => {}
        0 => list.reserve_exact(1),
        length @ LONG.. => list.reserve_exact(reader.count_rest(length * size_of::<T>())),
        _ => {}
    }
}

impl<T: Wire> Wire for List<T> {
    const HAS_SECRET: bool = T::HAS_SECRET;

    fn read_from(reader: &mut Reader<'_>) -> Result<Option<Self>, JsonError> {
        if !reader.is(Kind::Array) {
            return Ok(None);
        }
        let mut list = Self::new();
        reader.array(|reader, _| {
            // A failed read may have consumed a part of the element.
            let bookmark = reader.clone();
            let mut failed = None;
            if !T::NEVER_EMPTY || !reader.is_empty_object() {
                match T::read_from(reader) {
                    Ok(Some(value)) => {
                        reserve(&mut list.known, &bookmark);
                        list.known.push(value);
                        return Ok(());
                    }
                    Ok(None) => {}
                    Err(error) => failed = Some(error),
                }
                *reader = bookmark.clone();
            }
            // If the element is not valid JSON, the first error has the better position.
            let json = reader.value().map_err(|error| failed.unwrap_or(error))?;
            let odd = &mut list.odd.get_or_insert_default().0;
            reserve(odd, &bookmark);
            odd.push((list.known.len(), json));
            Ok(())
        })?;
        list.known.shrink_to_fit();
        Ok(Some(list))
    }

    fn write_to(&self, to: ValueWriter<'_>) {
        let result = to.array(self.all(), |element, to| {
            match element {
                Ok(value) => value.write_to(to),
                Err(json) => to.raw(json),
            }
            Ok(())
        });
        debug_assert!(result.is_ok());
    }

    fn each_string(&self, each: &mut dyn FnMut(&str)) {
        self.known.iter().for_each(|value| value.each_string(each));
        self.invalid().for_each(|json| json.each_string(each));
    }

    fn each_odd(&self, place: &Place<'_>, each: &mut dyn FnMut(&Place<'_>, &Json)) {
        let mut all = self.all().enumerate().peekable();
        while let Some((at, element)) = all.next() {
            let place = place.element(at);
            let json = match element {
                Ok(value) => {
                    value.each_odd(&place, each);
                    continue;
                }
                Err(_) if T::HAS_SECRET => continue,
                Err(json) => json,
            };
            // Those that follow each other are one array: a place for each would take many times their memory.
            let mut row = String::new();
            while let Some((_, Err(next))) = all.next_if(|(_, next)| next.is_err()) {
                if says_something(next) {
                    row.extend([",", next.text()]);
                }
            }
            let row = match row.is_empty() {
                true => json.clone(),
                false => Json::parse(format!("[{}{row}]", json.text())).unwrap_or_default(),
            };
            odd(&place, &row, each);
        }
    }

    fn is_absent(&self) -> bool {
        self.known.is_empty() && self.odd.is_none()
    }

    fn drop_odd(&mut self) {
        self.odd = None;
        self.known.iter_mut().for_each(Wire::drop_odd);
    }
}
