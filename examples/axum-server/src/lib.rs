//! A gateway: three agents on one host below `/agents`, API keys, limits, logs and metrics.
//!
//! Everything that is special about it stands in [`gateway`].

mod agents;
mod settings;
mod sockets;
#[cfg(feature = "sqlite")]
mod sqlite;
mod stores;

use std::io;
use std::sync::Arc;

use axum::Router;
use axum::routing::get;
use copilot_wire::router::MountError;
use copilot_wire_hyper::{Metrics, serve_app};
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;

pub use settings::{Settings, SettingsError};
#[cfg(feature = "sqlite")]
pub use sqlite::SqliteStore;
pub use stores::stores;

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
    let agents = copilot_wire::Router::new()
        .base_path("/agents")
        .guard(settings.keys.guard())
        .max_turns(settings.turns)
        .max_turns_per_minute(settings.per_minute)
        .observe(move |turn| observer.add(turn, None));
    let replies = settings.replies.clone();
    let agents = match settings.replies {
        Some(replies) => agents.resumable(replies),
        None => agents,
    };
    let agents = match settings.conversations {
        Some(conversations) => agents.conversations(conversations),
        None => agents,
    };
    let agents = mount(agents)?;
    let routes = Router::new()
        .route("/health", get(async || "OK"))
        // Without a key, as Prometheus likes it: let a proxy in front pass `/agents` only.
        .route(
            "/metrics",
            get(async move || {
                let store = replies.map(|replies| copilot_wire_hyper::store(&replies.health()));
                format!("{metrics}{}", store.unwrap_or_default())
            }),
        )
        // Not nested: the agents are below `/agents`, and where a proxy has stripped it.
        .fallback({
            let agents = agents.clone();
            async move |request| sockets::answer(agents.clone(), request).await
        });
    Ok(App { routes, agents })
}

/// Serves `app` until `stop` is ready. Then no turn begins; what still runs after five seconds ends as a failure,
/// which its client sees. `axum::serve` would wait without end for the head of a request, and has no limit of
/// connections.
///
/// # Errors
///
/// When the listener fails for good.
pub async fn serve(
    listener: TcpListener,
    app: App,
    stop: impl Future<Output = ()>,
) -> io::Result<()> {
    let routes = TowerToHyperService::new(app.routes);
    serve_app(listener, routes, app.agents, stop).await
}
