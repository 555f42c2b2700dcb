//! Responses over a WebSocket.

use bytes::{Bytes, BytesMut};
use http::header::RETRY_AFTER;
use http::{Response, StatusCode};

use super::Responses;
use crate::json::{Escape, Json, Kind, ObjectWriter, escape};
use crate::protocol::{Protocol as _, Refusal};
use crate::router::socket::{Action, Ask, EventMessage, Exchange, Subprotocol};

/// The messages of Responses on a WebSocket.
///
/// * A message of the client is a request with the member `type`: `response.create`. It may have a `stream_id`:
///   requests with the same `stream_id` are answered one after the other, requests with different ones concurrently,
///   and every message of an answer repeats the `stream_id` of its request.
/// * An event is a message with the JSON of its data. `[DONE]` is not sent: it is not JSON, and OpenAI's client for
///   Python fails on it.
/// * An HTTP error response becomes a message of type `error` with the status and the header `retry-after`. The
///   connection remains open.
#[derive(Debug, Default)]
pub(super) struct ResponsesSocket;

/// The maximum length in bytes of a lane's name, which every message repeats.
const LANE: usize = 256;

impl Subprotocol for ResponsesSocket {
    fn read(&mut self, message: &Json) -> Action {
        let text = |name: &str| {
            message
                .get(name)
                .and_then(|value| Some(value.string()?.into_owned()))
        };
        let refused = |message: &'static str, at: &str| {
            let refusal = Refusal::new(StatusCode::BAD_REQUEST, message).at(at);
            let lane = text("stream_id").filter(|lane| lane.len() <= LANE);
            Action::Refuse(lane.map(|lane| Ask::post("").lane(lane)), refusal)
        };
        if message.kind() != Kind::Object {
            return refused("must be an object", "");
        }
        if text("type").as_deref() != Some("response.create") {
            return refused("must be `response.create`", "type");
        }
        let lane = match message.get("stream_id") {
            None => String::new(),
            Some(lane) if lane.is_null() => String::new(),
            Some(_) => match text("stream_id").filter(|lane| lane.len() <= LANE) {
                Some(lane) => lane,
                None => return refused("must be a text of at most 256 bytes", "stream_id"),
            },
        };
        if message.get("background").and_then(|value| value.as_bool()) == Some(true) {
            return refused("a connection has no background", "background");
        }
        let mut body = Vec::with_capacity(message.as_bytes().len());
        let mut object = ObjectWriter::new(&mut body, Escape::Json);
        for (name, value) in message.members() {
            if !matches!(&*name, "type" | "stream_id" | "stream") {
                object.member(&name).raw(&value);
            }
        }
        object.bool("stream", true);
        object.finish();
        Action::Ask(Ask::post(body).lane(lane))
    }

    fn event(&mut self, exchange: &Exchange, data: &[u8], out: &mut BytesMut) -> EventMessage {
        if data == b"[DONE]" {
            return EventMessage::None;
        }
        match (exchange.lane(), data.strip_prefix(b"{")) {
            ("", _) | (_, None) => EventMessage::Data,
            (lane, Some(members)) => {
                out.extend_from_slice(b"{");
                write_lane(lane, out);
                out.extend_from_slice(members);
                EventMessage::Written
            }
        }
    }

    fn document(
        &mut self,
        exchange: Option<&Exchange>,
        response: Response<Bytes>,
        out: &mut BytesMut,
    ) {
        let status = response.status();
        let wait = response.headers().get(RETRY_AFTER);
        let wait = wait.and_then(|wait| wait.to_str().ok()?.parse::<u64>().ok());
        let headers = wait.map(|wait| format!(r#","headers":{{"retry-after":"{wait}"}}"#));
        let body = Json::parse(response.into_body()).unwrap_or_default();
        out.extend_from_slice(b"{");
        if let Some(lane) = exchange.map(Exchange::lane).filter(|lane| !lane.is_empty()) {
            write_lane(lane, out);
        }
        let error = body.get("error").unwrap_or_default();
        let rest = format!(
            r#""type":"error","status":{},"error":{}{}}}"#,
            status.as_u16(),
            error.text(),
            headers.unwrap_or_default(),
        );
        out.extend_from_slice(rest.as_bytes());
    }

    fn refuse(&self, refusal: &Refusal) -> Response<Bytes> {
        Responses::refuse(refusal)
    }
}

/// Writes the member with the lane and a comma after it.
fn write_lane(lane: &str, out: &mut BytesMut) {
    let mut member = Vec::with_capacity(lane.len() + 16);
    member.extend_from_slice(br#""stream_id":""#);
    escape(lane, Escape::JsonAndSeparators, &mut member);
    member.extend_from_slice(br#"","#);
    out.extend_from_slice(&member);
}
