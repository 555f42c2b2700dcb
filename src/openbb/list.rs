//! A list of which an odd element does not cost the others.

use super::wire::Wire;
use crate::json::{Json, JsonError, Kind, Reader, ValueWriter};

/// A list of which an odd element does not cost the others.
///
/// An element that cannot be read as a `T`, say a `null` among widgets, is kept as raw JSON in its
/// place and written back there. Iterating gives the others.
///
/// ```
/// use copilot_wire::openbb::List;
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
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &T> + Clone + Send
    where
        T: Sync,
    {
        self.0.iter().filter_map(|element| match element {
            Element::Known(value) => Some(value),
            Element::Unknown(_) => None,
        })
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
    pub fn first(&self) -> Option<&T>
    where
        T: Sync,
    {
        self.iter().next()
    }

    /// The last element that is understood.
    #[must_use]
    pub fn last(&self) -> Option<&T>
    where
        T: Sync,
    {
        self.iter().next_back()
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

/// The elements that are understood, by value.
impl<T> IntoIterator for List<T> {
    type Item = T;
    type IntoIter = std::vec::IntoIter<T>;

    fn into_iter(self) -> Self::IntoIter {
        let known = self.0.into_iter().filter_map(|element| match element {
            Element::Known(value) => Some(value),
            Element::Unknown(_) => None,
        });
        known.collect::<Vec<_>>().into_iter()
    }
}

impl<T: Wire> Wire for List<T> {
    fn read(reader: &mut Reader<'_>) -> Result<Option<Self>, JsonError> {
        if !reader.is(Kind::Array) {
            return Ok(None);
        }
        let mut elements = Vec::new();
        reader.array(|reader, _| {
            elements.push(match T::read(reader)? {
                Some(value) => Element::Known(value),
                None => Element::Unknown(reader.value()?),
            });
            Ok(())
        })?;
        // A request lives as long as its stream, and most lists have one element.
        elements.shrink_to_fit();
        Ok(Some(Self(elements)))
    }

    fn write(&self, to: ValueWriter<'_>) {
        let result = to.array(&self.0, |element, to| {
            match element {
                Element::Known(value) => value.write(to),
                Element::Unknown(json) => to.raw(json),
            }
            Ok(())
        });
        debug_assert!(result.is_ok());
    }

    fn is_absent(&self) -> bool {
        self.is_empty()
    }
}
