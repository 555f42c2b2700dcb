//! The list of models.

use std::collections::BTreeMap;

use async_trait::async_trait;
use bytes::Bytes;
use http::{HeaderMap, Method, Response, StatusCode};

use super::Dialect;
use super::named::Named;
use crate::agent::Body;
use crate::json::wire::object;
use crate::json::{Escape, ValueWriter};
use crate::protocol::Refusal;
use crate::router::{Endpoint, HttpRequest, MountError, RouteKind, Site, json};

/// An entry of the list of models.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Card {
    /// The name of the model.
    pub id: String,
    /// The creation time in seconds since 1970.
    pub created: u64,
    /// The owner.
    pub owned_by: String,
}

/// A format of the list of models, for the clients of one dialect.
#[derive(Clone, Copy, Debug)]
pub struct Catalog {
    is_for: fn(&HeaderMap) -> bool,
    list: fn(&[&Card]) -> Vec<u8>,
    model: fn(&Card) -> Vec<u8>,
}

impl Catalog {
    /// Creates a format. `is_for` returns `true` if the client that sent these headers expects the format. `list`
    /// writes the list and `model` writes one model, each as a JSON document.
    pub const fn new(
        is_for: fn(&HeaderMap) -> bool,
        list: fn(&[&Card]) -> Vec<u8>,
        model: fn(&Card) -> Vec<u8>,
    ) -> Self {
        Self {
            is_for,
            list,
            model,
        }
    }
}

impl Card {
    pub(super) fn new(id: String) -> Self {
        Self {
            id,
            created: 0,
            owned_by: "copilot-wire".into(),
        }
    }

    fn write_to(&self, to: ValueWriter<'_>) {
        object(to, |card| {
            card.str("id", &self.id)
                .str("object", "model")
                .u64("created", self.created)
                .str("owned_by", &self.owned_by);
        });
    }

    /// Writes the model as a document.
    fn document(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.write_to(ValueWriter::new(&mut out, Escape::JsonAndSeparators));
        out
    }
}

/// The models of all protocols of a router.
#[derive(Clone, Debug, Default)]
struct Cards {
    all: Named<Card>,
    /// The formats of dialects that do not use the common format, by the name of the dialect, with their refusals.
    catalogs: BTreeMap<&'static str, (Catalog, Refuse)>,
}

impl Cards {
    /// Returns the format that the client with these headers expects; `None` for the common format.
    fn catalog(&self, headers: &HeaderMap) -> Option<&(Catalog, Refuse)> {
        let mut catalogs = self.catalogs.values();
        catalogs.find(|(catalog, _)| (catalog.is_for)(headers))
    }

    /// Writes the list as a document.
    fn document(&self, base: &str, headers: &HeaderMap) -> Vec<u8> {
        if let Some((catalog, _)) = self.catalog(headers) {
            return (catalog.list)(&self.all.at(base).iter().collect::<Vec<_>>());
        }
        let mut out = Vec::new();
        let to = ValueWriter::new(&mut out, Escape::JsonAndSeparators);
        object(to, |list| {
            list.str("object", "list");
            // Serializing entries cannot fail.
            let _ = list.array("data", self.all.at(base), |card, to| {
                card.write_to(to);
                Ok(())
            });
        });
        out
    }
}

/// Returns an iterator over the models that are listed below a base path, for [routes](Dialect::routes) of a dialect
/// whose clients request the list in another format at another path.
pub fn cards<'a>(call: &'a HttpRequest, base: &'a str) -> impl Iterator<Item = &'a Card> {
    let cards = call.shared::<Cards>().into_iter();
    cards.flat_map(move |cards| cards.all.at(base))
}

/// Adds a model to `GET {base}/models`, unless the list has one with its name.
pub(super) fn list<P: Dialect>(
    site: &mut Site<'_>,
    base: &str,
    card: Card,
) -> Result<(), MountError> {
    let cards = site.shared::<Cards>();
    // One name may be mounted for several protocols, but is listed once.
    let id = card.id.clone();
    cards.all.insert(base, &id, card);
    if let Some(catalog) = P::CATALOG {
        cards.catalogs.insert(P::NAME, (catalog, P::refuse));
    }
    routes(site, base.to_owned(), P::refuse)
}

/// Adds the routes that all dialects share. Not generic, because the closure must have one type.
fn routes(site: &mut Site<'_>, base: String, refuse: Refuse) -> Result<(), MountError> {
    let one = OneModel(base.clone(), refuse);
    site.shared_route(Method::GET, &format!("{base}/models/{{model}}"), one)?;
    site.document(&format!("{base}/models"), move |call| {
        let cards = call.shared::<Cards>();
        let headers = &call.parts.headers;
        cards.map_or_else(Vec::new, |cards| cards.document(&base, headers))
    })
}

type Refuse = fn(&Refusal) -> Response<Bytes>;

/// The endpoint `GET /v1/models/{model}`.
struct OneModel(String, Refuse);

#[async_trait]
impl Endpoint for OneModel {
    async fn call(&self, call: HttpRequest) -> Response<Body> {
        let cards = call.shared::<Cards>();
        let id = call.param("model").unwrap_or_default();
        let catalog = cards.and_then(|cards| cards.catalog(&call.parts.headers));
        match (cards.and_then(|cards| cards.all.find(&self.0, id)), catalog) {
            (Some(card), Some((catalog, _))) => json(StatusCode::OK, (catalog.model)(card)),
            (Some(card), None) => json(StatusCode::OK, card.document()),
            (None, Some((_, refuse))) => refuse(&unknown_model()).map(Body::full),
            (None, None) => self.refuse(&unknown_model()),
        }
    }

    fn refuse(&self, refusal: &Refusal) -> Response<Body> {
        (self.1)(refusal).map(Body::full)
    }

    fn kind(&self) -> RouteKind {
        RouteKind::Document
    }
}

/// Returns the refusal of a request for a model that is not mounted, with status 404.
pub fn unknown_model() -> Refusal {
    Refusal::new(StatusCode::NOT_FOUND, "no such model")
        .code("model_not_found")
        .at("model")
}
