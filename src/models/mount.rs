//! Mounting of agents as models.

use std::collections::HashMap;
use std::future::ready;
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
#[cfg(feature = "resumable")]
use futures_core::Stream as _;
use http::{Method, Response, StatusCode};

use super::card::{list, unknown_model};
use super::named::Named;
use super::rate_limit::rename_rate_limits;
use super::{Dialect, Model};
use crate::agent::{Agent, Body};
use crate::conversations::{RecordError, Recording, UserConversations};
use crate::json::Json;
use crate::protocol::{Conversation, Env, HistoryItem, Protocol, Refusal};
use crate::router::{Endpoint, HttpRequest, Mount, MountError, Site, json, stream};

/// The timeout for all calls to a store of conversations before a turn.
const RESUMING: Duration = Duration::from_secs(20);

/// The name of a model, whether its clients may retry a failed request, and its agent.
type Mounted<P> = (Arc<str>, bool, Arc<dyn Agent<P>>);

/// The models of one protocol in a router, and by base path the one for all other names.
type Models<P> = (Named<Mounted<P>>, HashMap<String, Mounted<P>>);

/// Mounts an agent at `POST /v1` followed by [`Dialect::PATH`], for requests with and without `stream`, and lists it at
/// `GET /v1/models`.
///
/// Several agents can share these paths: the `model` of the request selects the agent, by default the first one. A
/// [catch-all](Model::catch_all) answers requests for all other names. To mount one agent under several names, mount
/// clones of an `Arc`.
impl<P: Dialect> Mount for Model<P> {
    type Protocol = P;

    fn mount(self, agent: Arc<dyn Agent<P>>, site: &mut Site<'_>) -> Result<(), MountError> {
        let base = self.base_path();
        let base = base
            .ok_or_else(|| MountError::Path(self.path.clone()))?
            .to_owned();
        let (named, others) = site.shared::<Models<P>>();
        let id = self.id().to_owned();
        let mounted: Mounted<P> = (id.as_str().into(), self.may_retry, agent);
        if self.is_catch_all && others.insert(base.clone(), mounted.clone()).is_some() {
            let message = format!("a second model for all names: {id}");
            return Err(MountError::Invalid(message));
        }
        if !named.insert(&base, &id, mounted) {
            return Err(MountError::Invalid(format!("model already mounted: {id}")));
        }
        let path = format!("{base}{}", P::PATH);
        P::routes(&path, site)?;
        let answers = Answers {
            base: base.clone(),
            dialect: PhantomData::<fn() -> P>,
        };
        site.shared_route(Method::POST, &path, answers)?;
        list::<P>(site, &base, self.card)
    }
}

/// Returns the requested model. If the request names none, this is the first one, whose name it gets.
fn find<'a, P: Dialect>(
    (named, others): &'a Models<P>,
    base: &str,
    message: &mut P::Request,
) -> Result<&'a Mounted<P>, Refusal> {
    let name = P::model(message);
    let found = match &**name {
        "" => named.at(base).first(),
        id => named.find(base, id),
    };
    let found = found.or_else(|| others.get(base));
    let found = found.ok_or_else(unknown_model)?;
    if name.is_empty() {
        found.0.as_ref().clone_into(name);
    }
    Ok(found)
}

/// The endpoint for all models of one protocol at a base path.
struct Answers<P> {
    base: String,
    dialect: PhantomData<fn() -> P>,
}

impl<P: Dialect> Answers<P> {
    /// Reads a request, and finds its model.
    fn begin(&self, call: &mut HttpRequest) -> Result<(Read<P>, Mounted<P>), Refusal> {
        let conversations = call.conversations(call.route());
        let mut read = read::<P>(call, conversations)?;
        let models = call.shared::<Models<P>>().ok_or_else(unknown_model)?;
        let found = find(models, &self.base, &mut read.0)?.clone();
        Ok((read, found))
    }

    fn finish(mut response: Response<Body>, may_retry: bool, env: &Env) -> Response<Body> {
        rename_rate_limits(response.headers_mut(), P::RATE_LIMIT);
        P::finish(&mut response, may_retry, env);
        response
    }
}

/// A request, and the conversations that it may continue.
type Read<P> = (<P as Protocol>::Request, Option<UserConversations>);

/// Reads a request that may continue the conversations of its user.
fn read<P: Dialect>(
    call: &mut HttpRequest,
    conversations: Option<UserConversations>,
) -> Result<Read<P>, Refusal> {
    let body = std::mem::take(&mut call.body);
    if let Some(conversations) = conversations {
        call.parts.extensions.insert(conversations);
    }
    let message = P::read(&call.parts, body)?;
    // Removed, because agents do not use them.
    Ok((message, call.parts.extensions.remove()))
}

/// Adds the stored turns to a request that continues a conversation by an id.
async fn resume<P: Dialect>(
    message: &mut P::Request,
    conversations: Option<UserConversations>,
    env: &Env,
) -> Result<(P::Settings, Option<Recording>), Refusal> {
    let Some(conversations) = conversations else {
        return Ok(Default::default());
    };
    // Boxed, so that requests which continue nothing have no place for it.
    let resumed = Box::pin(env.within(RESUMING, P::resume(message, conversations)));
    let resumed = resumed.await;
    resumed.ok_or(RecordError::Unavailable("no answer".into()))?
}

/// The endpoint, one part below the path of turns, for the number of tokens of a request: that of the agent, or an
/// estimate.
#[allow(dead_code, reason = "not every dialect has such a path")]
pub(crate) struct TokenCounts<P> {
    /// The type that the document names.
    object: Option<&'static str>,
    dialect: PhantomData<fn() -> P>,
}

#[allow(dead_code, reason = "not every dialect has such a path")]
impl<P: Dialect> TokenCounts<P> {
    pub(crate) fn new(object: Option<&'static str>) -> Self {
        Self {
            object,
            dialect: PhantomData,
        }
    }

    async fn count(mut call: HttpRequest) -> Result<u64, Refusal> {
        let path = call.route().rsplit_once('/').unwrap_or_default().0;
        let path = path.to_owned();
        let conversations = call.conversations(&path);
        let conversations = conversations.map(UserConversations::unlocked);
        let (mut message, conversations) = read::<P>(&mut call, conversations)?;
        // Nothing is recorded.
        resume::<P>(&mut message, conversations, call.env()).await?;
        let estimated = estimated_tokens(&message);
        let models = call.shared::<Models<P>>();
        let base = path.strip_suffix(P::PATH).unwrap_or_default();
        let found = models.map(|models| find::<P>(models, base, &mut message));
        let Some(Ok((name, _, agent))) = found else {
            return Ok(estimated);
        };
        let (name, agent) = (Arc::clone(name), Arc::clone(agent));
        call.set_agent_name(name);
        let counted = call.count_tokens(agent, message).await;
        Ok(counted.unwrap_or(estimated))
    }
}

#[async_trait]
impl<P: Dialect> Endpoint for TokenCounts<P> {
    async fn call(&self, call: HttpRequest) -> Response<Body> {
        let tokens = match Self::count(call).await {
            Ok(tokens) => tokens,
            Err(refusal) => return self.refuse(&refusal),
        };
        let count = Json::object(|count| {
            count
                .opt_str("object", self.object)
                .u64("input_tokens", tokens);
        });
        json(StatusCode::OK, count.as_bytes().to_vec())
    }

    fn refuse(&self, refusal: &Refusal) -> Response<Body> {
        P::refuse(refusal).map(Body::full)
    }
}

/// Returns an estimate of the tokens of a request: a quarter of the bytes of its texts, calls, results and tools, which
/// is usual for English, and 1,600 for each file. Tools that the model's server runs are not in it.
#[allow(dead_code, reason = "not every dialect counts")]
pub(crate) fn estimated_tokens(request: &impl Conversation) -> u64 {
    let (mut bytes, mut files) = (0, 0);
    for item in request.raw_history() {
        match item {
            HistoryItem::Message(message) => bytes += message.text.len(),
            HistoryItem::Reasoning(text) => bytes += text.len(),
            HistoryItem::Attachment(_) => files += 1,
            HistoryItem::Call(call) => bytes += call.name.len() + call.arguments.len(),
            HistoryItem::Result(result) => bytes += result.content.len(),
        }
    }
    for tool in request.tools() {
        // Schemas are part of the prompt, and often the longest one.
        let schema = tool.parameters.as_ref();
        bytes += tool.name.len() + tool.description.len();
        bytes += schema.map_or(0, |schema| schema.as_bytes().len());
    }
    (bytes.div_ceil(4) + files * 1_600).max(1) as u64
}

/// Returns the document with the beginning of a reply, while the reply continues.
#[cfg(feature = "resumable")]
async fn begun<P: Dialect>(response: Response<Body>) -> Response<Body> {
    if !response.status().is_success() {
        return response;
    }
    // The body is dropped at the end of this function. The agent continues in its task, because the reply is stored.
    let mut body = response.into_body();
    let frame = std::future::poll_fn(|cx| Pin::new(&mut body).poll_next(cx)).await;
    match frame {
        Some(Ok(events)) => P::begun(&events),
        None | Some(Err(_)) => P::begun(b""),
    }
}

impl<P: Dialect> Endpoint for Answers<P> {
    // Written without the `async_trait` macro: the future has the request once, and nothing of how it was read.
    fn call<'a, 'b>(
        &'a self,
        mut call: HttpRequest,
    ) -> Pin<Box<dyn Future<Output = Response<Body>> + Send + 'b>>
    where
        'a: 'b,
        Self: 'b,
    {
        let env = call.env().clone();
        let ((mut message, conversations), (name, may_retry, agent)) = match self.begin(&mut call) {
            Ok(begun) => begun,
            // Refusals need the headers of an answer too.
            Err(refusal) => {
                return Box::pin(ready(Self::finish(self.refuse(&refusal), false, &env)));
            }
        };
        if !agent.is_gateway() {
            if let Some(response) = P::answer_itself(&message, &env) {
                return Box::pin(ready(Self::finish(response, may_retry, &env)));
            }
        }
        call.set_agent_name(name);
        Box::pin(async move {
            let (settings, recording) = match resume::<P>(&mut message, conversations, &env).await {
                Ok(resumed) => resumed,
                Err(refusal) => return Self::finish(self.refuse(&refusal), false, &env),
            };
            if let Some(events) = P::prepared(&message, &settings, &env) {
                if let Some(storing) = recording.and_then(|mut turn| turn.push(&events)) {
                    storing.await;
                }
                return Self::finish(stream::<P>(Body::full(events)), may_retry, &env);
            }
            call.set_recording(recording);
            #[cfg(feature = "resumable")]
            let begins = call.has_replies() && P::begin(&mut message);
            let response = call.answer_request(agent, message, settings).await;
            #[cfg(feature = "resumable")]
            let response = match begins {
                true => begun::<P>(response).await,
                false => response,
            };
            Self::finish(response, may_retry, &env)
        })
    }

    fn refuse(&self, refusal: &Refusal) -> Response<Body> {
        P::refuse(refusal).map(Body::full)
    }

    fn protocol(&self) -> Option<&'static str> {
        Some(P::NAME)
    }
}
