//! What would hide all agents of a server.

use super::{Control, Descriptor, FEEDBACK, Feature, Switch};
use crate::json::{Json, Kind};

/// Why a descriptor would be refused.
///
/// The Workspace checks the whole document at once: one bad entry hides all agents of the server.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DescriptorError {
    /// The id is empty, or holds more than lower-case letters, digits, `-` and `_`.
    #[error("an id is made of lower-case letters, digits, `-` and `_`")]
    Id,
    /// A required text is empty.
    #[error("{0} must not be empty")]
    Empty(&'static str),
    /// A place is neither a URL nor a path.
    #[error("{0} must be a URL or a path that starts with `/`")]
    Place(&'static str),
    /// Streaming is off. The Workspace talks to no agent that does not stream.
    #[error("streaming must be on")]
    Streaming,
    /// Feedback needs the feature and the place to post it.
    #[error("feedback needs the feature and the endpoint")]
    Feedback,
    /// A feature that the Workspace knows is something else than on or off.
    #[error("the feature {0} must be on or off")]
    NotASwitch(String),
    /// A feature cannot be shown.
    #[error("the option {id} {fault}")]
    Option {
        /// The feature.
        id: String,
        /// What is wrong.
        fault: &'static str,
    },
    /// A model has no id or no name, or two have one id.
    #[error("models need an id of their own and a name")]
    Model,
    /// Two agents have one id.
    #[error("two agents have the id {0}")]
    SameId(String),
    /// Two agents have one name, apart from upper and lower case.
    #[error("two agents have the name {0}")]
    SameName(String),
}

impl Descriptor {
    /// Checks the descriptor, so that it does not hide all agents of its server.
    ///
    /// # Errors
    ///
    /// [`DescriptorError`], the first that is found.
    pub fn check(&self) -> Result<(), DescriptorError> {
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
                return Err(DescriptorError::Place(what));
            }
        }
        if !self.base_url.is_empty() && !is_url(&self.base_url) {
            return Err(DescriptorError::Place("the base URL"));
        }
        if !self.has("streaming") {
            return Err(DescriptorError::Streaming);
        }
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
            fault: "is neither on or off nor a control",
        }),
    }
}

/// What the Workspace would refuse in a control.
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
            .then_some("is a toggle, so its default is true or false"),
        "text" => (!matches!(default, None | Some(Kind::String)))
            .then_some("is a text, so its default is one"),
        "select" => {
            let bad = |choice: &super::Choice| choice.label.is_empty() || choice.value.is_empty();
            if control.options.is_empty() || control.options.iter().any(bad) {
                return Some("is a choice, so it needs options with labels and values");
            }
            let default = control.default.as_ref()?.string();
            let offered = control
                .options
                .iter()
                .any(|choice| Some(&*choice.value) == default.as_deref());
            (!offered).then_some("is a choice, so its default is one of its options")
        }
        _ => Some("is neither a toggle nor a text nor a select"),
    }
}

fn is_place(place: &str) -> bool {
    let clean = |c: char| !c.is_whitespace() && !c.is_control();
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
