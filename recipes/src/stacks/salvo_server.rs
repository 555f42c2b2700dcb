//! salvo: feature `tower` of copilot-wire, `tower-compat` of salvo.

use std::io;

use copilot_wire::Router;
use salvo::conn::tcp::TcpAcceptor;
use salvo::http::ReqBody;
use salvo::prelude::TowerServiceCompat;
use tokio::net::TcpListener;

/// Serves a router.
pub async fn serve(listener: TcpListener, router: Router) -> io::Result<()> {
    let acceptor = TcpAcceptor::try_from(listener)?;
    let handler = TowerServiceCompat::<ReqBody, _, _, _>::compat(router);
    let app = salvo::Router::with_path("{**rest}").goal(handler);
    salvo::Server::new(acceptor).try_serve(app).await
}
