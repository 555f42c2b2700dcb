//! The derive for structs: objects with known members.

use std::collections::BTreeSet;

use proc_macro2::TokenStream;
use quote::{ToTokens as _, quote, quote_spanned};
use syn::ext::IdentExt as _;
use syn::spanned::Spanned;
use syn::{
    DeriveInput, Error, Field, Fields, Ident, LitBool, LitStr, MetaList, Path, Result, Type,
};

use crate::attributes::{Case, Options, Show, argument, is};

const STRUCT: &str = "fixed rename_all also_snake_case null_is_absent empty_is_absent never_empty escape complete debug new";
const FIELD: &str = "name always read skip new into set content hidden cut secret";

/// The options of a struct.
struct Model {
    fixed: Option<Fixed>,
    case: Case,
    /// `true` if the names of the fields are read too.
    also_snake_case: bool,
    null_is_absent: bool,
    empty_is_absent: bool,
    never_empty: bool,
    escape: Option<Ident>,
    complete: Option<Ident>,
    debug: bool,
    new: Option<LitStr>,
}

/// A member that has the same value in all instances.
struct Fixed {
    key: String,
    value: LitStr,
    /// The member after which this one is written. `None` if it is written first.
    after: Option<Ident>,
}

impl Model {
    fn parse(input: &DeriveInput) -> Result<Self> {
        let options = Options::parse(&input.attrs, "wire", STRUCT)?;
        Ok(Self {
            fixed: options.list("fixed")?.map(Fixed::parse).transpose()?,
            case: Case::parse(&options)?,
            also_snake_case: options.has("also_snake_case")?,
            null_is_absent: options.has("null_is_absent")?,
            empty_is_absent: options.has("empty_is_absent")?,
            never_empty: options.has("never_empty")?,
            escape: options.value("escape")?,
            complete: options.value("complete")?,
            debug: options.has("debug")?,
            new: options.text("new")?,
        })
    }
}

impl Fixed {
    fn parse(list: &MetaList) -> Result<Self> {
        let (mut fixed, mut after) = (Vec::new(), None);
        list.parse_nested_meta(|meta| {
            let key = meta.path.require_ident()?.unraw().to_string();
            match &*key {
                "after" => after = Some(meta.value()?.parse()?),
                _ => fixed.push((key, meta.value()?.parse()?)),
            }
            Ok(())
        })?;
        match (fixed.pop(), fixed.is_empty()) {
            (Some((key, value)), true) => Ok(Self { key, value, after }),
            _ => {
                let message =
                    "a struct has one member that is `fixed`, such as `fixed(type = \"text\")`";
                Err(Error::new_spanned(list, message))
            }
        }
    }

    fn write(&self) -> TokenStream {
        let Self { key, value, .. } = self;
        let member = self::key(key);
        quote!(if !is_retained(#key) { #member.str(#value); })
    }
}

/// A field and its options.
struct Member<'a> {
    ident: &'a Ident,
    ty: &'a Type,
    key: String,
    always: bool,
    read: Option<Path>,
    skip: bool,
    new: bool,
    /// `true` if `new` and the setter take a list of values that convert into the items.
    into: bool,
    set: Option<LitStr>,
    show: Show,
}

impl<'a> Member<'a> {
    fn parse(field: &'a Field, case: Case) -> Result<Self> {
        let Some(ident) = &field.ident else {
            return Err(Error::new_spanned(field, "a model has named fields"));
        };
        let options = Options::parse(&field.attrs, "wire", FIELD)?;
        let name = options.text("name")?;
        Ok(Self {
            ident,
            ty: &field.ty,
            key: name.map_or_else(|| case.apply(ident), |name| name.value()),
            always: options.has("always")?,
            read: options.value("read")?,
            skip: options.has("skip")?,
            new: options.has("new")?,
            into: options.has("into")?,
            set: options.text("set")?,
            show: Show::parse(&options)?,
        })
    }

    /// Returns the pattern of the names by which the member is read.
    fn names(&self, also_snake_case: bool) -> TokenStream {
        let (key, snake_case) = (&self.key, self.ident.unraw().to_string());
        let alias = (also_snake_case && snake_case != *key).then(|| quote!(| #snake_case));
        quote!(#key #alias)
    }

    /// Returns the match arm that reads the member.
    fn take(&self, also_snake_case: bool, null_is_absent: bool) -> TokenStream {
        let Self { ident, always, .. } = self;
        let read = match &self.read {
            Some(path) => quote!(#path),
            // With the span of the type, where the compiler reports a type that does not implement `Wire`.
            None => quote_spanned!(self.ty.span()=> ::copilot_wire::__private::Wire::read_from),
        };
        let names = self.names(also_snake_case);
        quote!(#names => ::copilot_wire::__private::take(&mut model.#ident, reader, (#always, #null_is_absent), #read),)
    }

    /// Returns the statement that writes the member.
    fn write(&self) -> TokenStream {
        let Self {
            ident, key, always, ..
        } = self;
        let is_written = match always {
            true => LitBool::new(true, ident.span()).into_token_stream(),
            false => quote!(!::copilot_wire::__private::Wire::is_absent(&self.#ident)),
        };
        let member = self::key(key);
        quote! {
            if #is_written && !(is_retained(#key) && ::copilot_wire::__private::is_unset(&self.#ident, #always)) {
                ::copilot_wire::__private::Wire::write_to(&self.#ident, #member);
            }
        }
    }

    /// Returns the parameter of `new` and a setter, and the expression for the value of the field.
    fn parameter(&self) -> (TokenStream, TokenStream) {
        let (name, ty) = (self.ident, self.ty);
        let is_plain = |ty: &Type| is(ty, &["bool", "u32", "u64", "f64", "Json", "Members"]);
        if let Some(item) = argument(ty, "List").or_else(|| argument(ty, "Vec")) {
            // Only with `into`: the compiler could not infer the item type of an empty list.
            let (item, items) = match self.into {
                true => (
                    quote!(impl ::core::convert::Into<#item>),
                    quote!(#name.into_iter().map(::core::convert::Into::into)),
                ),
                false => (quote!(#item), quote!(#name.into_iter())),
            };
            let parameter = quote!(#name: impl ::core::iter::IntoIterator<Item = #item>);
            return (parameter, quote!(#items.collect()));
        }
        let (ty, value) = match argument(ty, "Option") {
            Some(ty) if is_plain(ty) => {
                return (
                    quote!(#name: #ty),
                    quote!(::core::option::Option::Some(#name)),
                );
            }
            Some(ty) => (ty, quote!(::core::option::Option::Some(#name.into()))),
            None if is_plain(ty) => return (quote!(#name: #ty), quote!(#name)),
            None => (ty, quote!(#name.into())),
        };
        (quote!(#name: impl ::core::convert::Into<#ty>), value)
    }

    fn setter(&self) -> Option<TokenStream> {
        let (docs, ident) = (self.set.as_ref()?, self.ident);
        let (parameter, value) = match is(self.ty, &["bool"]) {
            // The setter of a `bool` has no parameter.
            true => (quote!(), quote!(true)),
            false => self.parameter(),
        };
        Some(quote! {
            #[doc = #docs]
            #[must_use]
            pub fn #ident(mut self, #parameter) -> Self {
                self.#ident = #value;
                self
            }
        })
    }
}

/// Returns the expression that writes the key of a member and returns the writer of its value.
pub(crate) fn key(key: &str) -> TokenStream {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.$/".contains(&byte);
    match key.bytes().all(is_plain) {
        true => {
            let key = format!(",\"{key}\":");
            quote!(::copilot_wire::__private::key(object, #key))
        }
        false => quote!(object.member(#key)),
    }
}

pub(crate) fn derive(input: &DeriveInput, fields: &Fields) -> Result<TokenStream> {
    let name = &input.ident;
    let model = Model::parse(input)?;
    let (unknown, fields): (Vec<_>, Vec<_>) = fields
        .iter()
        .partition(|field| field.ident.as_ref().is_some_and(|it| it == "unknown"));
    if unknown.is_empty() {
        let message =
            "a model has a field `pub unknown: Members`, for the members that it does not name";
        return Err(Error::new_spanned(name, message));
    }
    let fields = fields
        .into_iter()
        .map(|field| Member::parse(field, model.case));
    let fields: Vec<_> = fields.collect::<Result<_>>()?;
    check_names(&model, &fields)?;
    let wire = implement(name, &model, &fields)?;
    let debug = debug(name, &model, &fields);
    let constructors = constructors(name, &model, &fields)?;
    Ok(quote!(#wire #debug #constructors ::copilot_wire::__serde!(#name);))
}

/// Returns an error at the second field with the same name on the wire.
fn check_names(model: &Model, fields: &[Member<'_>]) -> Result<()> {
    let mut names: BTreeSet<_> = model.fixed.iter().map(|it| &it.key).collect();
    for field in fields.iter().filter(|it| !it.skip) {
        if !names.insert(&field.key) {
            let message = format!("the struct has another member `{}`", field.key);
            return Err(Error::new_spanned(field.ident, message));
        }
    }
    Ok(())
}

fn implement(name: &Ident, model: &Model, fields: &[Member<'_>]) -> Result<TokenStream> {
    let members: Vec<_> = fields.iter().filter(|it| !it.skip).collect();
    let null_is_absent = model.null_is_absent;
    let never_empty = model.never_empty || members.iter().any(|it| it.always);
    let takes = members.iter();
    let takes = takes.map(|it| it.take(model.also_snake_case, null_is_absent));
    let mut takes: Vec<_> = takes.collect();
    let mut writes: Vec<_> = members.iter().map(|it| it.write()).collect();
    let mut names: Vec<_> = members.iter().map(|it| it.key.clone()).collect();
    let mut tag = quote!("");
    if let Some(fixed) = &model.fixed {
        let Fixed { key, value, after } = fixed;
        let at = match after {
            None => 0,
            Some(after) => match members.iter().position(|it| it.ident == after) {
                Some(at) => at + 1,
                None => return Err(Error::new_spanned(after, "no member of this name")),
            },
        };
        takes.push(
            quote!(#key => ::copilot_wire::__private::take_fixed(#value, reader, #null_is_absent),),
        );
        writes.insert(at, fixed.write());
        names.push(key.clone());
        tag = quote!(#value);
    }
    let idents: Vec<_> = members.iter().map(|it| it.ident).collect();
    let keys = members.iter().map(|it| &it.key);
    let types = members.iter().map(|it| it.ty);
    let shown = members.iter().filter(|it| it.show != Show::Nothing);
    let shown_idents = shown.clone().map(|it| it.ident);
    let shown_keys = shown.clone().map(|it| &it.key);
    let shown_types = shown.clone().map(|it| it.ty);
    let shown_names = shown.map(|it| it.names(model.also_snake_case));
    let always = members.iter().map(|it| it.always);
    let required = members.iter().filter(|it| it.always).map(|it| &it.key);
    let escape = model.escape.as_ref().map(|policy| {
        quote!(const ESCAPE: ::copilot_wire::json::Escape = ::copilot_wire::json::Escape::#policy;)
    });
    let complete = model
        .complete
        .as_ref()
        .map(|method| quote!(model.#method();));
    let is_absent = model.empty_is_absent.then(|| {
        quote!(
            fn is_absent(&self) -> bool {
                *self == Self::default()
            }
        )
    });
    Ok(quote! {
        #[allow(unused_qualifications)]
        impl ::copilot_wire::__private::Wire for #name {
            #escape
            const NAMES: &'static [&'static str] = &[#(#names),*];
            const REQUIRED: &'static [&'static str] = &[#(#required),*];
            const TAG: &'static str = #tag;
            const NEVER_EMPTY: bool = #never_empty;
            const HAS_SECRET: bool = false #(|| <#types as ::copilot_wire::__private::Wire>::HAS_SECRET)*;

            fn read_from(reader: &mut ::copilot_wire::json::Reader<'_>) -> ::core::result::Result<::core::option::Option<Self>, ::copilot_wire::json::JsonError> {
                if !reader.is(::copilot_wire::json::Kind::Object) {
                    return ::core::result::Result::Ok(::core::option::Option::None);
                }
                let mut model = Self::default();
                let mut unknown = ::copilot_wire::json::Members::new();
                reader.object_keeping(&mut unknown, |reader, key| match key {
                    #(#takes)*
                    _ => ::core::result::Result::Ok(()),
                })?;
                model.unknown = unknown;
                #complete
                ::core::result::Result::Ok(::core::option::Option::Some(model))
            }

            fn write_to(&self, to: ::copilot_wire::json::ValueWriter<'_>) {
                // Retained values are rare, so they are searched only if there are any.
                let is_retained = |key: &str| !self.unknown.is_empty() && self.unknown.get(key).is_some();
                ::copilot_wire::__private::object(to, |object| {
                    #(#writes)*
                    for (key, value) in &self.unknown {
                        let is_unset = match key {
                            #(#keys => ::copilot_wire::__private::is_unset(&self.#idents, #always),)*
                            _ => true,
                        };
                        // A field that was set later replaces the retained value: otherwise one name would have two
                        // members.
                        if is_unset {
                            object.member(key).raw(value);
                        }
                    }
                });
            }

            fn each_string(&self, each: &mut dyn ::core::ops::FnMut(&str)) {
                #(::copilot_wire::__private::Wire::each_string(&self.#idents, each);)*
                for (key, value) in &self.unknown {
                    // The name of a declared member, whose value has another type, is no text of the message.
                    if !<Self as ::copilot_wire::__private::Wire>::NAMES.contains(&key) {
                        each(key);
                    }
                    ::copilot_wire::__private::Wire::each_string(value, each);
                }
            }

            fn each_odd(&self, place: &::copilot_wire::json::Place<'_>, each: &mut dyn ::core::ops::FnMut(&::copilot_wire::json::Place<'_>, &::copilot_wire::json::Json)) {
                ::copilot_wire::__private::odd_members(&self.unknown, place, each, |name| match name {
                    #(#shown_names => !<#shown_types as ::copilot_wire::__private::Wire>::HAS_SECRET,)*
                    _ => false,
                });
                #(::copilot_wire::__private::Wire::each_odd(&self.#shown_idents, &place.member(#shown_keys), each);)*
            }

            #is_absent

            fn unknown(&mut self) -> ::core::option::Option<&mut ::copilot_wire::json::Members> {
                ::core::option::Option::Some(&mut self.unknown)
            }

            fn drop_odd(&mut self) {
                self.unknown.retain(|key| !<Self as ::copilot_wire::__private::Wire>::NAMES.contains(&key));
                #(::copilot_wire::__private::Wire::drop_odd(&mut self.#idents);)*
            }
        }
    })
}

/// Returns `Debug`, if the struct requests it or a field hides a part of its value.
fn debug(name: &Ident, model: &Model, fields: &[Member<'_>]) -> Option<TokenStream> {
    if !model.debug && fields.iter().all(|it| it.show == Show::All) {
        return None;
    }
    let title = name.unraw().to_string();
    let is_whole = fields.iter().all(|it| it.show != Show::Nothing);
    let shown = fields
        .iter()
        .filter(|it| it.show != Show::Nothing)
        .map(|it| {
            let (ident, title) = (it.ident, it.ident.unraw().to_string());
            let value = it.show.shown(quote!(&self.#ident));
            quote!(.field(#title, #value))
        });
    let finish = match is_whole {
        true => quote!(.field("unknown", &self.unknown).finish()),
        false => quote!(.finish_non_exhaustive()),
    };
    Some(quote! {
        impl ::core::fmt::Debug for #name {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                f.debug_struct(#title)#(#shown)*#finish
            }
        }
    })
}

/// Returns an `impl` block with `new` and the setters.
fn constructors(name: &Ident, model: &Model, fields: &[Member<'_>]) -> Result<TokenStream> {
    let given: Vec<_> = fields.iter().filter(|it| it.new).collect();
    let new = match (&model.new, given.first()) {
        (None, Some(member)) => {
            let message = "the struct has no `new = \"…\"`, the documentation of `new`";
            return Err(Error::new_spanned(member.ident, message));
        }
        (None, None) => None,
        (Some(docs), _) => {
            let (parameters, values): (Vec<_>, Vec<_>) =
                given.iter().map(|it| it.parameter()).unzip();
            let idents = given.iter().map(|it| it.ident);
            Some(quote! {
                #[doc = #docs]
                #[must_use]
                pub fn new(#(#parameters),*) -> Self {
                    Self { #(#idents: #values,)* ..Self::default() }
                }
            })
        }
    };
    let functions: Vec<_> = new
        .into_iter()
        .chain(fields.iter().filter_map(Member::setter))
        .collect();
    Ok(match functions.is_empty() {
        true => quote!(),
        false => quote!(impl #name { #(#functions)* }),
    })
}
