//! Sources of an answer.

use serde::Serialize;

use super::details::{Filter, detail};
use crate::json::model::{Field, model};
use crate::json::{Json, List, Members, WriteError};
use crate::openbb::request::Widget;
use crate::protocol::Env;

/// Sources of an answer. They show where they are sent: mostly at its end.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct CitationCollection {
    /// The sources.
    pub citations: List<Citation>,
    /// Members that this crate does not know or cannot read.
    pub unknown: Members,
}

model!(CitationCollection { citations: "citations" always });

impl CitationCollection {
    /// These sources.
    #[must_use]
    pub fn new(citations: impl IntoIterator<Item = Citation>) -> Self {
        Self {
            citations: citations.into_iter().collect(),
            unknown: Members::new(),
        }
    }
}

/// One source of an answer.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Citation {
    /// Its id. Without one the Workspace does not show it, so every constructor makes one.
    pub id: String,
    /// What it is.
    pub source_info: SourceInfo,
    /// More about it, shown as a table.
    pub details: Option<List<Json>>,
    /// Passages of a PDF to highlight: a list of boxes for each.
    pub quote_bounding_boxes: Option<List<List<BoundingBox>>>,
    /// A key of the source (2025, and agents of OpenBB's own).
    pub signature: String,
    /// Members that this crate does not know or cannot read.
    pub unknown: Members,
}

model!(Citation {
    id: "id",
    source_info: "source_info" always,
    details: "details",
    quote_bounding_boxes: "quote_bounding_boxes",
    signature: "signature",
});

/// What a source is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SourceInfo {
    /// `widget`, `direct retrieval`, `web`, `artifact`, or another one.
    pub kind: String,
    /// The id of the widget or artifact.
    pub uuid: String,
    /// The backend of a widget.
    pub origin: String,
    /// A widget's id there.
    pub widget_id: String,
    /// What the user reads; for `web` the link.
    pub name: String,
    /// More about it.
    pub description: String,
    /// More about it: an object, always written. Of a widget `input_args`.
    pub metadata: Option<Json>,
    /// Whether it may be cited, always written.
    pub citable: Option<bool>,
    /// Members that this crate does not know or cannot read.
    pub unknown: Members,
}

model!(SourceInfo {
    kind: "type" always,
    uuid: "uuid",
    origin: "origin",
    widget_id: "widget_id",
    name: "name",
    description: "description",
    metadata: "metadata",
    citable: "citable",
});

/// A line of a passage in a PDF.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct BoundingBox {
    /// The text in it.
    pub text: String,
    /// The page, from 1.
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

model!(BoundingBox {
    text: "text" always,
    page: "page",
    x0: "x0",
    top: "top",
    x1: "x1",
    bottom: "bottom",
});

impl BoundingBox {
    /// A box on a page: left, top, right and bottom.
    #[must_use]
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
    /// A source of any kind.
    #[must_use]
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

    /// A widget, with the arguments that its data was asked for with.
    #[must_use]
    pub fn widget(widget: &Widget, arguments: &Members) -> Self {
        Self::new(SourceInfo::widget(widget, arguments))
    }

    /// A page on the web.
    #[must_use]
    pub fn web(url: impl Into<String>) -> Self {
        Self::new(SourceInfo {
            name: url.into(),
            ..SourceInfo::new("web")
        })
    }

    /// An artifact of this chat.
    #[must_use]
    pub fn artifact(uuid: impl Into<String>, name: impl Into<String>) -> Self {
        Self::new(SourceInfo {
            uuid: uuid.into(),
            name: name.into(),
            ..SourceInfo::new("artifact")
        })
    }

    /// Adds details: an object whose members are shown as names and values. Keys that are
    /// internals of the Workspace are left out.
    ///
    /// # Errors
    ///
    /// When the details cannot be JSON.
    pub fn detail<T: Serialize + ?Sized>(mut self, value: &T) -> Result<Self, WriteError> {
        if let Some(detail) = detail(value, Filter::Citation)? {
            self.details.get_or_insert_default().push(detail);
        }
        Ok(self)
    }

    /// Says what the source is about.
    #[must_use]
    pub fn described(mut self, description: impl Into<String>) -> Self {
        self.source_info.description = description.into();
        self
    }

    /// Adds a passage to highlight in a PDF, as the boxes of its lines.
    #[must_use]
    pub fn quote(mut self, boxes: impl IntoIterator<Item = BoundingBox>) -> Self {
        let passages = self.quote_bounding_boxes.get_or_insert_default();
        passages.push(boxes.into_iter().collect());
        self
    }

    /// Sets the id. A fresh one is there already.
    #[must_use]
    pub fn id(mut self, id: impl Into<String>) -> Self {
        self.id = id.into();
        self
    }
}

impl SourceInfo {
    /// A source of a kind.
    #[must_use]
    pub fn new(kind: impl Into<String>) -> Self {
        Self {
            kind: kind.into(),
            metadata: Some(Members::new().to_raw()),
            citable: Some(true),
            ..Self::default()
        }
    }

    /// A widget, with the arguments that its data was asked for with.
    #[must_use]
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
