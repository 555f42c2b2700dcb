//! Enums with values: objects that one member tells apart.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::ext::IdentExt as _;
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

    /// The type of a value that is the whole object.
    fn object(&self) -> Option<&'a Type> {
        self.ty.filter(|_| self.member.is_none())
    }

    /// The value of the tag: that of the object, given, or the name of the variant.
    fn tag(&self) -> TokenStream {
        match (self.object(), &self.name) {
            (Some(ty), _) => {
                quote_spanned!(ty.span()=> <#ty as ::copilot_wire::__private::Wire>::TAG)
            }
            (None, Some(name)) => quote!(#name),
            (None, None) => {
                let name = Case::Snake.apply(self.ident);
                quote!(#name)
            }
        }
    }

    /// The check that the object has a tag, which writes it.
    fn check(&self) -> Result<Option<TokenStream>> {
        let Some(ty) = self.object() else {
            return Ok(None);
        };
        if let Some(name) = &self.name {
            let message = "the name is that of the value, which is `fixed` by its struct";
            return Err(Error::new_spanned(name, message));
        }
        let message =
            "the struct has no tag: write `#[wire(fixed(…))]` on it, or `member` on the variant";
        let tag = self.tag();
        Ok(Some(quote_spanned! {ty.span()=>
            const _: () = ::core::assert!(!#tag.is_empty(), #message);
        }))
    }

    fn read(&self) -> TokenStream {
        let (ident, tag) = (self.ident, self.tag());
        match (&self.member, self.ty) {
            (Some(member), Some(_)) => {
                quote!(::core::option::Option::Some(kind) if kind == #tag => json.get(#member).and_then(|it| ::copilot_wire::__private::Wire::from_raw(&it)).map(Self::#ident),)
            }
            (None, Some(_)) => {
                quote!(::core::option::Option::Some(kind) if kind == #tag => ::copilot_wire::__private::Wire::from_raw(&json).map(Self::#ident),)
            }
            (_, None) => {
                quote!(::core::option::Option::Some(kind) if kind == #tag => ::core::option::Option::Some(Self::#ident),)
            }
        }
    }

    fn write(&self, key: &LitStr) -> TokenStream {
        let (ident, tag) = (self.ident, self.tag());
        match (&self.member, self.ty) {
            (Some(member), Some(_)) => quote! {
                Self::#ident(value) => ::copilot_wire::__private::object(to, |object| {
                    object.str(#key, #tag);
                    ::copilot_wire::__private::Wire::write_to(value, object.member(#member));
                }),
            },
            (None, Some(_)) => {
                quote!(Self::#ident(value) => ::copilot_wire::__private::Wire::write_to(value, to),)
            }
            (_, None) => quote! {
                Self::#ident => ::copilot_wire::__private::object(to, |object| {
                    object.str(#key, #tag);
                }),
            },
        }
    }

    /// The conversion of a payload that is the object.
    fn from(&self, name: &Ident) -> Option<TokenStream> {
        let (ident, ty) = (self.ident, self.object()?);
        Some(quote! {
            impl ::core::convert::From<#ty> for #name {
                fn from(value: #ty) -> Self {
                    Self::#ident(value)
                }
            }
        })
    }

    fn debug(&self) -> TokenStream {
        let (ident, title) = (self.ident, self.ident.unraw().to_string());
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
    let checks = choices.iter().map(Choice::check);
    let checks: Vec<_> = checks.collect::<Result<_>>()?;
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
        impl ::copilot_wire::__private::Wire for #name {
            #expected

            fn read_from(reader: &mut ::copilot_wire::json::Reader<'_>) -> ::core::result::Result<::core::option::Option<Self>, ::copilot_wire::json::JsonError> {
                if !reader.is(::copilot_wire::json::Kind::Object) {
                    return ::core::result::Result::Ok(::core::option::Option::None);
                }
                let json = reader.value()?;
                let kind = json.get(#key);
                let kind = kind.as_ref().and_then(::copilot_wire::json::Json::string);
                let known = match kind.as_deref() {
                    #(#reads)*
                    _ => ::core::option::Option::None,
                };
                // A known type with invalid members is retained like an unknown one.
                ::core::result::Result::Ok(::core::option::Option::Some(known.unwrap_or(Self::#other(json))))
            }

            fn write_to(&self, to: ::copilot_wire::json::ValueWriter<'_>) {
                match self {
                    #(#writes)*
                    Self::#other(json) => to.raw(json),
                }
            }
        }

        #(#checks)*

        #(#froms)*

        #debug

        #api
    })
}
