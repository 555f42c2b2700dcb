//! JSON Patch for the shared state, as an app applies it.

use serde_json::Value;

/// Applies JSON Patch operations. `None` when one of them does not fit; the document may have changed
/// then.
pub(super) fn apply(document: &mut Value, patch: &[Value]) -> Option<()> {
    for operation in patch {
        let text = |name: &str| operation.get(name).and_then(Value::as_str);
        let path = text("path")?;
        let value = || operation.get("value").cloned();
        match text("op")? {
            "add" => add(document, path, value()?)?,
            "remove" => drop(remove(document, path)?),
            "replace" => *document.pointer_mut(path)? = value()?,
            "move" => {
                let moved = remove(document, text("from")?)?;
                add(document, path, moved)?;
            }
            "copy" => {
                let copied = document.pointer(text("from")?)?.clone();
                add(document, path, copied)?;
            }
            "test" if document.pointer(path) == operation.get("value") => {}
            _ => return None,
        }
    }
    Some(())
}

/// Returns the parent of the value at a pointer, and the last segment, unescaped.
fn parent<'a>(document: &'a mut Value, path: &str) -> Option<(&'a mut Value, String)> {
    let (parent, key) = path.rsplit_once('/')?;
    let key = key.replace("~1", "/").replace("~0", "~");
    Some((document.pointer_mut(parent)?, key))
}

fn add(document: &mut Value, path: &str, value: Value) -> Option<()> {
    if path.is_empty() {
        *document = value;
        return Some(());
    }
    match parent(document, path)? {
        (Value::Object(members), key) => drop(members.insert(key, value)),
        (Value::Array(elements), key) => {
            let at = match key.as_str() {
                "-" => elements.len(),
                key => key.parse().ok().filter(|at| *at <= elements.len())?,
            };
            elements.insert(at, value);
        }
        _ => return None,
    }
    Some(())
}

fn remove(document: &mut Value, path: &str) -> Option<Value> {
    match parent(document, path)? {
        (Value::Object(members), key) => members.remove(&key),
        (Value::Array(elements), key) => {
            let at = key.parse().ok().filter(|at| *at < elements.len())?;
            Some(elements.remove(at))
        }
        _ => None,
    }
}
