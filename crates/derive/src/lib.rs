//! Derives for the messages and events of copilot-wire, in which a member is named once.
//!
//! The crate `copilot-wire` exports them, with their documentation, as `json::Wire`.

mod attributes;
mod model;
mod names;
mod tagged;

use proc_macro::TokenStream;
use syn::{Data, DeriveInput, Error, Result, parse_macro_input};

/// Implements `copilot_wire::json::Wire`, which documents the attributes.
#[proc_macro_derive(Wire, attributes(wire))]
pub fn wire(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    let tokens = derive_wire(&input);
    tokens.unwrap_or_else(Error::into_compile_error).into()
}

fn derive_wire(input: &DeriveInput) -> Result<proc_macro2::TokenStream> {
    if let Some(generic) = input.generics.params.first() {
        return Err(Error::new_spanned(generic, "`Wire` has no generic types"));
    }
    match &input.data {
        Data::Struct(data) => model::derive(input, &data.fields),
        Data::Enum(data) if attributes::has(&input.attrs, "tag") => tagged::derive(input, data),
        Data::Enum(data) => names::derive(input, data),
        Data::Union(_) => Err(Error::new_spanned(&input.ident, "a union is no JSON value")),
    }
}
