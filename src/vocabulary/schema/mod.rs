//! Validation of tool arguments against the common part of JSON schema.

mod fault;

use std::borrow::Cow;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::sync::OnceLock;

use fault::Fault;

use crate::json::{Json, Kind, List, Wire};
use crate::vocabulary::SendError;
use crate::vocabulary::redacted::Cut;

/// The maximum depth to which schemas are followed.
const DEPTH: usize = 16;

/// The maximum size in bytes of a list in an error message.
const LISTED: usize = 128;

/// The checked part of a schema, parsed once: required members, types and enumerations. Other keywords of JSON schema
/// are ignored: the tool checks them. Schema and arguments may be long, so members are looked up by hash.
#[derive(Debug, Default)]
pub(crate) struct Schema {
    /// `true` if it is that of a required member.
    is_required: bool,
    types: Option<Types>,
    choices: Option<Choices>,
    required: Vec<String>,
    /// The properties, each with its position, so that errors are reported in the order of the
    /// schema.
    properties: HashMap<String, (usize, Self)>,
    items: Option<Box<Self>>,
}

impl Schema {
    /// Reads a schema. One that is not an object accepts every value.
    pub(crate) fn new(json: &Json) -> Self {
        Self::of(json, DEPTH).unwrap_or_default()
    }

    fn of(json: &Json, depth: usize) -> Option<Self> {
        // `None` accepts every value: a schema that is not an object, or is beyond the maximum depth, is not checked.
        if depth == 0 || json.kind() != Kind::Object {
            return None;
        }
        let mut schema = Self::default();
        let mut seen = HashSet::new();
        for (key, member) in json.members() {
            match &*key {
                "type" => schema.types = Types::of(member),
                "enum" => schema.choices = Choices::of(member),
                "required" => {
                    seen.clear();
                    let names = member.elements();
                    let names = names.filter_map(|name| name.string().map(Cow::into_owned));
                    // Repeated names are removed, because each would be looked up for every value.
                    schema.required = names.filter(|name| seen.insert(name.clone())).collect();
                }
                "properties" => {
                    let properties = member.members().enumerate();
                    let property = |(at, (name, schema)): (usize, (Cow<'_, str>, Json))| {
                        Some((name.into_owned(), (at, Self::of(&schema, depth - 1)?)))
                    };
                    schema.properties = properties.filter_map(property).collect();
                }
                "items" => schema.items = Self::of(&member, depth - 1).map(Box::new),
                _ => {}
            }
        }
        for (name, (_, property)) in &mut schema.properties {
            property.is_required = seen.contains(name);
        }
        Some(schema)
    }

    /// Returns the arguments of a call as the schema has them, where what a model has written means one value: a number
    /// in a string and the reverse, one value in place of a list and the reverse, a list in a string, another case of a
    /// word of an enumeration, and `null` for a member that need not be there. Other values are returned unchanged.
    pub(crate) fn coerce(&self, value: &Json) -> Json {
        let value = match &self.choices {
            Some(choices) => choices.nearest(value).unwrap_or_else(|| value.clone()),
            None => self.coerce_type(value),
        };
        match (value.kind(), &self.items) {
            (Kind::Object, _) if !self.properties.is_empty() => Json::object(|object| {
                for (name, member) in value.members() {
                    let property = self.properties.get(&*name).map(|(_, schema)| schema);
                    match property {
                        Some(schema)
                            if member.is_null()
                                && !schema.is_required
                                && schema.check(&member).is_err() => {}
                        Some(schema) => object.member(&name).raw(&schema.coerce(&member)),
                        None => object.member(&name).raw(&member),
                    }
                }
            }),
            (Kind::Array, Some(items)) => {
                List::from_iter(value.elements().map(|element| items.coerce(&element))).to_raw()
            }
            _ => value,
        }
    }

    fn coerce_type(&self, value: &Json) -> Json {
        let fits = |json: &Json| {
            self.types
                .as_ref()
                .is_none_or(|types| types.check(json).is_ok())
        };
        if fits(value) {
            return value.clone();
        }
        let written = match (value.kind(), value.string()) {
            // A number, a truth value or a list in a string.
            (_, Some(text)) => Json::parse(text.trim().to_owned()).ok(),
            (Kind::Number | Kind::Bool, _) => Json::encode(value.text()).ok(),
            // A list of one.
            (Kind::Array, _) => {
                let mut elements = value.elements();
                elements.next().filter(|_| elements.next().is_none())
            }
            _ => None,
        };
        if let Some(written) = written.filter(|json| fits(json)) {
            return written;
        }
        match self.has("array") && !value.is_null() {
            true => List::from(vec![value.clone()]).to_raw(),
            false => value.clone(),
        }
    }

    fn has(&self, name: &str) -> bool {
        self.types
            .as_ref()
            .is_some_and(|types| types.names.contains(&name))
    }

    /// Checks the arguments of a call of `tool`.
    ///
    /// # Errors
    ///
    /// [`SendError::Invalid`] with the place of the fault.
    pub(crate) fn check_call(&self, tool: &str, arguments: &Json) -> Result<(), SendError> {
        let invalid = |fault| SendError::Invalid(format!("tool {}: {fault}", Cut(tool)));
        self.check(arguments).map_err(invalid)
    }

    /// Checks the arguments of a call.
    ///
    /// # Errors
    ///
    /// The error and its path, without the values.
    pub(crate) fn check(&self, value: &Json) -> Result<(), Fault> {
        // A value of the enumeration has the right type, whatever the type says: some front ends write `string` for
        // enumerations of numbers.
        match (&self.choices, &self.types) {
            (Some(choices), _) => choices.check(value)?,
            (None, Some(types)) => types.check(value)?,
            (None, None) => {}
        }
        match value.kind() {
            Kind::Object => self.check_members(value),
            Kind::Array => self.check_elements(value),
            _ => Ok(()),
        }
    }

    fn check_members(&self, value: &Json) -> Result<(), Fault> {
        // The map below is built only when there is something to look up.
        if self.required.is_empty() && self.properties.is_empty() {
            return Ok(());
        }
        let members: HashMap<Cow<'_, str>, Json> = value.members().collect();
        let missing = |name: &&String| !members.contains_key(name.as_str());
        if let Some(name) = self.required.iter().find(missing) {
            return Err(Fault::new("is missing").in_member(name));
        }
        let known = |(name, value)| {
            let name: &Cow<'_, str> = name;
            let (at, schema) = self.properties.get(&**name)?;
            Some((*at, name, schema, value))
        };
        let mut known: Vec<_> = members.iter().filter_map(known).collect();
        // The order of a hash map is random, and the same arguments must give the same error.
        known.sort_unstable_by_key(|(at, ..)| *at);
        for (_, name, schema, value) in known {
            schema.check(value).map_err(|fault| fault.in_member(name))?;
        }
        Ok(())
    }

    fn check_elements(&self, value: &Json) -> Result<(), Fault> {
        let Some(items) = &self.items else {
            return Ok(());
        };
        for (index, element) in value.elements().enumerate() {
            let found = items.check(&element);
            found.map_err(|fault| fault.in_element(index))?;
        }
        Ok(())
    }
}

/// The types that a value may have.
#[derive(Debug)]
struct Types {
    names: Vec<&'static str>,
    written: Json,
}

/// All types of JSON schema.
const TYPES: [&str; 7] = [
    "null", "boolean", "string", "number", "integer", "array", "object",
];

impl Types {
    /// Returns the set of types; `None` if all values match, which is also true of unknown types.
    fn of(written: Json) -> Option<Self> {
        let mut names = Vec::new();
        let one = (written.kind() == Kind::String).then(|| written.clone());
        if one.is_none() && written.kind() != Kind::Array {
            return None;
        }
        for name in one.into_iter().chain(written.elements()) {
            let name = name.string().unwrap_or_default();
            // One unknown type makes the set open: no value can be refused with certainty.
            let name = *TYPES.iter().find(|known| **known == name)?;
            if !names.contains(&name) {
                names.push(name);
            }
        }
        Some(Self { names, written })
    }

    fn check(&self, value: &Json) -> Result<(), Fault> {
        if self.names.iter().any(|name| is_a(value, name)) {
            return Ok(());
        }
        Err(Fault::new(match self.written.text() {
            text if text.len() <= LISTED => format!("must be of type {text}"),
            _ => "must be of another type".into(),
        }))
    }
}

fn is_a(value: &Json, name: &str) -> bool {
    match (name, value.kind()) {
        ("null", Kind::Null)
        | ("boolean", Kind::Bool)
        | ("string", Kind::String)
        | ("number", Kind::Number)
        | ("array", Kind::Array)
        | ("object", Kind::Object) => true,
        // 1.0 is an integer in JSON schema.
        // A number beyond the range of floats has no fraction that could be seen, and passes.
        ("integer", Kind::Number) => value.as_f64().is_none_or(|number| number.fract() == 0.0),
        _ => false,
    }
}

/// The values of an enumeration.
#[derive(Debug)]
struct Choices {
    values: HashSet<Choice>,
    /// The values by their plain form; `None` if several have it. Made when it is needed.
    plain: OnceLock<HashMap<String, Option<Json>>>,
    written: Json,
}

impl Choices {
    fn of(written: Json) -> Option<Self> {
        let list = written.kind() == Kind::Array;
        list.then(|| Self {
            values: written.elements().map(Choice::of).collect(),
            plain: OnceLock::new(),
            written,
        })
    }

    /// Returns the only value that is the same but for its case or for the type in which it is written; `None` if the
    /// value is one of these, and if there is none or several.
    fn nearest(&self, value: &Json) -> Option<Json> {
        if self.values.contains(&Choice::of(value.clone())) {
            return None;
        }
        let plain = |json: &Json| {
            let text = json.string().unwrap_or_else(|| json.text().into());
            text.trim().to_lowercase()
        };
        let choices = self.plain.get_or_init(|| {
            let mut choices = HashMap::new();
            for choice in self.written.elements() {
                match choices.entry(plain(&choice)) {
                    Entry::Occupied(mut several) => *several.get_mut() = None,
                    Entry::Vacant(first) => drop(first.insert(Some(choice))),
                }
            }
            choices
        });
        choices.get(&plain(value)).cloned().flatten()
    }

    fn check(&self, value: &Json) -> Result<(), Fault> {
        if self.values.contains(&Choice::of(value.clone())) {
            return Ok(());
        }
        Err(Fault::new(match self.written.text() {
            text if text.len() <= LISTED => format!("must be one of {text}"),
            _ => format!("must be one of the {} allowed values", self.values.len()),
        }))
    }
}

/// A value in a form in which equal values compare equal.
#[derive(Debug, PartialEq, Eq, Hash)]
enum Choice {
    Text(String),
    /// The bits of the nearest float.
    Number(Option<u64>),
    Other(Json),
}

impl Choice {
    fn of(json: Json) -> Self {
        match (json.kind(), json.string()) {
            (_, Some(text)) => Self::Text(text.into_owned()),
            // Adding 0.0 turns -0.0 into 0.0, so that both have the same bits.
            (Kind::Number, _) => Self::Number(json.as_f64().map(|n| (n + 0.0).to_bits())),
            _ => Self::Other(json),
        }
    }
}
