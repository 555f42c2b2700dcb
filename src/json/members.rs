//! Unknown members of objects.

use std::{fmt, iter, slice, vec};

use serde::{Serialize, Serializer};

use super::value::Json;

/// Members of an object, in the order of the text, duplicates included.
///
/// Models retain their unknown members here, so that they can be used and are written unchanged.
/// `Debug` prints the keys only. Without members it is as small as a pointer, because nearly all lists are empty.
///
/// ```
/// use copilot_wire::json::{Json, Members};
///
/// let mut unknown = Members::new();
/// unknown.push("size", Json::parse("1.50")?);
/// assert_eq!(unknown.get("size").map(Json::text), Some("1.50"));
/// assert_eq!(Json::encode(&unknown)?.text(), r#"{"size":1.50}"#);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Default, PartialEq, Eq, Hash)]
pub struct Members(Option<Box<All>>);

/// The members, of which there is at least one.
#[derive(Clone, Default, PartialEq, Eq, Hash)]
struct All(Vec<(String, Json)>);

impl Members {
    /// Creates an empty list.
    pub const fn new() -> Self {
        Self(None)
    }

    fn all(&self) -> &[(String, Json)] {
        self.0.as_ref().map_or(&[], |all| &all.0)
    }

    /// Appends a member.
    pub fn push(&mut self, key: impl Into<String>, value: Json) {
        let all = &mut self.0.get_or_insert_default().0;
        // Most objects have one such member.
        if all.is_empty() {
            all.reserve_exact(1);
        }
        all.push((key.into(), value));
    }

    /// Sets the first member with this key, or appends a member if none has the key.
    pub fn set(&mut self, key: &str, value: Json) {
        let mut all = self.0.iter_mut().flat_map(|all| &mut all.0);
        match all.find(|(name, _)| name == key) {
            Some((_, old)) => *old = value,
            None => self.push(key, value),
        }
    }

    /// Returns the member with this key; the last one if there are several, as in JavaScript.
    pub fn get(&self, key: &str) -> Option<&Json> {
        let mut members = self.all().iter().rev();
        members.find(|(name, _)| name == key).map(|it| &it.1)
    }

    /// Returns an iterator over the members in order.
    pub fn iter(&self) -> MembersIter<'_> {
        self.all().iter().map(|(key, value)| (key, value))
    }

    /// Retains the members whose key passes a test.
    pub fn retain(&mut self, mut keep: impl FnMut(&str) -> bool) {
        if let Some(all) = &mut self.0 {
            all.0.retain(|(key, _)| keep(key));
        }
        self.0.take_if(|all| all.0.is_empty());
    }

    /// Returns the number of members.
    pub fn len(&self) -> usize {
        self.all().len()
    }

    /// Returns `true` if there are no members.
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }
}

/// An iterator over members, see [`Members::iter`].
pub type MembersIter<'a> =
    iter::Map<slice::Iter<'a, (String, Json)>, fn(&'a (String, Json)) -> (&'a str, &'a Json)>;

impl<'a> IntoIterator for &'a Members {
    type Item = (&'a str, &'a Json);
    type IntoIter = MembersIter<'a>;

    fn into_iter(self) -> MembersIter<'a> {
        self.iter()
    }
}

impl IntoIterator for Members {
    type Item = (String, Json);
    type IntoIter = vec::IntoIter<(String, Json)>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.map(|all| all.0).unwrap_or_default().into_iter()
    }
}

impl<K: Into<String>> Extend<(K, Json)> for Members {
    fn extend<I: IntoIterator<Item = (K, Json)>>(&mut self, members: I) {
        for (key, value) in members {
            self.push(key, value);
        }
    }
}

impl<K: Into<String>> FromIterator<(K, Json)> for Members {
    fn from_iter<I: IntoIterator<Item = (K, Json)>>(members: I) -> Self {
        let mut all = Self::new();
        all.extend(members);
        all
    }
}

impl fmt::Debug for Members {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The `Debug` of `Json` does not print the value.
        f.debug_map().entries(self.iter()).finish()
    }
}

impl Serialize for Members {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}
