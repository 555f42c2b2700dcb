//! Derives for the messages and events of copilot-wire, in which each member is named once.
//!
//! The crate `copilot-wire` exports these derives, with their documentation, as `json::Wire` and
//! `protocol::FrameEvent`.

mod attributes;
mod event;
mod model;
mod names;
mod tagged;

use attributes::Options;
use proc_macro::TokenStream;
use syn::{Data, DeriveInput, Error, Result, parse_macro_input};

/// Implements `copilot_wire::json::Wire`, which documents the attributes.
#[proc_macro_derive(Wire, attributes(wire))]
pub fn wire(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    derived(&input, |input| match &input.data {
        Data::Struct(data) => model::derive(input, &data.fields),
        Data::Enum(data) => {
            let options = Options::parse(&input.attrs, "wire", "rename_all tag expected empty")?;
            match options.text("tag")? {
                Some(key) => tagged::derive(input, data, &options, &key),
                None => names::derive(input, data, &options),
            }
        }
        Data::Union(_) => Err(Error::new_spanned(&input.ident, "a union is no JSON value")),
    })
}

/// Implements `copilot_wire::protocol::FrameEvent`, which documents the attributes.
#[proc_macro_derive(FrameEvent, attributes(event))]
pub fn frame_event(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    derived(&input, |input| match &input.data {
        Data::Enum(data) => event::derive(input, data),
        _ => Err(Error::new_spanned(&input.ident, "events are an enum")),
    })
}

fn derived(
    input: &DeriveInput,
    derive: impl FnOnce(&DeriveInput) -> Result<proc_macro2::TokenStream>,
) -> TokenStream {
    let tokens = match input.generics.params.first() {
        Some(generic) => Err(Error::new_spanned(generic, "no generic types")),
        None => derive(input),
    };
    tokens.unwrap_or_else(Error::into_compile_error).into()
}
