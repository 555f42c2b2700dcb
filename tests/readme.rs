//! `README.md` in this folder names what exists, and everything in this folder.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Returns the texts in backticks.
fn code(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// Finds a file or folder that is named from this folder or from the root of the package.
fn find(name: &str) -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let places = [root.join("tests").join(name), root.join(name)];
    places.into_iter().find(|path| path.exists())
}

fn read(name: &str) -> Option<String> {
    fs::read_to_string(find(name)?).ok()
}

/// Returns what is wrong with the second column of a row: `file.rs`, `folder/` or `file.rs::test`.
fn check_tests(column: &str) -> Vec<String> {
    let is_wrong = |name: &&str| match name.split_once("::") {
        Some((file, test)) => !read(file).is_some_and(|it| it.contains(&format!("fn {test}("))),
        None => find(name).is_none(),
    };
    code(column).filter(is_wrong).map(String::from).collect()
}

/// Returns what is wrong with the third column of a row: files, and after each one its lines.
fn check_defence(column: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut source = String::new();
    for name in code(column) {
        if name.ends_with(".rs") {
            source = read(name).unwrap_or_default();
        }
        if !name.ends_with(".rs") && !source.contains(name) || source.is_empty() {
            wrong.push(name.to_owned());
        }
    }
    wrong
}

#[test]
fn what_the_page_names_exists() {
    let page = read("README.md").unwrap();
    let (tests, faults) = page.split_once("\n## ").unwrap();
    let rows = |text| {
        str::lines(text)
            .filter(|line| line.starts_with("| "))
            .skip(1)
    };
    let first = |row: &str| row.split('|').nth(1).unwrap_or_default().to_owned();
    let named: Vec<_> = rows(tests).map(first).collect();
    let named: BTreeSet<_> = named.iter().flat_map(|row| code(row)).collect();

    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let is_named = |entry: &String| entry == "README.md" || named.contains(&**entry);
    let entries = fs::read_dir(folder).unwrap().map(|entry| {
        let entry = entry.unwrap();
        let slash = if entry.path().is_dir() { "/" } else { "" };
        format!("{}{slash}", entry.file_name().into_string().unwrap())
    });
    let unnamed: Vec<_> = entries.filter(|entry| !is_named(entry)).collect();
    assert_eq!(unnamed, [""; 0], "entries that the page does not name");

    let missing: Vec<_> = named.iter().filter(|name| find(name).is_none()).collect();
    assert_eq!(missing, [&""; 0], "entries that do not exist");

    let mut count = 0;
    for row in rows(faults) {
        let columns: Vec<_> = row.trim_matches('|').split('|').collect();
        let [fault, tests, defence] = columns[..] else {
            panic!("three columns: {row}");
        };
        let wrong = [check_tests(tests), check_defence(defence)].concat();
        assert_eq!(wrong, [""; 0], "{fault}");
        count += 1;
    }
    assert!(count > 30, "{count} rows");
}
