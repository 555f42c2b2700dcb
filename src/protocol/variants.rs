//! Conversion of values into the enums whose variants contain them.

/// Implements `From` for each variant's value.
///
/// ```
/// enum Ending {
///     Stopped(u32),
///     Failed(String),
/// }
///
/// copilot_wire::from_values!(Ending { Stopped(u32), Failed(String) });
///
/// assert!(matches!(Ending::from(7), Ending::Stopped(7)));
/// ```
#[macro_export]
macro_rules! from_values {
    ($for:ident { $($variant:ident($value:ty)),* $(,)? }) => {$(
        impl ::core::convert::From<$value> for $for {
            fn from(value: $value) -> Self {
                Self::$variant(value)
            }
        }
    )*};
}
