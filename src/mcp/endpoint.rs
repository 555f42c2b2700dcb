//! The endpoint of all messages.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures_core::Stream as _;
use http::header::WWW_AUTHENTICATE;
use http::{HeaderName, Response, StatusCode};

use super::calls::{Calls, Running};
use super::client::{FORMS, session, session_id};
use super::dialog::Dialogs;
use super::error::RpcError;
use super::message::{Message, SESSION, is_id};
use super::random::random;
use super::request::{CONVERSATION, CallRequest};
use super::server::{Mounted, Server, Tools};
use super::versions::Era;
use super::{CallToolResult, Mcp, documents, thread};
use crate::agent::Body;
use crate::conversations::ChainError;
use crate::json::{Json, Kind, Wire as _};
use crate::protocol::{Protocol as _, Refusal, User};
use crate::router::{Endpoint, HttpRequest, json};

/// The time limit for reading a conversation from the store before a turn.
const RESUMING: Duration = Duration::from_secs(20);

/// `POST /mcp`: receives every message of a client.
pub(super) struct Messages {
    pub(super) server: Server,
}

/// Returns the refusal for a page of another origin.
pub(super) fn foreign() -> Refusal {
    Refusal::new(StatusCode::FORBIDDEN, "this origin is not allowed")
}

fn accepted() -> Response<Body> {
    let mut response = Response::new(Body::full(""));
    *response.status_mut() = StatusCode::ACCEPTED;
    response
}

impl Messages {
    async fn answer(
        &self,
        call: HttpRequest,
        message: &Message,
    ) -> Result<Response<Body>, RpcError> {
        let era = message.era(&call.parts.headers)?;
        let (method, id) = match (message.method.as_deref(), &message.id) {
            (Some(method), Some(id)) => (method, id),
            // A notification.
            (Some(method), None) => {
                if method == "notifications/cancelled" {
                    cancel(&call, message).await;
                }
                return Ok(accepted());
            }
            (None, Some(id)) => {
                reply(&call, id, &message.json);
                return Ok(accepted());
            }
            (None, None) => return Err(RpcError::invalid("a message must have a method")),
        };
        if !is_id(id) {
            return Err(RpcError::invalid("id must be a text or a number"));
        }
        let ok = |document| json(StatusCode::OK, document);
        Ok(match (method, era) {
            ("server/discover", _) => ok(documents::discover(id, &self.server)),
            ("initialize", Era::Session) => {
                let version = message.param("protocolVersion").unwrap_or_default();
                let version = documents::agreed(&version.string().unwrap_or_default());
                let mut response = ok(documents::initialize(id, &self.server, version));
                if let Some(session) = session_id(message, version) {
                    let headers = response.headers_mut();
                    headers.insert(HeaderName::from_static(SESSION), session);
                }
                response
            }
            ("ping", Era::Session) => ok(documents::answer(id, |_| Ok(()))),
            ("tools/list", _) => {
                let continues = call.conversations(call.route()).is_some();
                let tools = call.shared::<Tools>().into_iter();
                let tools = tools.flat_map(|tools| tools.at(call.route()));
                let tools = tools.map(|mounted| &mounted.tool);
                ok(documents::tools(id, era, tools, continues))
            }
            _ => {
                let request = CallRequest::read(message, era)?;
                self.run(call, request).await?
            }
        })
    }

    /// Runs the agent of a tool.
    async fn run(
        &self,
        mut call: HttpRequest,
        mut request: CallRequest,
    ) -> Result<Response<Body>, RpcError> {
        let name = request.params.name.clone();
        let mut tools = call
            .shared::<Tools>()
            .into_iter()
            .flat_map(|it| it.at(call.route()));
        let mounted: Option<Arc<Mounted>> = tools.find(|it| it.tool.name == name).cloned();
        drop(tools);
        let Some(mounted) = mounted else {
            return Err(RpcError::no_tool());
        };
        request.look(&call.parts.headers);
        request.found.reply = random();
        let (id, era) = (request.id.clone(), request.found.era);
        // The caller's model reads this text.
        let failed = |text: &str| Ok(failed(&id, era, text));
        if request
            .question()
            .is_none_or(|question| question.trim().is_empty())
        {
            return failed("The argument `question` must be a text.");
        }
        // An agent does not read it, and a model must not believe that it did.
        if let Some(name) = request.unknown_argument() {
            return failed(&format!("The tool has no argument `{name}`."));
        }
        let handle = request.params.arguments.get(CONVERSATION);
        if handle.is_some_and(|handle| !matches!(handle.kind(), Kind::String | Kind::Null)) {
            return failed("The argument `conversation` must be a text.");
        }
        let mut recording = None;
        match call.conversations(call.route()) {
            Some(conversations) => {
                let resumed = thread::resume(&mut request, conversations);
                let resumed = call.env().within(RESUMING, resumed).await;
                recording = match resumed {
                    Some(Ok(recording)) => recording,
                    Some(Err(ChainError::Unknown)) => return failed(UNKNOWN),
                    Some(Err(ChainError::TooLong)) => {
                        return failed(
                            "This conversation is too long to go on with. Ask without \
                             `conversation`.",
                        );
                    }
                    Some(Err(ChainError::Store(_))) | None => {
                        return failed("Conversations cannot be read now, so nothing was done.");
                    }
                };
            }
            None if request.handle().is_some() => return failed(UNKNOWN),
            None => {}
        }
        let session = session(&call.parts.headers).map(str::to_owned);
        let has_forms = session.as_ref().is_some_and(|it| it.ends_with(FORMS));
        if era == Era::Session && has_forms && request.found.is_stream {
            let dialogs = call.shared::<Dialogs>();
            request.found.dialog = dialogs.map(|dialogs| dialogs.dialog(user(&call)));
        }
        let is_stream = request.found.is_stream;
        #[cfg(feature = "resumable")]
        let reply = request.found.reply.clone().unwrap_or_default();
        let agent = Arc::clone(&mounted.agent);
        if let Err(refusal) = call.begin_turn() {
            let mut response = failed(&refusal.to_string())?;
            // For the router's report of the request.
            response.extensions_mut().insert(refusal);
            return Ok(response);
        }
        call.set_agent_name(&*mounted.tool.name);
        call.set_recording(recording);
        let (calls, user) = (call.shared::<Calls>().cloned(), user(&call));
        let response = call.answer_request::<Mcp>(agent, request, ()).await;
        if let (Some(calls), Some(session)) = (calls, session) {
            let canceller = response.body().canceller();
            calls.add(Running {
                session,
                user,
                id,
                #[cfg(feature = "resumable")]
                reply,
                canceller,
            });
        }
        Ok(match is_stream {
            true => response,
            false => whole(response).await,
        })
    }
}

/// Cancels a call of the same session.
async fn cancel(call: &HttpRequest, message: &Message) {
    let session = session(&call.parts.headers);
    let (Some(calls), Some(session), Some(id)) =
        (call.shared::<Calls>(), session, message.param("requestId"))
    else {
        return;
    };
    let Some(running) = calls.take(session, user(call).as_deref(), &id) else {
        return;
    };
    match running.canceller {
        Some(canceller) => canceller.cancel(),
        None => {
            #[cfg(feature = "resumable")]
            if let Some(replies) = call.replies(call.route()) {
                // Without the store, the reply ends by itself.
                let _ = replies.cancel(&replies.reply(&running.reply)).await;
            }
        }
    }
}

/// The text for a handle of an unknown conversation.
const UNKNOWN: &str = "There is no such conversation. Ask without `conversation`.";

fn user(call: &HttpRequest) -> Option<Arc<str>> {
    let user = call.parts.extensions.get::<User>();
    user.map(|user| Arc::clone(&user.id))
}

/// Passes an answer to its dialog.
fn reply(call: &HttpRequest, id: &Json, answer: &Json) {
    let action = answer.get("result").and_then(|result| result.get("action"));
    let action = action.as_ref().and_then(Json::string);
    if let (Some(dialogs), Some(id)) = (call.shared::<Dialogs>(), id.string()) {
        dialogs.answer(
            &id,
            user(call).as_deref(),
            action.as_deref() == Some("accept"),
        );
    }
}

/// Returns the failed result of a call that no agent has run.
fn failed(id: &Json, era: Era, text: &str) -> Response<Body> {
    let mut result = CallToolResult::failed(text);
    if era == Era::Stateless {
        "complete".clone_into(&mut result.result_type);
    }
    let result = result.to_raw();
    let answer = documents::answer(id, |message| {
        for (name, value) in result.members() {
            message.member(&name).raw(&value);
        }
        Ok(())
    });
    json(StatusCode::OK, answer)
}

/// Returns only the result, for a client that does not read streams.
async fn whole(response: Response<Body>) -> Response<Body> {
    if !response.status().is_success() {
        return response;
    }
    let mut body = response.into_body();
    let mut stream = Vec::new();
    while let Some(Ok(frame)) = poll_fn(|cx| Pin::new(&mut body).poll_next(cx)).await {
        // Without progress, the frames are the result and comments.
        stream.extend_from_slice(&frame);
    }
    let lines = stream.split(|byte| *byte == b'\n');
    let mut data = lines.filter_map(|line| line.strip_prefix(b"data: "));
    json(
        StatusCode::OK,
        data.next_back().unwrap_or_default().to_vec(),
    )
}

#[async_trait]
impl Endpoint for Messages {
    async fn call(&self, mut call: HttpRequest) -> Response<Body> {
        if !call.is_origin_allowed() {
            return self.refuse(&foreign());
        }
        let body = std::mem::take(&mut call.body);
        let message = match Message::read(body) {
            Ok(message) => message,
            Err(error) => return error.to_response(None).map(Body::full),
        };
        let answer = self.answer(call, &message).await;
        answer.unwrap_or_else(|error| error.to_response(message.known_id()).map(Body::full))
    }

    fn refuse(&self, refusal: &Refusal) -> Response<Body> {
        let mut response = Mcp::refuse(refusal);
        let protection = self.server.protection.as_ref();
        let challenge = protection.and_then(|protection| protection.challenge());
        let is_asked = response.headers().contains_key(WWW_AUTHENTICATE);
        if refusal.status() == StatusCode::UNAUTHORIZED && !is_asked {
            let headers = response.headers_mut();
            headers.extend(challenge.map(|challenge| (WWW_AUTHENTICATE, challenge)));
        }
        response.map(Body::full)
    }

    /// Returns `true`: only calls are turns. If a turn cannot begin, its call is answered with a result.
    fn begins_turns_itself(&self) -> bool {
        true
    }

    fn protocol(&self) -> Option<&'static str> {
        Some(Mcp::NAME)
    }
}
