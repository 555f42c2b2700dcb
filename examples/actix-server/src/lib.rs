//! Serves a [`Router`] with actix-web.

mod sockets;

use std::io;
use std::net::TcpListener;
use std::pin::pin;
use std::time::Duration;

use actix_web::body::SizedStream;
use actix_web::dev::Server;
use actix_web::http::{ConnectionType, StatusCode, Version};
use actix_web::rt::net::TcpStream;
use actix_web::rt::time::sleep;
use actix_web::rt::{signal, spawn};
use actix_web::{App, HttpRequest, HttpResponse, HttpServer, web};
use copilot_wire::Router;
use copilot_wire::router::socket::is_handshake;

/// The time for which running turns go on once the server is asked to stop.
const GRACE: Duration = Duration::from_secs(5);

/// The time that clients have after that to read how their turns ended.
const LAST: Duration = Duration::from_secs(1);

/// The time that a client has for the head of a request, the first one included.
const PATIENCE: Duration = Duration::from_secs(5);

/// The largest number of open connections of a worker.
const CONNECTIONS: usize = 512;

/// Serves `router` on `listener`; the server stops by its handle, on Ctrl-C, and on `SIGTERM`. After a signal no turn
/// begins; what still runs after five seconds ends as a failure, which its client sees.
///
/// # Errors
///
/// When the listener cannot be used, or signals cannot be listened for.
pub fn serve(listener: TcpListener, router: Router) -> io::Result<Server> {
    let (stop, draining) = (stop_signal()?, router.clone());
    let stop = async move {
        stop.await;
        // In a task: the server stops accepting when this future is done.
        spawn(async move { draining.drain(sleep(GRACE)).await });
    };
    let app = move || {
        App::new()
            .app_data(web::Data::new(router.clone()))
            .default_service(web::to(answer))
    };
    Ok(HttpServer::new(app)
        .workers(2)
        // Without this a stream of small events stalls for 40 ms at a time.
        .on_connect(|connection, _| {
            if let Some(socket) = connection.downcast_ref::<TcpStream>() {
                let _ = socket.set_nodelay(true);
            }
        })
        // By default actix keeps the agent of a client that is gone while the agent is silent.
        .h1_allow_half_closed(false)
        .client_request_timeout(PATIENCE)
        .max_connections(CONNECTIONS)
        // By default actix cuts running streams on Ctrl-C.
        .shutdown_signal(stop)
        .shutdown_timeout((GRACE + LAST).as_secs())
        .listen(listener)?
        .run())
}

/// Waits for Ctrl-C, or for `SIGTERM`, which is how containers ask.
fn stop_signal() -> io::Result<impl Future<Output = ()> + Send + 'static> {
    #[cfg(unix)]
    {
        use signal::unix::{SignalKind, signal};
        let mut interrupt = signal(SignalKind::interrupt())?;
        let mut terminate = signal(SignalKind::terminate())?;
        Ok(async move {
            futures_util::future::select(pin!(interrupt.recv()), pin!(terminate.recv())).await;
        })
    }
    #[cfg(not(unix))]
    Ok(async { drop(signal::ctrl_c().await) })
}

async fn answer(
    router: web::Data<Router>,
    request: HttpRequest,
    payload: web::Payload,
) -> Result<HttpResponse, Box<dyn std::error::Error>> {
    // actix has an `http` of its own version: names and values cross as text and bytes.
    let mut converted = http::Request::builder()
        .method(request.method().as_str())
        .uri(request.uri().to_string());
    for (name, value) in request.headers() {
        converted = converted.header(name.as_str(), value.as_bytes());
    }
    let (parts, payload) = converted.body(payload)?.into_parts();
    let response = match is_handshake(&parts) {
        true => match router.socket(parts).await {
            Ok(socket) => return Ok(sockets::open(&request, payload, socket)?),
            Err(refused) => refused,
        },
        false => {
            router
                .handle(http::Request::from_parts(parts, payload))
                .await
        }
    };
    let (head, body) = response.into_parts();

    let mut response = HttpResponse::build(StatusCode::from_u16(head.status.as_u16())?);
    for (name, value) in &head.headers {
        response.append_header((name.as_str(), value.as_bytes()));
    }
    let mut response = match body.size() {
        Some(size) => response.body(SizedStream::new(size, body)),
        None => response.streaming(body),
    };
    // HTTP/1.0 has no chunks: the end of the connection is the end of the body.
    if request.version() == Version::HTTP_10 {
        response.head_mut().no_chunking(true);
        response
            .head_mut()
            .set_connection_type(ConnectionType::Close);
    }
    Ok(response)
}
