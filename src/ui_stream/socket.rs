//! The UI message stream over the WebSocket transport of the AI SDK.

use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use http::header::HeaderName;
use http::{HeaderValue, Method, Response, StatusCode};

use super::UiStream;
use crate::json::{Escape, Json, Kind, ObjectWriter, escape};
use crate::protocol::{Protocol as _, Refusal};
use crate::router::escape_segment;
use crate::router::socket::{Action, Ask, EventMessage, Exchange, Subprotocol};

/// The messages of `WebSocketChatTransport` of the AI SDK, version 7.
///
/// * `send` contains the request that the page would post, `resume` asks for the running reply of a chat, and `abort`
///   stops that reply. Any number of chats share a connection; each has one reply at a time.
/// * A chunk is sent in a message of type `chunk`. For each request, chunks are numbered from 0 without gaps: the page
///   closes the connection if a number is missing. The message `end` follows the last chunk.
/// * A refusal is sent as the message `error`, which ends only this request.
/// * Headers are in each message, because browsers cannot set headers of the handshake.
pub(super) struct Chats {
    /// The headers that are read from messages.
    headers: Arc<[HeaderName]>,
}

/// The maximum size in bytes of a request's id, which is repeated in every message.
const ID: usize = 256;

/// The maximum size in bytes of a chat's id, which is part of a path.
const CHAT: usize = 1024;

/// The maximum size in bytes of a header's value.
const HEADER: usize = 8 * 1024;

impl Chats {
    pub(super) fn new(headers: Arc<[HeaderName]>) -> Self {
        Self { headers }
    }

    fn with_headers(&self, mut ask: Ask, message: &Json) -> Action {
        let headers = message.get("headers").unwrap_or_default();
        for (name, value) in headers.members() {
            let mut known = self.headers.iter();
            let name = known.find(|known| name.eq_ignore_ascii_case(known.as_str()));
            let value = value.string().map(|value| HeaderValue::from_str(&value));
            if let (Some(name), Some(Ok(value))) = (name, value) {
                if value.len() > HEADER {
                    let message = "a header must have at most 8192 bytes";
                    let refusal = Refusal::new(StatusCode::BAD_REQUEST, message);
                    return Action::Refuse(Some(ask), refusal.at("headers"));
                }
                ask = ask.header(name.clone(), value);
            }
        }
        Action::Ask(ask)
    }
}

/// Returns the body that the page would post: the members of the message, and other members of the app's `body`.
fn body(message: &Json) -> Vec<u8> {
    const OWN: [&str; 5] = ["id", "messages", "trigger", "messageId", "metadata"];
    // Looked up once for each name: both objects may have any number of members.
    let is_there = OWN.map(|name| message.get(name).is_some());
    let is_taken = |name: &str| {
        let mut own = OWN.iter().zip(is_there);
        own.any(|(own, is_there)| is_there && *own == name)
    };
    let mut body = Vec::with_capacity(message.as_bytes().len());
    let mut object = ObjectWriter::new(&mut body, Escape::Json);
    for (name, value) in message.members().filter(|(name, _)| OWN.contains(&&**name)) {
        object.member(&name).raw(&value);
    }
    let more = message.get("body").unwrap_or_default();
    for (name, value) in more.members() {
        if !is_taken(&name) {
            object.member(&name).raw(&value);
        }
    }
    object.finish();
    body
}

impl Subprotocol for Chats {
    fn has_headers(&self) -> bool {
        true
    }

    fn read(&mut self, message: &Json) -> Action {
        let text = |name: &str| {
            message
                .get(name)
                .and_then(|value| Some(value.string()?.into_owned()))
        };
        let refusal = |message: &'static str| Refusal::new(StatusCode::BAD_REQUEST, message);
        // Without an id, answers could not be assigned to requests.
        let id = text("requestId").filter(|id| !id.is_empty() && id.len() <= ID);
        let (Kind::Object, Some(id)) = (message.kind(), id) else {
            let refusal = refusal("must be a text of 1 to 256 bytes");
            return Action::Refuse(None, refusal.at("requestId"));
        };
        let kind = text("type").unwrap_or_default();
        if kind == "abort" {
            return Action::Stop(id.into());
        }
        let chat = text("id").unwrap_or_default();
        if chat.len() > CHAT {
            let refusal = refusal("must have at most 1024 bytes").at("id");
            return Action::Refuse(Some(Ask::post("").id(id)), refusal);
        }
        // A request without a chat's id is treated as a separate chat.
        let lane = match &*chat {
            "" => format!("request {id}"),
            chat => lane(chat),
        };
        match &*kind {
            "send" => {
                let ask = Ask::post(body(message)).id(id).context(chat);
                self.with_headers(ask.lane(lane).or_refuse(), message)
            }
            "resume" => {
                let ask = Ask::get().path(format!("/{}/stream", escape_segment(&chat)));
                self.with_headers(ask.lane(lane).id(id).context(chat), message)
            }
            _ => {
                let refusal = refusal("must be `send`, `resume` or `abort`").at("type");
                Action::Refuse(Some(Ask::post("").id(id)), refusal)
            }
        }
    }

    fn begin(&mut self, exchange: &Exchange, out: &mut BytesMut) {
        if *exchange.method() == Method::GET {
            write("start", exchange, b"", out);
        }
    }

    fn event(&mut self, exchange: &Exchange, data: &[u8], out: &mut BytesMut) -> EventMessage {
        if data == b"[DONE]" {
            return EventMessage::None;
        }
        write_chunk(exchange, data, out);
        EventMessage::Written
    }

    fn end(&mut self, exchange: &Exchange, out: &mut BytesMut) {
        write("end", exchange, b"", out);
    }

    fn document(
        &mut self,
        exchange: Option<&Exchange>,
        response: Response<Bytes>,
        out: &mut BytesMut,
    ) {
        // A page closes the connection if a message has no id of a request.
        let Some(exchange) = exchange else { return };
        if response.status().is_success() {
            return write("no-active", exchange, b"", out);
        }
        let text = String::from_utf8_lossy(response.body());
        let mut member = br#","errorText":""#.to_vec();
        escape(&text, Escape::JsonAndSeparators, &mut member);
        member.push(b'"');
        write("error", exchange, &member, out);
    }

    fn refuse(&self, refusal: &Refusal) -> Response<Bytes> {
        UiStream::refuse(refusal)
    }

    fn stop(&self, exchange: &Exchange) -> Option<Ask> {
        let chat = Some(exchange.context()).filter(|chat| !chat.is_empty())?;
        let path = format!("/{}/stop", escape_segment(chat));
        // In the lane of the chat, so that the next reply begins after the stop.
        Some(Ask::post("{}").path(path).lane(lane(chat)))
    }
}

/// Returns the lane of a chat, which differs from the lane of every request.
fn lane(chat: &str) -> String {
    format!("chat {chat}")
}

/// Writes a message about a request.
fn write(kind: &str, exchange: &Exchange, members: &[u8], out: &mut BytesMut) {
    out.extend_from_slice(br#"{"type":""#);
    out.extend_from_slice(kind.as_bytes());
    write_id(exchange, out);
    out.extend_from_slice(members);
    out.extend_from_slice(b"}");
}

/// Writes the end of the type, and the id of the request.
fn write_id(exchange: &Exchange, out: &mut BytesMut) {
    out.extend_from_slice(br#"","requestId":""#);
    let id = exchange.id();
    // The transport's own ids need no escaping.
    if id.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        out.extend_from_slice(id.as_bytes());
    } else {
        let mut escaped = Vec::new();
        escape(id, Escape::JsonAndSeparators, &mut escaped);
        out.extend_from_slice(&escaped);
    }
    out.extend_from_slice(b"\"");
}

fn write_chunk(exchange: &Exchange, data: &[u8], out: &mut BytesMut) {
    out.extend_from_slice(br#"{"type":"chunk"#);
    write_id(exchange, out);
    out.extend_from_slice(br#","sequence":"#);
    let mut digits = [0; 20];
    let mut at = digits.len();
    let mut number = exchange.events();
    loop {
        at -= 1;
        if let Some(digit) = digits.get_mut(at) {
            // The remainder of a division by ten fits in a byte.
            *digit = b'0' + (number % 10) as u8;
        }
        number /= 10;
        if number == 0 {
            break;
        }
    }
    out.extend_from_slice(digits.get(at..).unwrap_or_default());
    out.extend_from_slice(br#","chunk":"#);
    out.extend_from_slice(data);
    out.extend_from_slice(b"}");
}
