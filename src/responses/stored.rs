//! Replies that are asked for again: `GET /responses/{id}` and `POST /responses/{id}/cancel`.

use http::{Method, Response, StatusCode};

use super::lost::{events, last_response, lost};
use super::retrieve::{Ask, Stored, not_found, query, refuse};
use super::{Accumulator, ErrorObject, EventKind, Responses};
use crate::agent::Body;
use crate::json::List;
use crate::protocol::Refusal;
use crate::replies::{ReplyEnd, ReplyId, ReplyState, StoreError, UserReplies};
use crate::router::{Call, MountError, Site, json, stream};

/// Adds the routes of the responses to requests at `path`.
pub(super) fn mount(path: &str, site: &mut Site<'_>) -> Result<(), MountError> {
    let one = format!("{path}/{{response}}");
    let cancel = Stored::new(path, Ask::Cancel);
    site.resumable_route(Method::POST, &format!("{one}/cancel"), cancel)?;
    site.resumable_route(Method::GET, &one, Stored::new(path, Ask::Retrieve))
}

/// Returns the document that answers a request whose response has only begun.
pub(super) fn begun(events: &[u8]) -> Response<Body> {
    match last_response(events) {
        Some(response) => json(StatusCode::OK, response.to_json()),
        None => refuse(&not_found()),
    }
}

/// Ends the response that a request is about, if it runs. Returns `false` if it has no log.
pub(super) async fn ends(call: &Call, path: &str) -> Result<bool, Refusal> {
    match Found::new(call, path).await {
        Ok(found) => {
            if found.state.end.is_none() {
                found.replies.cancel(&found.id).await?;
            }
            Ok(true)
        }
        Err(refusal) if refusal.status() == StatusCode::NOT_FOUND => Ok(false),
        Err(refusal) => Err(refusal),
    }
}

/// A response of the user who sent a request.
struct Found {
    replies: UserReplies,
    id: ReplyId,
    state: ReplyState,
}

impl Found {
    async fn new(call: &Call, path: &str) -> Result<Self, Refusal> {
        let replies = call.replies(path).ok_or_else(not_found)?;
        let id = replies.reply(call.param("response").unwrap_or_default());
        let state = replies.state(&id).await?;
        Ok(Self {
            state: state.ok_or_else(not_found)?,
            replies,
            id,
        })
    }

    /// Returns the response object as it is now.
    async fn document(&self) -> Result<Response<Body>, Refusal> {
        // A client that polls is a reader: its reply is not abandoned.
        self.replies.note_reader(&self.id);
        let from = match self.state.end {
            None => 0,
            Some(ReplyEnd::Failed | ReplyEnd::Lost) => {
                return Ok(self.failed().await?);
            }
            // The last event is `[DONE]`.
            Some(_) => self.state.next.saturating_sub(2),
        };
        let page = self.replies.read::<Responses>(&self.id, from).await;
        Ok(begun(&page?.events))
    }

    /// Returns the object of a response that has failed, with its output so far.
    async fn failed(&self) -> Result<Response<Body>, StoreError> {
        let (mut log, mut from) = (Vec::new(), 0);
        while from < self.state.next {
            let page = self.replies.read::<Responses>(&self.id, from).await?;
            log.extend_from_slice(&page.events);
            if page.next <= from {
                break;
            }
            from = page.next;
        }
        if self.state.end == Some(ReplyEnd::Lost) {
            let begun = log.clone();
            lost(&begun, self.state.next, &mut log);
        }
        let mut whole = Accumulator::new();
        for mut event in events(&log) {
            if let (EventKind::Failed, Some(response)) = (&event.kind, &mut event.response) {
                // The event repeats complete items only. The others are put together from their pieces.
                response.output = List::new();
            }
            // The limit is larger than a reply may be.
            let _ = whole.push(&event);
        }
        let mut response = whole.finish();
        let code = response.error.as_mut().and_then(|it| it.code.as_mut());
        if let Some(code) = code.filter(|code| *code == ErrorObject::ONCE) {
            // Nobody runs a turn again for the object of a response.
            *code = ErrorObject::AGAIN.to_owned();
        }
        Ok(json(StatusCode::OK, response.to_json()))
    }

    /// Waits for the end of the response, for some seconds.
    async fn end(&mut self) -> Result<(), Refusal> {
        // At most 20 reads of about a second. The agent ends when it is next polled; a reply that
        // does not is returned as it is.
        for _ in 0..20 {
            if self.state.end.is_some() {
                break;
            }
            // Beyond all events: it returns with the end, or after a second.
            let page = self.replies.read::<Responses>(&self.id, u64::MAX - 1).await;
            page?;
            let state = self.replies.state(&self.id).await?;
            self.state = state.ok_or_else(not_found)?;
        }
        Ok(())
    }
}

/// Parses the number of an event.
fn position(number: &str) -> Result<u64, Refusal> {
    if number.is_empty() || !number.bytes().all(|byte| byte.is_ascii_digit()) {
        let message = "must be the number of an event";
        return Err(Refusal::new(StatusCode::BAD_REQUEST, message).at("starting_after"));
    }
    // It is only too large otherwise.
    Ok(number.parse().unwrap_or(u64::MAX))
}

/// Answers `GET /responses/{id}`, below the path of the requests.
pub(super) async fn answer(call: &Call, path: &str) -> Result<Response<Body>, Refusal> {
    let found = Found::new(call, path).await?;
    if query(call, "stream") != Some("true") {
        return found.document().await;
    }
    let after = query(call, "starting_after").map(position).transpose()?;
    let from = after.map_or(0, |after| after.saturating_add(1));
    // A number beyond the end is the end. While the reply goes on, its server may have sent events that are
    // not in the log yet: they do not come twice.
    let from = match found.state.end {
        Some(_) => from.min(found.state.next),
        None => from,
    };
    Ok(stream::<Responses>(
        found.replies.tail::<Responses>(found.id, from),
    ))
}

/// Answers `POST /responses/{id}/cancel`, below the path of the requests.
pub(super) async fn cancel(call: &Call, path: &str) -> Result<Response<Body>, Refusal> {
    let mut found = Found::new(call, path).await?;
    found.replies.cancel(&found.id).await?;
    found.end().await?;
    found.document().await
}
