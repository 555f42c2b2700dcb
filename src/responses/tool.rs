//! Tools of a request.

use std::borrow::Cow;

use crate::json::{Json, Members, Wire};

/// A tool that a request offers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
#[wire(never_empty, null_is_absent)]
pub struct Tool {
    /// The kind: `function`, or another one such as `web_search`, which an agent does not call. The
    /// members of other kinds are in `unknown`.
    #[wire(name = "type", always)]
    pub kind: String,
    /// The name of a function.
    pub name: Option<String>,
    /// The description.
    pub description: Option<String>,
    /// The JSON schema of its arguments.
    #[wire(set = "Sets the JSON schema of the arguments.")]
    pub parameters: Option<Json>,
    /// Set if the arguments must match the schema exactly.
    pub strict: Option<bool>,
    /// Members that this crate does not know.
    pub unknown: Members,
}

impl Tool {
    /// Creates a function without arguments.
    pub fn function(name: impl Into<String>, description: impl Into<String>) -> Self {
        Self {
            kind: "function".into(),
            name: Some(name.into()),
            description: Some(description.into()),
            ..Self::default()
        }
    }

    /// Returns the name of the tool if it is a function that can be called.
    fn callable(&self) -> Option<&str> {
        let name = self.name.as_deref().filter(|name| !name.is_empty());
        name.filter(|_| self.kind == "function")
    }

    /// Returns the functions that can be called: the tool itself, or those in a namespace, each with its name and its
    /// namespace.
    pub(super) fn functions(&self) -> Vec<Function<'_>> {
        if self.kind != "namespace" {
            let name = self.callable().map(str::to_owned);
            let function = name.map(|name| Function {
                name,
                namespace: None,
                tool: Cow::Borrowed(self),
            });
            return function.into_iter().collect();
        }
        let tools = self.unknown.get("tools").into_iter();
        let tools = tools.flat_map(Json::elements);
        let functions = tools.filter_map(|tool| {
            let tool = Self::from_raw(&tool)?;
            Some(Function {
                name: tool.callable()?.to_owned(),
                namespace: self.name.clone(),
                tool: Cow::Owned(tool),
            })
        });
        functions.collect()
    }
}

/// A function that a request offers.
pub(super) struct Function<'a> {
    /// The name of the function, in its namespace if it is in one.
    pub(super) name: String,
    pub(super) namespace: Option<String>,
    pub(super) tool: Cow<'a, Tool>,
}

impl Function<'_> {
    pub(super) fn into_owned(self) -> Function<'static> {
        Function {
            tool: Cow::Owned(self.tool.into_owned()),
            ..self
        }
    }

    /// Returns the name by which agents know the function.
    pub(super) fn full_name(&self) -> Cow<'_, str> {
        full_name(self.namespace.as_deref(), &self.name)
    }
}

/// Returns the name by which agents know a function: its name after that of its namespace, as other clients write it.
pub(super) fn full_name<'a>(namespace: Option<&str>, name: &'a str) -> Cow<'a, str> {
    match namespace.filter(|namespace| !namespace.is_empty()) {
        Some(namespace) => format!("{}__{name}", namespace.trim_end_matches('_')).into(),
        None => name.into(),
    }
}
