//! The options in `#[wire(…)]` and `#[event(…)]`.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::meta::ParseNestedMeta;
use syn::{Attribute, Error, GenericArgument, LitStr, PathArguments, Result, Type};

/// Calls `option` for every option in attributes of this name. One that `option` does not know is an error at its
/// name, which lists `known`.
pub(crate) fn each(
    attributes: &[Attribute],
    attribute: &str,
    known: &str,
    mut option: impl FnMut(&str, &ParseNestedMeta<'_>) -> Result<bool>,
) -> Result<()> {
    for attribute in attributes.iter().filter(|it| it.path().is_ident(attribute)) {
        attribute.parse_nested_meta(|meta| {
            let name = meta.path.get_ident().map(ToString::to_string);
            match option(&name.unwrap_or_default(), &meta)? {
                true => Ok(()),
                false => Err(meta.error(format!("unknown option, expected one of {known}"))),
            }
        })?;
    }
    Ok(())
}

/// Returns `true` if an option is given. Errors are left to [`each`].
pub(crate) fn has(attributes: &[Attribute], option: &str) -> bool {
    let mut found = false;
    for attribute in attributes.iter().filter(|it| it.path().is_ident("wire")) {
        let _ = attribute.parse_nested_meta(|meta| {
            found |= meta.path.is_ident(option);
            // The value, whatever it is, so that the next option is reached.
            if meta.input.peek(syn::Token![=]) {
                meta.value()?.parse::<syn::Expr>()?;
            }
            Ok(())
        });
    }
    found
}

/// Reads the text behind `=`.
pub(crate) fn text(meta: &ParseNestedMeta<'_>) -> Result<LitStr> {
    meta.value()?.parse()
}

/// Returns the path of a type, also of one that a macro has passed on.
fn path(ty: &Type) -> Option<&syn::Path> {
    match ty {
        Type::Path(path) => Some(&path.path),
        Type::Group(group) => path(&group.elem),
        _ => None,
    }
}

/// Returns `true` if a type is one of these names, without a path.
pub(crate) fn is(ty: &Type, names: &[&str]) -> bool {
    let ident = path(ty).and_then(syn::Path::get_ident);
    ident.is_some_and(|ident| names.iter().any(|name| ident == name))
}

/// Returns `T` of a type such as `Option<T>`.
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

/// A rule by which names of Rust become names on the wire.
#[derive(Clone, Copy, Default)]
pub(crate) enum Case {
    #[default]
    Snake,
    Camel,
    Kebab,
}

impl Case {
    /// Reads the value of `rename_all`.
    pub(crate) fn parse(meta: &ParseNestedMeta<'_>) -> Result<Self> {
        let name = text(meta)?;
        match &*name.value() {
            "snake_case" => Ok(Self::Snake),
            "camelCase" => Ok(Self::Camel),
            "kebab-case" => Ok(Self::Kebab),
            _ => {
                let message = "expected \"snake_case\", \"camelCase\" or \"kebab-case\"";
                Err(Error::new(name.span(), message))
            }
        }
    }

    /// Converts a name, `snake_case` or `PascalCase`.
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

/// The part of a value that `Debug` shows.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Show {
    #[default]
    All,
    /// The size: people paste secrets into chats.
    Size,
    /// That there is one.
    Presence,
    /// The beginning of a name that may be of any length.
    Start,
    /// Nothing.
    Nothing,
}

impl Show {
    pub(crate) const OPTIONS: &'static str = "`content`, `hidden`, `cut`, `secret`";

    /// Takes an option. Returns `false` if it is of another kind.
    pub(crate) fn option(&mut self, name: &str) -> bool {
        *self = match name {
            "content" => Self::Size,
            "hidden" => Self::Presence,
            "cut" => Self::Start,
            "secret" => Self::Nothing,
            _ => return false,
        };
        true
    }

    /// Returns what is passed to the builder of `Debug` in place of the reference `value`.
    pub(crate) fn shown(self, value: impl ToTokens) -> TokenStream {
        match self {
            Self::All | Self::Nothing => quote!(#value),
            Self::Size => quote!(&::copilot_wire::__private::Redact::size(#value)),
            Self::Presence => quote!(&::copilot_wire::__private::Hidden),
            Self::Start => quote!(&::copilot_wire::__private::Redact::cut(#value)),
        }
    }
}
