//! The widgets of a request.

use std::borrow::Cow;

use super::Param;
use crate::json::model::{Field, model};
use crate::json::{Json, JsonError, Kind, List, Members, Reader, ValueWriter};
use crate::openbb::xxh64::xxh64;

/// Why a widget is in the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Tier {
    /// The user put it in context.
    Primary,
    /// It is on the open dashboard.
    Secondary,
    /// It could be added; only when the user turned global search on.
    Extra,
}

/// The widgets of a request, in either form of the wire.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Widgets {
    /// One list (until January 2025): the widgets of the open dashboard.
    Flat(List<Widget>),
    /// Three lists.
    Tiers(Tiers),
}

/// The widgets by tier.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Tiers {
    /// What the user put in context.
    pub primary: List<Widget>,
    /// What else is on the open dashboard.
    pub secondary: List<Widget>,
    /// What could be added.
    pub extra: List<Widget>,
    /// Members that this crate does not know or cannot read.
    pub unknown: Members,
}

model!(Tiers {
    primary: "primary",
    secondary: "secondary",
    extra: "extra"
});

impl Widgets {
    /// The widgets of one tier. Those of a flat list are on the dashboard, so secondary.
    #[must_use]
    pub fn tier(&self, tier: Tier) -> &List<Widget> {
        const NONE: &List<Widget> = &List::new();
        match (self, tier) {
            (Self::Flat(widgets), Tier::Secondary) => widgets,
            (Self::Flat(_), _) => NONE,
            (Self::Tiers(tiers), Tier::Primary) => &tiers.primary,
            (Self::Tiers(tiers), Tier::Secondary) => &tiers.secondary,
            (Self::Tiers(tiers), Tier::Extra) => &tiers.extra,
        }
    }
}

impl Field for Widgets {
    fn read_from(reader: &mut Reader<'_>) -> Result<Option<Self>, JsonError> {
        if reader.is(Kind::Array) {
            return Ok(List::read_from(reader)?.map(Self::Flat));
        }
        Ok(Tiers::read_from(reader)?.map(Self::Tiers))
    }

    fn write_to(&self, to: ValueWriter<'_>) {
        match self {
            Self::Flat(widgets) => widgets.write_to(to),
            Self::Tiers(tiers) => tiers.write_to(to),
        }
    }
}

/// One widget.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Widget {
    /// Its id on the wire, which need not look like a UUID. Missing for attachments and widgets
    /// of the tier `extra`: use [`id`](Self::id).
    pub uuid: String,
    /// The backend that it comes from. Empty in flat requests.
    pub origin: String,
    /// Its id there. Empty in flat requests.
    pub widget_id: String,
    /// What the user sees it called.
    pub name: String,
    /// What it shows.
    pub description: String,
    /// Its parameters.
    pub params: List<Param>,
    /// Where its data comes from.
    pub source: String,
    /// Its category.
    pub category: String,
    /// Its sub-category.
    pub sub_category: String,
    /// The columns of its data.
    pub columns: List<String>,
    /// More about it, in any form. In flat requests the values of its parameters.
    pub metadata: Option<Json>,
    /// Members that this crate does not know or cannot read.
    pub unknown: Members,
}

model!(Widget {
    uuid: "uuid",
    origin: "origin",
    widget_id: "widget_id",
    name: "name",
    description: "description",
    params: "params",
    source: "source",
    category: "category",
    sub_category: "sub_category",
    columns: "columns",
    metadata: "metadata",
});

impl Widget {
    /// A widget of a backend, for clients.
    #[must_use]
    pub fn new(
        origin: impl Into<String>,
        widget_id: impl Into<String>,
        name: impl Into<String>,
        description: impl Into<String>,
    ) -> Self {
        let mut widget = Self {
            origin: origin.into(),
            widget_id: widget_id.into(),
            name: name.into(),
            description: description.into(),
            metadata: Some(Members::new()).map(|none| none.to_raw()),
            ..Self::default()
        };
        // openbb-ai demands the member, which may be empty.
        widget
            .unknown
            .push("params", Json::parse("[]").unwrap_or_default());
        widget
    }

    /// The id: the one on the wire, else the one derived from origin and widget id.
    ///
    /// When `uuid` is null or missing and both names are there, the id is the hash
    /// `xxh64("origin=" + origin + "&widget_id=" + widget_id)` with seed 0 in 16 hex digits, twice,
    /// read as a UUID.
    #[must_use]
    pub fn id(&self) -> Option<Cow<'_, str>> {
        if !self.uuid.is_empty() {
            return Some(Cow::Borrowed(&self.uuid));
        }
        if self.origin.is_empty() || self.widget_id.is_empty() {
            return None;
        }
        let key = format!("origin={}&widget_id={}", self.origin, self.widget_id);
        let hash = xxh64(key.as_bytes());
        let (high, middle, low) = (hash >> 32, hash >> 16 & 0xFFFF, hash & 0xFFFF);
        Some(Cow::Owned(format!(
            "{high:08x}-{middle:04x}-{low:04x}-{:04x}-{:04x}{middle:04x}{low:04x}",
            high >> 16,
            high & 0xFFFF,
        )))
    }

    /// The parameter of this name.
    #[must_use]
    pub fn param(&self, name: &str) -> Option<&Param> {
        self.params.iter().find(|param| param.name == name)
    }

    /// The arguments with which the widget is shown: every parameter that has a value.
    #[must_use]
    pub fn arguments(&self) -> Members {
        let value = |param: &Param| Some((param.name.clone(), param.value()?.clone()));
        self.params.iter().filter_map(value).collect()
    }

    /// Whether it only holds other widgets. Such a one never has data: its id starts with `tab_`.
    #[must_use]
    pub fn is_container(&self) -> bool {
        self.widget_id.starts_with("tab_")
    }
}
