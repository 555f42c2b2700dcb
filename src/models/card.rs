//! The list of models.

use async_trait::async_trait;
use bytes::Bytes;
use http::{Method, Response, StatusCode};

use crate::agent::Body;
use crate::json::model::object;
use crate::json::{Escape, ValueWriter};
use crate::protocol::Refusal;
use crate::router::{Call, Endpoint, MountError, Site, json};

/// An entry of the list.
#[derive(Clone, Debug)]
pub(super) struct Card {
    pub(super) id: String,
    pub(super) created: u64,
    pub(super) owned_by: String,
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

/// The models of a router, of all protocols, each with the path below which it is listed.
#[derive(Clone, Debug, Default)]
struct Cards(Vec<(String, Card)>);

impl Cards {
    fn at<'a>(&'a self, base: &'a str) -> impl Iterator<Item = &'a Card> {
        let here = self.0.iter().filter(move |(path, _)| path == base);
        here.map(|(_, card)| card)
    }

    fn find<'a>(&'a self, base: &'a str, id: &str) -> Option<&'a Card> {
        self.at(base).find(|card| card.id == id)
    }

    /// Writes the list as a document.
    fn document(&self, base: &str) -> Vec<u8> {
        let mut out = Vec::new();
        let to = ValueWriter::new(&mut out, Escape::JsonAndSeparators);
        object(to, |list| {
            list.str("object", "list");
            // Serializing entries cannot fail.
            let _ = list.array("data", self.at(base), |card, to| {
                card.write_to(to);
                Ok(())
            });
        });
        out
    }
}

/// Adds a model to `GET {base}/models`, unless the list has one with its name. `refuse` writes
/// refusals.
pub(super) fn list(
    site: &mut Site<'_>,
    base: &str,
    card: Card,
    refuse: Refuse,
) -> Result<(), MountError> {
    let cards = site.shared::<Cards>();
    // One name may be mounted for several protocols; the list has it once.
    if cards.find(base, &card.id).is_none() {
        cards.0.push((base.to_owned(), card));
    }
    let base = base.to_owned();
    let one = OneModel(base.clone(), refuse);
    site.shared_route(Method::GET, &format!("{base}/models/{{model}}"), one)?;
    site.document(&format!("{base}/models"), move |call| {
        let cards = call.shared::<Cards>();
        cards.map_or_else(Vec::new, |cards| cards.document(&base))
    })
}

type Refuse = fn(&Refusal) -> Response<Bytes>;

/// The endpoint `GET /v1/models/{model}`.
struct OneModel(String, Refuse);

#[async_trait]
impl Endpoint for OneModel {
    async fn call(&self, call: Call) -> Response<Body> {
        let cards = call.shared::<Cards>();
        let id = call.param("model").unwrap_or_default();
        match cards.and_then(|cards| cards.find(&self.0, id)) {
            Some(card) => json(StatusCode::OK, card.document()),
            None => self.refuse(&unknown_model()),
        }
    }

    fn refuse(&self, refusal: &Refusal) -> Response<Body> {
        (self.1)(refusal).map(Body::full)
    }
}

pub(super) fn unknown_model() -> Refusal {
    Refusal::new(StatusCode::NOT_FOUND, "no such model")
        .code("model_not_found")
        .at("model")
}
