//! One version of a router, with which a request is answered from its beginning to its end.

use std::fmt;
use std::pin::pin;
use std::sync::Arc;

use bytes::Buf;
use futures_core::Stream;
use http::header::ALLOW;
use http::{Extensions, Request, Response, StatusCode};

use super::endpoint::HttpRequest;
use super::path::Path;
use super::refusals::refuse;
use super::routes::{Found, Route, no_socket, no_such_path};
use super::settings::Settings;
use super::subprotocol::Factory;
use super::upload::Upload;
use crate::agent::Body;
use crate::protocol::{Outcome, Progress, Record, Refusal};

/// The routes and settings of a router at a time.
#[derive(Clone, Default)]
pub(super) struct Version {
    pub(super) routes: Vec<Route>,
    /// The paths of `POST` routes that also have a WebSocket.
    pub(super) sockets: Vec<(Path, Factory)>,
    pub(super) settings: Arc<Settings>,
}

impl Version {
    pub(super) fn handle<B, D, E>(
        self: Arc<Self>,
        request: Request<B>,
    ) -> impl Future<Output = Response<Body>>
    where
        B: Stream<Item = Result<D, E>>,
        D: Buf,
    {
        // Outside of the future, which otherwise contains the head several times, and copies it from one to the next.
        let (mut parts, body) = request.into_parts();
        async move {
            let settings = &*self.settings;
            let body = pin!(body);
            // Created first: every response, including refusals, must wait for the remaining bytes of the body.
            let mut upload = Upload::new(&parts, body, settings.limits.size);
            let origin = settings.cors.origin(&parts.headers, &settings.origins);
            let mut response = match self.find(&parts) {
                Found::Socket(route) => no_socket(route),
                Found::Route(route, params) => {
                    let endpoint = &route.endpoint;
                    let path = settings.base.join_shared(&route.text);
                    let record = endpoint.protocol();
                    let record = record.map(|protocol| Record::new(&settings.env, protocol));
                    let mut seen = Extensions::new();
                    let admitted = self.admit(route, &mut parts, &mut upload, &mut seen);
                    let response = match admitted.await {
                        Ok((body, running)) => {
                            let called = endpoint.call(HttpRequest {
                                #[cfg(feature = "resumable")]
                                digest: match &settings.replies {
                                    Some(replies) => replies.digest(&parts, &body),
                                    None => String::new(),
                                },
                                parts,
                                params,
                                body,
                                path: Arc::clone(&route.text),
                                public_path: Arc::clone(&path),
                                settings: Arc::clone(&self.settings),
                                running: running.clone(),
                                recording: None,
                                agent: None,
                            });
                            let mut response = called.await;
                            response.body_mut().set_running(running);
                            response
                        }
                        Err(refusal) => endpoint.refuse(&refusal),
                    };
                    // The turn of an agent is reported by its channel.
                    if let (Some(record), Some(refusal)) = (record, response.extensions().get()) {
                        let bytes = response.body().size().unwrap_or_default();
                        let progress = Progress {
                            bytes,
                            ..Progress::default()
                        };
                        let record = record.path(Some(path)).extensions(&seen);
                        record.finish(Outcome::Refused(refusal), progress);
                    }
                    response
                }
                Found::Preflight => settings.cors.preflight(&parts.headers, &settings.origins),
                Found::OtherMethods(allow) => {
                    let message = "method not allowed";
                    let mut response =
                        refuse(&Refusal::new(StatusCode::METHOD_NOT_ALLOWED, message));
                    response.headers_mut().insert(ALLOW, allow);
                    response
                }
                Found::Nothing => refuse(&no_such_path(settings.base.strip(parts.uri.path()))),
                Found::OtherHost => {
                    let message = "host not allowed";
                    refuse(&Refusal::new(StatusCode::MISDIRECTED_REQUEST, message))
                }
            };
            // Refusals have the CORS headers too: without them a browser hides the status and the message from the page.
            settings.cors.apply(origin, response.headers_mut());
            upload.finish(&response, &settings.env).await;
            response
        }
    }
}

/// Shows the routes.
impl fmt::Debug for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list()
            .entries(self.routes.iter().map(|route| (&route.method, &route.path)))
            .finish()
    }
}
