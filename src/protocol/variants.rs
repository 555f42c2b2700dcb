//! Conversion of values to the enums that they are variants of.

/// Implements `From` for the values of variants.
macro_rules! from_values {
    ($for:ident { $($variant:ident($value:ty)),* $(,)? }) => {$(
        impl From<$value> for $for {
            fn from(value: $value) -> Self {
                Self::$variant(value)
            }
        }
    )*};
}
pub(crate) use from_values;
