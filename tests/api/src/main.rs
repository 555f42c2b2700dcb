//! Compares the public API of the published packages with the lists in `docs/api`.
//!
//! ```sh
//! cargo run -p api               # compares; fails where they differ
//! cargo run -p api -- --write    # writes the lists
//! ```
//!
//! One line for each item, and one for the traits of each type. Left out are paths of the standard library, the members
//! of trait implementations, and auto traits where they hold.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout
)]

mod external;
mod listing;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use rustdoc_types::{Crate, FORMAT_VERSION};

/// The published packages.
const PACKAGES: [&str; 6] = [
    "copilot-wire",
    "copilot-wire-derive",
    "copilot-wire-kit",
    "copilot-wire-acp",
    "copilot-wire-hyper",
    "copilot-wire-redis",
];

fn main() -> ExitCode {
    let writes = std::env::args().any(|arg| arg == "--write");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let root = root.canonicalize().unwrap();
    let lists = root.join("docs/api");
    let mut differs = false;
    let mut external = external::Types::default();
    for (package, json) in document(&root) {
        let text = fs::read_to_string(&json).unwrap();
        let api: Crate = serde_json::from_str(&text).unwrap_or_else(|error| unreadable(&error));
        if api.format_version != FORMAT_VERSION {
            unreadable(&format!("its version is {}", api.format_version));
        }
        let public = public_api::Builder::from_rustdoc_json(&json).omit_blanket_impls(true);
        let public = public.build().unwrap();
        external.add(&api, &public);
        let list = listing::print(&api, &public);
        differs |= settle(&lists.join(format!("{package}.txt")), &list, writes);
    }
    let page = lists.join("external-types.md");
    let old = fs::read_to_string(&page).unwrap();
    let new = external.page(&old);
    differs |= settle(&page, &new, writes);
    for row in new.lines().filter(|row| row.contains("|  |")) {
        println!("docs/api/external-types.md: without a reason: {row}");
        differs = true;
    }
    if differs {
        println!("If the change is wanted: cargo run -p api -- --write, and commit docs/api");
        return ExitCode::FAILURE;
    }
    println!("the public API is as in docs/api");
    ExitCode::SUCCESS
}

/// Documents the packages with all their features, where `.ci/run` has checked each feature. Returns each one's JSON.
fn document(root: &Path) -> Vec<(&'static str, PathBuf)> {
    let target = root.join("target/features");
    let mut cargo = Command::new(env!("CARGO"));
    cargo
        .current_dir(root)
        .args(["doc", "--locked", "--quiet", "--no-deps", "--all-features"]);
    cargo.arg("--target-dir").arg(&target);
    cargo.args(PACKAGES.iter().flat_map(|package| ["--package", package]));
    // `cargo run` sets these. Build scripts that ask for them would run anew, and what depends on them be compiled anew.
    for (name, _) in std::env::vars_os() {
        let name = name.to_string_lossy();
        if name.starts_with("CARGO_MANIFEST_") || name.starts_with("CARGO_PKG_") {
            cargo.env_remove(&*name);
        }
    }
    cargo.env("RUSTDOCFLAGS", "-Zunstable-options --output-format json");
    cargo.env("RUSTDOC", root.join("tests/api/rustdoc"));
    assert!(cargo.status().unwrap().success(), "cargo doc");
    let json = |package: &str| target.join(format!("doc/{}.json", package.replace('-', "_")));
    PACKAGES.map(|package| (package, json(package))).into()
}

fn unreadable(why: &dyn std::fmt::Display) -> ! {
    panic!(
        "the JSON of this rustdoc cannot be read: {why}. Version {FORMAT_VERSION} can: change `public-api` and \
         `rustdoc-types` in tests/api/Cargo.toml to those for this compiler"
    );
}

/// Writes a list, or prints how it differs from the one that is there. Returns `true` if it does.
fn settle(path: &Path, new: &str, writes: bool) -> bool {
    if writes {
        fs::write(path, new).unwrap();
        return false;
    }
    let old = fs::read_to_string(path).unwrap_or_default();
    if old == new {
        return false;
    }
    println!("{} differs:", path.display());
    // A list has no line twice that matters: what is only in one of the two is enough to see the change.
    for line in old
        .lines()
        .filter(|line| !new.lines().any(|it| it == *line))
    {
        println!("-{line}");
    }
    for line in new
        .lines()
        .filter(|line| !old.lines().any(|it| it == *line))
    {
        println!("+{line}");
    }
    true
}
