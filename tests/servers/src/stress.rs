//! Clients that send much and end nothing, and what they cost.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::thread;
use std::time::Duration;

use hyper::Request;
use hyper::body::{Body, Bytes, Frame};
use hyper::client::conn::http2;
use hyper_util::rt::{TokioExecutor, TokioIo};

use crate::{Client, Program, say};

const MIB: usize = 1 << 20;

/// A place where an agent answers.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    /// The path of an OpenBB agent.
    pub path: &'a str,
    /// A header line that lets a request pass.
    pub key: &'a str,
}

/// The resident memory of a server in bytes, while clients did one thing.
#[derive(Clone, Copy, Debug)]
pub struct Cost {
    /// After one small request.
    pub idle: usize,
    /// 60 uploads that stalled 1 MiB before their end.
    pub uploads: usize,
    /// One HTTP/2 connection with 100 bodies of 4 MiB that did not end.
    pub bodies: usize,
    /// 300 connections without a request.
    pub silent: usize,
}

/// Does each of these to a server of its own, because an allocator does not return all freed memory. Another
/// visitor must be served meanwhile.
///
/// # Errors
///
/// When another visitor is not served.
pub fn stress(start: impl Fn() -> Program, place: Place<'_>) -> io::Result<Cost> {
    let program = start();
    visit(program.address, place)?;
    let idle = program.memory();
    let silent: Vec<Client> = (0..300)
        .map(|_| Client::connect(program.address))
        .collect::<io::Result<_>>()?;
    visit(program.address, place)?;
    let with_silent = program.memory();
    drop((silent, program));

    let program = start();
    let uploads = stalled_uploads(program.address, place)?;
    visit(program.address, place)?;
    let with_uploads = program.memory();
    drop((uploads, program));

    Ok(Cost {
        idle,
        uploads: with_uploads,
        bodies: open_bodies(&start(), place)?,
        silent: with_silent,
    })
}

/// Crowds a server that has 256 descriptors: 40 uploads that stall, 10 clients that never read their answers, and 300
/// that send nothing. Another visitor must be served meanwhile.
///
/// # Errors
///
/// When another visitor is not served.
pub fn crowd(address: SocketAddr, place: Place<'_>) -> io::Result<()> {
    let Place { path, key } = place;
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n{key}\r\n"
    );
    let mut clients = Vec::new();
    for _ in 0..40 {
        let mut upload = Client::connect(address)?;
        upload.send(format!("{head}content-length: 1000\r\n\r\n{{").as_bytes())?;
        clients.push(upload);
    }
    for _ in 0..10 {
        let mut reader = Client::connect(address)?;
        let body = say("hello");
        reader.send(format!("{head}content-length: {}\r\n\r\n{body}", body.len()).as_bytes())?;
        clients.push(reader);
    }
    visit(address, place)?;
    for _ in 0..300 {
        clients.push(Client::connect(address)?);
    }
    visit(address, place)
}

/// Asks an agent something small.
fn visit(address: SocketAddr, place: Place<'_>) -> io::Result<()> {
    let mut client = Client::connect(address)?;
    let headers = ["content-type: application/json", place.key];
    client.request("POST", place.path, &headers, say("hello").as_bytes())?;
    match client.head()?.status {
        200 => Ok(()),
        status => Err(io::Error::other(format!("a visitor got {status}"))),
    }
}

/// Sends 60 requests of 32 MiB but for their last one.
fn stalled_uploads(address: SocketAddr, place: Place<'_>) -> io::Result<Vec<Client>> {
    let head = format!(
        "POST {} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n{}\r\n\
         content-length: {}\r\n\r\n",
        place.path,
        place.key,
        32 * MIB
    );
    let piece = vec![b' '; MIB];
    let upload = || {
        let mut client = Client::connect(address)?;
        client.send(head.as_bytes())?;
        // One that is refused may be cut off.
        let _ = (0..31).all(|_| client.send(&piece).is_ok());
        Ok(client)
    };
    thread::scope(|scope| {
        let uploads: Vec<_> = (0..60).map(|_| scope.spawn(upload)).collect();
        let joined = uploads.into_iter().map(|upload| upload.join());
        joined
            .map(|upload| upload.unwrap_or_else(|_| Err(io::Error::other("an upload panicked"))))
            .collect()
    })
}

/// A body that stalls after some pieces.
struct Stalls(usize);

impl Body for Stalls {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if self.0 == 0 {
            return Poll::Pending;
        }
        self.0 -= 1;
        let piece = Bytes::from_static(&[b' '; MIB / 16]);
        Poll::Ready(Some(Ok(Frame::data(piece))))
    }
}

/// Opens 100 bodies on one connection, and visits the server when all that it takes has come.
fn open_bodies(program: &Program, place: Place<'_>) -> io::Result<usize> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()?;
    let (name, value) = place.key.split_once(": ").unwrap_or(("x-none", "1"));
    let requests = (0..100).map(|_| {
        Request::post(format!("http://localhost{}", place.path))
            .header("content-type", "application/json")
            .header(name, value)
            .body(Stalls(4 * 16))
    });
    let requests = requests.collect::<Result<Vec<_>, _>>();
    let requests = requests.map_err(io::Error::other)?;
    runtime.block_on(async {
        let socket = tokio::net::TcpStream::connect(program.address).await?;
        let opened = http2::handshake(TokioExecutor::new(), TokioIo::new(socket)).await;
        let (mut client, connection) = opened.map_err(io::Error::other)?;
        tokio::spawn(connection);
        for request in requests {
            tokio::spawn(client.send_request(request));
        }
        let (mut most, mut still) = (0, 0);
        while still < 5 {
            tokio::time::sleep(Duration::from_millis(100)).await;
            let memory = program.memory();
            still = if memory > most { 0 } else { still + 1 };
            most = most.max(memory);
        }
        visit(program.address, place)?;
        Ok(most)
    })
}
