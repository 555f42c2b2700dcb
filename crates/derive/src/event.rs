//! Enums of events: objects that are one frame each.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{DataEnum, DeriveInput, Error, Expr, Ident, LitStr, Path, Result, Variant};

use crate::attributes::{Case, each, text};
use crate::names::other;
use crate::tagged::{Choice, Form};

const ENUM: &str =
    "`truncated`, `tag`, `named`, `whole`, `ignored`, `limit`, `rename_all`, `output`";
const VARIANT: &str = "`other`, `name`, `member`, `prefix`, `data`, `first`, `last`, `text`, \
                       `text_in`, `skip`, `output`";

/// The options of the enum.
struct Events {
    truncated: Option<LitStr>,
    tag: LitStr,
    named: bool,
    whole: bool,
    ignored: Option<LitStr>,
    limit: Option<Expr>,
    case: Case,
    output: Option<LitStr>,
}

impl Events {
    fn parse(input: &DeriveInput) -> Result<Self> {
        let mut events = Self {
            truncated: None,
            tag: LitStr::new("type", input.ident.span()),
            named: false,
            whole: false,
            ignored: None,
            limit: None,
            case: Case::default(),
            output: None,
        };
        each(&input.attrs, "event", ENUM, |option, meta| {
            match option {
                "truncated" => events.truncated = Some(text(meta)?),
                "tag" => events.tag = text(meta)?,
                "named" => events.named = true,
                "whole" => events.whole = true,
                "ignored" => events.ignored = Some(text(meta)?),
                "limit" => events.limit = Some(meta.value()?.parse()?),
                "rename_all" => events.case = Case::parse(meta)?,
                "output" => events.output = Some(text(meta)?),
                _ => return Ok(false),
            }
            Ok(true)
        })?;
        Ok(events)
    }
}

/// A variant and its options.
#[derive(Default)]
struct Options {
    other: bool,
    name: Option<LitStr>,
    member: Option<LitStr>,
    prefix: Option<LitStr>,
    data: Option<LitStr>,
    first: bool,
    last: bool,
    text: Option<LitStr>,
    text_in: Option<Path>,
    skip: bool,
    output: bool,
}

impl Options {
    fn parse(variant: &Variant) -> Result<Self> {
        let mut options = Self::default();
        each(&variant.attrs, "event", VARIANT, |option, meta| {
            match option {
                "other" => options.other = true,
                "name" => options.name = Some(text(meta)?),
                "member" => options.member = Some(text(meta)?),
                "prefix" => options.prefix = Some(text(meta)?),
                "data" => options.data = Some(text(meta)?),
                "first" => options.first = true,
                "last" => options.last = true,
                "text" => options.text = Some(text(meta)?),
                "text_in" => options.text_in = Some(meta.value()?.parse()?),
                "skip" => options.skip = true,
                "output" => options.output = true,
                _ => return Ok(false),
            }
            Ok(true)
        })?;
        Ok(options)
    }
}

/// An event that is an object of a type.
struct Event<'a> {
    choice: Choice<'a>,
    options: Options,
}

impl Event<'_> {
    /// The arm for the name on the wire.
    fn arm(&self, value: &TokenStream) -> TokenStream {
        let tag = self.choice.tag();
        match &self.options.prefix {
            Some(prefix) => quote!(kind if kind.starts_with(#prefix) => #value,),
            None => quote!(kind if kind == #tag => #value,),
        }
    }

    /// The members that the event must have, and all that it names.
    fn members(&self, tag: &LitStr) -> TokenStream {
        let keys = match &self.choice.form {
            Form::Object(ty) => {
                return quote!((<#ty as ::copilot_wire::__private::Wire>::REQUIRED, <#ty as ::copilot_wire::__private::Wire>::NAMES));
            }
            Form::Nothing => vec![],
            Form::Member(key) => vec![key.value()],
            Form::Fields(fields) => fields.iter().map(|(_, key)| key.clone()).collect(),
        };
        quote!((&[#(#keys),*], &[#tag, #(#keys),*]))
    }

    /// The arm that finds the text.
    fn text(&self) -> Result<Option<TokenStream>> {
        let Some(text) = &self.options.text else {
            return Ok(None);
        };
        let path = text.value();
        let keys: Vec<_> = path.split('.').collect();
        let ident = self.choice.ident;
        let no_member = || Error::new_spanned(text, "the event has no such member");
        // The first key is that of a field of the variant, unless the value is the object.
        let (pattern, names) = match (&self.choice.form, keys.split_first()) {
            (Form::Object(_), _) => (quote!((value)), &*keys),
            (Form::Member(key), Some((first, rest))) if key.value() == *first => {
                (quote!((value)), rest)
            }
            (Form::Fields(fields), Some((first, rest))) => {
                let field = fields.iter().find(|(_, key)| key == first);
                let (field, _) = field.ok_or_else(no_member)?;
                (quote!({ #field: value, .. }), rest)
            }
            _ => return Err(no_member()),
        };
        let names = match &self.options.text_in {
            Some(_) => names.split_last().ok_or_else(no_member)?.1,
            None => names,
        };
        let names = names
            .iter()
            .map(|key| Ident::new(&Case::Snake.apply(key), text.span()));
        let found = match &self.options.text_in {
            None => quote!(::core::option::Option::Some(&mut (*value) #(.#names)*)),
            Some(variant) => quote!(match &mut (*value) #(.#names)* {
                #variant(text) => ::core::option::Option::Some(text),
                _ => ::core::option::Option::None,
            }),
        };
        Ok(Some(quote! {
            Self::#ident #pattern => #found.map(|text| ::copilot_wire::protocol::TextMember::new(text, &[#(#keys),*])),
        }))
    }
}

pub(crate) fn derive(input: &DeriveInput, data: &DataEnum) -> Result<TokenStream> {
    let name = &input.ident;
    let declared = Events::parse(input)?;
    let (mut events, mut others, mut literals, mut skipped) = (vec![], vec![], vec![], vec![]);
    let (mut firsts, mut lasts) = (vec![], vec![]);
    for variant in &data.variants {
        let options = Options::parse(variant)?;
        let ident = &variant.ident;
        firsts.extend(options.first.then_some(ident));
        lasts.extend(options.last.then_some(ident));
        match options {
            Options { other: true, .. } => others.push(variant),
            Options { skip: true, .. } => skipped.push(ident),
            Options {
                data: Some(data), ..
            } => literals.push((ident, data)),
            mut options => {
                let given = (options.name.take(), options.member.take());
                let choice = Choice::new(variant, declared.case, given)?;
                events.push(Event { choice, options });
            }
        }
    }
    let Some(truncated) = &declared.truncated else {
        let message =
            "the enum has no `truncated = \"…\"`, the error for a stream without its last event";
        return Err(Error::new_spanned(name, message));
    };
    if lasts.is_empty() {
        let message = "no event is marked `last`: a stream that was cut would look complete";
        return Err(Error::new_spanned(name, message));
    }
    let other = &other(name, others.into_iter())?.ident;
    let read = read(&declared, &events, other, &literals);
    let write = write(&declared, &events, other, &literals, &skipped);
    let tag = &declared.tag;
    let limit = declared.limit.iter();
    let texts: Vec<_> = events.iter().map(Event::text).collect::<Result<_>>()?;
    let texts = texts.iter().flatten();
    let members = events.iter().map(|it| {
        let members = it.members(tag);
        it.arm(&quote!(::core::option::Option::Some(#members)))
    });
    let is_object = |it: &&Event<'_>| matches!(it.choice.form, Form::Object(_));
    let objects = events.iter().filter(is_object).map(|it| it.choice.ident);
    let is_named = |it: &&Event<'_>| it.options.prefix.is_none();
    let named = || events.iter().filter(is_named).map(|it| &it.choice);
    let checks: Vec<_> = named().map(Choice::check).collect::<Result<_>>()?;
    let tags = named().map(Choice::tag);
    let twice = "two events have one name";
    let froms = events.iter().filter_map(|it| it.choice.from(name));
    let output = match &declared.output {
        Some(docs) => output(name, docs, data, &events)?,
        None => quote!(),
    };
    Ok(quote! {
        #[allow(unused_qualifications)]
        impl ::copilot_wire::protocol::FrameEvent for #name {
            const TRUNCATED: &'static str = #truncated;
            #(const LIMIT: usize = #limit;)*

            #read

            #write

            fn is_first(&self) -> bool {
                match self {
                    #(Self::#firsts { .. } => true,)*
                    _ => false,
                }
            }

            fn is_last(&self) -> bool {
                match self {
                    #(Self::#lasts { .. } => true,)*
                    _ => false,
                }
            }

            fn text(&mut self) -> ::core::option::Option<::copilot_wire::protocol::TextMember<'_>> {
                match self {
                    #(#texts)*
                    _ => ::core::option::Option::None,
                }
            }

            fn strict(mut self) -> Self {
                match &mut self {
                    #(Self::#objects(value) => {
                        ::copilot_wire::__private::Wire::unknown(value).into_iter().for_each(|it| it.retain(|_| false));
                        ::copilot_wire::__private::Wire::drop_odd(value);
                    })*
                    _ => {}
                }
                self
            }

            fn members(kind: &str) -> ::core::option::Option<(&'static [&'static str], &'static [&'static str])> {
                match kind {
                    #(#members)*
                    _ => ::core::option::Option::None,
                }
            }
        }

        #(#checks)*

        const _: () = ::core::assert!(::copilot_wire::__private::is_distinct(&[#(#tags),*]), #twice);

        #(#froms)*

        #output
    })
}

/// Returns `read`.
fn read(
    declared: &Events,
    events: &[Event<'_>],
    other: &Ident,
    literals: &[(&Ident, LitStr)],
) -> TokenStream {
    let object = match declared.whole {
        true => quote!(::copilot_wire::__private::whole),
        false => quote!(::copilot_wire::__private::Wire::from_raw),
    };
    let arms = events.iter().map(|it| {
        let value = it.choice.read(&object);
        it.arm(&value)
    });
    let tag = &declared.tag;
    let ignored = declared.ignored.iter();
    let (literals, data): (Vec<_>, Vec<_>) = literals.iter().cloned().unzip();
    let untyped = match declared.whole {
        true => quote!(return ::core::result::Result::Err(::copilot_wire::__private::UNTYPED)),
        false => quote!(::core::option::Option::Some(Self::#other(json))),
    };
    quote! {
        #[allow(clippy::redundant_closure_call)]
        fn read(data: &str) -> ::core::result::Result<::core::option::Option<Self>, ::copilot_wire::protocol::EventError> {
            match data.trim() {
                #(#data => return ::core::result::Result::Ok(::core::option::Option::Some(Self::#literals)),)*
                #(#ignored => return ::core::result::Result::Ok(::core::option::Option::None),)*
                _ => {}
            }
            let json = ::copilot_wire::__private::data(data)?;
            let kind = json.get(#tag);
            let event = match kind.as_ref().and_then(::copilot_wire::json::Json::string).as_deref() {
                ::core::option::Option::Some(kind) => match kind {
                    #(#arms)*
                    _ => ::core::option::Option::Some(Self::#other(json)),
                },
                ::core::option::Option::None => #untyped,
            };
            event.map(::core::option::Option::Some).ok_or(::copilot_wire::__private::MISSING)
        }
    }
}

/// Returns `write_data`, and `name` if the frames have names.
fn write(
    declared: &Events,
    events: &[Event<'_>],
    other: &Ident,
    literals: &[(&Ident, LitStr)],
    skipped: &[&Ident],
) -> TokenStream {
    let to = quote!(::copilot_wire::__private::writer(out));
    let arms = events.iter().map(|it| it.choice.write(&declared.tag, &to));
    let (literals, data): (Vec<_>, Vec<_>) = literals.iter().cloned().unzip();
    // The name of the frame would be one that this crate does not know.
    let unknown = match declared.named {
        true => quote!(_ => {}),
        false => quote!(json => #to.raw(json)),
    };
    let names = declared.named.then(|| {
        let idents = events.iter().map(|it| it.choice.ident);
        let tags = events.iter().map(|it| it.choice.tag());
        quote! {
            fn name(&self) -> &str {
                match self {
                    #(Self::#idents { .. } => #tags,)*
                    _ => "",
                }
            }
        }
    });
    quote! {
        fn write_data(&self, out: &mut ::std::vec::Vec<u8>) {
            match self {
                #(#arms)*
                #(Self::#literals => out.extend_from_slice(#data.as_bytes()),)*
                #(Self::#skipped { .. } => {})*
                Self::#other(json) => match json { #unknown },
            }
        }

        #names
    }
}

/// Returns `Output`: the events that an agent sends.
fn output(
    name: &Ident,
    docs: &LitStr,
    data: &DataEnum,
    events: &[Event<'_>],
) -> Result<TokenStream> {
    let output = Ident::new("Output", docs.span());
    let (mut idents, mut froms, mut variants) = (vec![], vec![], vec![]);
    for event in events.iter().filter(|it| it.options.output) {
        let ident = event.choice.ident;
        let Form::Object(ty) = &event.choice.form else {
            return Err(Error::new_spanned(ident, "an output is one object"));
        };
        let is_this = |it: &&Variant| it.ident == *ident;
        let attributes = data
            .variants
            .iter()
            .filter(is_this)
            .flat_map(|it| &it.attrs);
        let docs = attributes.filter(|it| it.path().is_ident("doc"));
        variants.push(quote!(#(#docs)* #ident(#ty),));
        froms.extend(event.choice.from(&output));
        idents.push(ident);
    }
    Ok(quote! {
        #[doc = #docs]
        #[derive(Clone, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum #output { #(#variants)* }

        impl ::core::convert::From<#output> for #name {
            fn from(output: #output) -> Self {
                match output {
                    #(#output::#idents(value) => Self::#idents(value),)*
                }
            }
        }

        #(#froms)*
    })
}
