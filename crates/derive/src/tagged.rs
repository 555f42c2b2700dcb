//! Enums with values: objects that one member tells apart.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{DataEnum, DeriveInput, Error, Fields, Ident, LitStr, Result, Type, Variant};

use crate::attributes::{Case, Show, api, each, text};
use crate::names::other;

const VARIANT: &str = "`name`, `member`, `other`, ";

/// A variant and its options.
struct Choice<'a> {
    ident: &'a Ident,
    ty: Option<&'a Type>,
    name: Option<LitStr>,
    /// The member that has the value; without one the object is the value.
    member: Option<LitStr>,
    show: Show,
}

impl<'a> Choice<'a> {
    /// Reads a variant. The second value is `true` if it is for all other objects.
    fn parse(variant: &'a Variant) -> Result<(Self, bool)> {
        if variant.fields.len() > 1 || matches!(variant.fields, Fields::Named(_)) {
            return Err(Error::new_spanned(
                variant,
                "a variant has one value, or none",
            ));
        }
        let mut choice = Self {
            ident: &variant.ident,
            ty: variant.fields.iter().next().map(|field| &field.ty),
            name: None,
            member: None,
            show: Show::All,
        };
        let mut is_other = false;
        let known = format!("{VARIANT}{}", Show::OPTIONS);
        each(&variant.attrs, &known, |option, meta| {
            match option {
                "name" => choice.name = Some(text(meta)?),
                "member" => choice.member = Some(text(meta)?),
                "other" => is_other = true,
                option => return Ok(choice.show.option(option)),
            }
            Ok(true)
        })?;
        Ok((choice, is_other))
    }

    /// The value of the tag: given, that of the type, or the name of the variant.
    fn tag(&self) -> TokenStream {
        match (&self.name, self.ty) {
            (Some(name), _) => quote!(#name),
            (None, Some(ty)) => quote_spanned!(ty.span()=> <#ty as p::Wire>::TAG),
            (None, None) => {
                let name = Case::Snake.apply(self.ident);
                quote!(#name)
            }
        }
    }

    fn read(&self) -> TokenStream {
        let (ident, tag) = (self.ident, self.tag());
        match (&self.member, self.ty) {
            (Some(member), Some(_)) => {
                quote!(Some(kind) if kind == #tag => json.get(#member).and_then(|it| p::Wire::from_raw(&it)).map(Self::#ident),)
            }
            (None, Some(_)) => {
                quote!(Some(kind) if kind == #tag => p::Wire::from_raw(&json).map(Self::#ident),)
            }
            (_, None) => quote!(Some(kind) if kind == #tag => Some(Self::#ident),),
        }
    }

    fn write(&self, key: &LitStr) -> TokenStream {
        let (ident, tag) = (self.ident, self.tag());
        match (&self.member, self.ty) {
            (Some(member), Some(_)) => quote! {
                Self::#ident(value) => p::object(to, |object| {
                    object.str(#key, #tag);
                    p::Wire::write_to(value, object.member(#member));
                }),
            },
            (None, Some(_)) => quote!(Self::#ident(value) => p::Wire::write_to(value, to),),
            (_, None) => quote! {
                Self::#ident => p::object(to, |object| {
                    object.str(#key, #tag);
                }),
            },
        }
    }

    /// The conversion of a payload that is the object.
    fn from(&self, name: &Ident) -> Option<TokenStream> {
        let (ident, ty) = (self.ident, self.ty?);
        self.member.is_none().then(|| {
            quote! {
                impl ::core::convert::From<#ty> for #name {
                    fn from(value: #ty) -> Self {
                        Self::#ident(value)
                    }
                }
            }
        })
    }

    fn debug(&self) -> TokenStream {
        let (ident, title) = (self.ident, self.ident.to_string());
        match self.ty {
            Some(_) => {
                let value = self.show.shown(quote!(value));
                quote!(Self::#ident(value) => f.debug_tuple(#title).field(#value).finish(),)
            }
            None => quote!(Self::#ident => f.write_str(#title),),
        }
    }
}

pub(crate) fn derive(input: &DeriveInput, data: &DataEnum) -> Result<TokenStream> {
    let name = &input.ident;
    let (mut key, mut expected) = (None, None);
    each(&input.attrs, "`tag`, `expected`", |option, meta| {
        match option {
            "tag" => key = Some(text(meta)?),
            "expected" => expected = Some(text(meta)?),
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    let (mut choices, mut others, mut debugs) = (Vec::new(), Vec::new(), Vec::new());
    let mut is_redacted = false;
    for variant in &data.variants {
        let (choice, is_other) = Choice::parse(variant)?;
        debugs.push(choice.debug());
        is_redacted |= choice.show != Show::All;
        match is_other {
            true => others.push(variant),
            false => choices.push(choice),
        }
    }
    let Some(key) = key else {
        return Err(Error::new_spanned(name, "the enum has no `tag`"));
    };
    let other = &other(name, others.into_iter())?.ident;
    let expected = expected.map(|it| quote!(const EXPECTED: &'static str = #it;));
    let reads = choices.iter().map(Choice::read);
    let writes = choices.iter().map(|it| it.write(&key));
    let froms = choices.iter().filter_map(|it| it.from(name));
    let api = api(name);
    let debug = is_redacted.then(|| {
        quote! {
            impl ::core::fmt::Debug for #name {
                fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                    match self { #(#debugs)* }
                }
            }
        }
    });
    Ok(quote! {
        #[allow(unused_qualifications)]
        const _: () = {
            use ::copilot_wire::__private as p;
            use ::copilot_wire::json::{Json, JsonError, Kind, Reader, ValueWriter};

            impl p::Wire for #name {
                #expected

                fn read_from(reader: &mut Reader<'_>) -> Result<Option<Self>, JsonError> {
                    if !reader.is(Kind::Object) {
                        return Ok(None);
                    }
                    let json = reader.value()?;
                    let kind = json.get(#key);
                    let kind = kind.as_ref().and_then(Json::string);
                    let known = match kind.as_deref() {
                        #(#reads)*
                        _ => None,
                    };
                    // A known type with invalid members is retained like an unknown one.
                    Ok(Some(known.unwrap_or(Self::#other(json))))
                }

                fn write_to(&self, to: ValueWriter<'_>) {
                    match self {
                        #(#writes)*
                        Self::#other(json) => to.raw(json),
                    }
                }
            }
        };

        #(#froms)*

        #debug

        #api
    })
}
