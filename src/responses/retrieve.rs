//! Stored responses: `GET /responses/{id}`, `DELETE /responses/{id}` and `GET /responses/{id}/input_items`.

use async_trait::async_trait;
use http::{Method, Response, StatusCode};

use super::Responses;
#[cfg(feature = "resumable")]
use super::stored;
use super::stored_turn::StoredTurn;
use crate::agent::Body;
use crate::json::wire::object;
use crate::json::{Escape, Json, ValueWriter};
use crate::protocol::{Protocol as _, Refusal};
use crate::router::{Call, Endpoint, MountError, RouteKind, Site, json};

/// Adds the routes of the stored responses to requests at `path`.
pub(super) fn mount(path: &str, site: &mut Site<'_>) -> Result<(), MountError> {
    let one = format!("{path}/{{response}}");
    let items = Stored::new(path, Ask::InputItems);
    site.conversation_route(Method::GET, &format!("{one}/input_items"), items)?;
    site.conversation_route(Method::DELETE, &one, Stored::new(path, Ask::Delete))?;
    site.conversation_route(Method::GET, &one, Stored::new(path, Ask::Retrieve))
}

pub(super) fn not_found() -> Refusal {
    Refusal::new(StatusCode::NOT_FOUND, "no such response").code("response_not_found")
}

pub(super) fn refuse(refusal: &Refusal) -> Response<Body> {
    Responses::refuse(refusal).map(Body::full)
}

/// Returns a member of the query. Not percent-decoded: the values that are known need none.
pub(super) fn query<'a>(call: &'a Call, name: &str) -> Option<&'a str> {
    let query = call.parts.uri.query().unwrap_or_default();
    let mut members = query.split('&').filter_map(|member| member.split_once('='));
    members.find_map(|(key, value)| (key == name).then_some(value))
}

/// The endpoint of one stored response, below the path of the requests.
pub(super) struct Stored {
    path: String,
    ask: Ask,
}

/// The requests about a stored response.
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
}

impl Stored {
    pub(super) fn new(path: &str, ask: Ask) -> Self {
        let path = path.to_owned();
        Self { path, ask }
    }

    async fn answer(&self, call: &Call) -> Result<Response<Body>, Refusal> {
        match self.ask {
            Ask::Retrieve => retrieve(call, &self.path).await,
            Ask::InputItems => input_items(call, &self.path).await,
            Ask::Delete => delete(call, &self.path).await,
            #[cfg(feature = "resumable")]
            Ask::Cancel => stored::cancel(call, &self.path).await,
        }
    }
}

#[async_trait]
impl Endpoint for Stored {
    async fn call(&self, call: Call) -> Response<Body> {
        let answer = self.answer(&call).await;
        answer.unwrap_or_else(|refusal| refuse(&refusal))
    }

    /// Returns `false`: official clients send neither a body nor its type.
    fn has_body(&self) -> bool {
        false
    }

    fn refuse(&self, refusal: &Refusal) -> Response<Body> {
        refuse(refusal)
    }

    fn kind(&self) -> RouteKind {
        match self.ask {
            Ask::Retrieve | Ask::InputItems => RouteKind::Resume,
            Ask::Delete => RouteKind::Other,
            #[cfg(feature = "resumable")]
            Ask::Cancel => RouteKind::Stop,
        }
    }
}

/// Returns the id of the response, and what is stored of it for the user who sent a request below `path`.
async fn turn<'a>(call: &'a Call, path: &str) -> Result<(&'a str, StoredTurn), Refusal> {
    let conversations = call.conversations(path).ok_or_else(not_found)?;
    let id = call.param("response").unwrap_or_default();
    let data = conversations.turn(id).await?.ok_or_else(not_found)?;
    Ok((id, StoredTurn::read(&data)))
}

async fn retrieve(call: &Call, path: &str) -> Result<Response<Body>, Refusal> {
    #[cfg(feature = "resumable")]
    match stored::answer(call, path).await {
        // It may still be there as a turn of a conversation.
        Err(refusal) if refusal.status() == StatusCode::NOT_FOUND => {}
        answer => return answer,
    }
    let (_, turn) = turn(call, path).await?;
    if query(call, "stream") == Some("true") {
        let message = "only a response of the background can be streamed again";
        return Err(Refusal::new(StatusCode::BAD_REQUEST, message).at("stream"));
    }
    Ok(json(StatusCode::OK, turn.response.as_bytes().clone()))
}

async fn delete(call: &Call, path: &str) -> Result<Response<Body>, Refusal> {
    let conversations = call.conversations(path).ok_or_else(not_found)?;
    #[cfg(feature = "resumable")]
    if stored::is_kept(call, path).await? {
        // The log would still be read. Not 409, after which the official clients repeat the request.
        let message = "a response of the background is kept until its time is over";
        return Err(Refusal::new(StatusCode::BAD_REQUEST, message));
    }
    let id = call.param("response").unwrap_or_default();
    if !conversations.delete(id).await? {
        return Err(not_found());
    }
    let mut out = Vec::new();
    let to = ValueWriter::new(&mut out, Escape::JsonAndSeparators);
    object(to, |deleted| {
        deleted
            .str("id", id)
            .str("object", "response")
            .bool("deleted", true);
    });
    Ok(json(StatusCode::OK, out))
}

/// Returns a page of the items of one request, the last one first unless `order` is `asc`.
async fn input_items(call: &Call, path: &str) -> Result<Response<Body>, Refusal> {
    let (id, turn) = turn(call, path).await?;
    let mut items = turn.input_with_ids(id);
    if query(call, "order") != Some("asc") {
        items.reverse();
    }
    if let Some(after) = query(call, "after") {
        let at = items.iter().position(|(id, _)| id == after);
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
    Ok(json(StatusCode::OK, page(&items, has_more)))
}

fn page(items: &[(String, Json)], has_more: bool) -> Vec<u8> {
    let mut out = Vec::new();
    let to = ValueWriter::new(&mut out, Escape::JsonAndSeparators);
    object(to, |list| {
        list.str("object", "list");
        // Raw values always serialize.
        let _ = list.array("data", items, |(_, item), to| {
            to.raw(item);
            Ok(())
        });
        for (name, item) in [("first_id", items.first()), ("last_id", items.last())] {
            match item {
                Some((id, _)) => list.str(name, id),
                None => list.raw(name, &Json::default()),
            };
        }
        list.bool("has_more", has_more);
    });
    out
}
