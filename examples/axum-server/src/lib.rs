//! A gateway: three agents on one host below `/agents`, API keys, limits, logs and metrics.
//!
//! Everything that is special about it stands in [`gateway`].

mod agents;
mod keys;
mod limits;
mod metrics;
mod replies;
mod settings;

use std::future::IntoFuture as _;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::routing::get;
use axum::serve::ListenerExt;
use copilot_wire::router::MountError;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::time::{sleep, timeout};

use crate::keys::Keys;
use crate::limits::{PerMinute, Turns};
use crate::metrics::Metrics;

pub use replies::replies;
pub use settings::{Settings, SettingsError};

/// The time for which running turns go on once the server is asked to stop.
const GRACE: Duration = Duration::from_secs(10);

/// The time that clients have after that to read how their turns ended.
const LAST: Duration = Duration::from_secs(1);

/// The routes of a server, and the agents among them.
#[derive(Debug)]
pub struct App {
    routes: Router,
    agents: copilot_wire::Router,
}

/// Returns the routes of the whole server.
///
/// # Errors
///
/// When two agents claim one path.
pub fn app(settings: Settings) -> Result<App, MountError> {
    let pace = settings.pace;
    gateway(settings, |router| agents::mount(router, pace))
}

/// Returns the routes of a server whose agents `mount` adds.
///
/// # Errors
///
/// Those of `mount`.
pub fn gateway(
    settings: Settings,
    mount: impl FnOnce(copilot_wire::Router) -> Result<copilot_wire::Router, MountError>,
) -> Result<App, MountError> {
    let metrics = Arc::new(Metrics::default());
    let observer = Arc::clone(&metrics);
    let keys = Arc::new(Keys::new(settings.keys));
    let per_minute = Arc::new(PerMinute::new(settings.per_minute));
    let turns = Turns::new(settings.turns);
    // In this order: who asks, then how much.
    let agents = copilot_wire::Router::new()
        .base_path("/agents")
        .guard(move |parts| {
            let keys = Arc::clone(&keys);
            async move { keys.check(parts) }
        })
        .guard(move |parts| {
            let per_minute = Arc::clone(&per_minute);
            async move { per_minute.check(parts) }
        })
        .guard(move |parts| {
            let turns = turns.clone();
            async move { turns.check(parts) }
        })
        .observe(move |turn| observer.add(turn));
    let replies = settings.replies.clone();
    let agents = match settings.replies {
        Some(replies) => agents.resumable(replies),
        None => agents,
    };
    let agents = mount(agents)?;
    let routes = Router::new()
        .route("/health", get(async || "OK"))
        // Without a key, as Prometheus likes it: let a proxy in front pass `/agents` only.
        .route(
            "/metrics",
            get(async move || {
                let store = replies.map(|replies| metrics::store(&replies.health()));
                format!("{metrics}{}", store.unwrap_or_default())
            }),
        )
        // Not nested: the agents are below `/agents`, and where a proxy has stripped it.
        .fallback_service(agents.clone());
    Ok(App { routes, agents })
}

/// Serves `app` until `stop` is ready. Then no turn begins; what still runs after ten seconds ends as a failure,
/// which its client sees.
///
/// # Errors
///
/// When the listener fails for good.
pub async fn serve(
    listener: TcpListener,
    app: App,
    stop: impl Future<Output = ()> + Send + 'static,
) -> io::Result<()> {
    // Without this a stream of small events stalls for 40 ms at a time.
    let listener = listener.tap_io(|socket| drop(socket.set_nodelay(true)));
    let (stopping, stopped) = oneshot::channel::<()>();
    let served = axum::serve(listener, app.routes).with_graceful_shutdown(async {
        let _ = stopped.await;
    });
    let served = tokio::spawn(served.into_future());
    stop.await;
    // No new connections. The open ones end with their turns; one whose client does not read is closed.
    drop(stopping);
    app.agents.drain(sleep(GRACE)).await;
    timeout(LAST, served).await.map_or(Ok(()), |served| served?)
}
