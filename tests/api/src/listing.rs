//! The items of a crate, a line each.

use std::collections::{BTreeMap, BTreeSet};

use public_api::PublicApi;
use rustdoc_types::{Crate, Id, Impl, ItemEnum, Type};

/// Returns the list of a crate's items.
pub(super) fn print(api: &Crate, public: &PublicApi) -> String {
    let name = inner_name(api, api.root);
    let mut lines = Lines::default();
    let traits = traits(api, public, &name);
    for item in public.items() {
        let is_plain = match &api.index[&item.id()].inner {
            ItemEnum::Impl(it) => it.trait_.is_none() && !it.generics.params.is_empty(),
            ItemEnum::AssocType { .. } => true,
            _ => !item
                .parent_id()
                .is_some_and(|parent| is_trait_impl(api, parent)),
        };
        if is_plain {
            let line = shorten(&item.to_string(), &name);
            lines.add(line.strip_prefix("pub ").unwrap_or(&line).to_owned());
        }
        for ((parameters, ty), names) in traits.get(&item.id()).into_iter().flatten() {
            let names: Vec<_> = names.iter().map(String::as_str).collect();
            lines.add(format!("impl{parameters} {} for {ty}", names.join(" + ")));
        }
    }
    lines.list
}

/// Lines, each once: the header of an implementation is there for each path of its type.
#[derive(Default)]
struct Lines {
    list: String,
    added: BTreeSet<String>,
}

impl Lines {
    fn add(&mut self, line: String) {
        if !self.added.contains(&line) {
            self.list.push_str(&line);
            self.list.push('\n');
            self.added.insert(line);
        }
    }
}

/// The implemented traits of each item, by the parameters of the implementation and the type.
type Traits = BTreeMap<Id, BTreeMap<(String, String), BTreeSet<String>>>;

fn traits(api: &Crate, public: &PublicApi, name: &str) -> Traits {
    let mut traits = Traits::new();
    for item in public.items() {
        let (ItemEnum::Impl(it), Some(parent)) = (&api.index[&item.id()].inner, item.parent_id())
        else {
            continue;
        };
        if is_listed(api, it, parent) {
            let (names, ty) = header(&shorten(&item.to_string(), name));
            traits
                .entry(parent)
                .or_default()
                .entry(ty)
                .or_default()
                .insert(names);
        }
    }
    traits
}

/// Returns `true` if an implementation is listed with its parent, a type or a trait.
fn is_listed(api: &Crate, it: &Impl, parent: Id) -> bool {
    let Some(implemented) = &it.trait_ else {
        return false;
    };
    let last = implemented.path.rsplit("::").next().unwrap_or_default();
    if it.is_synthetic {
        return it.is_negative && ["Send", "Sync", "Unpin"].contains(&last);
    }
    if last == "StructuralPartialEq" {
        return false;
    }
    // With a type of this crate it is listed there.
    let is_own = |id: &Id| api.index.contains_key(id);
    let is_of_trait = matches!(&api.index[&parent].inner, ItemEnum::Trait(_));
    !is_of_trait || !matches!(&it.for_, Type::ResolvedPath(path) if is_own(&path.id))
}

fn is_trait_impl(api: &Crate, id: Id) -> bool {
    matches!(&api.index[&id].inner, ItemEnum::Impl(it) if it.trait_.is_some())
}

fn inner_name(api: &Crate, id: Id) -> String {
    api.index[&id].name.clone().expect("a name")
}

/// Splits the header of an implementation into the trait, and what stands before and behind it.
fn header(line: &str) -> (String, (String, String)) {
    let rest = line.strip_prefix("impl").expect("an implementation");
    let rest = rest.trim_start();
    let (start, ty) = rest
        .split_once(" for ")
        .expect("an implementation of a trait");
    let is_lifetimes = |list: &str| list.split(", ").all(|it| it.starts_with('\''));
    match start
        .strip_prefix('<')
        .and_then(|rest| rest.split_once("> "))
    {
        // Lifetimes are left out.
        Some((list, rest)) if is_lifetimes(list) => {
            (rest.to_owned(), (String::new(), ty.to_owned()))
        }
        Some((list, rest)) => (rest.to_owned(), (format!("<{list}>"), ty.to_owned())),
        None => (start.to_owned(), (String::new(), ty.to_owned())),
    }
}

/// Shortens the paths in a line: one of the standard library to its last name, one of another crate to crate and last
/// name, and one of this crate by the crate's name.
fn shorten(line: &str, name: &str) -> String {
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    let mut short = String::new();
    let mut rest = line;
    while let Some(start) = rest.find(is_name) {
        let (before, path) = rest.split_at(start);
        let mut end = 0;
        while let Some(name) = path[end..].strip_prefix(if end > 0 { "::" } else { "" }) {
            let length = name.find(|c| !is_name(c)).unwrap_or(name.len());
            if length == 0 {
                break;
            }
            end = path.len() - name.len() + length;
        }
        short.push_str(before);
        short.push_str(&short_path(&path[..end], name));
        rest = &path[end..];
    }
    short + rest
}

fn short_path(path: &str, name: &str) -> String {
    let Some((root, below)) = path.split_once("::") else {
        return path.to_owned();
    };
    let last = below.rsplit("::").next().unwrap_or_default();
    match root {
        _ if root == name => below.to_owned(),
        "alloc" | "core" | "std" => last.to_owned(),
        // The library's, in another package: its modules tell its types apart.
        "copilot_wire" => path.to_owned(),
        _ => format!("{root}::{last}"),
    }
}
