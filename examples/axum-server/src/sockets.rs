//! WebSockets: the way between axum's and those of the agents.

use std::error::Error as _;
use std::time::Duration;

use axum::body::Body;
use axum::extract::ws::{CloseFrame, Message as Frame, Utf8Bytes, WebSocket};
use axum::extract::{FromRequestParts as _, Request, WebSocketUpgrade};
use axum::response::{IntoResponse as _, Response};
use copilot_wire::Router;
use copilot_wire::router::socket::{Socket, SocketMessage, is_handshake};
use futures_util::{SinkExt as _, StreamExt as _};
use tokio::time::timeout;
use tokio_tungstenite::tungstenite;

/// The size in bytes of the buffers of a connection; the default for reading is 128 KiB.
const BUFFER: usize = 4096;

/// The time that a client has to take what is sent.
const STALLED: Duration = Duration::from_secs(90);

/// Answers a request for the agents, which may be the handshake of a WebSocket.
pub(crate) async fn answer(agents: Router, request: Request) -> Response {
    let (mut parts, body) = request.into_parts();
    if !is_handshake(&parts) {
        let request = Request::from_parts(parts, body);
        return agents.handle_body(request).await.map(Body::new);
    }
    let upgrade = WebSocketUpgrade::from_request_parts(&mut parts, &()).await;
    match (agents.socket(parts).await, upgrade) {
        (Ok(socket), Ok(mut upgrade)) => {
            if let Some(protocol) = socket.subprotocol() {
                upgrade.set_selected_protocol(protocol.clone());
            }
            let limit = socket.limit();
            let upgrade = upgrade.max_message_size(limit).max_frame_size(limit);
            let upgrade = upgrade.read_buffer_size(BUFFER).write_buffer_size(BUFFER);
            upgrade.on_upgrade(async |connection| {
                // An error is a client that is gone.
                let _ = run(connection, socket).await;
            })
        }
        (Ok(_), Err(rejected)) => rejected.into_response(),
        (Err(refused), _) => refused.map(Body::new),
    }
}

async fn run(mut connection: WebSocket, mut socket: Socket) -> Result<(), axum::Error> {
    loop {
        tokio::select! {
            message = connection.recv() => match message {
                Some(Ok(message)) => socket.receive(received(message)),
                Some(Err(error)) if is_too_large(&error) => {
                    // Nothing more is read.
                    socket.receive(SocketMessage::TooLarge);
                    return match socket.next().await {
                        Some(close) => send(&mut connection, &mut socket, close).await,
                        None => Ok(()),
                    };
                }
                Some(Err(error)) => return Err(error),
                None => return Ok(()),
            },
            message = socket.next() => match message {
                Some(message) => send(&mut connection, &mut socket, message).await?,
                None => return timeout(STALLED, connection.close()).await.unwrap_or(Ok(())),
            }
        }
    }
}

/// Sends a message, and those that were made together with it.
async fn send(
    connection: &mut WebSocket,
    socket: &mut Socket,
    message: SocketMessage,
) -> Result<(), axum::Error> {
    let sent = async {
        connection.feed(frame(message)?).await?;
        while let Some(message) = socket.waiting() {
            connection.feed(frame(message)?).await?;
        }
        connection.flush().await
    };
    timeout(STALLED, sent).await.map_err(axum::Error::new)?
}

fn is_too_large(error: &axum::Error) -> bool {
    let source = error.source().and_then(|it| it.downcast_ref());
    matches!(source, Some(tungstenite::Error::Capacity(_)))
}

fn received(frame: Frame) -> SocketMessage {
    match frame {
        Frame::Text(text) => SocketMessage::Text(text.into()),
        Frame::Binary(_) => SocketMessage::Binary,
        Frame::Close(_) => SocketMessage::Close {
            code: 1000,
            reason: "",
        },
        Frame::Ping(_) | Frame::Pong(_) => SocketMessage::Pong,
    }
}

fn frame(message: SocketMessage) -> Result<Frame, axum::Error> {
    Ok(match message {
        SocketMessage::Text(text) => {
            Frame::Text(Utf8Bytes::try_from(text).map_err(axum::Error::new)?)
        }
        SocketMessage::Close { code, reason } => Frame::Close(Some(CloseFrame {
            code,
            reason: reason.into(),
        })),
        _ => Frame::Ping(Default::default()),
    })
}
