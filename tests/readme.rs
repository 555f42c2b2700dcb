//! `README.md` in this folder names what exists, everything in this folder, and every promise of `SECURITY.md`;
//! `CONTRIBUTING.md` names code that exists.
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
        let is_file = name.ends_with(".rs") || name.ends_with(".toml");
        if is_file {
            source = read(name).unwrap_or_default();
        }
        if !is_file && !source.contains(name) || source.is_empty() {
            wrong.push(name.to_owned());
        }
    }
    wrong
}

/// Returns the rows of a table, without its first one.
fn rows(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter(|line| line.starts_with("| ")).skip(1)
}

/// Checks a table of faults or promises, their tests and their defences. Returns the first column.
fn check_table(text: &str) -> Vec<String> {
    let check = |row: &str| {
        let columns: Vec<_> = row.trim_matches('|').split('|').collect();
        let [subject, tests, defence] = columns[..] else {
            panic!("three columns: {row}");
        };
        let wrong = [check_tests(tests), check_defence(defence)].concat();
        assert_eq!(wrong, [""; 0], "{subject}");
        subject.trim().to_owned()
    };
    rows(text).map(check).collect()
}

/// Returns the sentences of a list.
fn sentences(list: &str) -> Vec<String> {
    let items = list.split("\n- ").skip(1);
    let items = items.map(|item| item.split_whitespace().collect::<Vec<_>>().join(" "));
    let mut sentences: Vec<String> = Vec::new();
    for item in items {
        for part in item.trim_end_matches('.').split(". ") {
            sentences.push(format!("{part}."));
        }
    }
    sentences
}

#[test]
fn what_the_page_names_exists() {
    let page = read("README.md").unwrap();
    let mut sections = page.split("\n## ");
    let tests = sections.next().unwrap();
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

    let counts = sections.map(|section| check_table(section).len());
    let count: usize = counts.sum();
    assert!(count > 60, "{count} rows");
}

/// The page for who reads the code for the first time.
#[test]
fn the_way_of_a_turn_through_the_code_exists() {
    let page = read("CONTRIBUTING.md").unwrap();
    let (_, table) = page.split_once("\n## One request, one token\n").unwrap();
    let (table, _) = table.split_once("\n## ").unwrap();
    for row in rows(table) {
        let (step, code) = row.trim_matches('|').rsplit_once('|').unwrap();
        assert_eq!(check_defence(code), [""; 0], "{step}");
    }
    assert!(rows(table).count() > 10);
}

#[test]
fn every_promise_has_a_test() {
    let page = read("README.md").unwrap();
    let (_, table) = page.split_once("\n## Promises\n").unwrap();
    let (table, _) = table.split_once("\n## ").unwrap();

    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let security = fs::read_to_string(root.join("SECURITY.md")).unwrap();
    let (_, promises) = security
        .split_once("\n## What the library promises\n")
        .unwrap();
    let (promises, _) = promises.split_once("\n\nA violation").unwrap();
    assert_eq!(check_table(table), sentences(promises));
}
