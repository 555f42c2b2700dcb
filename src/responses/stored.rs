//! Retrieval of stored replies: `GET /responses/{id}` and `POST /responses/{id}/cancel`.

use http::{Response, StatusCode};

use super::documents::{not_found, query, refuse};
use super::lost::{events, last_response, lost};
use super::{ErrorObject, Responses};
use crate::agent::Body;
use crate::json::Wire as _;
use crate::protocol::{Completion, Refusal};
use crate::replies::{ReplyEnd, ReplyId, ReplyState, StoreError, UserReplies};
use crate::router::{HttpRequest, json, stream};

/// Returns the response object of a request whose reply has started and continues in the background.
pub(super) fn begun(events: &[u8]) -> Response<Body> {
    match last_response(events) {
        Some(response) => json(StatusCode::OK, response.to_json()),
        None => refuse(&not_found()),
    }
}

/// Ends the response that a request names, if it is in progress. Returns `false` if the response has no log.
pub(super) async fn ends(call: &HttpRequest, path: &str) -> Result<bool, Refusal> {
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
    async fn new(call: &HttpRequest, path: &str) -> Result<Self, Refusal> {
        let replies = call.replies(path).ok_or_else(not_found)?;
        let id = replies.reply(call.param("response").unwrap_or_default());
        let state = replies.state(&id).await?;
        Ok(Self {
            state: state.ok_or_else(not_found)?,
            replies,
            id,
        })
    }

    /// Returns the current response object.
    async fn document(&self) -> Result<Response<Body>, Refusal> {
        // A client that polls counts as a reader, so the reply is not abandoned.
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

    /// Returns the object of a failed response, with its output so far.
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
        // The log is in memory already, so there is no limit, and no event fails.
        let mut completion = Completion::new().limit(usize::MAX);
        for event in events(&log) {
            let _ = completion.push_event::<Responses>(&event.into());
        }
        let mut response = super::Response::from(completion);
        let code = response.error.as_mut().and_then(|it| it.code.as_mut());
        if let Some(code) = code.filter(|code| *code == ErrorObject::ONCE) {
            // No client repeats a turn because of a response object.
            *code = ErrorObject::AGAIN.to_owned();
        }
        Ok(json(StatusCode::OK, response.to_json()))
    }

    /// Waits for the end of the response, for about 20 seconds at most.
    async fn end(&mut self) -> Result<(), Refusal> {
        // At most 20 reads of about a second. A cancelled agent ends when it is next polled; a reply that has not ended
        // by then is returned in its current state.
        for _ in 0..20 {
            if self.state.end.is_some() {
                break;
            }
            // The number is beyond all events: the read returns at the end of the reply, or after a second.
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
    // Parsing can fail only because the number is too large.
    Ok(number.parse().unwrap_or(u64::MAX))
}

/// Answers `GET /responses/{id}`, below the path of the requests.
pub(super) async fn answer(call: &HttpRequest, path: &str) -> Result<Response<Body>, Refusal> {
    let found = Found::new(call, path).await?;
    if query(call, "stream") != Some("true") {
        return found.document().await;
    }
    let after = query(call, "starting_after").map(position).transpose()?;
    let from = after.map_or(0, |after| after.saturating_add(1));
    // A number beyond the end of a complete reply is replaced by the end. During a reply, the client may have received
    // events that are not in the log yet; they must not be sent again.
    let from = match found.state.end {
        Some(_) => from.min(found.state.next),
        None => from,
    };
    Ok(stream::<Responses>(
        found.replies.tail::<Responses>(found.id, from),
    ))
}

/// Answers `POST /responses/{id}/cancel`, below the path of the requests.
pub(super) async fn cancel(call: &HttpRequest, path: &str) -> Result<Response<Body>, Refusal> {
    let mut found = Found::new(call, path).await?;
    found.replies.cancel(&found.id).await?;
    found.end().await?;
    found.document().await
}
