//! Declarations for protocols whose events are JSON objects, each of a type that it names.

/// Declares the payloads of a protocol whose events are JSON objects, each of a type that it names: a struct each, whose
/// type on the wire is fixed. Options of [`Wire`](crate::json::Wire) are in brackets, behind the name and behind a
/// field. All have the fields in front, and the members that are not known as `unknown`.
///
/// ```
/// use copilot_wire::payloads;
///
/// payloads! {
///     {
///         /// The time in milliseconds since 1970.
///         timestamp: Option<u64>,
///     }
///
///     /// The beginning of a page.
///     PageStart = "page-start" [new = "Creates the beginning of a page."] {
///         /// The number of the page.
///         number: u32 [always, new],
///         /// The title.
///         page_title: String,
///     }
/// }
///
/// let page = PageStart::new(3u32);
/// assert_eq!(page.to_json(), r#"{"type":"page-start","number":3}"#);
/// ```
#[macro_export]
macro_rules! payloads {
    ($shared:tt $(
        $(#[$doc:meta])*
        $name:ident = $type:literal $([$($option:tt)*])? { $($own:tt)* }
    )*) => {$(
        $crate::payloads!(@one $(#[$doc])* $name = $type [$($($option)*)?] { $($own)* } $shared);
    )*};
    (@one $(#[$doc:meta])* $name:ident = $type:literal [$($option:tt)*]
        { $($(#[$field_doc:meta])* $field:ident: $kind:ty $([$($field_option:tt)*])?,)* }
        { $($(#[$shared_doc:meta])* $shared:ident: $shared_kind:ty,)* }
    ) => {
        $(#[$doc])*
        #[derive(Clone, Default, PartialEq, Eq, $crate::json::Wire)]
        #[non_exhaustive]
        #[wire(fixed(type = $type), rename_all = "camelCase", debug, $($option)*)]
        pub struct $name {
            $($(#[$field_doc])* $(#[wire($($field_option)*)])? pub $field: $kind,)*
            $($(#[$shared_doc])* pub $shared: $shared_kind,)*
            /// Members that this crate does not know. Replies leave them out: clients may fail at them.
            pub unknown: $crate::json::Members,
        }
    };
}
