//! poem: feature `tower` of copilot-wire, `tower-compat` of poem.

use std::io;

use copilot_wire::Router;
use poem::endpoint::TowerCompatExt;
use poem::listener::TcpAcceptor;
use tokio::net::TcpListener;

/// Serves a router.
pub async fn serve(listener: TcpListener, router: Router) -> io::Result<()> {
    let acceptor = TcpAcceptor::from_tokio(listener)?;
    let app = poem::Route::new().nest_no_strip("/", router.compat());
    poem::Server::new_with_acceptor(acceptor).run(app).await
}
