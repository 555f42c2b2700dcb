//! Mounting of agents as models.

use std::collections::HashMap;
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
#[cfg(feature = "resumable")]
use futures_core::Stream as _;
use http::{Method, Response};

use super::card::{list, unknown_model};
use super::named::Named;
use super::rate_limit::rename_rate_limits;
use super::{Dialect, Model};
use crate::agent::{Agent, Body};
use crate::conversations::{RecordError, UserConversations};
use crate::protocol::Refusal;
use crate::router::{Endpoint, HttpRequest, Mount, MountError, Site, stream};

/// The timeout for all calls to a store of conversations before a turn.
const RESUMING: Duration = Duration::from_secs(20);

/// A model with its agent.
type Mounted<P> = (Model<P>, Arc<dyn Agent<P>>);

/// The models of one protocol in a router.
struct Models<P> {
    named: Named<Mounted<P>>,
    /// The model for all other names, by base path.
    others: HashMap<String, Mounted<P>>,
}

impl<P> Default for Models<P> {
    fn default() -> Self {
        Self {
            named: Named::default(),
            others: HashMap::new(),
        }
    }
}

impl<P> Clone for Models<P> {
    fn clone(&self) -> Self {
        Self {
            named: self.named.clone(),
            others: self.others.clone(),
        }
    }
}

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
        let models = site.shared::<Models<P>>();
        let id = self.id().to_owned();
        let is_catch_all = self.is_catch_all;
        let card = self.card.clone();
        let mounted = (self, agent);
        if is_catch_all
            && models
                .others
                .insert(base.clone(), mounted.clone())
                .is_some()
        {
            let message = format!("a second model for all names: {id}");
            return Err(MountError::Invalid(message));
        }
        if !models.named.insert(&base, &id, mounted) {
            return Err(MountError::Invalid(format!("model already mounted: {id}")));
        }
        let path = format!("{base}{}", P::PATH);
        P::routes(&path, site)?;
        site.shared_route(Method::POST, &path, Answers::<P>::at(&base))?;
        list::<P>(site, &base, card)
    }
}

impl<P: Dialect> Models<P> {
    /// Returns the requested model. If the request names none, this is the first one, whose name it gets.
    fn find(&self, base: &str, message: &mut P::Request) -> Result<&Mounted<P>, Refusal> {
        let name = P::model(message);
        let named = match &**name {
            "" => self.named.at(base).first(),
            id => self.named.find(base, id),
        };
        let found = named.or_else(|| self.others.get(base));
        let found = found.ok_or_else(unknown_model)?;
        if name.is_empty() {
            found.0.id().clone_into(name);
        }
        Ok(found)
    }
}

/// The endpoint for all models of one protocol at a base path.
struct Answers<P> {
    base: String,
    dialect: PhantomData<fn() -> P>,
}

impl<P> Answers<P> {
    fn at(base: &str) -> Self {
        Self {
            base: base.to_owned(),
            dialect: PhantomData,
        }
    }
}

impl<P: Dialect> Answers<P> {
    async fn answer(&self, mut call: HttpRequest) -> Result<(Response<Body>, bool), Refusal> {
        let body = std::mem::take(&mut call.body);
        if let Some(conversations) = call.conversations(call.route()) {
            call.parts.extensions.insert(conversations);
        }
        let mut message = P::read(&call.parts, body)?;
        // Removed, because agents do not use them.
        let conversations = call.parts.extensions.remove::<UserConversations>();
        let models = call.shared::<Models<P>>().ok_or_else(unknown_model)?;
        let (model, agent) = models.find(&self.base, &mut message)?;
        let (may_retry, id) = (model.may_retry, Arc::<str>::from(model.id()));
        let own = match agent.is_gateway() {
            true => None,
            false => P::answer_itself(&message, call.env()),
        };
        let response = match own {
            Some(response) => response,
            None => {
                let agent = Arc::clone(agent);
                let (settings, recording) = match conversations {
                    Some(conversations) => {
                        let resumed = P::resume(&mut message, conversations.clone());
                        let resumed = call.env().within(RESUMING, resumed).await;
                        resumed.ok_or(RecordError::Unavailable("no answer".into()))??
                    }
                    None => Default::default(),
                };
                if let Some(events) = P::prepared(&message, &settings, call.env()) {
                    let storing = recording.and_then(|mut turn| turn.push(&events));
                    if let Some(storing) = storing {
                        storing.await;
                    }
                    return Ok((stream::<P>(Body::full(events)), may_retry));
                }
                let call = call.agent_name(id).recording(recording);
                #[cfg(feature = "resumable")]
                if call.has_replies() && P::begin(&mut message) {
                    let response = call.answer_request(agent, message, settings).await;
                    return Ok((begun::<P>(response).await, may_retry));
                }
                call.answer_request(agent, message, settings).await
            }
        };
        Ok((response, may_retry))
    }
}

/// Returns the number of tokens of a request as its model counts them, at a path that is one part longer than that of
/// turns. `None` if it does not.
#[allow(dead_code, reason = "not every dialect has such a path")]
pub(crate) async fn count_tokens<P: Dialect>(
    call: HttpRequest,
    mut message: P::Request,
) -> Option<u64> {
    let (path, _) = call.route().rsplit_once('/')?;
    let models = call.shared::<Models<P>>()?;
    let found = models.find(path.strip_suffix(P::PATH)?, &mut message);
    let (model, agent) = found.ok()?;
    let (id, agent) = (Arc::<str>::from(model.id()), Arc::clone(agent));
    call.agent_name(id).count_tokens(agent, message).await
}

/// Returns the document with the beginning of a reply, while the reply continues.
#[cfg(feature = "resumable")]
async fn begun<P: Dialect>(response: Response<Body>) -> Response<Body> {
    if !response.status().is_success() {
        return response;
    }
    // The body is dropped at the end of this function. The agent continues in its task, because the reply is stored.
    let mut body = response.into_body();
    let frame = std::future::poll_fn(|cx| std::pin::Pin::new(&mut body).poll_next(cx)).await;
    match frame {
        Some(Ok(events)) => P::begun(&events),
        None | Some(Err(_)) => P::begun(b""),
    }
}

#[async_trait]
impl<P: Dialect> Endpoint for Answers<P> {
    async fn call(&self, call: HttpRequest) -> Response<Body> {
        let env = call.env().clone();
        let answer = self.answer(call).await;
        let (mut response, may_retry) =
            answer.unwrap_or_else(|refusal| (self.refuse(&refusal), false));
        rename_rate_limits(response.headers_mut(), P::RATE_LIMIT);
        // Refusals need these headers too.
        P::finish(&mut response, may_retry, &env);
        response
    }

    fn refuse(&self, refusal: &Refusal) -> Response<Body> {
        P::refuse(refusal).map(Body::full)
    }

    fn protocol(&self) -> Option<&'static str> {
        Some(P::NAME)
    }
}
