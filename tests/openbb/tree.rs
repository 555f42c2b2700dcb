//! JSON as a tree that retains the digits of numbers, for comparisons and mutations.

use copilot_wire::json::{Json, Kind};

#[derive(Clone, Debug)]
pub(crate) enum Tree {
    /// A value without children: its text, or the content of a string.
    Leaf(Kind, String),
    Array(Vec<Self>),
    Object(Vec<(String, Self)>),
    /// Any value, unparsed.
    Raw(String),
}

impl Tree {
    pub(crate) fn of(json: &Json) -> Self {
        match json.kind() {
            Kind::Array => Self::Array(json.elements().map(|element| Self::of(&element)).collect()),
            Kind::Object => Self::Object(
                json.members()
                    .map(|(key, value)| (key.into_owned(), Self::of(&value)))
                    .collect(),
            ),
            Kind::String => Self::Leaf(Kind::String, json.string().unwrap().into_owned()),
            kind => Self::Leaf(kind, json.text().to_owned()),
        }
    }

    pub(crate) fn text(&self) -> String {
        match self {
            Self::Leaf(Kind::String, text) => serde_json::to_string(text).unwrap(),
            Self::Leaf(_, text) | Self::Raw(text) => text.clone(),
            Self::Array(elements) => {
                let elements: Vec<_> = elements.iter().map(Self::text).collect();
                format!("[{}]", elements.join(","))
            }
            Self::Object(members) => {
                let member = |(key, value): &(String, Self)| {
                    format!("{}:{}", serde_json::to_string(key).unwrap(), value.text())
                };
                let members: Vec<_> = members.iter().map(member).collect();
                format!("{{{}}}", members.join(","))
            }
        }
    }

    /// Returns every position in the tree once; of the elements of an array with the same form,
    /// only one.
    pub(crate) fn different_places(&self) -> Vec<Vec<usize>> {
        let mut seen = std::collections::HashSet::new();
        let mut places = self.places();
        places.retain(|place| seen.insert(self.form(place)));
        places
    }

    /// Returns the keys of the path to a position.
    pub(crate) fn form(&self, place: &[usize]) -> String {
        match (self, place.split_first()) {
            (Self::Array(elements), Some((&index, rest))) => {
                format!("[]{}", elements[index].form(rest))
            }
            (Self::Object(members), Some((&index, rest))) => {
                let (key, value) = &members[index];
                // The members of a message depend on its role.
                let role = members.iter().find(|(key, _)| key == "role");
                let role = role.map(|(_, role)| role.text()).unwrap_or_default();
                format!("{role}.{key}{}", value.form(rest))
            }
            _ => String::new(),
        }
    }

    /// Returns every position in the tree, as the indices of its path.
    pub(crate) fn places(&self) -> Vec<Vec<usize>> {
        let mut places = vec![Vec::new()];
        let inside: Vec<&Self> = match self {
            Self::Array(elements) => elements.iter().collect(),
            Self::Object(members) => members.iter().map(|(_, value)| value).collect(),
            _ => Vec::new(),
        };
        for (index, tree) in inside.into_iter().enumerate() {
            for mut place in tree.places() {
                place.insert(0, index);
                places.push(place);
            }
        }
        places
    }

    pub(crate) fn at(&mut self, place: &[usize]) -> &mut Self {
        match (self, place.split_first()) {
            (tree, None) => tree,
            (Self::Array(elements), Some((&index, rest))) => elements[index].at(rest),
            (Self::Object(members), Some((&index, rest))) => members[index].1.at(rest),
            _ => panic!("no such place"),
        }
    }
}

/// Returns the path of the first difference between two values, ignoring the order of objects.
pub(crate) fn difference(one: &Tree, other: &Tree, path: &str) -> Option<String> {
    match (one, other) {
        (Tree::Leaf(one_kind, one), Tree::Leaf(other_kind, other)) => {
            (one_kind != other_kind || one != other).then(|| format!("{path}: {one} and {other}"))
        }
        (Tree::Array(one), Tree::Array(other)) if one.len() == other.len() => {
            let mut pairs = one.iter().zip(other).enumerate();
            pairs.find_map(|(index, (one, other))| {
                difference(one, other, &format!("{path}[{index}]"))
            })
        }
        (Tree::Object(one), Tree::Object(other)) if one.len() == other.len() => {
            one.iter().find_map(|(key, value)| {
                let path = format!("{path}.{key}");
                match other.iter().find(|(name, _)| name == key) {
                    Some((_, other)) => difference(value, other, &path),
                    None => Some(format!("{path} is gone")),
                }
            })
        }
        _ => Some(format!("{path}: {one:?} and {other:?}")),
    }
}
