//! WebSockets: the way between actix's and those of the router.

use actix_web::rt::spawn;
use actix_web::web::Payload;
use actix_web::{HttpRequest, HttpResponse};
use actix_ws::{AggregatedMessage, AggregatedMessageStream, CloseReason, Closed, Session};
use bytestring::ByteString;
use copilot_wire::router::socket::{Message, Socket};
use futures_util::StreamExt as _;
use futures_util::future::{Either, select};

/// Answers the handshake of a socket, and runs it.
pub(crate) fn open(
    request: &HttpRequest,
    payload: Payload,
    socket: Socket,
) -> Result<HttpResponse, actix_web::Error> {
    let (mut response, session, messages) = actix_ws::handle(request, payload)?;
    if let Some(protocol) = socket.subprotocol() {
        let value = protocol.as_bytes().try_into();
        if let Ok(value) = value {
            let name = actix_web::http::header::SEC_WEBSOCKET_PROTOCOL;
            response.headers_mut().insert(name, value);
        }
    }
    let limit = socket.limit();
    let messages = messages.max_frame_size(limit).aggregate_continuations();
    let messages = messages.max_continuation_size(limit);
    spawn(run(session, messages, socket));
    Ok(response)
}

async fn run(
    mut session: Session,
    mut messages: AggregatedMessageStream,
    mut socket: Socket,
) -> Result<(), Closed> {
    loop {
        // The first one is polled first, but no more than one message is taken at a time.
        match select(socket.next(), messages.next()).await {
            Either::Left((Some(message), _)) => match message {
                Message::Text(text) => {
                    // Whatever is written here is UTF-8.
                    if let Ok(text) = ByteString::try_from(text) {
                        session.text(text).await?;
                    }
                }
                Message::Close { code, reason } => {
                    let reason = CloseReason::from((code.into(), reason));
                    return session.close(Some(reason)).await;
                }
                _ => session.ping(b"").await?,
            },
            Either::Right((Some(Ok(message)), _)) => socket.receive(match message {
                AggregatedMessage::Text(text) => Message::Text(text.into_bytes()),
                AggregatedMessage::Binary(_) => Message::Binary,
                AggregatedMessage::Ping(data) => {
                    session.pong(&data).await?;
                    Message::Ping
                }
                AggregatedMessage::Pong(_) => Message::Pong,
                AggregatedMessage::Close(reason) => {
                    return session.close(reason).await;
                }
            }),
            Either::Left((None, _)) | Either::Right((None | Some(Err(_)), _)) => {
                return session.close(None).await;
            }
        }
    }
}
