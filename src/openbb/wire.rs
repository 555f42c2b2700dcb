//! How the models of this protocol are read and written: one list of wire names a model.

use std::collections::HashMap;

use serde::Serialize;

use crate::json::{
    Escape, Json, JsonError, Kind, Members, ObjectWriter, Reader, ValueWriter, WriteError, write,
};

/// A value on the wire.
pub(super) trait Wire: Sized {
    /// Reads the value that comes next. `None`, and nothing read, when it is not one of these.
    fn read(reader: &mut Reader<'_>) -> Result<Option<Self>, JsonError>;

    /// Writes the value.
    fn write(&self, to: ValueWriter<'_>);

    /// Whether a member with this value is left out.
    fn is_absent(&self) -> bool {
        false
    }
}

/// Reads a member into its slot.
///
/// A value that would be left out on writing stays unread, and so among the model's `unknown`
/// members: `false` and "not there" are told apart on the way back. So does a value of another
/// type. `always` is for members that are always written.
pub(super) fn take<T: Wire + Default>(
    slot: &mut T,
    reader: &mut Reader<'_>,
    always: bool,
) -> Result<(), JsonError> {
    let bookmark = reader.clone();
    // As in JavaScript the last of several members with one name counts, whatever it holds.
    *slot = T::default();
    match T::read(reader)? {
        Some(value) if always || !value.is_absent() => *slot = value,
        _ => *reader = bookmark,
    }
    Ok(())
}

/// Writes an object whose members cannot fail.
pub(super) fn object(to: ValueWriter<'_>, write: impl FnOnce(&mut ObjectWriter<'_>)) {
    let result = to.object(|object| {
        write(object);
        Ok(())
    });
    debug_assert!(result.is_ok());
}

/// A written model as raw JSON, escaped as it will be on the wire.
pub(super) fn to_json<T: Wire>(value: &T) -> Json {
    let mut out = Vec::new();
    value.write(ValueWriter::new(&mut out, Escape::JsonAndSeparators));
    // A model writes one JSON value.
    Json::parse(out).unwrap_or_default()
}

/// A value as raw JSON, escaped as it will be on the wire: so an event that is read back equals
/// the one that was sent.
pub(super) fn encode<T: Serialize + ?Sized>(value: &T) -> Result<Json, WriteError> {
    let mut out = Vec::new();
    write(value, Escape::JsonAndSeparators, &mut out)?;
    // What was written is one JSON value.
    Ok(Json::parse(out).unwrap_or_default())
}

/// The members of an object with new ones behind them. A new one takes the place of all others of
/// its name.
pub(super) fn with_members(object: &Json, new: Vec<(String, Json)>) -> Json {
    let last: HashMap<&str, usize> = new
        .iter()
        .enumerate()
        .map(|(at, (key, _))| (key.as_str(), at))
        .collect();
    let kept = object
        .members()
        .filter(|(key, _)| !last.contains_key(&**key))
        .map(|(key, value)| (key.into_owned(), value));
    let added = new
        .iter()
        .enumerate()
        .filter(|(at, (key, _))| last.get(key.as_str()) == Some(at))
        .map(|(_, member)| member.clone());
    to_json(&kept.chain(added).collect::<Members>())
}

/// Reads a model from raw JSON.
pub(super) fn from_json<T: Wire>(json: &Json) -> Option<T> {
    T::read(&mut json.reader()).ok().flatten()
}

/// Lists a model's members under their wire names, in the order in which they are written.
///
/// The struct has `Default` and a member `unknown`. `always` marks what is written even when it
/// holds its default.
macro_rules! wire {
    ($model:ident { $($field:ident: $key:literal $($always:ident)?),* $(,)? }) => {
        impl $crate::openbb::wire::Wire for $model {
            fn read(
                reader: &mut $crate::json::Reader<'_>,
            ) -> Result<Option<Self>, $crate::json::JsonError> {
                if !reader.is($crate::json::Kind::Object) {
                    return Ok(None);
                }
                let mut model = Self::default();
                let mut unknown = $crate::json::Members::new();
                reader.object_keeping(&mut unknown, |reader, key| match &*key {
                    $($key => $crate::openbb::wire::take(
                        &mut model.$field,
                        reader,
                        wire!(@always $($always)?),
                    ),)*
                    _ => Ok(()),
                })?;
                model.unknown = unknown;
                Ok(Some(model))
            }

            fn write(&self, to: $crate::json::ValueWriter<'_>) {
                use $crate::openbb::wire::Wire;
                $crate::openbb::wire::object(to, |object| {
                    $(if wire!(@always $($always)?) || !Wire::is_absent(&self.$field) {
                        Wire::write(&self.$field, object.member($key));
                    })*
                    for (key, value) in self.unknown.iter() {
                        // What was set since it was read wins over what was read.
                        let free = match key {
                            $($key => !wire!(@always $($always)?) && Wire::is_absent(&self.$field),)*
                            _ => true,
                        };
                        if free {
                            object.member(key).raw(value);
                        }
                    }
                });
            }
        }

        impl $model {
            /// Reads one from raw JSON; `None` when it is not an object.
            #[must_use]
            pub fn from_json(json: &$crate::json::Json) -> Option<Self> {
                $crate::openbb::wire::from_json(json)
            }

            /// It as raw JSON, in the form of the wire.
            #[must_use]
            pub fn to_json(&self) -> $crate::json::Json {
                $crate::openbb::wire::to_json(self)
            }
        }

        impl serde::Serialize for $model {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                self.to_json().serialize(serializer)
            }
        }
    };
    (@always) => { false };
    (@always always) => { true };
}

/// Gives an enum with a last variant `Other(String)` its wire names.
macro_rules! wire_names {
    ($model:ident { $($variant:ident: $name:literal),* $(,)? }) => {
        impl $model {
            /// The name on the wire.
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

        impl $crate::openbb::wire::Wire for $model {
            fn read(
                reader: &mut $crate::json::Reader<'_>,
            ) -> Result<Option<Self>, $crate::json::JsonError> {
                Ok(reader.string()?.map(|name| Self::from(&*name)))
            }

            fn write(&self, to: $crate::json::ValueWriter<'_>) {
                to.str(self.as_str());
            }

            fn is_absent(&self) -> bool {
                self.as_str().is_empty()
            }
        }
    };
}

pub(super) use {wire, wire_names};

impl Wire for String {
    fn read(reader: &mut Reader<'_>) -> Result<Option<Self>, JsonError> {
        Ok(reader.string()?.map(Into::into))
    }

    fn write(&self, to: ValueWriter<'_>) {
        to.str(self);
    }

    fn is_absent(&self) -> bool {
        self.is_empty()
    }
}

impl Wire for bool {
    fn read(reader: &mut Reader<'_>) -> Result<Option<Self>, JsonError> {
        reader.bool()
    }

    fn write(&self, to: ValueWriter<'_>) {
        to.bool(*self);
    }

    fn is_absent(&self) -> bool {
        !self
    }
}

impl Wire for u64 {
    fn read(reader: &mut Reader<'_>) -> Result<Option<Self>, JsonError> {
        reader.u64()
    }

    fn write(&self, to: ValueWriter<'_>) {
        to.u64(*self);
    }
}

impl Wire for f64 {
    fn read(reader: &mut Reader<'_>) -> Result<Option<Self>, JsonError> {
        reader.f64()
    }

    fn write(&self, to: ValueWriter<'_>) {
        // A number that is none becomes null; nothing else can happen.
        let _ = to.value(self);
    }
}

impl Wire for Json {
    fn read(reader: &mut Reader<'_>) -> Result<Option<Self>, JsonError> {
        reader.value().map(Some)
    }

    fn write(&self, to: ValueWriter<'_>) {
        to.raw(self);
    }
}

impl Wire for Members {
    fn read(reader: &mut Reader<'_>) -> Result<Option<Self>, JsonError> {
        if !reader.is(Kind::Object) {
            return Ok(None);
        }
        let mut members = Self::new();
        reader.object_keeping(&mut members, |_, _| Ok(()))?;
        Ok(Some(members))
    }

    fn write(&self, to: ValueWriter<'_>) {
        object(to, |object| {
            object.members(self);
        });
    }

    fn is_absent(&self) -> bool {
        self.is_empty()
    }
}

impl<T: Wire> Wire for Option<T> {
    fn read(reader: &mut Reader<'_>) -> Result<Option<Self>, JsonError> {
        Ok(T::read(reader)?.map(Some))
    }

    fn write(&self, to: ValueWriter<'_>) {
        // An empty place becomes null.
        if let Some(value) = self {
            value.write(to);
        }
    }

    fn is_absent(&self) -> bool {
        self.is_none()
    }
}
