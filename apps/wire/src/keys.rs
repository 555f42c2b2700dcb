//! `wire keys`: the key document of a test platform.

use std::convert::Infallible;
use std::net::Ipv4Addr;
use std::path::PathBuf;

use bytes::Bytes;
use clap::Args;
use copilot_wire_kit::{Kit, Node};
use http::header::{ALLOW, CONTENT_TYPE};
use http::{HeaderValue, Method, Request, Response, StatusCode};
use http_body_util::Full;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};

use crate::key;
use crate::screen::Screen;
use crate::verdict::{Failure, Verdict};

/// The options of `wire keys`.
#[derive(Args, Debug)]
pub(crate) struct Options {
    /// The file of a test key, created if it does not exist; may be given several times
    #[arg(long = "key", value_name = "FILE", required = true)]
    keys: Vec<PathBuf>,
    /// The port on 127.0.0.1; 0 means any free port
    #[arg(long, default_value_t = 0)]
    port: u16,
}

/// Serves the keys until Ctrl-C.
pub(crate) async fn run(
    options: &Options,
    kits: &[Kit],
    screen: &mut Screen,
) -> Result<Verdict, Failure> {
    let keys = key::keys(kits)?;
    let seeds = options.keys.iter().map(|path| key::seed(path));
    let seeds: Vec<_> = seeds.collect::<Result<_, _>>()?;
    let signers: Vec<_> = seeds.iter().map(|seed| keys.signer(seed)).collect();
    let document = keys.document(&seeds);
    let address = (Ipv4Addr::LOCALHOST, options.port);
    let listener = TcpListener::bind(address)
        .await
        .map_err(|error| Failure::new(format!("port {}: {error}", options.port)))?;
    let url = format!("http://{}{}", listener.local_addr()?, keys.path());
    if screen.is_json() {
        let ids = signers.iter().map(|signer| signer.identifier());
        screen.json_line(&Node::object([
            ("url", url.into()),
            ("keys", Node::list(ids)),
        ]))?;
    } else {
        screen.line(url)?;
        for signer in &signers {
            screen.line(format_args!("  key {}", signer.identifier()))?;
        }
    }
    screen.flush()?;
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                // A connection that fails in `accept` does not affect others.
                if let Ok((socket, _)) = accepted {
                    tokio::spawn(serve(socket, document.clone()));
                }
            }
            stop = tokio::signal::ctrl_c() => return Ok(stop.map(|()| Verdict::Clean)?),
        }
    }
}

async fn serve(socket: TcpStream, document: Bytes) {
    let service = service_fn(move |request| {
        let response = respond(&request, document.clone());
        async { Ok::<_, Infallible>(response) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .serve_connection(TokioIo::new(socket), service);
    // An error here means that the client disconnected.
    let _ = connection.await;
}

fn respond<B>(request: &Request<B>, document: Bytes) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(document));
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(CONTENT_TYPE, json);
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        response = Response::default();
        *response.status_mut() = StatusCode::METHOD_NOT_ALLOWED;
        let allow = HeaderValue::from_static("GET, HEAD");
        response.headers_mut().insert(ALLOW, allow);
    }
    response
}
