//! The options in `#[wire(…)]` and `#[event(…)]`.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::parse::Parse;
use syn::punctuated::Punctuated;
use syn::{
    Attribute, Error, GenericArgument, LitStr, Meta, MetaList, PathArguments, Result, Token, Type,
    parse2,
};

/// The options of a type, a field or a variant.
pub(crate) struct Options(Vec<Meta>);

impl Options {
    /// Reads the attributes with the name `attribute`. An option that is not in the space-separated list `known`, or
    /// that is given twice, is an error with the span of its name.
    pub(crate) fn parse(attributes: &[Attribute], attribute: &str, known: &str) -> Result<Self> {
        let mut options: Vec<Meta> = Vec::new();
        let list = Punctuated::<Meta, Token![,]>::parse_terminated;
        for attribute in attributes.iter().filter(|it| it.path().is_ident(attribute)) {
            for option in attribute.parse_args_with(list)? {
                let name = option.path();
                if !known.split(' ').any(|known| name.is_ident(known)) {
                    let message = format!("unknown option, expected one of: {known}");
                    return Err(Error::new_spanned(name, message));
                }
                if options
                    .iter()
                    .any(|it| it.path().get_ident() == name.get_ident())
                {
                    return Err(Error::new_spanned(name, "the option is there twice"));
                }
                options.push(option);
            }
        }
        Ok(Self(options))
    }

    fn find(&self, name: &str) -> Option<&Meta> {
        self.0.iter().find(|it| it.path().is_ident(name))
    }

    /// Returns `true` if an option without a value is given.
    pub(crate) fn has(&self, name: &str) -> Result<bool> {
        let option = self.find(name);
        Ok(option.map(Meta::require_path_only).transpose()?.is_some())
    }

    /// Returns the value of `name = value`, if given.
    pub(crate) fn value<T: Parse>(&self, name: &str) -> Result<Option<T>> {
        let option = self.find(name).map(Meta::require_name_value).transpose()?;
        let value = option.map(|it| parse2(it.value.to_token_stream()));
        value.transpose()
    }

    /// Returns the text of `name = "text"`, if given.
    pub(crate) fn text(&self, name: &str) -> Result<Option<LitStr>> {
        self.value(name)
    }

    /// Returns the list of `name(…)`, if given.
    pub(crate) fn list(&self, name: &str) -> Result<Option<&MetaList>> {
        self.find(name).map(Meta::require_list).transpose()
    }
}

/// Returns the path of a type, also of a type that a macro has passed on.
fn path(ty: &Type) -> Option<&syn::Path> {
    match ty {
        Type::Path(path) => Some(&path.path),
        Type::Group(group) => path(&group.elem),
        _ => None,
    }
}

/// Returns `true` if a type is one of these names, without a module path.
pub(crate) fn is(ty: &Type, names: &[&str]) -> bool {
    let ident = path(ty).and_then(syn::Path::get_ident);
    ident.is_some_and(|ident| names.iter().any(|name| ident == name))
}

/// Returns the argument `T` of a type `generic<T>`, such as `Option<T>`.
pub(crate) fn argument<'a>(ty: &'a Type, generic: &str) -> Option<&'a Type> {
    let last = path(ty)?.segments.last()?;
    let PathArguments::AngleBracketed(arguments) = &last.arguments else {
        return None;
    };
    let mut types = arguments.args.iter().filter_map(|argument| match argument {
        GenericArgument::Type(ty) => Some(ty),
        _ => None,
    });
    types.next().filter(|_| last.ident == generic)
}

/// A rule by which Rust names become names on the wire.
#[derive(Clone, Copy)]
pub(crate) enum Case {
    Snake,
    Camel,
    Kebab,
}

impl Case {
    /// Reads `rename_all`, by default `snake_case`.
    pub(crate) fn parse(options: &Options) -> Result<Self> {
        let Some(name) = options.text("rename_all")? else {
            return Ok(Self::Snake);
        };
        match &*name.value() {
            "snake_case" => Ok(Self::Snake),
            "camelCase" => Ok(Self::Camel),
            "kebab-case" => Ok(Self::Kebab),
            _ => {
                let message = "expected \"snake_case\", \"camelCase\" or \"kebab-case\"";
                Err(Error::new_spanned(name, message))
            }
        }
    }

    /// Converts a name in `snake_case` or `PascalCase`.
    pub(crate) fn apply(self, name: &impl ToString) -> String {
        let name = name.to_string();
        let mut wire = String::new();
        let mut starts_word = false;
        for c in name.trim_start_matches("r#").chars() {
            if c == '_' {
                starts_word = true;
                continue;
            }
            if !wire.is_empty() && (starts_word || c.is_uppercase()) {
                match self {
                    Self::Snake => wire.push('_'),
                    Self::Kebab => wire.push('-'),
                    Self::Camel => {
                        wire.extend(c.to_uppercase());
                        starts_word = false;
                        continue;
                    }
                }
            }
            wire.extend(c.to_lowercase());
            starts_word = false;
        }
        wire
    }
}

/// The part of a value that `Debug` output contains.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Show {
    All,
    /// The size: texts of a chat may contain secrets.
    Size,
    /// Only the fact that there is a value.
    Presence,
    /// The beginning of a name, which may have any length.
    Start,
    /// No part: a struct omits the field. A variant prints its name, as with `Presence`.
    Nothing,
}

impl Show {
    /// The options and their meanings.
    const OPTIONS: [(&str, Self); 4] = [
        ("content", Self::Size),
        ("hidden", Self::Presence),
        ("cut", Self::Start),
        ("secret", Self::Nothing),
    ];

    pub(crate) fn parse(options: &Options) -> Result<Self> {
        for (name, show) in Self::OPTIONS {
            if options.has(name)? {
                return Ok(show);
            }
        }
        Ok(Self::All)
    }

    /// Returns the expression that the `Debug` builder gets in place of the reference `value`.
    pub(crate) fn shown(self, value: impl ToTokens) -> TokenStream {
        match self {
            Self::All => quote!(#value),
            Self::Size => quote!(&::copilot_wire::__private::Redact::size(#value)),
            Self::Presence | Self::Nothing => quote!(&::copilot_wire::__private::Hidden),
            Self::Start => quote!(&::copilot_wire::__private::Redact::cut(#value)),
        }
    }
}
