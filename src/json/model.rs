//! Models: structs whose members are named once, for reading and for writing.
//!
//! [`model!`] describes an object, [`names!`] a string with known values; both implement the public
//! API of the type: `from_json`, `to_json`, `Serialize` and `Deserialize`. The rules for unknown
//! and invalid values are the same in every protocol:
//!
//! 1. A member that the model does not name is retained in `unknown`.
//! 2. A named member with a value of another type, or with one that the model would omit, such as an
//!    empty list, is not read and is retained in `unknown` too. So "false" and "absent" differ when
//!    the model is written. `null` is such a value, unless the model has `null: absent`.
//! 3. An element of another type is retained in its position in its [`List`](super::List).
//! 4. Of several members with the same name the last counts, as in JavaScript, whatever its value.
//! 5. Members are written in the order of the description, then `unknown`. A retained value of a
//!    named member is written only if the field is empty: a value that was set later has precedence.

use std::borrow::Cow;

use bytes::Bytes;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::error::{JsonError, WriteError};
use super::escape::Escape;
use super::kind::Kind;
use super::members::Members;
use super::object_writer::{ObjectWriter, ValueWriter};
use super::reader::Reader;
use super::serializer::write;
use super::value::Json;

/// The value of a member, or a whole model.
pub(crate) trait Field: Sized {
    /// The escape policy of [`to_raw`](Self::to_raw).
    const ESCAPE: Escape = Escape::JsonAndSeparators;

    /// The expected value in errors of [`parse`](Self::parse).
    const EXPECTED: &'static str = "an object";

    /// Reads the next value. Returns `None` if it has another type; the caller then resets the
    /// reader.
    fn read_from(reader: &mut Reader<'_>) -> Result<Option<Self>, JsonError>;

    /// Writes the value.
    fn write_to(&self, to: ValueWriter<'_>);

    /// Returns `true` if a member with this value is omitted.
    fn is_absent(&self) -> bool {
        false
    }

    /// The names of a model's members.
    const NAMES: &'static [&'static str] = &[];

    /// Removes retained values of named members and elements of another type, for writers that must
    /// not relay them.
    fn drop_odd(&mut self) {}

    /// Reads a complete text. Returns `None` if it is JSON of another type.
    fn parse_any(text: &Bytes) -> Result<Option<Self>, JsonError> {
        let mut reader = Reader::new(text)?;
        // A reader is a text and a position, so a clone is a bookmark and copies nothing.
        let start = reader.clone();
        let value = Self::read_from(&mut reader)?;
        if value.is_none() {
            reader = start;
            reader.skip()?;
        }
        reader.end()?;
        Ok(value)
    }

    /// Reads a complete text.
    fn parse(text: &Bytes) -> Result<Self, JsonError> {
        match Self::parse_any(text)? {
            Some(value) => Ok(value),
            // A second reader for the error only: it names the place of the value, which the first
            // one has passed.
            None => Err(Reader::new(text)?.expected(Self::EXPECTED)),
        }
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
#[inline]
pub(crate) fn take<T: Field + Default>(
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
            // A repeated member: the last one counts, also where it is of another type and only
            // retained.
            *field = T::default();
            *reader = bookmark;
        }
    }
    Ok(())
}

/// Reads a member that has the same value in all instances of the model.
pub(crate) fn take_fixed(
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

/// Reads a value that would be written, which excludes `null` and empty values.
pub(crate) fn present<T: Field>(reader: &mut Reader<'_>) -> Result<Option<Option<T>>, JsonError> {
    let value = T::read_from(reader)?;
    Ok(value.filter(|value| !value.is_absent()).map(Some))
}

/// Returns `true` if a retained value of the member is written instead of the field.
pub(crate) fn is_unset<T: Field + Default + PartialEq>(field: &T, always: bool) -> bool {
    field.is_absent() || always && *field == T::default()
}

/// Writes an object whose members cannot fail.
pub(crate) fn object(to: ValueWriter<'_>, write: impl FnOnce(&mut ObjectWriter<'_>)) {
    let result = to.object(|object| {
        write(object);
        Ok(())
    });
    // The closures of models write members and return nothing else.
    debug_assert!(result.is_ok());
}

/// Creates a JSON object whose members cannot fail.
pub(crate) fn raw_object(write: impl FnOnce(&mut ObjectWriter<'_>)) -> Json {
    let mut out = Vec::new();
    object(ValueWriter::new(&mut out, Escape::JsonAndSeparators), write);
    // The text was written by this crate, so it is valid.
    Json::parse(out).unwrap_or_default()
}

/// Encodes a value with both separators escaped, as most protocols send it, so that an event that
/// is read equals the one that was sent.
pub(crate) fn encode<T: Serialize + ?Sized>(value: &T) -> Result<Json, WriteError> {
    let mut out = Vec::new();
    write(value, Escape::JsonAndSeparators, &mut out)?;
    Ok(Json::trusted(out.into()))
}

/// Serializes a model with serde.
pub(crate) fn serialize<T: Field, S: Serializer>(
    value: &T,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    value.to_raw().serialize(serializer)
}

/// Deserializes a model with serde.
pub(crate) fn deserialize<'de, T: Field, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<T, D::Error> {
    let json = Json::deserialize(deserializer)?;
    T::parse(json.as_bytes()).map_err(serde::de::Error::custom)
}

/// Implements the public API of a [`Field`].
macro_rules! json_api {
    ($model:ident) => {
        impl $model {
            /// Parses the JSON text of one value. Members that are unknown or have another type are
            /// retained.
            ///
            /// # Errors
            ///
            /// [`JsonError`](crate::json::JsonError) if the text is not JSON, or not of this type.
            pub fn from_json(json: impl AsRef<[u8]>) -> Result<Self, $crate::json::JsonError> {
                $crate::json::model::Field::parse(&bytes::Bytes::copy_from_slice(json.as_ref()))
            }

            /// Serializes the value to JSON, retained members included.
            #[must_use]
            pub fn to_json(&self) -> bytes::Bytes {
                $crate::json::model::Field::to_raw(self).as_bytes().clone()
            }
        }

        impl serde::Serialize for $model {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                $crate::json::model::serialize(self, serializer)
            }
        }

        impl<'de> serde::Deserialize<'de> for $model {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                $crate::json::model::deserialize(deserializer)
            }
        }
    };
}

/// Describes the members of a model, in the order in which they are written.
///
/// ```ignore
/// model!(Chunk, null: absent {
///     id: "id",                          // omitted if it is empty or `None`
///     "object" = "chunk",                // a member that is not a field: the same in every value
///     choices: "choices" always,         // written even if it is empty
///     content: "content" => texts,       // read by a function
/// });
/// ```
///
/// The struct has `Default`, `PartialEq` and a field `unknown: Members`. Options:
/// `null: absent` reads a `null` of a named member as an absent one; `escape: Json` sets the policy
/// of `to_json`; `empty: absent` omits a member with the default value of this model;
/// `read: method` calls a method of the model after reading.
macro_rules! model {
    ($model:ident $(, $option:ident: $value:ident)* {
        $($field:ident: $key:literal $($always:ident)? $(=> $read:path)?),* $(,)?
    }) => {
        model!(@model $model [$($option: $value)*]
            [$($field: $key [$($always)?] [$($read)?])*] [] []);
    };
    ($model:ident $(, $option:ident: $value:ident)* {
        $($field:ident: $key:literal $($always:ident)? $(=> $read:path)?,)*
        $fixed:literal = $text:literal,
        $($later:ident: $later_key:literal $($later_always:ident)? $(=> $later_read:path)?),* $(,)?
    }) => {
        model!(@model $model [$($option: $value)*]
            [$($field: $key [$($always)?] [$($read)?])*]
            [$fixed = $text]
            [$($later: $later_key [$($later_always)?] [$($later_read)?])*]);
    };
    (@model $model:ident [$($option:ident: $value:ident)*]
        [$($field:ident: $key:literal $always:tt $read:tt)*]
        [$($fixed:literal = $text:literal)?]
        [$($later:ident: $later_key:literal $later_always:tt $later_read:tt)*]
    ) => {
        impl $crate::json::model::Field for $model {
            $(model!(@const $option $value);)*

            fn read_from(
                reader: &mut $crate::json::Reader<'_>,
            ) -> Result<Option<Self>, $crate::json::JsonError> {
                if !reader.is($crate::json::Kind::Object) {
                    return Ok(None);
                }
                let mut model = Self::default();
                let mut unknown = $crate::json::Members::new();
                const NULL: bool = false $(|| model!(@null $option $value))*;
                reader.object_keeping(&mut unknown, |reader, key| match &*key {
                    $($key => $crate::json::model::take(
                        &mut model.$field, reader, (model!(@always $always), NULL), model!(@read $read),
                    ),)*
                    $($fixed => $crate::json::model::take_fixed($text, reader, NULL),)?
                    $($later_key => $crate::json::model::take(
                        &mut model.$later, reader, (model!(@always $later_always), NULL),
                        model!(@read $later_read),
                    ),)*
                    _ => Ok(()),
                })?;
                model.unknown = unknown;
                $(model!(@complete model $option $value);)*
                Ok(Some(model))
            }

            fn write_to(&self, to: $crate::json::ValueWriter<'_>) {
                #[allow(unused_imports, reason = "a model may have no members of its own")]
                use $crate::json::model::{Field, is_unset};
                // A retained value is rare, so it is searched only if there are any.
                let kept = |key: &str| !self.unknown.is_empty() && self.unknown.get(key).is_some();
                $crate::json::model::object(to, |object| {
                    $(if (model!(@always $always) || !Field::is_absent(&self.$field))
                        && !(kept($key) && is_unset(&self.$field, model!(@always $always)))
                    {
                        Field::write_to(&self.$field, object.member($key));
                    })*
                    $(if !kept($fixed) {
                        object.str($fixed, $text);
                    })?
                    $(if (model!(@always $later_always) || !Field::is_absent(&self.$later))
                        && !(kept($later_key) && is_unset(&self.$later, model!(@always $later_always)))
                    {
                        Field::write_to(&self.$later, object.member($later_key));
                    })*
                    for (key, value) in &self.unknown {
                        let unset = match key {
                            $($key => is_unset(&self.$field, model!(@always $always)),)*
                            $($later_key => is_unset(&self.$later, model!(@always $later_always)),)*
                            _ => true,
                        };
                        // A field that was set since replaces the retained value: both would be two
                        // members of one name.
                        if unset {
                            object.member(key).raw(value);
                        }
                    }
                });
            }

            const NAMES: &'static [&'static str] = &[$($key,)* $($fixed,)? $($later_key,)*];

            fn drop_odd(&mut self) {
                self.unknown.retain(|key| !Self::NAMES.contains(&key));
                $($crate::json::model::Field::drop_odd(&mut self.$field);)*
                $($crate::json::model::Field::drop_odd(&mut self.$later);)*
            }

            $(model!(@method $option $value);)*
        }

        $crate::json::model::json_api!($model);
    };
    (@always []) => { false };
    (@always [always]) => { true };
    (@read []) => { $crate::json::model::Field::read_from };
    (@read [$read:path]) => { $read };
    (@null null absent) => { true };
    (@null $option:ident $value:ident) => { false };
    (@complete $model:ident read $method:ident) => { $model.$method() };
    (@complete $model:ident $option:ident $value:ident) => {};
    (@const escape $policy:ident) => {
        const ESCAPE: $crate::json::Escape = $crate::json::Escape::$policy;
    };
    (@const $option:ident $value:ident) => {};
    (@method empty absent) => {
        fn is_absent(&self) -> bool {
            *self == Self::default()
        }
    };
    (@method $option:ident $value:ident) => {};
}

/// Adds the names on the wire to an enum with a last variant `Other(String)`.
macro_rules! names {
    ($model:ident { $($variant:ident: $name:literal),* $(,)? }) => {
        impl $model {
            /// Returns the name on the wire.
            #[must_use]
            pub fn as_str(&self) -> &str {
                match self {
                    $(Self::$variant => $name,)*
                    Self::Other(name) => name,
                }
            }
        }

        impl From<&str> for $model {
            fn from(name: &str) -> Self {
                match name {
                    $($name => Self::$variant,)*
                    _ => Self::Other(name.to_owned()),
                }
            }
        }

        impl From<String> for $model {
            fn from(name: String) -> Self {
                match name.as_str() {
                    $($name => Self::$variant,)*
                    _ => Self::Other(name),
                }
            }
        }

        impl std::str::FromStr for $model {
            type Err = std::convert::Infallible;

            fn from_str(name: &str) -> Result<Self, Self::Err> {
                Ok(Self::from(name))
            }
        }

        impl std::fmt::Display for $model {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl $crate::json::model::Field for $model {
            const EXPECTED: &'static str = "a name";

            fn read_from(
                reader: &mut $crate::json::Reader<'_>,
            ) -> Result<Option<Self>, $crate::json::JsonError> {
                Ok(reader.string()?.map(|name| Self::from(&*name)))
            }

            fn write_to(&self, to: $crate::json::ValueWriter<'_>) {
                to.str(self.as_str());
            }

            fn is_absent(&self) -> bool {
                self.as_str().is_empty()
            }
        }

        $crate::json::model::json_api!($model);
    };
}

pub(crate) use {json_api, model, names};

impl Field for String {
    fn read_from(reader: &mut Reader<'_>) -> Result<Option<Self>, JsonError> {
        Ok(reader.string()?.map(Cow::into_owned))
    }

    fn write_to(&self, to: ValueWriter<'_>) {
        to.str(self);
    }

    fn is_absent(&self) -> bool {
        self.is_empty()
    }
}

impl Field for bool {
    fn read_from(reader: &mut Reader<'_>) -> Result<Option<Self>, JsonError> {
        reader.bool()
    }

    fn write_to(&self, to: ValueWriter<'_>) {
        to.bool(*self);
    }

    fn is_absent(&self) -> bool {
        !self
    }
}

impl Field for u64 {
    fn read_from(reader: &mut Reader<'_>) -> Result<Option<Self>, JsonError> {
        reader.u64()
    }

    fn write_to(&self, to: ValueWriter<'_>) {
        to.u64(*self);
    }
}

impl Field for f64 {
    fn read_from(reader: &mut Reader<'_>) -> Result<Option<Self>, JsonError> {
        reader.f64()
    }

    fn write_to(&self, to: ValueWriter<'_>) {
        // A number that is not finite becomes `null`; there are no other errors.
        let _ = to.value(self);
    }
}

impl Field for Json {
    fn read_from(reader: &mut Reader<'_>) -> Result<Option<Self>, JsonError> {
        reader.value().map(Some)
    }

    fn write_to(&self, to: ValueWriter<'_>) {
        to.raw(self);
    }

    fn is_absent(&self) -> bool {
        self.is_null()
    }
}

impl Field for Members {
    fn read_from(reader: &mut Reader<'_>) -> Result<Option<Self>, JsonError> {
        if !reader.is(Kind::Object) {
            return Ok(None);
        }
        let mut members = Self::new();
        reader.object_keeping(&mut members, |_, _| Ok(()))?;
        Ok(Some(members))
    }

    fn write_to(&self, to: ValueWriter<'_>) {
        object(to, |object| {
            object.members(self);
        });
    }

    fn is_absent(&self) -> bool {
        self.is_empty()
    }
}

impl<T: Field> Field for Option<T> {
    fn read_from(reader: &mut Reader<'_>) -> Result<Option<Self>, JsonError> {
        Ok(T::read_from(reader)?.map(Some))
    }

    fn write_to(&self, to: ValueWriter<'_>) {
        // A value that is not written becomes `null`.
        if let Some(value) = self {
            value.write_to(to);
        }
    }

    fn is_absent(&self) -> bool {
        self.is_none()
    }

    fn drop_odd(&mut self) {
        if let Some(value) = self {
            value.drop_odd();
        }
    }
}

impl<T: Field> Field for Box<T> {
    fn read_from(reader: &mut Reader<'_>) -> Result<Option<Self>, JsonError> {
        Ok(T::read_from(reader)?.map(Self::new))
    }

    fn write_to(&self, to: ValueWriter<'_>) {
        T::write_to(self, to);
    }

    fn is_absent(&self) -> bool {
        T::is_absent(self)
    }

    fn drop_odd(&mut self) {
        T::drop_odd(self);
    }
}

/// A position in a list; `null` is the first. Any other value is an error, because a wrong position
/// would mix two entries.
impl Field for u32 {
    fn read_from(reader: &mut Reader<'_>) -> Result<Option<Self>, JsonError> {
        let index = reader.u64()?.and_then(|index| Self::try_from(index).ok());
        index.map(Some).ok_or_else(|| reader.expected("an index"))
    }

    fn write_to(&self, to: ValueWriter<'_>) {
        to.u64(u64::from(*self));
    }
}

impl Field for Vec<u8> {
    fn read_from(reader: &mut Reader<'_>) -> Result<Option<Self>, JsonError> {
        if !reader.is(Kind::Array) {
            return Ok(None);
        }
        let mut bytes = Some(Self::new());
        reader.array(|reader, _| {
            match reader.u64()?.and_then(|byte| u8::try_from(byte).ok()) {
                Some(byte) => bytes.iter_mut().for_each(|bytes| bytes.push(byte)),
                // The rest is still read, so that the array is validated as a whole.
                None => bytes = None,
            }
            Ok(())
        })?;
        Ok(bytes)
    }

    fn write_to(&self, to: ValueWriter<'_>) {
        // Serializing numbers cannot fail.
        let _ = to.array(self, |byte, to| {
            to.u64(u64::from(*byte));
            Ok(())
        });
    }
}
