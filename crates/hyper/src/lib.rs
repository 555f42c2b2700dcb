//! Serves a [`Router`] with hyper, by itself or among other routes.

mod metrics;
mod places;
mod silent;
mod sockets;

use std::convert::Infallible;
use std::error::Error;
use std::future::Future;
use std::io;
use std::pin::pin;
use std::sync::Mutex;
use std::time::Duration;

use copilot_wire::Router;
use hyper::body::{Body, Bytes, Incoming};
use hyper::service::{Service, service_fn};
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use crate::places::Places;
use crate::silent::Silent;

pub use crate::metrics::{Metrics, store};
pub use crate::sockets::answer;

/// The time for which running turns go on once the server is asked to stop.
const GRACE: Duration = Duration::from_secs(5);

/// The time that clients have after that to read how their turns ended.
const LAST: Duration = Duration::from_secs(1);

/// The time that a client has for the head of a request, the first one included, or to show that it is
/// still there.
const PATIENCE: Duration = Duration::from_secs(30);

/// The size in bytes of the server's write buffer per connection; hyper's default is 400 KiB.
const BUFFER: usize = 16 * 1024;

/// The largest number of open connections.
const CONNECTIONS: usize = 1024;

/// The limit of concurrent requests on one HTTP/2 connection.
const STREAMS: u32 = 100;

/// Serves `router` on `listener` until `stop` is ready, over HTTP/1 and HTTP/2. Then no turn begins; what still
/// runs after five seconds ends as a failure, which its client sees.
///
/// Where there are too many connections, one that has not sent a request makes room for the next.
///
/// # Errors
///
/// When the listener fails for good.
pub async fn serve(
    listener: TcpListener,
    router: Router,
    stop: impl Future<Output = ()>,
) -> io::Result<()> {
    let agents = router.clone();
    let app = service_fn(move |request| {
        let agents = agents.clone();
        async move { Ok::<_, Infallible>(answer(&agents, request).await) }
    });
    serve_app(listener, app, router, stop).await
}

/// Serves `app`, which has the agents of `router` among its routes, as [`serve`] does.
///
/// # Errors
///
/// When the listener fails for good.
pub async fn serve_app<S, B>(
    listener: TcpListener,
    app: S,
    router: Router,
    stop: impl Future<Output = ()>,
) -> io::Result<()>
where
    S: Service<Request<Incoming>, Response = Response<B>, Error = Infallible>,
    S: Clone + Send + 'static,
    S::Future: Send + 'static,
    B: Body<Data = Bytes, Error: Into<Box<dyn Error + Send + Sync>>> + Send + 'static,
{
    let graceful = GracefulShutdown::new();
    let silent = Silent::default();
    let mut connections = JoinSet::new();
    let places = Places::default();
    let mut limit = CONNECTIONS;
    let mut stop = pin!(stop);
    loop {
        let has_room = places.taken() < limit || !silent.is_empty();
        let accepted = tokio::select! {
            accepted = listener.accept(), if has_room => accepted,
            Some(_) = connections.join_next() => continue,
            () = places.freed() => continue,
            () = &mut stop => break,
        };
        let socket = match accepted {
            Ok((socket, _)) => {
                // The shortage of descriptors may be over.
                limit = (limit + 1).min(CONNECTIONS);
                socket
            }
            Err(error) => {
                if is_out_of_descriptors(&error) {
                    // The agents need some as well.
                    limit = (places.taken() * 3 / 4).max(1);
                    let surplus = places.taken().saturating_sub(limit);
                    let _ = (0..surplus).all(|_| silent.evict());
                }
                // The listener itself is fine.
                sleep(Duration::from_millis(50)).await;
                continue;
            }
        };
        if places.taken() >= limit {
            silent.evict();
        }
        // Without this a stream of small events stalls for 40 ms at a time. It fails where the
        // client is gone already, which is no concern of the others.
        let _ = socket.set_nodelay(true);
        let mut builder = Builder::new(TokioExecutor::new());
        let mut http1 = builder.http1();
        http1.max_buf_size(BUFFER);
        http1.timer(TokioTimer::new()).header_read_timeout(PATIENCE);
        let mut http2 = builder.http2();
        http2.max_send_buf_size(BUFFER);
        http2.max_concurrent_streams(STREAMS);
        http2.timer(TokioTimer::new()).keep_alive_interval(PATIENCE);
        // hyper's timers start with the version of HTTP: they miss a client that sends nothing, half
        // an HTTP/2 preface, or a preface and no request.
        let (entry, overdue) = silent.add(PATIENCE);
        let entry = Mutex::new(Some(entry));
        let (app, place) = (app.clone(), places.take());
        let service = service_fn(move |mut request: Request<Incoming>| {
            request.extensions_mut().insert(place.clone());
            // The lock is never held where something can panic.
            drop(entry.lock().map(|mut entry| entry.take()));
            app.call(request)
        });
        let connection = builder
            .serve_connection_with_upgrades(TokioIo::new(socket), service)
            .into_owned();
        let connection = graceful.watch(connection);
        connections.spawn(async move {
            tokio::select! {
                _ = connection => {}
                () = overdue => {}
            }
        });
    }
    drop(listener);
    // The connections end with their turns; one whose client does not read is closed.
    let ended = async { tokio::join!(router.drain(sleep(GRACE)), graceful.shutdown()) };
    let _ = timeout(GRACE + LAST, ended).await;
    Ok(())
}

/// Waits until the program is asked to stop: by Ctrl-C, or by `SIGTERM`, which is how containers ask.
///
/// It listens from this call on, not from the first poll.
///
/// # Errors
///
/// When signals cannot be listened for.
pub fn stop_signal() -> io::Result<impl Future<Output = ()> + Send + 'static> {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let mut interrupt = signal(SignalKind::interrupt())?;
        let mut terminate = signal(SignalKind::terminate())?;
        Ok(async move {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
        })
    }
    #[cfg(not(unix))]
    Ok(async { drop(tokio::signal::ctrl_c().await) })
}

/// Returns `true` if the process or the system has no file descriptor left (`EMFILE`, `ENFILE`).
fn is_out_of_descriptors(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(23 | 24))
}
