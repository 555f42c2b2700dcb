//! The derive for enums with values: objects whose tag determines the variant.

use proc_macro2::TokenStream;
use quote::{format_ident, quote, quote_spanned};
use syn::ext::IdentExt as _;
use syn::spanned::Spanned;
use syn::{DataEnum, DeriveInput, Error, Fields, Ident, LitStr, Result, Type, Variant};

use crate::attributes::{Case, Options, Show};
use crate::model;
use crate::names::other;

const VARIANT: &str = "name member other content hidden cut secret";

/// A variant and its options.
pub(crate) struct Choice<'a> {
    pub(crate) ident: &'a Ident,
    pub(crate) form: Form<'a>,
    name: Option<LitStr>,
    case: Case,
}

/// The members of the object besides the tag.
pub(crate) enum Form<'a> {
    Nothing,
    /// The members of the value, which include the tag.
    Object(&'a Type),
    /// One member, which has the value.
    Member(LitStr),
    /// One member for each field.
    Fields(Vec<(&'a Ident, String)>),
}

impl<'a> Choice<'a> {
    pub(crate) fn new(variant: &'a Variant, case: Case, options: &Options) -> Result<Self> {
        let mut fields = variant.fields.iter();
        let member = options.text("member")?;
        let form = match (&variant.fields, member, fields.next(), fields.next()) {
            (Fields::Unit, None, ..) => Form::Nothing,
            (Fields::Unnamed(_), Some(member), Some(_), None) => Form::Member(member),
            (Fields::Unnamed(_), None, Some(field), None) => Form::Object(&field.ty),
            (Fields::Named(fields), None, ..) => {
                let idents = fields.named.iter().filter_map(|it| it.ident.as_ref());
                Form::Fields(idents.map(|it| (it, case.apply(it))).collect())
            }
            _ => {
                let message = "a variant has one value, or none";
                return Err(Error::new_spanned(variant, message));
            }
        };
        Ok(Self {
            ident: &variant.ident,
            form,
            name: options.text("name")?,
            case,
        })
    }

    /// Returns the value of the tag: the tag of the object, the given name, or the name of the variant.
    pub(crate) fn tag(&self) -> TokenStream {
        match (&self.form, &self.name) {
            (Form::Object(ty), _) => {
                quote_spanned!(ty.span()=> <#ty as ::copilot_wire::__private::Wire>::TAG)
            }
            (_, Some(name)) => quote!(#name),
            (_, None) => {
                let name = self.case.apply(self.ident);
                quote!(#name)
            }
        }
    }

    /// Returns the compile-time check that an object has a tag.
    pub(crate) fn check(&self) -> Result<Option<TokenStream>> {
        let Form::Object(ty) = self.form else {
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

    /// Returns the expression that reads the variant with `reader`, which is at the object. `object` is a function that
    /// reads an object.
    pub(crate) fn read(&self, object: &TokenStream) -> TokenStream {
        let ident = self.ident;
        let (keys, names, variant) = match &self.form {
            Form::Nothing => return quote!(::core::option::Option::Some(Self::#ident)),
            Form::Object(_) => return quote!(#object(reader).map(Self::#ident)),
            Form::Member(key) => (
                vec![key.value()],
                vec![format_ident!("value")],
                quote!((value)),
            ),
            Form::Fields(fields) => {
                let (idents, keys): (Vec<_>, Vec<_>) = fields.iter().cloned().unzip();
                let names: Vec<_> = idents
                    .iter()
                    .map(|it| format_ident!("field_{it}"))
                    .collect();
                let variant = quote!({ #(#idents: #names),* });
                (keys, names, variant)
            }
        };
        quote!({
            #(let mut #names = ::core::option::Option::None;)*
            reader.object(|reader, key| {
                match key {
                    #(#keys => #names = ::copilot_wire::__private::read(reader),)*
                    _ => {}
                }
                ::core::result::Result::Ok(())
            })?;
            match (#(#names,)*) {
                (#(::core::option::Option::Some(#names),)*) => ::core::option::Option::Some(Self::#ident #variant),
                _ => ::core::option::Option::None,
            }
        })
    }

    /// Returns the match arm that writes the variant with the writer `to`.
    pub(crate) fn write(&self, key: &LitStr, to: &TokenStream) -> TokenStream {
        let (ident, tag) = (self.ident, self.tag());
        let (fields, values, keys) = match &self.form {
            Form::Object(_) => {
                return quote!(Self::#ident(value) => ::copilot_wire::__private::Wire::write_to(value, #to),);
            }
            Form::Nothing => (quote!(), vec![], vec![]),
            Form::Member(key) => (quote!((value)), vec![quote!(value)], vec![key.value()]),
            Form::Fields(fields) => {
                let (idents, keys): (Vec<_>, Vec<_>) = fields.iter().cloned().unzip();
                // The prefix keeps these names apart from other variables.
                let names = idents.iter().map(|it| format_ident!("field_{it}"));
                let values: Vec<_> = names.map(|it| quote!(#it)).collect();
                (quote!({ #(#idents: #values),* }), values, keys)
            }
        };
        let key = model::key(&key.value());
        let keys = keys.iter().map(|key| model::key(key));
        quote! {
            Self::#ident #fields => ::copilot_wire::__private::object(#to, |object| {
                #key.str(#tag);
                #(::copilot_wire::__private::Wire::write_to(#values, #keys);)*
            }),
        }
    }

    /// Returns the match arm that visits the strings of the variant.
    fn visit(&self) -> TokenStream {
        let ident = self.ident;
        match self.form {
            Form::Object(_) | Form::Member(_) => {
                quote!(Self::#ident(value) => ::copilot_wire::__private::Wire::each_string(value, each),)
            }
            _ => quote!(Self::#ident { .. } => {}),
        }
    }

    /// Returns the match arm that visits what the variant retains.
    fn visit_odd(&self) -> TokenStream {
        let ident = self.ident;
        let place = match &self.form {
            Form::Object(_) => quote!(place),
            Form::Member(name) => quote!(&place.member(#name)),
            _ => return quote!(Self::#ident { .. } => {}),
        };
        quote!(Self::#ident(value) => ::copilot_wire::__private::Wire::each_odd(value, #place, each),)
    }

    /// Returns the conversion from a payload that is an object.
    pub(crate) fn from(&self, name: &Ident) -> Option<TokenStream> {
        let Form::Object(ty) = self.form else {
            return None;
        };
        let ident = self.ident;
        Some(quote! {
            impl ::core::convert::From<#ty> for #name {
                fn from(value: #ty) -> Self {
                    Self::#ident(value)
                }
            }
        })
    }

    fn debug(&self, show: Show) -> TokenStream {
        let (ident, title) = (self.ident, self.ident.unraw().to_string());
        match self.form {
            Form::Nothing => quote!(Self::#ident => f.write_str(#title),),
            _ => {
                let value = show.shown(quote!(value));
                quote!(Self::#ident(value) => f.debug_tuple(#title).field(#value).finish(),)
            }
        }
    }
}

pub(crate) fn derive(
    input: &DeriveInput,
    data: &DataEnum,
    options: &Options,
    key: &LitStr,
) -> Result<TokenStream> {
    let name = &input.ident;
    let case = Case::parse(options)?;
    let expected = options.text("expected")?;
    let (mut choices, mut others, mut debugs) = (Vec::new(), Vec::new(), Vec::new());
    let mut is_redacted = false;
    for variant in &data.variants {
        if let Fields::Named(fields) = &variant.fields {
            let message = "a variant has one value, or none";
            return Err(Error::new_spanned(fields, message));
        }
        let options = Options::parse(&variant.attrs, "wire", VARIANT)?;
        let choice = Choice::new(variant, case, &options)?;
        let show = Show::parse(&options)?;
        debugs.push(choice.debug(show));
        is_redacted |= show != Show::All;
        match options.has("other")? {
            true => others.push(variant),
            false => choices.push(choice),
        }
    }
    let other = &other(name, others.into_iter())?.ident;
    let checks = choices.iter().map(Choice::check);
    let checks: Vec<_> = checks.collect::<Result<_>>()?;
    let expected = expected.map(|it| quote!(const EXPECTED: &'static str = #it;));
    let object = quote!(::copilot_wire::__private::read);
    let (tags, reads): (Vec<_>, Vec<_>) = choices
        .iter()
        .map(|it| (it.tag(), it.read(&object)))
        .unzip();
    let to = quote!(to);
    let writes = choices.iter().map(|it| it.write(key, &to));
    let visits = choices.iter().map(Choice::visit);
    let odd = choices.iter().map(Choice::visit_odd);
    let froms = choices.iter().filter_map(|it| it.from(name));
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
            const NEVER_EMPTY: bool = true;

            fn read_from(reader: &mut ::copilot_wire::json::Reader<'_>) -> ::core::result::Result<::core::option::Option<Self>, ::copilot_wire::json::JsonError> {
                if !reader.is(::copilot_wire::json::Kind::Object) {
                    return ::core::result::Result::Ok(::core::option::Option::None);
                }
                let mut start = reader.clone();
                let kind = reader.member(#key, ::copilot_wire::json::Reader::string)?;
                let known = {
                    #[allow(unused_variables)]
                    let reader = &mut start.clone();
                    match kind.as_deref() {
                        #(::core::option::Option::Some(kind) if kind == #tags => #reads,)*
                        _ => ::core::option::Option::None,
                    }
                };
                // A known type with invalid members is retained like an unknown one.
                ::core::result::Result::Ok(::core::option::Option::Some(match known {
                    ::core::option::Option::Some(known) => known,
                    ::core::option::Option::None => Self::#other(start.value()?),
                }))
            }

            fn write_to(&self, to: ::copilot_wire::json::ValueWriter<'_>) {
                match self {
                    #(#writes)*
                    Self::#other(json) => to.raw(json),
                }
            }

            fn each_string(&self, each: &mut dyn ::core::ops::FnMut(&str)) {
                match self {
                    #(#visits)*
                    Self::#other(json) => json.each_string(each),
                }
            }

            fn each_odd(&self, place: &::copilot_wire::json::Place<'_>, each: &mut dyn ::core::ops::FnMut(&::copilot_wire::json::Place<'_>, &::copilot_wire::json::Json)) {
                match self {
                    #(#odd)*
                    Self::#other(_) => {}
                }
            }
        }

        #(#checks)*

        #(#froms)*

        #debug

        ::copilot_wire::__serde!(#name);
    })
}
