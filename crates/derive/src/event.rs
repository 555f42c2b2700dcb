//! The derive for enums of events: objects that are one frame each.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{DataEnum, DeriveInput, Error, Expr, Ident, LitStr, Path, Result, Variant};

use crate::attributes::{Case, Options};
use crate::names::other;
use crate::tagged::{Choice, Form};

const ENUM: &str = "truncated tag named whole ignored limit rename_all output";
const VARIANT: &str = "other name member prefix data first last text text_in output";

/// The variants of the enum.
struct Events<'a> {
    name: &'a Ident,
    options: Options,
    tag: LitStr,
    events: Vec<Event<'a>>,
    other: &'a Ident,
    /// The events with fixed data that is not JSON, each with the data.
    literals: Vec<(&'a Ident, LitStr)>,
    firsts: Vec<&'a Ident>,
    lasts: Vec<&'a Ident>,
}

/// An event that is an object with a type.
struct Event<'a> {
    variant: &'a Variant,
    options: Options,
    choice: Choice<'a>,
    prefix: Option<LitStr>,
}

impl<'a> Events<'a> {
    fn parse(input: &'a DeriveInput, data: &'a DataEnum) -> Result<Self> {
        let name = &input.ident;
        let declared = Options::parse(&input.attrs, "event", ENUM)?;
        let case = Case::parse(&declared)?;
        let (mut events, mut others, mut literals) = (vec![], vec![], vec![]);
        let (mut firsts, mut lasts) = (vec![], vec![]);
        for variant in &data.variants {
            let options = Options::parse(&variant.attrs, "event", VARIANT)?;
            firsts.extend(options.has("first")?.then_some(&variant.ident));
            lasts.extend(options.has("last")?.then_some(&variant.ident));
            if options.has("other")? {
                others.push(variant);
            } else if let Some(data) = options.text("data")? {
                literals.push((&variant.ident, data));
            } else {
                events.push(Event {
                    choice: Choice::new(variant, case, &options)?,
                    prefix: options.text("prefix")?,
                    variant,
                    options,
                });
            }
        }
        if lasts.is_empty() {
            let message = "no event is marked `last`: a stream that was cut would look complete";
            return Err(Error::new_spanned(name, message));
        }
        let tag = declared.text("tag")?;
        Ok(Self {
            name,
            tag: tag.unwrap_or_else(|| LitStr::new("type", name.span())),
            options: declared,
            events,
            other: &other(name, others.into_iter())?.ident,
            literals,
            firsts,
            lasts,
        })
    }

    fn read(&self) -> Result<TokenStream> {
        let Self { tag, other, .. } = self;
        let (object, untyped) = match self.options.has("whole")? {
            true => (
                quote!(::copilot_wire::__private::whole),
                quote!(return ::core::result::Result::Err(::copilot_wire::__private::UNTYPED)),
            ),
            false => (
                quote!(::copilot_wire::__private::read),
                quote!(::core::option::Option::Some(Self::#other(start.value()?))),
            ),
        };
        let arms = self
            .events
            .iter()
            .map(|it| it.arm(&it.choice.read(&object)));
        let ignored = self.options.text("ignored")?.into_iter();
        let (literals, data): (Vec<_>, Vec<_>) = self.literals.iter().cloned().unzip();
        Ok(quote! {
            fn read(data: &str) -> ::core::result::Result<::core::option::Option<Self>, ::copilot_wire::protocol::EventError> {
                match data.trim() {
                    #(#data => return ::core::result::Result::Ok(::core::option::Option::Some(Self::#literals)),)*
                    #(#ignored => return ::core::result::Result::Ok(::core::option::Option::None),)*
                    _ => {}
                }
                let body = ::copilot_wire::__private::Bytes::copy_from_slice(data.as_bytes());
                let mut start = ::copilot_wire::json::Reader::new(&body)?;
                let mut reader = start.clone();
                let kind = reader.member(#tag, ::copilot_wire::json::Reader::string)?;
                reader.end()?;
                // Unused if no event has a value.
                #[allow(unused_variables)]
                let reader = &mut start.clone();
                let event = match kind.as_deref() {
                    ::core::option::Option::Some(kind) => match kind {
                        #(#arms)*
                        _ => ::core::option::Option::Some(Self::#other(start.value()?)),
                    },
                    ::core::option::Option::None => #untyped,
                };
                event.map(::core::option::Option::Some).ok_or(::copilot_wire::__private::MISSING)
            }
        })
    }

    fn write(&self) -> Result<TokenStream> {
        let other = self.other;
        let to = quote!(::copilot_wire::__private::writer(out));
        let arms = self.events.iter().map(|it| it.choice.write(&self.tag, &to));
        let (literals, data): (Vec<_>, Vec<_>) = self.literals.iter().cloned().unzip();
        let (other, names) = match self.options.has("named")? {
            // The frame of an unknown event has no known name.
            true => {
                let idents = self.events.iter().map(|it| it.choice.ident);
                let tags = self.events.iter().map(|it| it.choice.tag());
                let name = quote!(match self { #(Self::#idents { .. } => #tags,)* _ => "" });
                (
                    quote!(Self::#other(_) => {}),
                    Some(quote!(fn name(&self) -> &str { #name })),
                )
            }
            false => (quote!(Self::#other(json) => #to.raw(json),), None),
        };
        Ok(quote! {
            fn write_data(&self, out: &mut ::std::vec::Vec<u8>) {
                match self {
                    #(#arms)*
                    #(Self::#literals => out.extend_from_slice(#data.as_bytes()),)*
                    #other
                }
            }

            #names
        })
    }

    /// Returns the methods that classify an event or list its members.
    fn questions(&self) -> Result<TokenStream> {
        let Self { firsts, lasts, .. } = self;
        let texts = self.events.iter().map(Event::text);
        let texts: Vec<_> = texts.collect::<Result<_>>()?;
        let texts = texts.iter().flatten();
        let is_object = |it: &&Event<'_>| matches!(it.choice.form, Form::Object(_));
        let objects = self.events.iter().filter(is_object);
        let objects = objects.map(|it| it.choice.ident);
        let members = self.events.iter().map(|it| it.members(&self.tag));
        Ok(quote! {
            fn is_first(&self) -> bool {
                match self { #(Self::#firsts { .. } => true,)* _ => false }
            }

            fn is_last(&self) -> bool {
                match self { #(Self::#lasts { .. } => true,)* _ => false }
            }

            fn text(&mut self) -> ::core::option::Option<::copilot_wire::protocol::TextMember<'_>> {
                match self { #(#texts)* _ => ::core::option::Option::None }
            }

            fn strict(mut self) -> Self {
                match &mut self { #(Self::#objects(value) => ::copilot_wire::__private::drop_unknown(value),)* _ => {} }
                self
            }

            fn members(kind: &str) -> ::core::option::Option<(&'static [&'static str], &'static [&'static str])> {
                match kind { #(#members)* _ => ::core::option::Option::None }
            }
        })
    }

    /// Returns the enum `Output`, if requested: the events that an agent sends.
    fn output(&self) -> Result<Option<TokenStream>> {
        let Some(docs) = self.options.text("output")? else {
            return Ok(None);
        };
        let (name, output) = (self.name, Ident::new("Output", docs.span()));
        let (mut idents, mut froms, mut variants) = (vec![], vec![], vec![]);
        for event in &self.events {
            let (ident, fields) = (event.choice.ident, &event.variant.fields);
            if event.options.has("output")? {
                let attributes = event.variant.attrs.iter();
                let docs = attributes.filter(|it| it.path().is_ident("doc"));
                variants.push(quote!(#(#docs)* #ident #fields,));
                froms.extend(event.choice.from(&output));
                idents.push(ident);
            }
        }
        Ok(Some(quote! {
            #[doc = #docs]
            #[derive(Clone, Debug, PartialEq, Eq)]
            #[non_exhaustive]
            pub enum #output { #(#variants)* }

            impl ::core::convert::From<#output> for #name {
                fn from(output: #output) -> Self {
                    match output { #(#output::#idents(value) => Self::#idents(value),)* }
                }
            }

            #(#froms)*
        }))
    }
}

impl Event<'_> {
    /// Returns the match arm for the name on the wire.
    fn arm(&self, value: &TokenStream) -> TokenStream {
        let tag = self.choice.tag();
        match &self.prefix {
            Some(prefix) => quote!(kind if kind.starts_with(#prefix) => #value,),
            None => quote!(kind if kind == #tag => #value,),
        }
    }

    /// Returns the match arm with the required members of the event, and all of its members.
    fn members(&self, tag: &LitStr) -> TokenStream {
        let members = match &self.choice.form {
            Form::Object(ty) => {
                quote!(<#ty as ::copilot_wire::__private::Wire>::REQUIRED, <#ty as ::copilot_wire::__private::Wire>::NAMES)
            }
            Form::Nothing => quote!(&[], &[#tag]),
            Form::Member(key) => quote!(&[#key], &[#tag, #key]),
            Form::Fields(fields) => {
                let keys: Vec<_> = fields.iter().map(|(_, key)| key).collect();
                quote!(&[#(#keys),*], &[#tag, #(#keys),*])
            }
        };
        self.arm(&quote!(::core::option::Option::Some((#members))))
    }

    /// Returns the match arm that finds the text, if the event has one.
    fn text(&self) -> Result<Option<TokenStream>> {
        let Some(text) = self.options.text("text")? else {
            return Ok(None);
        };
        let no_member = || Error::new_spanned(&text, "the event has no such member");
        let path = text.value();
        let keys: Vec<_> = path.split('.').collect();
        // The first key is a field of the variant, unless the value is the object.
        let (field, mut names) = match (&self.choice.form, &*keys) {
            (Form::Object(_), keys) => (quote!((value)), keys),
            (Form::Member(key), [first, rest @ ..]) if key.value() == *first => {
                (quote!((value)), rest)
            }
            (Form::Fields(fields), [first, rest @ ..]) => {
                let field = fields.iter().find(|(_, key)| key == first);
                let (field, _) = field.ok_or_else(no_member)?;
                (quote!({ #field: value, .. }), rest)
            }
            _ => return Err(no_member()),
        };
        let text_in: Option<Path> = self.options.value("text_in")?;
        if text_in.is_some() {
            (_, names) = names.split_last().ok_or_else(no_member)?;
        }
        let names = names
            .iter()
            .map(|key| Ident::new(&Case::Snake.apply(key), text.span()));
        let value = quote!(&mut (*value) #(.#names)*);
        let member = quote!(::copilot_wire::protocol::TextMember::new(text, &[#(#keys),*]));
        let found = match text_in {
            None => quote!({ let text = #value; ::core::option::Option::Some(#member) }),
            Some(variant) => quote!(match #value {
                #variant(text) => ::core::option::Option::Some(#member),
                _ => ::core::option::Option::None,
            }),
        };
        let ident = self.choice.ident;
        Ok(Some(quote!(Self::#ident #field => #found,)))
    }
}

pub(crate) fn derive(input: &DeriveInput, data: &DataEnum) -> Result<TokenStream> {
    let declared = Events::parse(input, data)?;
    let name = declared.name;
    let Some(truncated) = declared.options.text("truncated")? else {
        let message =
            "the enum has no `truncated = \"…\"`, the error for a stream without its last event";
        return Err(Error::new_spanned(name, message));
    };
    let limit: Option<Expr> = declared.options.value("limit")?;
    let limit = limit.iter();
    let (read, write) = (declared.read()?, declared.write()?);
    let (questions, output) = (declared.questions()?, declared.output()?);
    let events = declared.events.iter();
    let named: Vec<_> = events.filter(|it| it.prefix.is_none()).collect();
    let checks: Vec<_> = named
        .iter()
        .map(|it| it.choice.check())
        .collect::<Result<_>>()?;
    let tags = named.iter().map(|it| it.choice.tag());
    let froms = declared.events.iter().filter_map(|it| it.choice.from(name));
    Ok(quote! {
        #[allow(unused_qualifications)]
        impl ::copilot_wire::protocol::FrameEvent for #name {
            const TRUNCATED: &'static str = #truncated;
            #(const LIMIT: usize = #limit;)*
            #read
            #write
            #questions
        }

        #(#checks)*

        const _: () = ::core::assert!(
            ::copilot_wire::__private::is_distinct(&[#(#tags),*]),
            "two events have one name",
        );

        #(#froms)*

        #output
    })
}
