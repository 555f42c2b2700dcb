//! A gateway: three agents on one host below `/agents`, API keys, limits, logs and metrics.
//!
//! Everything that is special about it stands in [`app`].

mod agents;
mod keys;
mod limits;
mod metrics;
mod settings;

use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::routing::get;
use axum::serve::ListenerExt;
use copilot_wire::router::MountError;
use tokio::net::TcpListener;
use tokio::sync::oneshot;

use crate::keys::Keys;
use crate::limits::{PerMinute, Turns};
use crate::metrics::Metrics;

pub use settings::{Settings, SettingsError};

/// The time that running streams are given once the server is asked to stop.
const GRACE: Duration = Duration::from_secs(10);

/// Returns the routes of the whole server.
///
/// # Errors
///
/// When two agents claim one path.
pub fn app(settings: Settings) -> Result<Router, MountError> {
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
    let agents = agents::mount(agents)?;
    Ok(Router::new()
        .route("/health", get(async || "OK"))
        // Without a key, as Prometheus likes it: let a proxy in front pass `/agents` only.
        .route("/metrics", get(async move || metrics.to_string()))
        .nest_service("/agents", agents))
}

/// Serves the agents until `stop` is ready, and then what still streams for a while.
///
/// # Errors
///
/// When an agent cannot be mounted, or the listener fails for good.
pub async fn serve(
    listener: TcpListener,
    settings: Settings,
    stop: impl Future<Output = ()> + Send + 'static,
) -> io::Result<()> {
    let app = app(settings).map_err(io::Error::other)?;
    // Without this a stream of small events stalls for 40 ms at a time.
    let listener = listener.tap_io(|socket| drop(socket.set_nodelay(true)));
    let (stopping, stopped) = oneshot::channel();
    let served = axum::serve(listener, app).with_graceful_shutdown(async move {
        stop.await;
        let _ = stopping.send(());
    });
    let overdue = async {
        // The sender is dropped without a word only where the server has ended.
        let _ = stopped.await;
        tokio::time::sleep(GRACE).await;
    };
    tokio::select! {
        served = served => served,
        () = overdue => Ok(()),
    }
}
