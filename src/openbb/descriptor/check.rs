//! Checks of descriptors.

use super::{Control, Descriptor, FEEDBACK, Feature, Switch};
use crate::json::{Json, Kind};

/// The reason why the Workspace would reject a descriptor.
///
/// The Workspace validates the document as a whole: one invalid entry makes all agents of the
/// server unavailable.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DescriptorError {
    /// The id is empty, or has characters other than lower-case letters, digits, `-` and `_`.
    #[error("an id may have only lower-case letters, digits, `-` and `_`")]
    Id,
    /// A required text is empty.
    #[error("{0} must not be empty")]
    Empty(&'static str),
    /// A location is neither a URL nor a path.
    #[error("{0} must be a URL or a path that starts with `/`")]
    Location(&'static str),
    /// Streaming is off. The Workspace requires it.
    #[error("streaming must be on")]
    Streaming,
    /// Feedback needs both the feature and a location for its requests.
    #[error("feedback needs the feature and the endpoint")]
    Feedback,
    /// A feature that the Workspace knows is not a boolean.
    #[error("feature {0} must be a boolean")]
    NotASwitch(String),
    /// A control cannot be displayed.
    #[error("option {id} {fault}")]
    Option {
        /// The id of the control.
        id: String,
        /// The error.
        fault: &'static str,
    },
    /// A model has no id or no name, or two models have the same id.
    #[error("a model needs a unique id and a name")]
    Model,
    /// Two agents have the same id.
    #[error("two agents have the id {0}")]
    DuplicateId(String),
    /// Two agents have the same name, ignoring case.
    #[error("two agents have the name {0}")]
    DuplicateName(String),
}

impl Descriptor {
    /// Checks that the Workspace accepts the descriptor. An invalid one makes all agents of the
    /// server unavailable.
    ///
    /// # Errors
    ///
    /// The first [`DescriptorError`].
    pub fn check(&self) -> Result<(), DescriptorError> {
        // The documentation says `^[a-z0-9-]+$`; OpenBB's own examples use underscores, and they
        // work.
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_".contains(c);
        if self.id.is_empty() || !self.id.chars().all(plain) {
            return Err(DescriptorError::Id);
        }
        if self.name.trim().is_empty() {
            return Err(DescriptorError::Empty("the name"));
        }
        if self.description.trim().is_empty() {
            return Err(DescriptorError::Empty("the description"));
        }
        let endpoints = self.endpoints.clone().unwrap_or_default();
        let places = [
            ("the query endpoint", self.query_url(), true),
            ("the feedback endpoint", &endpoints.feedback, false),
            ("the image", &self.image, false),
        ];
        for (what, place, required) in places {
            if !(is_place(place) || place.is_empty() && !required) {
                return Err(DescriptorError::Location(what));
            }
        }
        if !self.base_url.is_empty() && !is_url(&self.base_url) {
            return Err(DescriptorError::Location("the base URL"));
        }
        if !self.has("streaming") {
            return Err(DescriptorError::Streaming);
        }
        // Either one alone: votes with nowhere to go, or a location that is never called.
        if self.has(FEEDBACK) == endpoints.feedback.is_empty() {
            return Err(DescriptorError::Feedback);
        }
        for (id, feature) in self.features.iter() {
            check_feature(id, feature)?;
        }
        let mut ids = Vec::new();
        for model in self.models.iter() {
            if model.id.is_empty() || model.name.is_empty() || ids.contains(&&model.id) {
                return Err(DescriptorError::Model);
            }
            // A list and not a set: the author of a descriptor writes a handful.
            ids.push(&model.id);
        }
        Ok(())
    }
}

fn check_feature(id: &str, feature: &Feature) -> Result<(), DescriptorError> {
    let known = Switch::ALL.iter().map(|switch| switch.as_str());
    let is_known = known
        .chain(["streaming", FEEDBACK])
        .any(|known| known == id);
    match feature {
        // Options of early 2026 arrive as `id=text`, so a `=` in the id would move the separator.
        Feature::Switch(_) if id.trim().is_empty() || id.contains('=') => {
            Err(DescriptorError::Option {
                id: id.to_owned(),
                fault: "needs an id without `=`",
            })
        }
        Feature::Switch(_) => Ok(()),
        _ if is_known => Err(DescriptorError::NotASwitch(id.to_owned())),
        Feature::Control(control) => match fault(id, control) {
            Some(fault) => Err(DescriptorError::Option {
                id: id.to_owned(),
                fault,
            }),
            None => Ok(()),
        },
        Feature::Unknown(_) => Err(DescriptorError::Option {
            id: id.to_owned(),
            fault: "must be a boolean or a control",
        }),
    }
}

/// Returns the reason why the Workspace would reject a control.
fn fault(id: &str, control: &Control) -> Option<&'static str> {
    let default = control.default.as_ref().map(Json::kind);
    if id.trim().is_empty() || id.contains('=') {
        return Some("needs an id without `=`");
    }
    if control.label.trim().is_empty() {
        return Some("needs a label");
    }
    match control.kind.as_str() {
        "" | "toggle" => (!matches!(default, None | Some(Kind::Bool)))
            .then_some("is a toggle: its default must be a boolean"),
        "text" => (!matches!(default, None | Some(Kind::String)))
            .then_some("is a text: its default must be a string"),
        "select" => {
            let bad = |choice: &super::Choice| choice.label.is_empty() || choice.value.is_empty();
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
