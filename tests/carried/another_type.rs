//! Values of another type than their place: each once, in the role where it stands, and no secret.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::{Marked, cases, prompts};

/// Returns the roles of the messages of a prompt in which the marker is, once for each time.
fn roles(front_end: &str, request: &Value) -> Vec<String> {
    let [prompt, ..] = prompts(front_end, &request.to_string()).unwrap();
    let prompt: Value = serde_json::from_str(&prompt).unwrap();
    let messages = prompt["messages"].as_array().unwrap().iter();
    let found = messages.flat_map(|message| {
        let count = message.to_string().matches("odd value").count();
        std::iter::repeat_n(message["role"].as_str().unwrap().to_owned(), count)
    });
    found.collect()
}

/// A secret has no role: it is in no prompt.
#[test]
fn values_of_another_type_are_said_once_in_the_role_where_they_stand() {
    let rows: Vec<Value> =
        serde_json::from_str(include_str!("../../fixtures/carried/another_type.json")).unwrap();
    let mut wrong = Vec::new();
    for row in rows {
        let found = roles(row["front_end"].as_str().unwrap(), &row["request"]);
        let role = row["role"].as_str();
        if !found.iter().map(String::as_str).eq(role) {
            wrong.push(format!("{row}: {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Parts without a list, results whose items are of other types, and the output of a call in a container.
#[test]
fn what_stands_in_place_of_a_list_is_read_as_its_element() {
    let rows: Vec<Value> =
        serde_json::from_str(include_str!("../../fixtures/carried/prompts.json")).unwrap();
    for row in rows {
        let front_end = row["front_end"].as_str().unwrap();
        let [prompt, ..] = prompts(front_end, &row["request"].to_string()).unwrap();
        let prompt: Value = serde_json::from_str(&prompt).unwrap();
        assert_eq!(prompt["messages"], row["messages"], "{row}");
    }
}

/// However deep a value is, in each kind of place of every front end.
#[test]
fn depth_needs_no_stack() {
    // Less than 100 bytes of the stack for each level.
    const DEEP: usize = 2_500;
    let thread = std::thread::Builder::new().stack_size(100 * DEEP);
    thread.spawn(|| convert(DEEP)).unwrap().join().unwrap();
}

fn convert(depth: usize) {
    let deep = [
        "[".repeat(depth) + &"]".repeat(depth),
        r#"{"text":{"content":["#.repeat(depth) + &"]}}".repeat(depth),
    ];
    let mut seen = BTreeSet::new();
    for (front_end, request, markers) in cases() {
        for Marked { pointer, path, .. } in markers {
            let name = path.rsplit('.').next().unwrap();
            if !seen.insert(format!("{front_end} {name}")) {
                continue;
            }
            let outer = pointer.rsplit_once('/').map(|(outer, _)| outer.to_owned());
            for pointer in outer.iter().chain([&pointer]) {
                let mut request = request.clone();
                *request.pointer_mut(pointer).unwrap() = "here it is deep".into();
                let request = request.to_string();
                for value in &deep {
                    let _ = prompts(&front_end, &request.replace("\"here it is deep\"", value));
                }
            }
        }
    }
    assert!(seen.len() > 50, "{}", seen.len());
}
