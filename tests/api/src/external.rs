//! The types of other crates in the public API.

use std::collections::{BTreeMap, BTreeSet};

use public_api::PublicApi;
use rustdoc_types::{Crate, Id};
use serde_json::Value;

/// Types and traits by the crate that defines them.
#[derive(Default)]
pub(super) struct Types(BTreeMap<String, BTreeSet<String>>);

impl Types {
    /// Adds those in the public API of a crate.
    pub(super) fn add(&mut self, api: &Crate, public: &PublicApi) {
        for item in public.items() {
            let item = serde_json::to_value(&api.index[&item.id()].inner).expect("what was JSON");
            self.add_all(api, &item);
        }
    }

    fn add_all(&mut self, api: &Crate, value: &Value) {
        match value {
            Value::Object(members) => {
                let id = members.get("id").and_then(Value::as_u64);
                if let Some(id) = id.and_then(|id| u32::try_from(id).ok()) {
                    self.add_one(api, Id(id));
                }
                members.values().for_each(|it| self.add_all(api, it));
            }
            Value::Array(items) => items.iter().for_each(|it| self.add_all(api, it)),
            _ => {}
        }
    }

    fn add_one(&mut self, api: &Crate, id: Id) {
        let Some(summary) = api.paths.get(&id) else {
            return;
        };
        let (Some(root), Some(last)) = (summary.path.first(), summary.path.last()) else {
            return;
        };
        let is_other =
            !["alloc", "core", "std"].contains(&&**root) && !root.starts_with("copilot_wire");
        if is_other {
            self.0.entry(root.clone()).or_default().insert(last.clone());
        }
    }

    /// Returns the page with these types. The reasons are those of the old page.
    pub(super) fn page(&self, old: &str) -> String {
        let (before, rows) = old.split_once("|---|---|---|\n").expect("a table");
        let reason = |name: &str| {
            let row = rows
                .lines()
                .find(|row| row.starts_with(&format!("| `{name}` |")));
            row.and_then(|row| row.split('|').nth(2))
                .unwrap_or("  ")
                .trim()
        };
        let mut page = format!("{before}|---|---|---|\n");
        for (name, types) in &self.0 {
            let types: Vec<_> = types.iter().map(|it| format!("`{it}`")).collect();
            page += &format!("| `{name}` | {} | {} |\n", reason(name), types.join(", "));
        }
        page
    }
}
