//! Serves a [`Router`] with hyper.

use std::future::Future;
use std::io;
use std::pin::pin;
use std::time::Duration;

use copilot_wire::Router;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;

/// How long running streams may go on once the server is asked to stop.
const GRACE: Duration = Duration::from_secs(5);

/// How long a client may take over the head of a request that it has begun, or to show that it is still
/// there. One that has sent nothing at all is waited for.
const PATIENCE: Duration = Duration::from_secs(30);

/// How much of a stream waits in the server while its reader stalls; hyper's default is 400 KiB.
const BUFFER: usize = 16 * 1024;

/// Serves `router` on `listener` until `stop` is ready, over HTTP/1 and HTTP/2.
///
/// # Errors
///
/// When the listener fails for good.
pub async fn serve(
    listener: TcpListener,
    router: Router,
    stop: impl Future<Output = ()>,
) -> io::Result<()> {
    let graceful = GracefulShutdown::new();
    let mut stop = pin!(stop);
    loop {
        let (socket, _) = tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok(accepted) => accepted,
                // Out of file descriptors, say. The listener itself is fine: let others finish.
                Err(_) => { tokio::time::sleep(Duration::from_millis(50)).await; continue }
            },
            () = &mut stop => break,
        };
        // Without this a stream of small events stalls for 40 ms at a time. It fails where the
        // client is gone already, which is no concern of the others.
        let _ = socket.set_nodelay(true);
        let mut builder = Builder::new(TokioExecutor::new());
        let mut http1 = builder.http1();
        http1.max_buf_size(BUFFER);
        http1.timer(TokioTimer::new()).header_read_timeout(PATIENCE);
        let mut http2 = builder.http2();
        http2.max_send_buf_size(BUFFER);
        http2.timer(TokioTimer::new()).keep_alive_interval(PATIENCE);
        let service = TowerToHyperService::new(router.clone());
        let connection = builder
            .serve_connection(TokioIo::new(socket), service)
            .into_owned();
        tokio::spawn(graceful.watch(connection));
    }
    drop(listener);
    // What still streams after the grace period is cut off when the runtime stops.
    let _ = tokio::time::timeout(GRACE, graceful.shutdown()).await;
    Ok(())
}
