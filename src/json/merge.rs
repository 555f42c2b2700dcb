//! JSON that arrives in pieces.

use std::collections::{BTreeMap, HashMap};

use bytes::Bytes;

use super::wire::object;
use super::{Escape, Json, Kind, ValueWriter};

/// A value that grows by pieces, as in the deltas of a stream: texts and lists are continued, objects member by member.
/// A later number replaces an earlier one, and `null` changes nothing. Elements of lists with the same `index` are
/// pieces of one element.
#[derive(Clone, Debug)]
pub(crate) enum Merged {
    /// A value without a second piece, or one that pieces replace.
    Whole(Json),
    Text(String),
    List {
        items: Vec<Self>,
        /// The positions of the elements with an `index`.
        places: HashMap<u64, usize>,
    },
    Object(BTreeMap<String, Self>),
}

/// The memory in bytes of a value besides its text.
const OVERHEAD: usize = 96;

/// Members that are repeated in each piece.
const REPEATED: [&str; 7] = ["format", "id", "index", "name", "role", "signature", "type"];

impl Merged {
    /// Creates the value of a first piece.
    pub(crate) fn new(json: &Json) -> Self {
        match json.string() {
            Some(text) => Self::Text(text.into_owned()),
            None => Self::Whole(own(json)),
        }
    }

    /// Adds a piece. Returns the memory in bytes that it adds, approximately.
    pub(crate) fn add(&mut self, piece: &Json) -> usize {
        if let Self::Whole(whole) = self {
            let grows = matches!(piece.kind(), Kind::Array | Kind::Object);
            if piece.is_null() {
                return 0;
            }
            if !grows || whole.kind() != piece.kind() {
                let added = weight(piece).saturating_sub(weight(whole));
                *self = Self::new(piece);
                return added;
            }
            self.split();
        }
        match (&mut *self, piece.kind()) {
            (Self::Text(text), Kind::String) => {
                let piece = piece.string().unwrap_or_default();
                text.push_str(&piece);
                piece.len()
            }
            (Self::List { items, places }, Kind::Array) => {
                let elements = piece.elements();
                elements.map(|element| push(items, places, &element)).sum()
            }
            (Self::Object(members), Kind::Object) => {
                let pieces = piece.members();
                pieces.map(|(key, value)| set(members, &key, &value)).sum()
            }
            (_, Kind::Null) => 0,
            (old, _) => {
                *old = Self::new(piece);
                weight(piece)
            }
        }
    }

    /// Replaces the value by a later one, objects member by member; `null` changes nothing. Returns the change of the
    /// memory in bytes, approximately: at most the weight of the later value.
    pub(crate) fn replace(&mut self, later: &Json) -> isize {
        if later.is_null() {
            return 0;
        }
        if later.kind() == Kind::Object && self.is_object() {
            self.split();
        }
        match (&mut *self, later.kind()) {
            (Self::Object(members), Kind::Object) => {
                let later = later.members();
                let changes = later.map(|(key, value)| match members.get_mut(&*key) {
                    Some(old) => old.replace(&value),
                    None => {
                        members.insert(key.clone().into_owned(), Self::Whole(own(&value)));
                        (key.len() + OVERHEAD + weight(&value)) as isize
                    }
                });
                changes.sum()
            }
            (old, _) => {
                let before = match old {
                    Self::Whole(old) => weight(old),
                    // Counted until the end: a member has either pieces or later values.
                    _ => 0,
                };
                *old = Self::Whole(own(later));
                weight(later) as isize - before as isize
            }
        }
    }

    /// Returns `true` if this is a value without pieces, and the same text.
    pub(crate) fn is(&self, json: &Json) -> bool {
        matches!(self, Self::Whole(whole) if whole == json)
    }

    fn is_object(&self) -> bool {
        match self {
            Self::Whole(json) => json.kind() == Kind::Object,
            other => matches!(other, Self::Object(_)),
        }
    }

    /// Splits a list or an object into its parts.
    fn split(&mut self) {
        if let Self::Whole(whole) = self {
            *self = Self::parts(whole);
        }
    }

    /// Returns the parts of a list or an object.
    fn parts(json: &Json) -> Self {
        match json.kind() {
            Kind::Array => {
                let (mut items, mut places) = (Vec::new(), HashMap::new());
                for element in json.elements() {
                    push(&mut items, &mut places, &element);
                }
                Self::List { items, places }
            }
            _ => {
                let members = json.members();
                let members = members.map(|(key, value)| (key.into_owned(), Self::new(&value)));
                Self::Object(members.collect())
            }
        }
    }

    /// Returns the value so far.
    pub(crate) fn into_json(self) -> Json {
        if let Self::Whole(json) = self {
            return json;
        }
        let mut out = Vec::new();
        self.write(ValueWriter::new(&mut out, Escape::JsonAndSeparators));
        Json::trusted(out.into())
    }

    fn write(&self, to: ValueWriter<'_>) {
        match self {
            Self::Whole(json) => to.raw(json),
            Self::Text(text) => to.str(text),
            Self::List { items, .. } => {
                // The values that are written cannot fail.
                let _ = to.array(items, |item, to| {
                    item.write(to);
                    Ok(())
                });
            }
            Self::Object(members) => object(to, |object| {
                for (key, value) in members {
                    value.write(object.member(key));
                }
            }),
        }
    }
}

/// Returns a copy that does not keep the piece in memory from which the value was read.
fn own(json: &Json) -> Json {
    Json::trusted(Bytes::copy_from_slice(json.as_bytes()))
}

fn push(items: &mut Vec<Merged>, places: &mut HashMap<u64, usize>, element: &Json) -> usize {
    let index = element.get("index").and_then(|index| index.as_u64());
    let known = index.and_then(|index| places.get(&index));
    if let Some(item) = known.and_then(|at| items.get_mut(*at)) {
        return item.add(element);
    }
    places.extend(index.map(|index| (index, items.len())));
    items.push(Merged::new(element));
    weight(element)
}

fn set(members: &mut BTreeMap<String, Merged>, key: &str, piece: &Json) -> usize {
    match members.get_mut(key) {
        Some(_) if piece.is_null() => 0,
        Some(old) if REPEATED.contains(&key) => {
            *old = Merged::new(piece);
            0
        }
        Some(old) => old.add(piece),
        None => {
            members.insert(key.to_owned(), Merged::new(piece));
            key.len() + weight(piece)
        }
    }
}

/// Returns the maximum memory in bytes of a value, including the case that it is split into its parts.
pub(crate) fn weight(json: &Json) -> usize {
    let bytes = json.as_bytes();
    let parts = match json.kind() {
        Kind::Array | Kind::Object => bytes.iter().filter(|byte| b",:[{".contains(byte)).count(),
        _ => 0,
    };
    bytes.len() + (1 + parts) * OVERHEAD
}
