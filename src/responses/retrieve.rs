//! Stored responses: `GET /responses/{id}`, `DELETE /responses/{id}` and `GET /responses/{id}/input_items`.

use async_trait::async_trait;
use http::{Method, Response, StatusCode};

#[cfg(feature = "resumable")]
use super::stored;
use super::stored_turn::{StoredItem, StoredTurn};
use super::{Responses, conversations};
use crate::agent::Body;
use crate::json::wire::object;
use crate::json::{Escape, Json, ValueWriter};
use crate::protocol::{Protocol as _, Refusal};
use crate::router::{Endpoint, HttpRequest, MountError, RouteKind, Site, json};

/// Adds the routes of the stored responses to requests at `path`.
pub(super) fn mount(path: &str, site: &mut Site<'_>) -> Result<(), MountError> {
    let one = format!("{path}/{{response}}");
    let items = Stored::new(path, Ask::InputItems);
    site.conversation_route(Method::GET, &format!("{one}/input_items"), items)?;
    site.conversation_route(Method::DELETE, &one, Stored::new(path, Ask::Delete))?;
    site.conversation_route(Method::GET, &one, Stored::new(path, Ask::Retrieve))?;
    conversations::mount(path, site)
}

pub(super) fn not_found() -> Refusal {
    Refusal::new(StatusCode::NOT_FOUND, "no such response").code("response_not_found")
}

pub(super) fn refuse(refusal: &Refusal) -> Response<Body> {
    Responses::refuse(refusal).map(Body::full)
}

/// Returns a member of the query. Not percent-decoded: the values that are known need none.
pub(super) fn query<'a>(call: &'a HttpRequest, name: &str) -> Option<&'a str> {
    let query = call.parts.uri.query().unwrap_or_default();
    let mut members = query.split('&').filter_map(|member| member.split_once('='));
    members.find_map(|(key, value)| (key == name).then_some(value))
}

/// The endpoint of what is stored of the requests at a path.
pub(super) struct Stored {
    path: String,
    ask: Ask,
}

/// The requests about what is stored.
pub(super) enum Ask {
    /// `GET /responses/{id}`
    Retrieve,
    /// `GET /responses/{id}/input_items`
    InputItems,
    /// `DELETE /responses/{id}`
    Delete,
    /// `POST /responses/{id}/cancel`
    #[cfg(feature = "resumable")]
    Cancel,
    /// `POST /conversations`
    Create,
    /// `GET /conversations/{id}`
    Conversation,
    /// `POST /conversations/{id}`
    Update,
    /// `DELETE /conversations/{id}`
    DeleteConversation,
    /// `GET /conversations/{id}/items`
    Items,
    /// `POST /conversations/{id}/items`
    AddItems,
    /// `GET /conversations/{id}/items/{item}`
    Item,
    /// `DELETE /conversations/{id}/items/{item}`
    DeleteItem,
}

impl Stored {
    pub(super) fn new(path: &str, ask: Ask) -> Self {
        let path = path.to_owned();
        Self { path, ask }
    }

    async fn answer(&self, call: &HttpRequest) -> Result<Response<Body>, Refusal> {
        match self.ask {
            Ask::Retrieve => retrieve(call, &self.path).await,
            Ask::InputItems => input_items(call, &self.path).await,
            Ask::Delete => delete(call, &self.path).await,
            #[cfg(feature = "resumable")]
            Ask::Cancel => {
                turn(call, &self.path).await?;
                stored::cancel(call, &self.path).await
            }
            Ask::Create => conversations::create(call, &self.path).await,
            Ask::Conversation => conversations::retrieve(call, &self.path).await,
            Ask::Update => conversations::update(call, &self.path).await,
            Ask::DeleteConversation => conversations::delete(call, &self.path).await,
            Ask::Items => conversations::list(call, &self.path).await,
            Ask::AddItems => conversations::add(call, &self.path).await,
            Ask::Item => conversations::item(call, &self.path).await,
            Ask::DeleteItem => conversations::delete_item(call, &self.path).await,
        }
    }
}

#[async_trait]
impl Endpoint for Stored {
    async fn call(&self, call: HttpRequest) -> Response<Body> {
        let answer = self.answer(&call).await;
        answer.unwrap_or_else(|refusal| refuse(&refusal))
    }

    /// Returns `false` where official clients send neither a body nor its type.
    fn has_body(&self) -> bool {
        matches!(self.ask, Ask::Create | Ask::Update | Ask::AddItems)
    }

    fn refuse(&self, refusal: &Refusal) -> Response<Body> {
        refuse(refusal)
    }

    fn kind(&self) -> RouteKind {
        match self.ask {
            Ask::Retrieve | Ask::InputItems => RouteKind::Resume,
            #[cfg(feature = "resumable")]
            Ask::Cancel => RouteKind::Stop,
            _ => RouteKind::Other,
        }
    }
}

/// Returns what is stored of the response that a request below `path` is about.
///
/// # Errors
///
/// A [`Refusal`] if the store has failed, or the response is deleted and its log is still there.
async fn turn(call: &HttpRequest, path: &str) -> Result<Option<Json>, Refusal> {
    let Some(conversations) = call.conversations(path) else {
        return Ok(None);
    };
    match conversations.turn(response(call)).await? {
        Some(turn) if turn.is_null() => Err(not_found()),
        turn => Ok(turn),
    }
}

fn response(call: &HttpRequest) -> &str {
    call.param("response").unwrap_or_default()
}

async fn retrieve(call: &HttpRequest, path: &str) -> Result<Response<Body>, Refusal> {
    let turn = turn(call, path).await?;
    let is_stream = query(call, "stream") == Some("true");
    #[cfg(feature = "resumable")]
    if is_stream || turn.is_none() {
        match stored::answer(call, path).await {
            Err(refusal) if refusal.status() == StatusCode::NOT_FOUND => {}
            answer => return answer,
        }
    }
    let turn = StoredTurn::read(&turn.ok_or_else(not_found)?);
    if is_stream {
        let message = "only a response of the background can be streamed again";
        return Err(Refusal::new(StatusCode::BAD_REQUEST, message).at("stream"));
    }
    Ok(json(StatusCode::OK, turn.response.as_bytes().clone()))
}

async fn delete(call: &HttpRequest, path: &str) -> Result<Response<Body>, Refusal> {
    let conversations = call.conversations(path).ok_or_else(not_found)?;
    let id = response(call);
    let _ = turn(call, path).await?;
    #[cfg(feature = "resumable")]
    if stored::ends(call, path).await? {
        // Its log expires by itself: until then nobody finds it, and what is answered meanwhile is not recorded.
        conversations.forget(id).await?;
        return Ok(deleted(id, "response"));
    }
    match conversations.delete(id).await? {
        true => Ok(deleted(id, "response")),
        false => Err(not_found()),
    }
}

/// Returns the answer to a request that has deleted something.
pub(super) fn deleted(id: &str, object: &str) -> Response<Body> {
    let deleted = Json::object(|it| {
        it.str("id", id).str("object", object).bool("deleted", true);
    });
    json(StatusCode::OK, deleted.as_bytes().clone())
}

async fn input_items(call: &HttpRequest, path: &str) -> Result<Response<Body>, Refusal> {
    let turn = turn(call, path).await?.ok_or_else(not_found)?;
    page(call, StoredTurn::read(&turn).input())
}

/// Returns a page of items, the last one first unless `order` is `asc`.
pub(super) fn page(
    call: &HttpRequest,
    mut items: Vec<StoredItem>,
) -> Result<Response<Body>, Refusal> {
    if query(call, "order") != Some("asc") {
        items.reverse();
    }
    if let Some(after) = query(call, "after") {
        let at = items.iter().position(|item| item.id == after);
        let message = "no such item";
        let refusal = || Refusal::new(StatusCode::BAD_REQUEST, message).at("after");
        items.drain(..=at.ok_or_else(refusal)?);
    }
    let limit = query(call, "limit").map_or(Ok(20), str::parse::<usize>);
    let limit = limit.ok().filter(|limit| (1..=100).contains(limit));
    let limit = limit.ok_or_else(|| {
        Refusal::new(StatusCode::BAD_REQUEST, "must be from 1 to 100").at("limit")
    })?;
    let has_more = items.len() > limit;
    items.truncate(limit);
    Ok(items_page(&items, has_more))
}

pub(super) fn items_page(items: &[StoredItem], has_more: bool) -> Response<Body> {
    let mut out = Vec::new();
    let to = ValueWriter::new(&mut out, Escape::JsonAndSeparators);
    object(to, |list| {
        list.str("object", "list");
        // Raw values always serialize.
        let _ = list.array("data", items, |item, to| {
            to.raw(&item.listed());
            Ok(())
        });
        for (name, item) in [("first_id", items.first()), ("last_id", items.last())] {
            match item {
                Some(item) => list.str(name, &item.id),
                None => list.raw(name, &Json::default()),
            };
        }
        list.bool("has_more", has_more);
    });
    json(StatusCode::OK, out)
}
