//! WebSockets: the way between axum's and those of the agents.

use axum::body::Body;
use axum::extract::ws::{CloseFrame, Message as Frame, Utf8Bytes, WebSocket};
use axum::extract::{FromRequestParts as _, Request, WebSocketUpgrade};
use axum::response::{IntoResponse as _, Response};
use copilot_wire::Router;
use copilot_wire::router::socket::{Message, Socket, is_handshake};
use futures_util::{SinkExt as _, StreamExt as _};

/// The size in bytes of the buffers of a connection; the default for reading is 128 KiB.
const BUFFER: usize = 4096;

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
                Some(message) => socket.receive(received(message?)),
                None => return Ok(()),
            },
            message = socket.next() => {
                let Some(message) = message else { return connection.close().await };
                connection.feed(frame(message)?).await?;
                // What was made together leaves together.
                while let Some(message) = socket.waiting() {
                    connection.feed(frame(message)?).await?;
                }
                connection.flush().await?;
            }
        }
    }
}

fn received(frame: Frame) -> Message {
    match frame {
        Frame::Text(text) => Message::Text(text.into()),
        Frame::Binary(_) => Message::Binary,
        Frame::Close(_) => Message::Close {
            code: 1000,
            reason: "",
        },
        Frame::Ping(_) | Frame::Pong(_) => Message::Pong,
    }
}

fn frame(message: Message) -> Result<Frame, axum::Error> {
    Ok(match message {
        Message::Text(text) => Frame::Text(Utf8Bytes::try_from(text).map_err(axum::Error::new)?),
        Message::Close { code, reason } => Frame::Close(Some(CloseFrame {
            code,
            reason: reason.into(),
        })),
        _ => Frame::Ping(Default::default()),
    })
}
