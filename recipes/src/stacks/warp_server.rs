//! warp: no feature of copilot-wire. A filter takes the request apart, so it is put together again.

use std::io;

use copilot_wire::Router;
use tokio::net::TcpListener;
use warp::Filter;
use warp::reply::Reply;

/// Serves a router.
pub async fn serve(listener: TcpListener, router: Router) -> io::Result<()> {
    let query = warp::query::raw().or(warp::any().map(String::new)).unify();
    let app = warp::any()
        .map(move || router.clone())
        .and(warp::method())
        .and(warp::path::full())
        .and(query)
        .and(warp::header::headers_cloned())
        .and(warp::body::stream())
        .then(
            async |router: Router,
                   method,
                   path: warp::path::FullPath,
                   query: String,
                   headers,
                   body| {
                let uri = format!("{}?{query}", path.as_str());
                let mut request = http::Request::new(body);
                *request.method_mut() = method;
                *request.headers_mut() = headers;
                match uri.trim_end_matches('?').parse() {
                    Ok(uri) => *request.uri_mut() = uri,
                    Err(_) => return http::StatusCode::BAD_REQUEST.into_response(),
                }
                let (head, body) = router.handle(request).await.into_parts();
                let mut response = warp::reply::stream(body).into_response();
                *response.status_mut() = head.status;
                *response.headers_mut() = head.headers;
                response
            },
        );
    warp::serve(app).incoming(listener).run().await;
    Ok(())
}
