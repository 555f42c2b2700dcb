//! WebSockets: the way between actix's and those of the router.

use std::time::Duration;

use actix_web::rt::spawn;
use actix_web::rt::time::timeout;
use actix_web::web::Payload;
use actix_web::{HttpRequest, HttpResponse};
use actix_ws::{
    AggregatedMessage, AggregatedMessageStream, CloseReason, Closed, ProtocolError, Session,
};
use bytestring::ByteString;
use copilot_wire::router::socket::{Socket, SocketMessage};
use futures_util::StreamExt as _;
use futures_util::future::{Either, select};

/// The time that a client has to take what is sent.
const STALLED: Duration = Duration::from_secs(90);

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
        // Messages of the client first: an agent that is always ready must not keep it from stopping the turn.
        match select(messages.next(), socket.next()).await {
            Either::Right((Some(message), _)) => {
                let is_last = matches!(message, SocketMessage::Close { .. });
                let sent = timeout(STALLED, send(&mut session, message));
                sent.await.unwrap_or(Err(Closed))?;
                if is_last {
                    return Ok(());
                }
            }
            Either::Left((Some(Err(ProtocolError::Overflow)), _)) => {
                // Nothing more is read.
                socket.receive(SocketMessage::TooLarge);
                return match socket.next().await {
                    Some(close) => send(&mut session, close).await,
                    None => Ok(()),
                };
            }
            Either::Left((Some(Ok(message)), _)) => socket.receive(match message {
                AggregatedMessage::Text(text) => SocketMessage::Text(text.into_bytes()),
                AggregatedMessage::Binary(_) => SocketMessage::Binary,
                AggregatedMessage::Ping(data) => {
                    session.pong(&data).await?;
                    SocketMessage::Ping
                }
                AggregatedMessage::Pong(_) => SocketMessage::Pong,
                AggregatedMessage::Close(reason) => {
                    return session.close(reason).await;
                }
            }),
            Either::Right((None, _)) | Either::Left((None | Some(Err(_)), _)) => {
                return session.close(None).await;
            }
        }
    }
}

async fn send(session: &mut Session, message: SocketMessage) -> Result<(), Closed> {
    match message {
        // Whatever is written here is UTF-8.
        SocketMessage::Text(text) => match ByteString::try_from(text) {
            Ok(text) => session.text(text).await,
            Err(_) => Ok(()),
        },
        SocketMessage::Close { code, reason } => {
            let reason = CloseReason::from((code.into(), reason));
            session.clone().close(Some(reason)).await
        }
        _ => session.ping(b"").await,
    }
}
