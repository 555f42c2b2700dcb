//! A list of which an odd element does not cost the others.

use std::iter::FilterMap;

use super::error::JsonError;
use super::kind::Kind;
use super::model::Field;
use super::object_writer::ValueWriter;
use super::reader::Reader;
use super::value::Json;

/// A list of which an odd element does not cost the others.
///
/// An element that cannot be read as a `T`, say a `null` among widgets, is kept as raw JSON in its
/// place and written back there. Iterating gives the others.
///
/// ```
/// use copilot_wire::json::List;
///
/// let mut urls: List<String> = ["https://example.com".to_owned()].into_iter().collect();
/// urls.push("https://example.org".to_owned());
/// assert_eq!(urls.iter().count(), 2);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct List<T>(Vec<Element<T>>);

/// One element of a [`List`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[expect(
    clippy::exhaustive_enums,
    reason = "an element is understood or it is not"
)]
pub enum Element<T> {
    /// What the list is for.
    Known(T),
    /// Anything else.
    Unknown(Json),
}

impl<T> List<T> {
    /// An empty list.
    #[must_use]
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// The elements that are understood, in order.
    pub fn iter(&self) -> Iter<'_, T> {
        self.0.iter().filter_map(known)
    }

    /// The elements that are understood, to be changed.
    pub fn iter_mut(&mut self) -> impl DoubleEndedIterator<Item = &mut T> {
        self.0.iter_mut().filter_map(|element| match element {
            Element::Known(value) => Some(value),
            Element::Unknown(_) => None,
        })
    }

    /// All elements in order, odd ones included.
    #[must_use]
    pub fn elements(&self) -> &[Element<T>] {
        &self.0
    }

    /// The first element that is understood.
    #[must_use]
    pub fn first(&self) -> Option<&T> {
        self.iter().next()
    }

    /// The last element that is understood.
    #[must_use]
    pub fn last(&self) -> Option<&T> {
        self.iter().next_back()
    }

    /// The element that is understood at a position among those that are.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<&T> {
        self.iter().nth(index)
    }

    /// How many elements there are, odd ones included.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// True when there are no elements, not even odd ones.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds an element behind the others.
    pub fn push(&mut self, value: T) {
        self.0.push(Element::Known(value));
    }
}

impl<T> Default for List<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> From<Vec<T>> for List<T> {
    fn from(values: Vec<T>) -> Self {
        values.into_iter().collect()
    }
}

impl<T> FromIterator<T> for List<T> {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
        Self(values.into_iter().map(Element::Known).collect())
    }
}

impl<T> Extend<T> for List<T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, values: I) {
        self.0.extend(values.into_iter().map(Element::Known));
    }
}

/// The elements of a [`List`] that are understood.
pub(super) type Iter<'a, T> =
    FilterMap<std::slice::Iter<'a, Element<T>>, fn(&'a Element<T>) -> Option<&'a T>>;

/// The elements of a [`List`] that are understood, by value.
pub(super) type IntoIter<T> =
    FilterMap<std::vec::IntoIter<Element<T>>, fn(Element<T>) -> Option<T>>;

fn known<T>(element: &Element<T>) -> Option<&T> {
    match element {
        Element::Known(value) => Some(value),
        Element::Unknown(_) => None,
    }
}

fn into_known<T>(element: Element<T>) -> Option<T> {
    match element {
        Element::Known(value) => Some(value),
        Element::Unknown(_) => None,
    }
}

impl<'a, T> IntoIterator for &'a List<T> {
    type Item = &'a T;
    type IntoIter = Iter<'a, T>;

    fn into_iter(self) -> Iter<'a, T> {
        self.iter()
    }
}

impl<T> IntoIterator for List<T> {
    type Item = T;
    type IntoIter = IntoIter<T>;

    fn into_iter(self) -> IntoIter<T> {
        self.0.into_iter().filter_map(into_known)
    }
}

impl<T: Field> Field for List<T> {
    fn read_from(reader: &mut Reader<'_>) -> Result<Option<Self>, JsonError> {
        if !reader.is(Kind::Array) {
            return Ok(None);
        }
        let mut elements = Vec::new();
        reader.array(|reader, _| {
            let bookmark = reader.clone();
            let element = match T::read_from(reader) {
                Ok(Some(value)) => Element::Known(value),
                Ok(None) => {
                    *reader = bookmark;
                    Element::Unknown(reader.value()?)
                }
                Err(error) => {
                    *reader = bookmark;
                    // Where the element is not JSON at all, the first error has the better place.
                    Element::Unknown(reader.value().map_err(|_| error)?)
                }
            };
            // A request lives as long as its stream, and most lists have one element.
            if elements.is_empty() {
                elements.reserve_exact(1);
            }
            elements.push(element);
            Ok(())
        })?;
        elements.shrink_to_fit();
        Ok(Some(Self(elements)))
    }

    fn write_to(&self, to: ValueWriter<'_>) {
        let result = to.array(&self.0, |element, to| {
            match element {
                Element::Known(value) => value.write_to(to),
                Element::Unknown(json) => to.raw(json),
            }
            Ok(())
        });
        debug_assert!(result.is_ok());
    }

    fn is_absent(&self) -> bool {
        self.is_empty()
    }

    #[cfg(feature = "openai")]
    fn drop_odd(&mut self) {
        self.0.retain_mut(|element| match element {
            Element::Known(value) => {
                value.drop_odd();
                true
            }
            Element::Unknown(_) => false,
        });
    }
}
