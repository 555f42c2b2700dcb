//! Citations: the sources of an answer.

use serde::Serialize;

use super::details::{Filter, detail};
use crate::json::{Json, List, Members, Wire, WriteError};
use crate::openbb::workspace::Widget;
use crate::protocol::Env;

/// The citations of an answer. The Workspace displays them where they are sent, usually at the end.
#[derive(Clone, Debug, Default, PartialEq, Wire)]
#[non_exhaustive]
#[wire(new = "Creates a collection of citations.")]
pub struct CitationCollection {
    /// The citations.
    #[wire(always, new)]
    pub citations: List<Citation>,
    /// Members that this crate does not know or cannot read.
    pub unknown: Members,
}

/// A citation: one source of an answer.
#[derive(Clone, Debug, Default, PartialEq, Wire)]
#[non_exhaustive]
#[must_use]
pub struct Citation {
    /// The id. The Workspace does not display a citation without one, so every constructor sets
    /// one.
    #[wire(set = "Sets the id. Constructors set a random one.")]
    pub id: String,
    /// The cited source.
    #[wire(always)]
    pub source_info: SourceInfo,
    /// Details, displayed as a table.
    pub details: Option<List<Json>>,
    /// Passages of a PDF to highlight, each a list of boxes.
    pub quote_bounding_boxes: Option<List<List<BoundingBox>>>,
    /// A key of the source (2025, and OpenBB's own agents).
    pub signature: String,
    /// Members that this crate does not know or cannot read.
    pub unknown: Members,
}

/// The source of a citation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
#[must_use]
pub struct SourceInfo {
    /// The type: `widget`, `direct retrieval`, `web`, `artifact`, or another one.
    #[wire(name = "type", always)]
    pub kind: String,
    /// The id of the widget or artifact.
    pub uuid: String,
    /// The backend, for a widget.
    pub origin: String,
    /// The id of the widget at its backend.
    pub widget_id: String,
    /// The displayed name; for `web` the link.
    pub name: String,
    /// The description.
    pub description: String,
    /// Metadata: an object, always written. For a widget it has `input_args`.
    pub metadata: Option<Json>,
    /// Set if the source may be cited; always written.
    pub citable: Option<bool>,
    /// Members that this crate does not know or cannot read.
    pub unknown: Members,
}

/// A box around one line of a passage in a PDF.
#[derive(Clone, Debug, Default, PartialEq, Wire)]
#[non_exhaustive]
pub struct BoundingBox {
    /// The text in the box.
    #[wire(always)]
    pub text: String,
    /// The page number, from 1.
    pub page: Option<u64>,
    /// The left edge.
    pub x0: Option<f64>,
    /// The upper edge.
    pub top: Option<f64>,
    /// The right edge.
    pub x1: Option<f64>,
    /// The lower edge.
    pub bottom: Option<f64>,
    /// Members that this crate does not know or cannot read.
    pub unknown: Members,
}

impl BoundingBox {
    /// Creates a box on a page, with its left, top, right and bottom edge.
    pub fn new(text: impl Into<String>, page: u64, [x0, top, x1, bottom]: [f64; 4]) -> Self {
        Self {
            text: text.into(),
            page: Some(page),
            x0: Some(x0),
            top: Some(top),
            x1: Some(x1),
            bottom: Some(bottom),
            unknown: Members::new(),
        }
    }
}

impl Citation {
    /// Creates a citation of a source.
    pub fn new(source_info: SourceInfo) -> Self {
        Self::with_source(Env::default().uuid(), source_info)
    }

    pub(in crate::openbb) fn with_source(id: String, source_info: SourceInfo) -> Self {
        Self {
            id,
            source_info,
            ..Self::default()
        }
    }

    /// Creates a citation of a widget, with the arguments with which its data was requested.
    pub fn widget(widget: &Widget, arguments: &Members) -> Self {
        Self::new(SourceInfo::widget(widget, arguments))
    }

    /// Creates a citation of a web page.
    pub fn web(url: impl Into<String>) -> Self {
        Self::new(SourceInfo::web(url))
    }

    /// Creates a citation of an artifact of this chat.
    pub fn artifact(uuid: impl Into<String>, name: impl Into<String>) -> Self {
        Self::new(SourceInfo::artifact(uuid, name))
    }

    /// Adds details: an object whose members are displayed as names and values. Keys that are
    /// internal to the Workspace are removed.
    ///
    /// # Errors
    ///
    /// If the details cannot be serialized as JSON.
    pub fn detail<T: Serialize + ?Sized>(mut self, value: &T) -> Result<Self, WriteError> {
        if let Some(detail) = detail(value, Filter::Citation)? {
            self.details.get_or_insert_default().push(detail);
        }
        Ok(self)
    }

    /// Sets the description of the source.
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.source_info.description = description.into();
        self
    }

    /// Adds a passage to highlight in a PDF, as the boxes of its lines.
    pub fn quote(mut self, boxes: impl IntoIterator<Item = BoundingBox>) -> Self {
        let passages = self.quote_bounding_boxes.get_or_insert_default();
        passages.push(boxes.into_iter().collect());
        self
    }
}

impl SourceInfo {
    /// Creates a source of a type.
    pub fn new(kind: impl Into<String>) -> Self {
        Self {
            kind: kind.into(),
            metadata: Some(Members::new().to_raw()),
            citable: Some(true),
            ..Self::default()
        }
    }

    /// Creates a source for a web page. The Workspace uses the name as the link.
    pub(in crate::openbb) fn web(url: impl Into<String>) -> Self {
        Self {
            name: url.into(),
            ..Self::new("web")
        }
    }

    /// Creates a source for an artifact of this chat.
    pub(in crate::openbb) fn artifact(uuid: impl Into<String>, name: impl Into<String>) -> Self {
        Self {
            uuid: uuid.into(),
            name: name.into(),
            ..Self::new("artifact")
        }
    }

    /// Creates a source for a widget, with the arguments with which its data was requested.
    pub fn widget(widget: &Widget, arguments: &Members) -> Self {
        let mut metadata = Members::new();
        metadata.push("input_args", arguments.to_raw());
        Self {
            uuid: widget.id().unwrap_or_default().into_owned(),
            origin: widget.origin.clone(),
            widget_id: widget.widget_id.clone(),
            name: widget.name.clone(),
            metadata: Some(metadata.to_raw()),
            ..Self::new("widget")
        }
    }
}
