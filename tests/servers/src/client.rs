//! A client that sees every byte and every close.

use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::time::Duration;

/// One connection.
#[derive(Debug)]
pub struct Client {
    stream: TcpStream,
    /// The bytes that were received and not yet consumed.
    waiting: Vec<u8>,
    /// A header line of every post.
    key: Option<String>,
}

/// The head of a response.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Response {
    /// The status.
    pub status: u16,
    /// The headers, names in lower case.
    pub headers: Vec<(String, String)>,
}

impl Response {
    /// Returns the header of this name.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.as_str())
    }
}

fn bad(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what.to_owned())
}

impl Client {
    /// Connects.
    ///
    /// # Errors
    ///
    /// When nobody listens.
    pub fn connect(address: SocketAddr) -> io::Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        // A test that waits this long has failed.
        stream.set_read_timeout(Some(Duration::from_secs(20)))?;
        Ok(Self {
            stream,
            waiting: Vec::new(),
            key: None,
        })
    }

    /// Sets a header line that every [`post`](Self::post) has.
    #[must_use]
    pub fn key(mut self, line: impl Into<String>) -> Self {
        self.key = Some(line.into());
        self
    }

    /// Returns the socket.
    pub fn socket(&self) -> &TcpStream {
        &self.stream
    }

    /// Sends bytes as they are.
    ///
    /// # Errors
    ///
    /// When the connection is gone.
    pub fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.write_all(bytes)
    }

    /// Sends a request; `headers` are whole lines.
    ///
    /// # Errors
    ///
    /// When the connection is gone.
    pub fn request(
        &mut self,
        method: &str,
        path: &str,
        headers: &[&str],
        body: &[u8],
    ) -> io::Result<()> {
        let mut head = format!("{method} {path} HTTP/1.1\r\nhost: localhost\r\n");
        for line in headers {
            head.push_str(line);
            head.push_str("\r\n");
        }
        if method == "POST" {
            head.push_str(&format!("content-length: {}\r\n", body.len()));
        }
        head.push_str("\r\n");
        self.send(&[head.as_bytes(), body].concat())
    }

    /// Posts JSON.
    ///
    /// # Errors
    ///
    /// When the connection is gone.
    pub fn post(&mut self, path: &str, body: impl AsRef<[u8]>) -> io::Result<()> {
        let key = self.key.clone();
        let mut headers = vec!["content-type: application/json"];
        headers.extend(key.as_deref());
        self.request("POST", path, &headers, body.as_ref())
    }

    /// Says that nothing more will be sent, and goes on reading.
    ///
    /// # Errors
    ///
    /// When the connection is gone.
    pub fn half_close(&self) -> io::Result<()> {
        self.stream.shutdown(Shutdown::Write)
    }

    fn fill(&mut self) -> io::Result<usize> {
        let mut buffer = [0; 16 * 1024];
        let count = self.stream.read(&mut buffer)?;
        self.waiting
            .extend_from_slice(buffer.get(..count).unwrap_or_default());
        Ok(count)
    }

    fn line(&mut self) -> io::Result<String> {
        loop {
            if let Some(end) = self.waiting.windows(2).position(|pair| pair == b"\r\n") {
                let rest = self.waiting.split_off(end + 2);
                let mut line = std::mem::replace(&mut self.waiting, rest);
                line.truncate(end);
                return String::from_utf8(line).map_err(|_| bad("a head that is not UTF-8"));
            }
            if self.fill()? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
    }

    /// Reads the head of a response.
    ///
    /// # Errors
    ///
    /// When the connection ends before it.
    pub fn head(&mut self) -> io::Result<Response> {
        let status = self.line()?;
        let status = status
            .split(' ')
            .nth(1)
            .and_then(|status| status.parse().ok());
        let status = status.ok_or_else(|| bad("no status"))?;
        let mut headers = Vec::new();
        loop {
            let line = self.line()?;
            let Some((name, value)) = line.split_once(':') else {
                break;
            };
            headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
        Ok(Response { status, headers })
    }

    /// Reads one piece of a chunked body; empty at its end.
    ///
    /// # Errors
    ///
    /// When the connection ends before the body does.
    pub fn chunk(&mut self) -> io::Result<Vec<u8>> {
        let length = self.line()?;
        let length = usize::from_str_radix(&length, 16).map_err(|_| bad("no chunk"))?;
        while self.waiting.len() < length + 2 {
            if self.fill()? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
        let rest = self.waiting.split_off(length + 2);
        let mut chunk = std::mem::replace(&mut self.waiting, rest);
        chunk.truncate(length);
        Ok(chunk)
    }

    /// Reads a whole response.
    ///
    /// # Errors
    ///
    /// When the connection ends before the body does.
    pub fn response(&mut self) -> io::Result<(Response, String)> {
        let head = self.head()?;
        let mut body = Vec::new();
        if head.header("transfer-encoding").is_some() {
            loop {
                let chunk = self.chunk()?;
                if chunk.is_empty() {
                    break;
                }
                body.extend(chunk);
            }
        } else {
            let length = head
                .header("content-length")
                .and_then(|length| length.parse().ok());
            let length: usize = length.unwrap_or(0);
            while self.waiting.len() < length {
                if self.fill()? == 0 {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
            }
            let rest = self.waiting.split_off(length);
            body = std::mem::replace(&mut self.waiting, rest);
        }
        let body = String::from_utf8(body).map_err(|_| bad("a body that is not UTF-8"))?;
        Ok((head, body))
    }
}
