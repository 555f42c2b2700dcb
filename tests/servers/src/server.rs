//! A server on a thread of its own.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::thread::JoinHandle;

use copilot_wire::Router;
use tokio::sync::oneshot;

/// A running server. Dropping it stops it.
#[derive(Debug)]
pub struct Server {
    /// Returns the address that it listens on.
    pub address: SocketAddr,
    stop: Option<Stop>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug)]
enum Stop {
    Hyper(oneshot::Sender<()>),
    Actix(actix_web::dev::ServerHandle),
}

/// Starts a server with a router.
pub type Start = fn(Router) -> Server;

/// Both servers by name.
pub const SERVERS: [(&str, Start); 2] = [("hyper", Server::hyper), ("actix", Server::actix)];

impl Server {
    /// Serves with hyper.
    pub fn hyper(router: Router) -> Self {
        let listener = listen();
        let address = address(&listener);
        let (stop, stopped) = oneshot::channel::<()>();
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build();
            let served = runtime.map(|runtime| {
                runtime.block_on(async {
                    listener.set_nonblocking(true)?;
                    let listener = tokio::net::TcpListener::from_std(listener)?;
                    copilot_wire_hyper::serve(listener, router, async { drop(stopped.await) }).await
                })
            });
            assert!(matches!(served, Ok(Ok(()))), "{served:?}");
        });
        Self {
            address,
            stop: Some(Stop::Hyper(stop)),
            thread: Some(thread),
        }
    }

    /// Serves with actix.
    pub fn actix(router: Router) -> Self {
        let listener = listen();
        let address = address(&listener);
        let (sender, receiver) = std::sync::mpsc::channel();
        let thread = std::thread::spawn(move || {
            let served = actix_web::rt::System::new().block_on(async {
                let server = actix_serve::serve(listener, router)?;
                let _ = sender.send(server.handle());
                server.await
            });
            assert!(served.is_ok(), "{served:?}");
        });
        let stop = receiver.recv().ok().map(Stop::Actix);
        Self {
            address,
            stop,
            thread: Some(thread),
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        match self.stop.take() {
            Some(Stop::Hyper(stop)) => drop(stop.send(())),
            Some(Stop::Actix(handle)) => {
                // The thread runs the stop; nobody needs to wait for the graceful part.
                drop(handle.stop(false));
            }
            None => {}
        }
        if let Some(thread) = self.thread.take() {
            let stopped = thread.join();
            assert!(
                stopped.is_ok() || std::thread::panicking(),
                "the server panicked"
            );
        }
    }
}

fn listen() -> TcpListener {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0));
    #[expect(clippy::unwrap_used, reason = "a test cannot go on without a port")]
    listener.unwrap()
}

fn address(listener: &TcpListener) -> SocketAddr {
    #[expect(clippy::unwrap_used, reason = "a test cannot go on without a port")]
    listener.local_addr().unwrap()
}
