//! Declarations for protocols whose events are JSON objects, each of a type that it names.

/// Declares payloads: a struct and a model each, whose type on the wire is fixed. All have the
/// members in front.
macro_rules! payloads {
    ($shared:tt $(
        $(#[$doc:meta])*
        $name:ident = $type:literal $own:tt
    )*) => {$(
        $crate::protocol::typed::payloads!(@one $(#[$doc])* $name = $type $own $shared);
    )*};
    (@one $(#[$doc:meta])* $name:ident = $type:literal
        { $($(#[$field_doc:meta])* $field:ident: $kind:ty = $key:literal $($always:ident)?,)* }
        { $($(#[$shared_doc:meta])* $shared:ident: $shared_kind:ty = $shared_key:literal,)* }
    ) => {
        $(#[$doc])*
        #[derive(Clone, Default, PartialEq, Eq, $crate::json::Wire)]
        #[non_exhaustive]
        #[wire(fixed(type = $type))]
        pub struct $name {
            $($(#[$field_doc])* #[wire(name = $key $(, $always)?)] pub $field: $kind,)*
            $($(#[$shared_doc])* #[wire(name = $shared_key)] pub $shared: $shared_kind,)*
            /// Members that this crate does not know. Replies leave them out: clients may fail at them.
            pub unknown: $crate::json::Members,
        }

        impl $name {
            /// The members that a reader demands.
            pub(super) const REQUIRED: &'static [&'static str] =
                &[$($($crate::protocol::typed::payloads!(@required $always $key),)?)*];

            /// Returns `true` if `json`, which this was read from, has all members that a reader
            /// demands, each of the right type.
            pub(super) fn is_whole(&self, json: &Json) -> bool {
                Self::REQUIRED
                    .iter()
                    // A member of another type is among the unknown ones.
                    .all(|name| json.get(name).is_some() && self.unknown.get(name).is_none())
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_struct(stringify!($name))
                    $(.field(stringify!($field), match stringify!($field) {
                        "delta" | "encrypted_value" | "error_text" | "filename" | "input_text_delta" | "message" | "title" | "url" => {
                            &$crate::protocol::redacted::Hidden
                        }
                        _ => &self.$field as &dyn std::fmt::Debug,
                    }))*
                    $(.field(stringify!($shared), &self.$shared))*
                    .field("unknown", &self.unknown)
                    .finish()
            }
        }
    };
    (@required always $key:literal) => { $key };
}
pub(crate) use payloads;

/// Declares `Output`, a subset of the variants of `Event` that each hold a type of their own name.
macro_rules! outputs {
    ($(#[$enum_doc:meta])* $($name:ident: $doc:literal,)*) => {
        $(#[$enum_doc])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum Output {
            $(#[doc = $doc] $name($name),)*
        }

        impl From<Output> for Event {
            fn from(output: Output) -> Self {
                match output {
                    $(Output::$name(event) => Self::$name(event),)*
                }
            }
        }

        $(impl From<$name> for Output {
            fn from(event: $name) -> Self {
                Self::$name(event)
            }
        })*
    };
}
pub(crate) use outputs;
