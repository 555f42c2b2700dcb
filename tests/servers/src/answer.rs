//! A client that leaves: it reads as much of a response as it likes.

// Helpers of tests may be blunt too; `clippy.toml` reaches the test functions only.
#![allow(clippy::unwrap_used, clippy::string_slice)]

use std::net::SocketAddr;

use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpStream;

/// A response, as far as it has come.
#[derive(Debug)]
pub struct Answer {
    /// The status.
    pub status: u16,
    /// The bytes of the body that have come.
    pub bytes: Vec<u8>,
    body: Incoming,
}

impl Answer {
    /// Reads until enough has come. Returns `false` where the response ends before, or breaks.
    pub async fn until(&mut self, enough: impl Fn(&[u8]) -> bool) -> bool {
        while !enough(&self.bytes) {
            match self.body.frame().await {
                Some(Ok(frame)) => self.bytes.extend_from_slice(frame.data_ref().unwrap()),
                Some(Err(_)) | None => return false,
            }
        }
        true
    }

    /// Reads until a text has come.
    ///
    /// # Panics
    ///
    /// Where the response ends before.
    pub async fn until_text(&mut self, text: &str) {
        let found = |bytes: &[u8]| String::from_utf8_lossy(bytes).contains(text);
        assert!(
            self.until(found).await,
            "{text} does not come: {}",
            self.text()
        );
    }

    /// Reads the rest. Returns all of it without comments, which depend on the clock.
    pub async fn all(mut self) -> String {
        self.until(|_| false).await;
        self.text()
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).replace(": ping\n\n", "")
    }
}

/// Sends a request with the key of a user. Every second connection that is left is reset.
///
/// # Errors
///
/// When the connection fails before the head of the response.
pub async fn send_as(
    user: &str,
    to: SocketAddr,
    method: &str,
    path: &str,
    body: Option<Value>,
) -> Result<Answer, Box<dyn std::error::Error>> {
    let stream = TcpStream::connect(to).await?;
    if getrandom::u32()? & 1 == 0 {
        stream.set_zero_linger()?;
    }
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    tokio::spawn(connection);
    let body = body.map(|body| body.to_string()).unwrap_or_default();
    let request = http::Request::builder()
        .method(method)
        .uri(path)
        .header("host", "localhost")
        .header("authorization", format!("Bearer {user}"))
        .header("content-type", "application/json")
        .body(Full::new(Bytes::from(body)))?;
    let response = sender.send_request(request).await?;
    let status = response.status().as_u16();
    Ok(Answer {
        status,
        bytes: Vec::new(),
        body: response.into_body(),
    })
}

/// Returns the id of a response in its first event.
pub fn response_id(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let start = text.find("resp_").unwrap();
    let id = &text[start..];
    id[..id.find('"').unwrap()].to_owned()
}

/// Returns the number of events.
pub fn events(text: &str) -> usize {
    text.matches("\n\n").count()
}

/// Returns the numbers in a reply after its first two words, which say what follows.
pub fn numbers(text: &str) -> Vec<u64> {
    let deltas = text.split("\"delta\":\"").skip(1);
    let words: String = deltas.map(|it| &it[..it.find('"').unwrap()]).collect();
    // Escaped as in JSON.
    let words = words.replace("\\n", " ");
    let words = words.split_whitespace().skip(2);
    words.map(|word| word.parse().unwrap()).collect()
}
