//! Formats a tree of values.

use copilot_wire::json::Json;
use copilot_wire_kit::Node;

use crate::screen::{Screen, Style, short};
use crate::verdict::Failure;

/// Returns `true` if a value is omitted from output for people.
fn is_nothing(node: &Node) -> bool {
    match node {
        Node::None | Node::Bool(false) => true,
        Node::Text(text) => text.is_empty(),
        Node::List(items) => items.is_empty(),
        Node::Object(members) => members.iter().all(|(_, value)| is_nothing(value)),
        _ => false,
    }
}

/// Shows the members of an object, aligned, without empty members.
pub(crate) fn show(node: &Node, screen: &mut Screen, indent: usize) -> Result<(), Failure> {
    let Node::Object(members) = node else {
        return screen.line(format_args!("{:indent$}{}", "", inline(node)));
    };
    let shown = || members.iter().filter(|(_, value)| !is_nothing(value));
    let width = shown().map(|(name, _)| name.len()).max().unwrap_or(0);
    for (name, value) in shown() {
        let label = screen.paint(Style::Bold, format_args!("{name:width$}"));
        match value {
            Node::List(items) => {
                screen.line(format_args!("{:indent$}{label}  {}", "", items.len()))?;
                for item in items {
                    screen.line(format_args!("{:indent$}  {}", "", inline(item)))?;
                }
            }
            Node::Object(_) => {
                screen.line(format_args!("{:indent$}{}", "", label.trim_end()))?;
                show(value, screen, indent + 2)?;
            }
            value => screen.line(format_args!("{:indent$}{label}  {}", "", inline(value)))?,
        }
    }
    Ok(())
}

/// Formats a value on one line.
fn inline(node: &Node) -> String {
    match node {
        Node::Bool(value) => if *value { "yes" } else { "no" }.to_owned(),
        Node::Text(text) => short(text).into_owned(),
        Node::Json(json) => short(&compact(json)).into_owned(),
        Node::List(items) => {
            let items: Vec<_> = items.iter().map(inline).collect();
            items.join(", ")
        }
        // The first members are the object's name and need no label.
        Node::Object(members) => {
            let mut parts = Vec::new();
            for (at, (name, value)) in members.iter().enumerate() {
                match value {
                    value if is_nothing(value) => {}
                    Node::Bool(_) => parts.push((*name).to_owned()),
                    value if at < 2 => parts.push(inline(value)),
                    value => parts.push(format!("{name}: {}", inline(value))),
                }
            }
            parts.join("  ")
        }
        _ => String::new(),
    }
}

/// Removes the white space between the tokens of a JSON text.
pub(crate) fn compact(json: &Json) -> String {
    let mut out = String::with_capacity(json.text().len());
    let (mut string, mut escaped) = (false, false);
    for letter in json.text().chars() {
        match letter {
            // An escaped quote does not end the string.
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => string = !string,
            // White space within strings is content. JSON's own white space is ASCII.
            letter if !string && letter.is_ascii_whitespace() => continue,
            _ => {}
        }
        out.push(letter);
    }
    out
}
