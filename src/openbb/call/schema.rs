//! Tool arguments against the tool's JSON schema, as far as it keeps a call from being useless.

use crate::json::{Json, Kind};

/// How deep schemas are followed.
const DEPTH: usize = 16;

/// Checks required members, types and closed lists of values. What this does not know of JSON
/// schema, it lets pass: the tool's server decides.
///
/// # Errors
///
/// What is wrong and where, without the values.
pub(in crate::openbb) fn check(schema: &Json, value: &Json) -> Result<(), String> {
    check_at(schema, value, "", DEPTH)
}

fn check_at(schema: &Json, value: &Json, path: &str, depth: usize) -> Result<(), String> {
    if depth == 0 || schema.kind() != Kind::Object {
        return Ok(());
    }
    let shown = if path.is_empty() {
        "the arguments"
    } else {
        path
    };
    let (mut types, mut required, mut properties, mut items, mut choices) =
        (None, None, None, None, None);
    for (key, member) in schema.members() {
        match &*key {
            "type" => types = Some(member),
            "required" => required = Some(member),
            "properties" => properties = Some(member),
            "items" => items = Some(member),
            "enum" => choices = Some(member),
            _ => {}
        }
    }
    if let Some(types) = types {
        let fits = match types.kind() {
            Kind::String => is_a(value, &types),
            Kind::Array => types.elements().any(|one| is_a(value, &one)),
            _ => true,
        };
        if !fits {
            return Err(format!("{shown} must be of type {}", types.text()));
        }
    }
    if let Some(choices) = choices.filter(|choices| choices.kind() == Kind::Array) {
        if !choices.elements().any(|choice| same(&choice, value)) {
            return Err(format!("{shown} must be one of {}", choices.text()));
        }
    }
    if value.kind() == Kind::Object {
        for name in required.iter().flat_map(Json::elements) {
            let name = name.string().unwrap_or_default();
            if value.get(&name).is_none() {
                return Err(format!("{} is missing", join(path, &name)));
            }
        }
        for (name, schema) in properties.iter().flat_map(Json::members) {
            if let Some(member) = value.get(&name) {
                check_at(&schema, &member, &join(path, &name), depth - 1)?;
            }
        }
    }
    if let Some(items) = items {
        for (index, element) in value.elements().enumerate() {
            check_at(&items, &element, &format!("{path}[{index}]"), depth - 1)?;
        }
    }
    Ok(())
}

fn join(path: &str, name: &str) -> String {
    if path.is_empty() {
        name.to_owned()
    } else {
        format!("{path}.{name}")
    }
}

fn is_a(value: &Json, name: &Json) -> bool {
    let name = name.string().unwrap_or_default();
    match (&*name, value.kind()) {
        ("null", Kind::Null)
        | ("boolean", Kind::Bool)
        | ("string", Kind::String)
        | ("number", Kind::Number)
        | ("array", Kind::Array)
        | ("object", Kind::Object) => true,
        // 1.0 is an integer in JSON schema.
        ("integer", Kind::Number) => value.as_f64().is_none_or(|number| number.fract() == 0.0),
        ("null" | "boolean" | "string" | "number" | "integer" | "array" | "object", _) => false,
        // A type that JSON schema does not have.
        _ => true,
    }
}

fn same(one: &Json, other: &Json) -> bool {
    match (one.kind(), other.kind()) {
        (Kind::String, Kind::String) => one.string() == other.string(),
        (Kind::Number, Kind::Number) => one == other || one.as_f64() == other.as_f64(),
        _ => one == other,
    }
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::json::Json;

    fn run(schema: &str, value: &str) -> Result<(), String> {
        let json = |text: &str| Json::parse(text.to_owned()).unwrap();
        check(&json(schema), &json(value))
    }

    #[test]
    fn required_members_and_types() {
        let schema = r#"{"type":"object","properties":{"q":{"type":"string"},"n":{"type":"integer"},
            "t":{"type":["string","null"]},"k":{"enum":["a","b"]},
            "l":{"type":"array","items":{"type":"object","required":["x"]}}},"required":["q"]}"#;
        let cases = [
            (r#"{"q":"x"}"#, None),
            (
                r#"{"q":"x","n":1.0,"t":null,"k":"b","l":[{"x":1}],"more":true}"#,
                None,
            ),
            (r#"{}"#, Some("q is missing")),
            (r#"{"q":1}"#, Some("q must be of type \"string\"")),
            (
                r#"{"q":"x","n":1.5}"#,
                Some("n must be of type \"integer\""),
            ),
            (
                r#"{"q":"x","k":"c"}"#,
                Some("k must be one of [\"a\",\"b\"]"),
            ),
            (r#"{"q":"x","l":[{"x":1},{}]}"#, Some("l[1].x is missing")),
            (r#"[]"#, Some("the arguments must be of type \"object\"")),
        ];
        for (value, expected) in cases {
            assert_eq!(run(schema, value).err().as_deref(), expected, "{value}");
        }
    }

    #[test]
    fn odd_schemas_let_everything_pass() {
        for schema in [
            "null",
            "true",
            "[]",
            r#"{"type":"thing"}"#,
            r#"{"required":7}"#,
            r#"{"type":7}"#,
        ] {
            assert_eq!(run(schema, r#"{"a":1}"#), Ok(()), "{schema}");
        }
    }
}
