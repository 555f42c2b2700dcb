//! Declared JSON values: structs and enums, each of whose members is named once.

mod values;

use bytes::Bytes;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::json::error::{JsonError, WriteError};
use crate::json::escape::Escape;
use crate::json::kind::Kind;
use crate::json::members::Members;
use crate::json::object_writer::{ObjectWriter, ValueWriter};
use crate::json::place::{Place, odd};
use crate::json::reader::Reader;
use crate::json::serializer::write;
use crate::json::value::Json;

/// A type that is read from and written as JSON: the value of a member, or a complete message.
///
/// `#[derive(Wire)]` implements the trait, `Serialize` and `Deserialize`. A struct is a JSON object. An enum without
/// values is a string. An enum with values is an object, one member of which selects the variant.
///
/// ```
/// use copilot_wire::json::{List, Members, Wire};
///
/// /// The state of an order.
/// #[derive(Clone, Debug, PartialEq, Wire)]
/// enum State {
///     Open,
///     #[wire(name = "done")]
///     Closed,
///     #[wire(other)]
///     Other(String),
/// }
///
/// /// An order.
/// #[derive(Clone, Debug, Default, PartialEq, Wire)]
/// #[wire(fixed(type = "order"), rename_all = "camelCase")]
/// struct Order {
///     #[wire(always)]
///     order_id: u64,
///     state: Option<State>,
///     items: List<String>,
///     unknown: Members,
/// }
///
/// let order = Order::from_json(r#"{"type":"order","orderId":7,"state":"lost","items":"?","x":1}"#)?;
/// assert_eq!(order.state, Some(State::Other("lost".into())));
/// // What has no field, and what has another type, is written back.
/// assert_eq!(order.to_json(), r#"{"type":"order","orderId":7,"state":"lost","items":"?","x":1}"#);
/// # Ok::<(), copilot_wire::json::JsonError>(())
/// ```
///
/// # Structs
///
/// A struct must have `Default`, `PartialEq` and a field `unknown: Members`.
///
/// 1. A member that has no field is retained in `unknown`.
/// 2. A member whose value has another type than the field, or would be omitted when written, such as an empty list, is
///    not read but retained in `unknown` too. So `false` and an absent member differ when the struct is written again.
///    `null` is such a value, unless the struct is `null_is_absent`.
/// 3. An element of another type is retained at its position in the [`List`](super::List).
/// 4. If several members have the same name, the last one counts, as in JavaScript, whatever its value.
/// 5. Members are written in the order of the fields, then `unknown`. A retained value of a named member is
///    written only if the field is empty: a value that was set later has precedence.
/// 6. A `u32` is an index. A value of another type is an error instead of being retained, because a wrong index would
///    mix two entries.
///
/// | option of a struct | meaning |
/// |---|---|
/// | `fixed(type = "order")`, `fixed(type = "order", after = id)` | a member without a field, whose value is always the same; written first, or after the named field |
/// | `rename_all = "camelCase"` | the names of members, also `"kebab-case"`; by default those of the fields |
/// | `null_is_absent` | a `null` of a named member is read as an absent member |
/// | `empty_is_absent` | a member whose value is the default of this struct is omitted |
/// | `never_empty` | an element without members of a [`List`](super::List) is retained there as invalid; always so if a member is marked `always` |
/// | `escape = Json` | the [`Escape`] of [`to_json`](Wire::to_json); by default `JsonAndSeparators` |
/// | `complete = method` | a method of the struct that is called after reading |
/// | `debug` | `Wire` implements `Debug` even if no field has an option for it |
/// | `new = "Creates an order."` | a constructor with the fields that are marked `new`, and its documentation |
///
/// | option of a field | meaning |
/// |---|---|
/// | `name = "id"` | the name of the member |
/// | `always` | the member is written even if it is empty |
/// | `read = path` | a function with the signature of [`Wire::read_from`] that reads the value |
/// | `skip` | the field is not a member |
/// | `new` | the field is a parameter of `new` |
/// | `into` | a list is taken as items that convert into those of the list |
/// | `set = "Sets the state."` | a method that sets the field and returns the struct, and its documentation |
/// | `content`, `hidden`, `cut`, `secret` | `Debug` prints the size, only that there is a value, the first 64 characters, or nothing. With one of these options, do not derive `Debug`: `Wire` implements it. |
///
/// # Enums
///
/// Each enum has one variant that is marked `other`, for values that this crate does not know. It contains a `String`
/// if the other variants have no values, else a [`Json`].
///
/// | option of an enum | meaning |
/// |---|---|
/// | `rename_all = "camelCase"` | the form of the names of variants without values, also `"kebab-case"`; by default snake case |
/// | `empty` | for an enum whose variants have no values: the default is `other` with an empty name |
/// | `tag = "type"` | the enum is an object, and this member selects the variant |
/// | `expected = "a block"` | the expected value that error messages name |
///
/// | option of a variant | meaning |
/// |---|---|
/// | `other` | the variant of all values that no other variant has |
/// | `name = "done"` | the name; by default the variant's. If the value is the complete object, it is a struct with `fixed`, and the name there counts instead. |
/// | `member = "text"` | the variant's value is this member of the object; by default the complete object |
/// | `content`, `hidden`, `cut`, `secret` | as for a field, after the name of the variant |
pub trait Wire: Sized {
    /// The escape policy of [`to_raw`](Self::to_raw).
    const ESCAPE: Escape = Escape::JsonAndSeparators;

    /// The expected value in errors of [`parse`](Self::parse).
    const EXPECTED: &'static str = "an object";

    /// The names of the members of a struct.
    const NAMES: &'static [&'static str] = &[];

    /// The names of the members that a struct always writes.
    const REQUIRED: &'static [&'static str] = &[];

    /// `true` if an object without members is none of this type.
    const NEVER_EMPTY: bool = false;

    /// The value of the member of a struct that is `fixed`.
    const TAG: &'static str = "";

    /// `true` if a value has a secret in it: a value of another type in its place may be that secret.
    const HAS_SECRET: bool = false;

    /// Reads the next value. Returns `None` if it has another type; the caller then resets the
    /// reader.
    ///
    /// # Errors
    ///
    /// [`JsonError`] when the text is not valid JSON.
    fn read_from(reader: &mut Reader<'_>) -> Result<Option<Self>, JsonError>;

    /// Writes the value.
    fn write_to(&self, to: ValueWriter<'_>);

    /// Returns `true` if a member with this value is omitted.
    fn is_absent(&self) -> bool {
        false
    }

    /// Returns the members that a struct retains; `None` for other types.
    fn unknown(&mut self) -> Option<&mut Members> {
        None
    }

    /// Removes the retained values of named members, and the retained elements of lists, for writers that must not
    /// relay them.
    fn drop_odd(&mut self) {}

    /// Calls `each` with everything that is retained because it has another type than its place: values of named members,
    /// and elements of lists. `place` is that of the value itself. Secrets are left out.
    fn each_odd(&self, place: &Place<'_>, each: &mut dyn FnMut(&Place<'_>, &Json)) {
        let _ = (place, each);
    }

    /// Calls `each` with every string and every number that the value is written with, retained members included, and
    /// with the keys that no model declares.
    fn each_string(&self, each: &mut dyn FnMut(&str)) {
        self.to_raw().each_string(each);
    }

    /// Reads a complete text. Returns `None` if it is valid JSON of another type.
    ///
    /// # Errors
    ///
    /// [`JsonError`] when the text is not valid JSON.
    fn parse_any(text: &Bytes) -> Result<Option<Self>, JsonError> {
        let mut reader = Reader::new(text)?;
        // A reader is a text and a position: a clone saves the position and copies no text.
        let start = reader.clone();
        // Returned as it was read: a request of hundreds of bytes would be copied out of each `Result` and `Option`.
        let value = Self::read_from(&mut reader);
        if let Ok(None) = value {
            reader = start;
            reader.skip()?;
        }
        if value.is_ok() {
            reader.end()?;
        }
        value
    }

    /// Reads a complete text.
    ///
    /// # Errors
    ///
    /// [`JsonError`] when the text is not valid JSON, or JSON of another type.
    fn parse(text: &Bytes) -> Result<Self, JsonError> {
        match Self::parse_any(text) {
            Ok(Some(value)) => Ok(value),
            // A second reader, for the error only: it is at the position of the value, which the first reader has
            // passed.
            Ok(None) => Err(Reader::new(text)?.expected(Self::EXPECTED)),
            Err(error) => Err(error),
        }
    }

    /// Parses the JSON text of one value. Members that are unknown or have another type are retained.
    ///
    /// # Errors
    ///
    /// [`JsonError`] if the text is not JSON, or not of this type.
    fn from_json(json: impl AsRef<[u8]>) -> Result<Self, JsonError> {
        Self::parse(&Bytes::copy_from_slice(json.as_ref()))
    }

    /// Serializes the value to JSON, retained members included.
    fn to_json(&self) -> Bytes {
        self.to_raw().as_bytes().clone()
    }

    /// Reads a raw value.
    fn from_raw(json: &Json) -> Option<Self> {
        Self::read_from(&mut json.reader()).ok().flatten()
    }

    /// Writes a raw value.
    fn to_raw(&self) -> Json {
        let mut out = Vec::new();
        self.write_to(ValueWriter::new(&mut out, Self::ESCAPE));
        Json::trusted(out.into())
    }
}

/// Reads a member into its field.
///
/// # Errors
///
/// [`JsonError`] when the text is not valid JSON.
#[inline]
pub fn take<T: Wire + Default>(
    field: &mut T,
    reader: &mut Reader<'_>,
    (always, null_is_absent): (bool, bool),
    read: impl FnOnce(&mut Reader<'_>) -> Result<Option<T>, JsonError>,
) -> Result<(), JsonError> {
    if null_is_absent && reader.null()? {
        *field = T::default();
        return Ok(());
    }
    let bookmark = reader.clone();
    match read(reader)? {
        Some(value) if always || !value.is_absent() => *field = value,
        _ => {
            // A repeated member: the last one counts, even if its value is of another type and is only retained.
            *field = T::default();
            *reader = bookmark;
        }
    }
    Ok(())
}

/// Reads a member that has the same value in all instances of the model.
///
/// # Errors
///
/// [`JsonError`] when the text is not valid JSON.
pub fn take_fixed(
    text: &str,
    reader: &mut Reader<'_>,
    null_is_absent: bool,
) -> Result<(), JsonError> {
    let bookmark = reader.clone();
    if !(null_is_absent && reader.null()?) && reader.string()?.as_deref() != Some(text) {
        *reader = bookmark;
    }
    Ok(())
}

/// Reads a value of any type. If it is an object, returns what `read` returns for its last member with this name.
///
/// # Errors
///
/// [`JsonError`] when the text is not valid JSON.
pub fn member<'a, T>(
    reader: &mut Reader<'a>,
    name: &str,
    read: impl Fn(&mut Reader<'a>) -> Result<Option<T>, JsonError>,
) -> Result<Option<T>, JsonError> {
    let mut found = None;
    if !reader.is(Kind::Object) {
        return reader.skip().map(|()| None);
    }
    reader.object(|reader, key| {
        if key == name {
            found = read(reader)?;
        }
        Ok(())
    })?;
    Ok(found)
}

/// Reads a value. If it has another type, returns `None` and leaves it unread.
pub fn read<T: Wire>(reader: &mut Reader<'_>) -> Option<T> {
    let bookmark = reader.clone();
    let value = T::read_from(reader).ok().flatten();
    if value.is_none() {
        *reader = bookmark;
    }
    value
}

/// Reads a value; `None` for `null` and for a value that would be omitted. For `#[wire(read = present)]` on a field
/// that is an `Option`.
///
/// # Errors
///
/// [`JsonError`] when the text is not valid JSON.
pub fn present<T: Wire>(reader: &mut Reader<'_>) -> Result<Option<Option<T>>, JsonError> {
    let value = T::read_from(reader)?;
    Ok(value.filter(|value| !value.is_absent()).map(Some))
}

/// Returns a copy that does not keep the text in memory from which the value was read.
pub fn own<T: Wire + Clone>(value: &T) -> T {
    T::from_raw(&value.to_raw()).unwrap_or_else(|| value.clone())
}

/// Reads a text, or the digits of a number, which some servers send in place of a name. For `#[wire(read =
/// text_or_digits)]` on a field that is a `String` or an `Option` of it.
///
/// # Errors
///
/// [`JsonError`] when the text is not valid JSON.
pub fn text_or_digits<T: Wire + From<String>>(
    reader: &mut Reader<'_>,
) -> Result<Option<T>, JsonError> {
    match reader.is(Kind::Number) {
        true => Ok(Some(reader.value()?.text().to_owned().into())),
        false => T::read_from(reader),
    }
}

/// Reads a text, or the object that some clients and servers send in its place, such as the arguments of a call. For
/// `#[wire(read = text_or_json)]` on a field that is a `String` or an `Option` of it.
///
/// # Errors
///
/// [`JsonError`] when the text is not valid JSON.
pub fn text_or_json<T: Wire + From<String>>(
    reader: &mut Reader<'_>,
) -> Result<Option<T>, JsonError> {
    match reader.is(Kind::Object) {
        true => Ok(Some(reader.value()?.text().to_owned().into())),
        false => T::read_from(reader),
    }
}

/// Returns `true` if a retained value of the member is written instead of the field's value.
pub fn is_unset<T: Wire + Default + PartialEq>(field: &T, always: bool) -> bool {
    field.is_absent() || always && *field == T::default()
}

/// Writes the key of a declared member, given as `,"key":`, and returns a writer for its value.
pub fn key<'a>(object: &'a mut ObjectWriter<'_>, key: &'static str) -> ValueWriter<'a> {
    object.prepared(key)
}

/// Calls `each` with the members of a model that are retained because of their types, if `is_shown` returns `true` for
/// their names.
pub fn odd_members(
    unknown: &Members,
    place: &Place<'_>,
    each: &mut dyn FnMut(&Place<'_>, &Json),
    is_shown: fn(&str) -> bool,
) {
    for (name, value) in unknown {
        if is_shown(name) {
            odd(&place.member(name), value, each);
        }
    }
}

/// Writes an object with a closure that cannot fail.
pub fn object(to: ValueWriter<'_>, write: impl FnOnce(&mut ObjectWriter<'_>)) {
    let result = to.object(|object| {
        write(object);
        Ok(())
    });
    // The closures of models only write members and return no error.
    debug_assert!(result.is_ok());
}

/// Encodes a value with U+2028 and U+2029 escaped, as most protocols send it, so that an event that is read is equal to
/// the event that was sent.
pub(crate) fn encode<T: Serialize + ?Sized>(value: &T) -> Result<Json, WriteError> {
    let mut out = Vec::new();
    write(value, Escape::JsonAndSeparators, &mut out)?;
    Ok(Json::trusted(out.into()))
}

/// Serializes a value with serde.
///
/// # Errors
///
/// The error of the serializer.
pub fn serialize<T: Wire, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
    value.to_raw().serialize(serializer)
}

/// Deserializes a value with serde.
///
/// # Errors
///
/// The error of the deserializer, also if the value is of another type.
pub fn deserialize<'de, T: Wire, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    let json = Json::deserialize(deserializer)?;
    T::parse(json.as_bytes()).map_err(serde::de::Error::custom)
}

/// Implements the serde traits of every type that derives [`Wire`].
#[doc(hidden)]
#[macro_export]
macro_rules! __serde {
    ($model:ident) => {
        impl $crate::__private::Serialize for $model {
            fn serialize<S: $crate::__private::Serializer>(
                &self,
                serializer: S,
            ) -> ::core::result::Result<S::Ok, S::Error> {
                $crate::__private::serialize(self, serializer)
            }
        }

        impl<'de> $crate::__private::Deserialize<'de> for $model {
            fn deserialize<D: $crate::__private::Deserializer<'de>>(
                deserializer: D,
            ) -> ::core::result::Result<Self, D::Error> {
                $crate::__private::deserialize(deserializer)
            }
        }
    };
}

/// A declaration that `#[derive(Wire)]` accepts; each of the following has one fault:
///
/// ```
/// # use copilot_wire::json::{Json, Members, Wire};
/// #[derive(Default, PartialEq, Wire)]
/// #[wire(fixed(type = "a"))]
/// struct A { id: String, unknown: Members }
/// #[derive(Wire)]
/// enum Name { Open, #[wire(other)] Other(String) }
/// #[derive(Wire)]
/// #[wire(tag = "type")]
/// enum Object { A(A), #[wire(other)] Other(Json) }
/// ```
///
/// Two members of one name:
///
/// ```compile_fail
/// # use copilot_wire::json::{Members, Wire};
/// #[derive(Default, PartialEq, Wire)]
/// struct A { id: String, #[wire(name = "id")] other: String, unknown: Members }
/// ```
///
/// ```compile_fail
/// # use copilot_wire::json::{Members, Wire};
/// #[derive(Default, PartialEq, Wire)]
/// #[wire(fixed(id = "a"))]
/// struct A { id: String, unknown: Members }
/// ```
///
/// Two fixed members:
///
/// ```compile_fail
/// # use copilot_wire::json::{Members, Wire};
/// #[derive(Default, PartialEq, Wire)]
/// #[wire(fixed(type = "a", kind = "b"))]
/// struct A { id: String, unknown: Members }
/// ```
///
/// No `unknown`:
///
/// ```compile_fail
/// # use copilot_wire::json::{Members, Wire};
/// #[derive(Default, PartialEq, Wire)]
/// struct A { id: String }
/// ```
///
/// An unknown option:
///
/// ```compile_fail
/// # use copilot_wire::json::{Members, Wire};
/// #[derive(Default, PartialEq, Wire)]
/// struct A { #[wire(sometimes)] id: String, unknown: Members }
/// ```
///
/// A generic field:
///
/// ```compile_fail
/// # use copilot_wire::json::{Members, Wire};
/// #[derive(Default, PartialEq, Wire)]
/// struct A<T: Wire + Default + PartialEq> { id: T, unknown: Members }
/// ```
///
/// `other` twice, or without a value:
///
/// ```compile_fail
/// # use copilot_wire::json::Wire;
/// #[derive(Wire)]
/// enum Name { Open, #[wire(other)] Other(String), #[wire(other)] Others(String) }
/// ```
///
/// ```compile_fail
/// # use copilot_wire::json::Wire;
/// #[derive(Wire)]
/// enum Name { Open, #[wire(other)] Other }
/// ```
///
/// A whole object without a tag, or with a second one:
///
/// ```compile_fail,E0080
/// # use copilot_wire::json::{Json, Members, Wire};
/// #[derive(Default, PartialEq, Wire)]
/// struct A { id: String, unknown: Members }
/// #[derive(Wire)]
/// #[wire(tag = "type")]
/// enum Object { A(A), #[wire(other)] Other(Json) }
/// ```
///
/// ```compile_fail
/// # use copilot_wire::json::{Json, Members, Wire};
/// #[derive(Default, PartialEq, Wire)]
/// #[wire(fixed(type = "a"))]
/// struct A { id: String, unknown: Members }
/// #[derive(Wire)]
/// #[wire(tag = "type")]
/// enum Object { #[wire(name = "b")] A(A), #[wire(other)] Other(Json) }
/// ```
#[cfg(doctest)]
struct Refused;
