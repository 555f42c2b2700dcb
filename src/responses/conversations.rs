//! Conversations with an id of their own: `POST /conversations` and the routes below `/conversations/{id}`.

use std::borrow::Cow;
use std::collections::HashSet;

use http::{Response, StatusCode};

use super::Item;
use super::documents::{deleted, items_page, page};
use super::stored_turn::{items_of, unknown_conversation};
use crate::agent::Body;
use crate::conversations::{Chain, ChainError, RecordError, UserConversations};
use crate::json::wire::object;
use crate::json::{Escape, Json, Kind, List, ObjectWriter, ValueWriter, Wire};
use crate::protocol::Refusal;
use crate::router::{HttpRequest, json};

/// A conversation of the user who sent a request.
struct Found<'a> {
    conversations: UserConversations,
    id: &'a str,
    chain: Chain,
}

impl<'a> Found<'a> {
    async fn new(call: &'a HttpRequest, path: &str) -> Result<Self, Refusal> {
        let conversations = conversations(call, path)?;
        let id = call.param("conversation").unwrap_or_default();
        let chain = conversations.list(id).await.map_err(unknown_conversation)?;
        Ok(Self {
            conversations,
            id,
            chain,
        })
    }

    /// Adds an entry.
    async fn append(&mut self, entry: Json) -> Result<(), Refusal> {
        let entries = self.chain.turns.len();
        let added = self.conversations.append(self.id, entries, &entry).await;
        added.map_err(not_added)?;
        self.chain.turns.push(entry);
        Ok(())
    }

    fn document(&self) -> Response<Body> {
        let mut entries = self.chain.turns.iter();
        let created = entries.next().and_then(|entry| entry.get("created_at"));
        let metadata = self.chain.turns.iter().rev();
        let metadata = metadata.filter_map(|entry| entry.get("metadata")).next();
        let metadata = metadata.unwrap_or_default();
        document(self.id, &created.unwrap_or_default(), &metadata)
    }

    /// Returns the item that a request names.
    fn item(&self, call: &HttpRequest) -> Result<Json, Refusal> {
        let id = call.param("item").unwrap_or_default();
        let item = items_of(&self.chain).into_iter().find(|it| it.id == id);
        item.map(|it| it.listed()).ok_or_else(|| {
            let refusal = Refusal::new(StatusCode::NOT_FOUND, "no such item");
            refusal.code("item_not_found")
        })
    }
}

fn conversations(call: &HttpRequest, path: &str) -> Result<UserConversations, Refusal> {
    let missing = || unknown_conversation(ChainError::Unknown);
    call.conversations(path).ok_or_else(missing)
}

/// Converts the reason why an entry was not added to a refusal.
fn not_added(error: RecordError) -> Refusal {
    match error {
        RecordError::Full => {
            let message = "the conversation would be too long: create another one";
            Refusal::new(StatusCode::BAD_REQUEST, message).code(Refusal::TOO_LONG)
        }
        error => error.into(),
    }
}

fn document(id: &str, created_at: &Json, metadata: &Json) -> Response<Body> {
    written(|it| {
        it.str("id", id)
            .str("object", "conversation")
            .raw("created_at", created_at)
            .raw("metadata", metadata);
    })
}

fn written(write: impl FnOnce(&mut ObjectWriter<'_>)) -> Response<Body> {
    let mut out = Vec::new();
    object(ValueWriter::new(&mut out, Escape::JsonAndSeparators), write);
    json(StatusCode::OK, out)
}

/// Returns the metadata of a request, which has at most 16 short texts.
fn metadata(body: &Json) -> Result<Option<Json>, Refusal> {
    let refuse = || {
        let message = "must be an object with at most 16 texts, of at most 512 characters";
        Err(Refusal::new(StatusCode::BAD_REQUEST, message).at("metadata"))
    };
    let Some(metadata) = body.get("metadata") else {
        return Ok(None);
    };
    if metadata.is_null() {
        return Ok(Some(Json::object(|_| ())));
    }
    let is_short = |(name, value): (Cow<'_, str>, Json)| {
        let value = value.string().map(|text| text.chars().count());
        name.chars().count() <= 64 && value.is_some_and(|count| count <= 512)
    };
    if metadata.kind() != Kind::Object
        || metadata.members().count() > 16
        || !metadata.members().all(is_short)
    {
        return refuse();
    }
    Ok(Some(metadata))
}

/// Returns the items of a request, each with an id.
fn items(call: &HttpRequest, body: &Json, known: &Chain) -> Result<Vec<Item>, Refusal> {
    let refuse = |at: String, message| Err(Refusal::new(StatusCode::BAD_REQUEST, message).at(at));
    let items = body.get("items").unwrap_or_default();
    if !matches!(items.kind(), Kind::Array | Kind::Null) {
        return refuse("items".to_owned(), "must be an array of items");
    }
    let known = items_of(known).into_iter().map(|item| item.id);
    let mut known: HashSet<_> = known.collect();
    let mut read = Vec::new();
    for (json, at) in items.elements().zip(0_usize..) {
        let item = Item::from_raw(&json).filter(|item| item.is_message() || !item.kind.is_empty());
        let Some(mut item) = item else {
            return refuse(format!("items[{at}]"), "must be an item");
        };
        if item.is_reference() {
            return refuse(format!("items[{at}]"), "must be the item itself");
        }
        let id = item.id.take().filter(|id| !id.is_empty());
        let id = id.unwrap_or_else(|| call.env().new_id(item.id_prefix()));
        if !known.insert(id.clone()) {
            return refuse(format!("items[{at}]"), "duplicate item");
        }
        item.id = Some(id);
        read.push(item);
    }
    Ok(read)
}

/// Reads the body of a request.
fn read(call: &HttpRequest) -> Result<Json, Refusal> {
    let body = Json::parse(call.body.clone());
    let body = body.ok().filter(|body| body.kind() == Kind::Object);
    body.ok_or_else(|| Refusal::new(StatusCode::BAD_REQUEST, "must be a JSON object"))
}

/// Answers `POST /conversations`.
pub(super) async fn create(call: &HttpRequest, path: &str) -> Result<Response<Body>, Refusal> {
    let conversations = conversations(call, path)?;
    let body = read(call)?;
    let metadata = metadata(&body)?.unwrap_or_else(|| Json::object(|_| ()));
    let items: List<_> = items(call, &body, &Chain::default())?.into_iter().collect();
    let id = call.env().new_id("conv");
    let entry = Json::object(|entry| {
        entry
            .u64("created_at", call.env().unix_time())
            .raw("metadata", &metadata)
            .raw("input", &items.to_raw());
    });
    let added = conversations.append(&id, 0, &entry).await;
    added.map_err(not_added)?;
    let created = entry.get("created_at").unwrap_or_default();
    Ok(document(&id, &created, &metadata))
}

/// Answers `GET /conversations/{id}`.
pub(super) async fn retrieve(call: &HttpRequest, path: &str) -> Result<Response<Body>, Refusal> {
    Ok(Found::new(call, path).await?.document())
}

/// Answers `POST /conversations/{id}`.
pub(super) async fn update(call: &HttpRequest, path: &str) -> Result<Response<Body>, Refusal> {
    let mut found = Found::new(call, path).await?;
    if let Some(metadata) = metadata(&read(call)?)? {
        let entry = Json::object(|entry| {
            entry.raw("metadata", &metadata);
        });
        found.append(entry).await?;
    }
    Ok(found.document())
}

/// Answers `DELETE /conversations/{id}`.
pub(super) async fn delete(call: &HttpRequest, path: &str) -> Result<Response<Body>, Refusal> {
    let conversations = conversations(call, path)?;
    let id = call.param("conversation").unwrap_or_default();
    match conversations.delete_list(id).await? {
        true => Ok(deleted(id, "conversation.deleted")),
        false => Err(unknown_conversation(ChainError::Unknown)),
    }
}

/// Answers `GET /conversations/{id}/items`.
pub(super) async fn list(call: &HttpRequest, path: &str) -> Result<Response<Body>, Refusal> {
    let found = Found::new(call, path).await?;
    page(call, items_of(&found.chain))
}

/// Answers `POST /conversations/{id}/items`.
pub(super) async fn add(call: &HttpRequest, path: &str) -> Result<Response<Body>, Refusal> {
    let mut found = Found::new(call, path).await?;
    let items = items(call, &read(call)?, &found.chain)?;
    if items.is_empty() {
        let message = "must be an array with at least one item";
        return Err(Refusal::new(StatusCode::BAD_REQUEST, message).at("items"));
    }
    let entry = Json::object(|entry| {
        entry.raw("input", &items.into_iter().collect::<List<_>>().to_raw());
    });
    found.append(entry).await?;
    found.chain.turns.drain(..found.chain.turns.len() - 1);
    Ok(items_page(&items_of(&found.chain), false))
}

/// Answers `GET /conversations/{id}/items/{item}`.
pub(super) async fn item(call: &HttpRequest, path: &str) -> Result<Response<Body>, Refusal> {
    let found = Found::new(call, path).await?;
    Ok(json(StatusCode::OK, found.item(call)?.as_bytes().clone()))
}

/// Answers `DELETE /conversations/{id}/items/{item}`.
pub(super) async fn delete_item(call: &HttpRequest, path: &str) -> Result<Response<Body>, Refusal> {
    let mut found = Found::new(call, path).await?;
    found.item(call)?;
    let id = call.param("item").unwrap_or_default();
    let entry = Json::object(|entry| {
        entry.str("deleted", id);
    });
    found.append(entry).await?;
    Ok(found.document())
}
