//! The widgets of a request.

use std::borrow::Cow;

use xxhash_rust::xxh64::xxh64;

use super::{DataTable, Param};
use crate::json::{Json, List, Members, Wire};

/// The reason why a widget is in the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Tier {
    /// A widget that the user attached as context.
    Primary,
    /// Another widget of the open dashboard.
    Secondary,
    /// A widget that could be added to the dashboard. Sent only if the user switched global search on.
    Extra,
}

/// The widgets of a request, in either form of the wire.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Widgets {
    /// One list: the widgets of the open dashboard (until January 2025).
    Flat(List<Widget>),
    /// Three lists, by tier.
    Tiers(Tiers),
}

/// The widgets by tier.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
pub struct Tiers {
    /// The widgets that the user attached as context.
    pub primary: List<Widget>,
    /// The other widgets of the open dashboard.
    pub secondary: List<Widget>,
    /// The widgets that could be added.
    pub extra: List<Widget>,
    /// Members that this crate does not know or cannot read.
    pub unknown: Members,
}

impl Widgets {
    /// Returns the widgets of one tier. Those of a flat list are on the dashboard, so they are
    /// secondary.
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

two_forms!(Widgets: Flat, Tiers(Tiers));

/// A widget.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
#[wire(never_empty)]
pub struct Widget {
    /// The id as sent, which is not always a UUID. Absent on attachments and widgets of the tier
    /// `extra`: use [`id`](Self::id).
    pub uuid: String,
    /// The backend of the widget. Empty in flat requests.
    pub origin: String,
    /// The id of the widget at its backend. Empty in flat requests.
    pub widget_id: String,
    /// The displayed name.
    pub name: String,
    /// The description.
    pub description: String,
    /// The parameters.
    #[wire(set = "Sets the parameters, for clients.")]
    pub params: List<Param>,
    /// The data provider.
    pub source: String,
    /// The category.
    pub category: String,
    /// The sub-category.
    pub sub_category: String,
    /// The columns of the data.
    pub columns: List<String>,
    /// Metadata in any form. In flat requests it has the values of the parameters.
    pub metadata: Option<Json>,
    /// Members that this crate does not know or cannot read.
    pub unknown: Members,
}

impl Widget {
    /// Creates a widget of a backend, for clients.
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
        // openbb-ai requires the member, which may be empty.
        widget
            .unknown
            .push("params", Json::parse("[]").unwrap_or_default());
        widget
    }

    /// Returns the table as which the front end registers the widget's data for
    /// [`ExecuteClientSql`](crate::openbb::ExecuteClientSql): the member `data_table` of the metadata.
    /// `None` where there is none, or one without a name.
    pub fn data_table(&self) -> Option<DataTable> {
        let table = self.metadata.as_ref()?.get("data_table")?;
        DataTable::from_raw(&table).filter(|table| !table.table_name.is_empty())
    }

    /// Returns the id: the one that was sent, else one derived from origin and widget id.
    ///
    /// If `uuid` is null or absent and origin and widget id are present, the id is the hash
    /// `xxh64("origin=" + origin + "&widget_id=" + widget_id)` with seed 0 in 16 hex digits, twice,
    /// read as a UUID.
    pub fn id(&self) -> Option<Cow<'_, str>> {
        if !self.uuid.is_empty() {
            return Some(Cow::Borrowed(&self.uuid));
        }
        if self.origin.is_empty() || self.widget_id.is_empty() {
            return None;
        }
        let key = format!("origin={}&widget_id={}", self.origin, self.widget_id);
        // The same hash as in openbb-ai, written twice to fill the 32 digits of a UUID.
        let hash = xxh64(key.as_bytes(), 0);
        let (high, middle, low) = (hash >> 32, hash >> 16 & 0xFFFF, hash & 0xFFFF);
        Some(Cow::Owned(format!(
            "{high:08x}-{middle:04x}-{low:04x}-{:04x}-{:04x}{middle:04x}{low:04x}",
            high >> 16,
            high & 0xFFFF,
        )))
    }

    /// Returns the parameter with this name.
    pub fn param(&self, name: &str) -> Option<&Param> {
        self.params.iter().find(|param| param.name == name)
    }

    /// Returns the widget's current arguments: every parameter that has a value.
    pub fn arguments(&self) -> Members {
        let value = |param: &Param| Some((param.name.clone(), param.value()?.clone()));
        self.params.iter().filter_map(value).collect()
    }

    /// Returns `true` if the widget only groups other widgets. It has no data; its id starts with
    /// `tab_`.
    pub fn is_container(&self) -> bool {
        self.widget_id.starts_with("tab_")
    }
}
