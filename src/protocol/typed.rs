//! A macro that declares the events of a protocol as structs, each with a fixed type.

/// Declares the payloads of a protocol whose events are JSON objects with a type: one struct for each type. Options of
/// [`Wire`](crate::json::Wire) are in brackets after the name and after a field. All structs have the fields of the
/// first block, and a field `unknown` with the members that are not declared.
///
/// ```
/// use copilot_wire::json::Wire as _;
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
            /// Members that this crate does not know. Replies leave them out, because clients may fail at them.
            pub unknown: $crate::json::Members,
        }
    };
}
