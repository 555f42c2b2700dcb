//! WebSockets: the way between a connection and a socket of the router.

use std::io;
use std::time::Duration;

use copilot_wire::router::socket::{Socket, SocketMessage, is_handshake};
use copilot_wire::{Body, Router};
use futures_util::{SinkExt, StreamExt};
use hyper::body::Bytes;
use hyper::header::{
    CONNECTION, HeaderValue, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY, SEC_WEBSOCKET_PROTOCOL,
    UPGRADE,
};
use hyper::upgrade::{OnUpgrade, Upgraded};
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::time::timeout;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, Role, WebSocketConfig};
use tokio_tungstenite::tungstenite::{Error, Message as Frame, Utf8Bytes};

use crate::places::Place;

/// The size in bytes of the buffers of a connection; tungstenite's default for reading is 128 KiB.
const BUFFER: usize = 4096;

/// The time that a client has to take what is sent.
const STALLED: Duration = Duration::from_secs(90);

/// The time that a client has to answer the end of a connection.
const LAST: Duration = Duration::from_secs(1);

/// Answers a request, which may be the handshake of a WebSocket.
pub async fn answer<B: hyper::body::Body>(router: &Router, request: Request<B>) -> Response<Body> {
    let (parts, body) = request.into_parts();
    if !is_handshake(&parts) {
        return router.handle_body(Request::from_parts(parts, body)).await;
    }
    let mut request = Request::from_parts(parts, ());
    // The socket holds it, and not the turns, which may be stored and outlive the socket.
    let place = request.extensions_mut().remove::<Place>();
    let upgrade = hyper::upgrade::on(&mut request);
    let (parts, ()) = request.into_parts();
    let key = parts.headers.get(SEC_WEBSOCKET_KEY).cloned();
    let socket = match router.socket(parts).await {
        Ok(socket) => socket,
        Err(refused) => return refused,
    };
    let mut response = Response::new(Body::full(""));
    *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
    let headers = response.headers_mut();
    headers.insert(CONNECTION, HeaderValue::from_static("upgrade"));
    headers.insert(UPGRADE, HeaderValue::from_static("websocket"));
    let accept = key.map(|key| derive_accept_key(key.as_bytes()));
    if let Some(Ok(accept)) = accept.map(HeaderValue::try_from) {
        headers.insert(SEC_WEBSOCKET_ACCEPT, accept);
    }
    if let Some(protocol) = socket.subprotocol() {
        headers.insert(SEC_WEBSOCKET_PROTOCOL, protocol.clone());
    }
    tokio::spawn(async move {
        // An error is a client that is gone.
        let _ = run(upgrade, socket).await;
        drop(place);
    });
    response
}

type Connection = WebSocketStream<TokioIo<Upgraded>>;

async fn run(upgrade: OnUpgrade, mut socket: Socket) -> Result<(), Error> {
    let io = upgrade.await.map_err(io::Error::other)?;
    let limit = Some(socket.limit());
    let config = WebSocketConfig::default()
        .read_buffer_size(BUFFER)
        .write_buffer_size(BUFFER)
        .max_message_size(limit)
        .max_frame_size(limit);
    let io = TokioIo::new(io);
    let mut connection = WebSocketStream::from_raw_socket(io, Role::Server, Some(config)).await;
    loop {
        tokio::select! {
            message = connection.next() => match message {
                Some(Ok(message)) => socket.receive(received(message)),
                Some(Err(Error::Capacity(_))) => {
                    // tungstenite reads nothing more.
                    socket.receive(SocketMessage::TooLarge);
                    if let Some(close) = socket.next().await {
                        send(&mut connection, &mut socket, close).await?;
                    }
                    break;
                }
                Some(Err(_)) | None => return Ok(()),
            },
            message = socket.next() => {
                let Some(message) = message else { break };
                send(&mut connection, &mut socket, message).await?;
            }
        }
    }
    drop(socket);
    let ended = async {
        connection.close(None).await?;
        while let Some(Ok(_)) = connection.next().await {}
        Ok(())
    };
    timeout(LAST, ended).await.unwrap_or(Ok(()))
}

/// Sends a message, and those that were made together with it.
async fn send(
    connection: &mut Connection,
    socket: &mut Socket,
    message: SocketMessage,
) -> Result<(), Error> {
    let sent = async {
        connection.feed(frame(message)?).await?;
        while let Some(message) = socket.waiting() {
            connection.feed(frame(message)?).await?;
        }
        connection.flush().await
    };
    timeout(STALLED, sent).await.map_err(io::Error::from)?
}

fn received(frame: Frame) -> SocketMessage {
    match frame {
        Frame::Text(text) => SocketMessage::Text(text.into()),
        Frame::Binary(_) => SocketMessage::Binary,
        Frame::Close(_) => SocketMessage::Close {
            code: 1000,
            reason: "",
        },
        _ => SocketMessage::Pong,
    }
}

fn frame(message: SocketMessage) -> Result<Frame, Error> {
    Ok(match message {
        SocketMessage::Text(text) => {
            Frame::Text(Utf8Bytes::try_from(text).map_err(io::Error::other)?)
        }
        SocketMessage::Close { code, reason } => Frame::Close(Some(CloseFrame {
            code: code.into(),
            reason: reason.into(),
        })),
        _ => Frame::Ping(Bytes::new()),
    })
}
