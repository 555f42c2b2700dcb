//! Stored responses: `GET /responses/{id}`, `DELETE /responses/{id}` and `GET /responses/{id}/input_items`.

use http::{Response, StatusCode};

use super::documents::{deleted, not_found, page, query};
#[cfg(feature = "resumable")]
use super::stored;
use super::stored_turn::StoredTurn;
use crate::agent::Body;
use crate::json::Json;
use crate::protocol::Refusal;
use crate::router::{HttpRequest, json};

/// Returns what is stored of the response that a request below `path` is about.
///
/// # Errors
///
/// A [`Refusal`] if the store has failed, or the response is deleted and its log is still there.
pub(super) async fn turn(call: &HttpRequest, path: &str) -> Result<Option<Json>, Refusal> {
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

pub(super) async fn retrieve(call: &HttpRequest, path: &str) -> Result<Response<Body>, Refusal> {
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

pub(super) async fn delete(call: &HttpRequest, path: &str) -> Result<Response<Body>, Refusal> {
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

pub(super) async fn input_items(call: &HttpRequest, path: &str) -> Result<Response<Body>, Refusal> {
    let turn = turn(call, path).await?.ok_or_else(not_found)?;
    page(call, StoredTurn::read(&turn).input())
}
