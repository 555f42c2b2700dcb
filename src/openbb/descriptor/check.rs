//! Checks of descriptors.

use std::fmt;

use super::{Control, Descriptor, FEEDBACK, Switch};
use crate::json::{Json, Kind, Wire};
use crate::router::MountError;

/// Returns the reason why the Workspace would reject a descriptor. It validates the document as a whole: one
/// invalid entry makes all agents of the server unavailable.
pub(super) fn invalid(reason: impl fmt::Display) -> MountError {
    MountError::Invalid(format!("descriptor: {reason}"))
}

impl Descriptor {
    /// Checks that the Workspace accepts the descriptor. An invalid one makes all agents of the
    /// server unavailable.
    ///
    /// # Errors
    ///
    /// [`MountError::Invalid`] with the first reason why the Workspace would reject the descriptor.
    pub fn check(&self) -> Result<(), MountError> {
        // The documentation says `^[a-z0-9-]+$`; OpenBB's own examples use underscores, and they
        // work.
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_".contains(c);
        if self.id.is_empty() || !self.id.chars().all(plain) {
            return Err(invalid(
                "an id may have only lower-case letters, digits, `-` and `_`",
            ));
        }
        if self.name.trim().is_empty() {
            return Err(invalid("the name must not be empty"));
        }
        if self.description.trim().is_empty() {
            return Err(invalid("the description must not be empty"));
        }
        let endpoints = self.endpoints.clone().unwrap_or_default();
        let is_optional = |place: &str| place.is_empty() || is_place(place);
        let is_base = self.base_url.is_empty() || is_url(&self.base_url);
        for (what, is_valid) in [
            ("the query endpoint", is_place(self.query_url())),
            ("the feedback endpoint", is_optional(&endpoints.feedback)),
            ("the image", is_optional(&self.image)),
            ("the base URL", is_base),
        ] {
            if !is_valid {
                let message = "must be a URL or a path that starts with `/`";
                return Err(invalid(format!("{what} {message}")));
            }
        }
        if !self.has("streaming") {
            return Err(invalid("streaming must be on"));
        }
        // Each one requires the other: without a location votes cannot be sent, and without the feature the location is
        // never requested.
        if self.has(FEEDBACK) == endpoints.feedback.is_empty() {
            return Err(invalid("feedback needs the feature and the endpoint"));
        }
        for (id, feature) in self.features.iter() {
            if let Some(fault) = fault(id, feature) {
                return Err(invalid(format!("feature {id} {fault}")));
            }
        }
        let mut ids = Vec::new();
        for model in self.models.iter() {
            if model.id.is_empty() || model.name.is_empty() || ids.contains(&&model.id) {
                return Err(invalid("a model needs a unique id and a name"));
            }
            // A list and not a set: the author of a descriptor writes a handful.
            ids.push(&model.id);
        }
        Ok(())
    }
}

/// Returns the reason why the Workspace would reject a feature.
fn fault(id: &str, feature: &Json) -> Option<&'static str> {
    // Options of early 2026 arrive as `id=text`, so a `=` in the id would move the separator.
    if id.trim().is_empty() || id.contains('=') {
        return Some("needs an id without `=`");
    }
    let known = Switch::ALL.iter().map(|switch| switch.as_str());
    let is_known = known
        .chain(["streaming", FEEDBACK])
        .any(|known| known == id);
    if feature.kind() == Kind::Bool {
        return None;
    }
    if is_known {
        return Some("must be a boolean");
    }
    let Some(control) = Control::from_raw(feature) else {
        return Some("must be a boolean or a control");
    };
    let default = control.default.as_ref().map(Json::kind);
    if control.label.trim().is_empty() {
        return Some("needs a label");
    }
    match control.kind.as_str() {
        "" | "toggle" => (!matches!(default, None | Some(Kind::Bool)))
            .then_some("is a toggle: its default must be a boolean"),
        "text" => (!matches!(default, None | Some(Kind::String)))
            .then_some("is a text: its default must be a string"),
        "select" => {
            let bad =
                |choice: &super::ControlChoice| choice.label.is_empty() || choice.value.is_empty();
            if control.options.is_empty() || control.options.iter().any(bad) {
                return Some("is a select: it needs options with labels and values");
            }
            let default = control.default.as_ref()?.string();
            let offered = control
                .options
                .iter()
                .any(|choice| Some(&*choice.value) == default.as_deref());
            (!offered).then_some("is a select: its default must be one of its options")
        }
        _ => Some("must be a toggle, a text or a select"),
    }
}

fn is_place(place: &str) -> bool {
    let clean = |c: char| !c.is_whitespace() && !c.is_control();
    // `//host/path` has no scheme: the browser would take it for another server.
    is_url(place) || place.starts_with('/') && !place.starts_with("//") && place.chars().all(clean)
}

fn is_url(url: &str) -> bool {
    let rest = url
        .strip_prefix("https://")
        .or_else(|| url.strip_prefix("http://"));
    let clean = |c: char| !c.is_whitespace() && !c.is_control();
    rest.is_some_and(|rest| {
        rest.starts_with(|c: char| c.is_alphanumeric() || c == '[') && rest.chars().all(clean)
    })
}
