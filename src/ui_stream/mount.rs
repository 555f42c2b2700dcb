//! Mounting an agent at the path to which a page posts.

use std::sync::Arc;

use async_trait::async_trait;
use http::header::{AUTHORIZATION, HeaderName};
use http::{Method, Response, StatusCode};

use super::UiStream;
use super::socket::Chats;
use crate::agent::{Agent, Body};
use crate::json::{Json, Members};
use crate::protocol::{Protocol as _, Refusal, Tool};
use crate::router::{self, Endpoint, HttpRequest, MountError, RouteKind, Site};

/// Mounts an agent for pages with the AI SDK, by default at `POST /api/chat`, the default path of `useChat`.
///
/// ```
/// use copilot_wire::protocol::Tool;
/// use copilot_wire::ui_stream::Mount;
///
/// let mount = Mount::new()
///     .approvals(true) // the page is on version 6 or later, and shows approval requests
///     .tool(Tool::new("getLocation", "Returns where the user is."));
/// # drop(mount);
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct Mount {
    path: String,
    settings: Settings,
    /// The headers that guards may read from messages of a WebSocket.
    headers: Vec<HeaderName>,
}

/// The settings of a [`Mount`], for its replies.
#[derive(Clone, Debug)]
pub struct Settings {
    pub(super) approvals: bool,
    pub(super) markdown: bool,
    pub(super) finish_reason: bool,
    /// The tools of the page, as a request lists them.
    pub(super) tools: Members,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            approvals: false,
            markdown: true,
            finish_reason: true,
            tools: Members::new(),
        }
    }
}

impl Mount {
    /// Creates a mount at the default path.
    pub fn new() -> Self {
        Self {
            path: "/api/chat".into(),
            settings: Settings::default(),
            headers: vec![AUTHORIZATION],
        }
    }

    /// Sets the path: the option `api` of the page.
    pub fn path(mut self, path: impl Into<String>) -> Self {
        self.path = path.into();
        self
    }

    /// Sets whether a confirmation is an approval request, which pages of version 6 or later can show; on version 5 the
    /// reply fails. By default a confirmation is a question in text.
    pub fn approvals(mut self, approvals: bool) -> Self {
        self.settings.approvals = approvals;
        self
    }

    /// Sets whether tables and charts are also sent as Markdown, for pages without components for `data-table` and
    /// `data-chart`. The default is `true`.
    pub fn markdown(mut self, markdown: bool) -> Self {
        self.settings.markdown = markdown;
        self
    }

    /// Sets whether `finish` has a `finishReason`, by which some pages, such as those of assistant-ui, send the result
    /// of a tool that they ran. The default is `true`. Versions of `ai` before 5.0.93 reject it and fail the reply:
    /// set `false` for their pages.
    pub fn finish_reason(mut self, finish_reason: bool) -> Self {
        self.settings.finish_reason = finish_reason;
        self
    }

    /// Adds a header, besides `authorization`, that guards can read from the messages of a
    /// [WebSocket](crate::router::socket), where pages of version 7 put their headers. Do not add a header that a proxy
    /// sets or checks: proxies do not see messages. A header of the handshake has precedence.
    pub fn message_header(mut self, name: HeaderName) -> Self {
        self.headers.push(name);
        self
    }

    /// Adds a tool that the page runs. Requests of `useChat` do not list the page's tools, so the mount must declare
    /// them for the agent.
    pub fn tool(mut self, tool: Tool<'static>) -> Self {
        let offered = Json::object(|offered| {
            offered
                .str("description", &tool.description)
                .opt_raw("parameters", tool.parameters.as_ref());
        });
        self.settings.tools.push(tool.name, offered);
        self
    }
}

impl Default for Mount {
    fn default() -> Self {
        Self::new()
    }
}

impl router::Mount for Mount {
    type Protocol = UiStream;

    fn mount(self, agent: Arc<dyn Agent<UiStream>>, site: &mut Site<'_>) -> Result<(), MountError> {
        let path = self.path.strip_suffix('/').unwrap_or(&self.path);
        site.route(
            Method::GET,
            &format!("{path}/{{chat}}/stream"),
            Resume(path.to_owned()),
        )?;
        #[cfg(feature = "resumable")]
        site.resumable_route(
            Method::POST,
            &format!("{path}/{{chat}}/stop"),
            Stop(path.to_owned()),
        )?;
        let headers = Arc::from(self.headers);
        site.socket(path, move || Chats::new(Arc::clone(&headers)))?;
        site.agent_with(path, agent, self.settings)
    }
}

fn no_content() -> Response<Body> {
    let mut response = Response::new(Body::full(""));
    *response.status_mut() = StatusCode::NO_CONTENT;
    response
}

/// `GET {api}/{chat}/stream`: a page with the option `resume` asks for a running reply each time it is loaded.
struct Resume(String);

#[async_trait]
impl Endpoint for Resume {
    async fn call(&self, call: HttpRequest) -> Response<Body> {
        #[cfg(feature = "resumable")]
        if let Some(replies) = call.replies(&self.0) {
            let chat = call.param("chat").unwrap_or_default();
            // A reply that has ended is sent too: its last bytes may not have arrived.
            if let Some(id) = replies.latest(chat).await {
                // From the first event, because the page discards its copy of this message.
                return router::stream::<UiStream>(replies.tail::<UiStream>(id, 0));
            }
        }
        let _ = (call, &self.0);
        no_content()
    }

    fn refuse(&self, refusal: &Refusal) -> Response<Body> {
        UiStream::refuse(refusal).map(Body::full)
    }

    fn kind(&self) -> RouteKind {
        RouteKind::Resume
    }
}

/// `POST {api}/{chat}/stop`: cancels the reply, in any process. It is not an error if no reply runs.
#[cfg(feature = "resumable")]
struct Stop(String);

#[cfg(feature = "resumable")]
#[async_trait]
impl Endpoint for Stop {
    async fn call(&self, call: HttpRequest) -> Response<Body> {
        let Some(replies) = call.replies(&self.0) else {
            return no_content();
        };
        let chat = call.param("chat").unwrap_or_default();
        match replies.cancel_latest(chat).await {
            Ok(()) => no_content(),
            Err(error) => self.refuse(&error.into()),
        }
    }

    fn refuse(&self, refusal: &Refusal) -> Response<Body> {
        UiStream::refuse(refusal).map(Body::full)
    }

    fn kind(&self) -> RouteKind {
        RouteKind::Stop
    }
}
