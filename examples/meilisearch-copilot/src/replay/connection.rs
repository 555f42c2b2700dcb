//! One connection: one request, one answer.

use std::io;
use std::time::Instant;

use bytes::Bytes;
use copilot_wire::meilisearch::{ApiError, ChatRequest};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::mpsc::UnboundedSender;

use super::{Script, Step};

/// The head of a recorded answer. It is sent before the model has been asked.
const HEAD: &[u8] = b"HTTP/1.1 200 OK\r\n\
    transfer-encoding: chunked\r\n\
    content-encoding: identity\r\n\
    content-type: text/event-stream\r\n\
    cache-control: no-cache\r\n\
    vary: Origin, Access-Control-Request-Method, Access-Control-Request-Headers\r\n\
    x-accel-buffering: no\r\n\
    connection: close\r\n\r\n";

/// No request of a chat is larger.
const LIMIT: usize = 32 * 1024 * 1024;

pub(super) async fn serve(
    mut socket: TcpStream,
    script: &dyn Script,
    hang_up: &UnboundedSender<Instant>,
) -> io::Result<()> {
    socket.set_nodelay(true)?;
    let answer = match request(&mut socket).await? {
        Ok((key, Some(chat))) => script.answer(&key, &chat),
        Ok((key, None)) if script.may_search(&key) => {
            return respond(&mut socket, 200, br#"{"results":[]}"#).await;
        }
        Ok(_) => Err(ApiError::invalid_api_key()),
        Err(error) => Err(error),
    };
    let steps = match answer {
        Ok(steps) => steps,
        Err(error) => {
            return respond(&mut socket, error.status.as_u16(), &error.to_json()).await;
        }
    };
    socket.write_all(HEAD).await?;
    for step in steps {
        let went_on = match step {
            Step::Send(bytes) => {
                let mut frame = format!("{:X}\r\n", bytes.len()).into_bytes();
                frame.extend_from_slice(&bytes);
                frame.extend_from_slice(b"\r\n");
                socket.write_all(&frame).await.is_ok()
            }
            Step::Pause(time) => {
                tokio::select! {
                    () = tokio::time::sleep(time) => true,
                    () = gone(&mut socket) => false,
                }
            }
            Step::Stall => {
                gone(&mut socket).await;
                false
            }
            Step::Break => return Ok(()),
        };
        if !went_on {
            let _ = hang_up.send(Instant::now());
            return Ok(());
        }
    }
    socket.write_all(b"0\r\n\r\n").await?;
    socket.shutdown().await
}

/// Waits until the client has closed the connection.
async fn gone(socket: &mut TcpStream) {
    let mut ignored = [0; 256];
    while socket.read(&mut ignored).await.is_ok_and(|count| count > 0) {}
}

/// A key, and the chat that is asked for with it, or none for a search.
type Asked = (String, Option<ChatRequest>);

/// Reads a request, and refuses what a server with a key would refuse.
async fn request(socket: &mut TcpStream) -> io::Result<Result<Asked, ApiError>> {
    let mut bytes = Vec::new();
    let end = loop {
        if let Some(at) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            break at + 4;
        }
        if bytes.len() > LIMIT || socket.read_buf(&mut bytes).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    };
    let body = bytes.split_off(end);
    let head = String::from_utf8_lossy(&bytes).into_owned();
    let header = |name: &str| {
        head.lines().skip(1).find_map(|line| {
            let (key, value) = line.split_once(':')?;
            key.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    };
    let length: usize = header("content-length")
        .and_then(|length| length.parse().ok())
        .unwrap_or(0);
    if length > LIMIT {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut body = body;
    while body.len() < length {
        if socket.read_buf(&mut body).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
    let target = head.split(' ').nth(1).unwrap_or_default();
    let key = header("authorization").and_then(|it| it.strip_prefix("Bearer "));
    Ok(match key {
        None => Err(ApiError::missing_authorization()),
        Some(key) if target == "/multi-search" => Ok((key.to_owned(), None)),
        Some(key) if target.starts_with("/chats/") && target.ends_with("/chat/completions") => {
            let chat = ChatRequest::read(&Bytes::from(body));
            chat.map(|chat| (key.to_owned(), Some(chat)))
        }
        Some(_) => Err(ApiError::workspace_not_found(target)),
    })
}

/// Sends a whole response.
async fn respond(socket: &mut TcpStream, status: u16, body: &[u8]) -> io::Result<()> {
    let head = format!(
        "HTTP/1.1 {status} -\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        body.len()
    );
    socket.write_all(&[head.as_bytes(), body].concat()).await?;
    socket.shutdown().await
}
