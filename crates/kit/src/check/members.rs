//! Functions that read members of JSON, for the rules of any protocol. Paths are JSON pointers, such as
//! `/error/message`.

use serde_json::Value;

/// Returns the text at a JSON pointer, empty if there is none.
pub fn text<'a>(value: &'a Value, path: &str) -> &'a str {
    let text = value.pointer(path).and_then(Value::as_str);
    text.unwrap_or_default()
}

/// Returns the elements of the list at a JSON pointer, none if there is no list.
pub fn elements<'a>(value: &'a Value, path: &str) -> std::slice::Iter<'a, Value> {
    let list = value.pointer(path).and_then(Value::as_array);
    list.map(Vec::as_slice).unwrap_or_default().iter()
}

/// Returns `true` if there is a value at a JSON pointer and `is` accepts it.
pub fn holds(value: &Value, path: &str, is: fn(&Value) -> bool) -> bool {
    value.pointer(path).is_some_and(is)
}

/// Returns `true` if there is a text at each of these JSON pointers, and none is empty. `true` without pointers.
pub fn all_say(value: &Value, paths: &[&str]) -> bool {
    paths.iter().all(|path| !text(value, path).is_empty())
}

/// Returns `true` if the arguments of a call are one JSON object.
pub fn is_object(arguments: &str) -> bool {
    serde_json::from_str(arguments).is_ok_and(|value: Value| value.is_object())
}

/// Returns `true` if a request has a tool with this name, at the pointer `path` in the tool.
pub fn offers(asked: &Value, path: &str, name: &str) -> bool {
    elements(asked, "/tools").any(|tool| text(tool, path) == name)
}
