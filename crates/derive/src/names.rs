//! The derive for enums without values: strings, of which some are known.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{DataEnum, DeriveInput, Error, Fields, Ident, Result, Variant};

use crate::attributes::{Case, Options};

/// Returns the variant that is marked `other`, for all values without a variant of their own.
pub(crate) fn other<'a>(
    name: &Ident,
    mut others: impl Iterator<Item = &'a Variant>,
) -> Result<&'a Variant> {
    match (others.next(), others.next()) {
        (Some(other), None) if !matches!(&other.fields, Fields::Unnamed(it) if it.unnamed.len() == 1) =>
        {
            let message = "the variant holds what is unknown: `Other(String)`, or `Other(Json)` in an enum of objects";
            Err(Error::new_spanned(other, message))
        }
        (Some(other), None) => Ok(other),
        (Some(_), Some(second)) => Err(Error::new_spanned(
            second,
            "two variants are marked `other`",
        )),
        (None, _) => {
            let message =
                "one variant is marked `other`: newer peers send what this crate does not know";
            Err(Error::new_spanned(name, message))
        }
    }
}

pub(crate) fn derive(
    input: &DeriveInput,
    data: &DataEnum,
    options: &Options,
) -> Result<TokenStream> {
    let name = &input.ident;
    let case = Case::parse(options)?;
    let is_empty = options.has("empty")?;
    let (mut idents, mut names, mut others) = (Vec::new(), Vec::new(), Vec::new());
    for variant in &data.variants {
        let options = Options::parse(&variant.attrs, "wire", "name other")?;
        if options.has("other")? {
            others.push(variant);
            continue;
        }
        if !variant.fields.is_empty() {
            let message = "a name has no value; objects are told apart with `#[wire(tag = \"type\")]` on the enum";
            return Err(Error::new_spanned(variant, message));
        }
        let wire = options.text("name")?;
        idents.push(&variant.ident);
        names.push(wire.map_or_else(|| case.apply(&variant.ident), |name| name.value()));
    }
    let other = &other(name, others.into_iter())?.ident;
    let default = is_empty.then(|| {
        quote! {
            impl ::core::default::Default for #name {
                fn default() -> Self {
                    Self::#other(::std::string::String::new())
                }
            }
        }
    });
    Ok(quote! {
        impl #name {
            /// Returns the name on the wire.
            #[must_use]
            pub fn as_str(&self) -> &str {
                match self {
                    #(Self::#idents => #names,)*
                    Self::#other(name) => name,
                }
            }
        }

        impl ::core::convert::From<&str> for #name {
            fn from(name: &str) -> Self {
                match name {
                    #(#names => Self::#idents,)*
                    _ => Self::#other(::std::borrow::ToOwned::to_owned(name)),
                }
            }
        }

        impl ::core::convert::From<::std::string::String> for #name {
            fn from(name: ::std::string::String) -> Self {
                Self::from(&*name)
            }
        }

        impl ::core::str::FromStr for #name {
            type Err = ::core::convert::Infallible;

            fn from_str(name: &str) -> ::core::result::Result<Self, Self::Err> {
                ::core::result::Result::Ok(Self::from(name))
            }
        }

        impl ::core::fmt::Display for #name {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl ::copilot_wire::json::Wire for #name {
            const EXPECTED: &'static str = "a name";

            fn read_from(
                reader: &mut ::copilot_wire::json::Reader<'_>,
            ) -> ::core::result::Result<::core::option::Option<Self>, ::copilot_wire::json::JsonError> {
                ::core::result::Result::Ok(reader.string()?.map(|name| Self::from(&*name)))
            }

            fn write_to(&self, to: ::copilot_wire::json::ValueWriter<'_>) {
                to.str(self.as_str());
            }

            fn is_absent(&self) -> bool {
                self.as_str().is_empty()
            }
        }

        #default
        ::copilot_wire::__serde!(#name);
    })
}
