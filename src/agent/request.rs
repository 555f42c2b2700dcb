//! The request, as an agent receives it.

use std::any::Any;
use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use http::request::Parts;
use http::{Extensions, HeaderMap, HeaderValue, Method, Uri};

use super::Reply;
use crate::consent::{Asked, Asking, Consent, Exchange};
use crate::conversations::Recording;
use crate::protocol::{
    Conversation as _, Decision, Env, HistoryItem, Message, Protocol, Purpose, RawMessage, Role,
    Session, User, Verdict, find_question,
};

/// A protocol's request, with the method, URI, headers and extensions of its HTTP request.
///
/// It dereferences to the typed request.
///
/// A `Request` is one pointer, so that the future of an agent, which contains its arguments, stays small.
pub struct Request<P: Protocol>(Box<Inner<P>>);

struct Inner<P: Protocol> {
    message: P::Request,
    head: Head<P::Settings>,
    /// The recording of the turn; `None` once the turn has begun.
    recording: Option<Recording>,
    /// The answer to a question, once it is checked. It is stored, because a check marks the question as used.
    decision: OnceLock<Option<Decision>>,
}

/// Everything in a request except its message.
#[derive(Clone)]
pub(crate) struct Head<S> {
    pub(crate) settings: S,
    /// They own their values; see [`copy_values`].
    pub(crate) parts: Parts,
    pub(crate) params: Vec<(Box<str>, Box<str>)>,
    /// The path of the route as clients see it, with the names of the parameters.
    pub(crate) path: Option<Arc<str>>,
    /// The name under which the agent is mounted.
    pub(crate) agent: Option<Arc<str>>,
    pub(crate) env: Env,
    pub(crate) consent: Consent,
}

impl<P: Protocol> Request<P> {
    /// Creates a request without an HTTP request: a `POST` to `/` without headers.
    pub fn new(message: P::Request) -> Self {
        let (mut parts, ()) = http::Request::new(()).into_parts();
        parts.method = Method::POST;
        Self::of(parts, message)
    }

    /// Creates a request with the method, URI, headers and extensions of an HTTP request.
    ///
    /// URI and headers are copied: a server parses them in place, so they would keep the server's read buffer in memory
    /// as long as the agent has its request.
    pub fn from_parts(mut parts: Parts, message: P::Request) -> Self {
        copy_values(&mut parts);
        Self::of(parts, message)
    }

    fn of(parts: Parts, message: P::Request) -> Self {
        let head = Head {
            settings: P::Settings::default(),
            parts,
            params: Vec::new(),
            path: None,
            agent: None,
            env: Env::default(),
            consent: Consent::of_process(),
        };
        Self::with_head(head, message, None)
    }

    /// Sets the parameters of the path with their names, in the order of the path. A router sets them itself; other
    /// callers use [`path_params`](crate::router::path_params).
    #[must_use]
    pub fn params<N, V>(mut self, params: impl IntoIterator<Item = (N, V)>) -> Self
    where
        N: Into<Box<str>>,
        V: Into<Box<str>>,
    {
        let params = params.into_iter();
        let params = params.map(|(name, value)| (name.into(), value.into()));
        self.0.head.params = params.collect();
        self
    }

    /// Sets the settings of the mount that received this request, and applies them to the request. A router does this
    /// itself.
    #[must_use]
    pub fn settings(mut self, settings: P::Settings) -> Self {
        (P::EXTRAS.apply)(&settings, &mut self.0.message);
        self.0.head.settings = settings;
        self
    }

    /// Creates the session of the reply to this request.
    pub(crate) fn session(&self, env: &Env) -> Session<P::Blocks> {
        P::session(&self.0.message, &self.0.head.settings, env)
    }

    pub(super) fn take_recording(&mut self) -> Option<Recording> {
        self.0.recording.take()
    }

    pub(crate) fn with_env(mut self, env: &Env) -> Self {
        self.0.head.env = env.clone();
        self
    }

    /// Returns a copy of everything except the message.
    pub(super) fn head(&self) -> Head<P::Settings> {
        self.0.head.clone()
    }

    /// Creates a request from a message and the rest, with the recording of its turn.
    pub(crate) fn with_head(
        head: Head<P::Settings>,
        message: P::Request,
        recording: Option<Recording>,
    ) -> Self {
        Self(Box::new(Inner {
            message,
            head,
            recording,
            decision: OnceLock::new(),
        }))
    }

    /// Returns the path of the route as clients see it.
    pub(super) fn path(&self) -> Option<Arc<str>> {
        self.0.head.path.clone()
    }

    /// Returns the name under which the agent is mounted.
    pub(super) fn agent(&self) -> Option<Arc<str>> {
        self.0.head.agent.clone()
    }

    /// Returns the method of the HTTP request.
    pub fn method(&self) -> &Method {
        &self.0.head.parts.method
    }

    /// Returns the URI of the HTTP request, with its query.
    pub fn uri(&self) -> &Uri {
        &self.0.head.parts.uri
    }

    /// Returns the headers of the HTTP request.
    pub fn headers(&self) -> &HeaderMap {
        &self.0.head.parts.headers
    }

    /// Returns the extensions of the HTTP request, including those that guards and middleware have added.
    pub fn extensions(&self) -> &Extensions {
        &self.0.head.parts.extensions
    }

    /// Returns a parameter of the path, such as `workspace` of `/chats/{workspace}/chat/completions`. `None` if the
    /// path has no such parameter.
    pub fn param(&self, name: &str) -> Option<&str> {
        self.0
            .head
            .params
            .iter()
            .find(|(key, _)| **key == *name)
            .map(|(_, value)| &**value)
    }

    /// Returns the id that all turns of a conversation share, if the front end sends one.
    ///
    /// The client chooses the id, so it proves nothing about the user.
    pub fn conversation_id(&self) -> Option<Cow<'_, str>> {
        P::conversation_id(&self.0.message, &self.0.head.parts.headers)
    }

    /// Returns the user's answer to the question that ended the previous turn: from a dialog of the front end, or in
    /// text. `None` if there was no question.
    ///
    /// An answer in text counts only if it repeats the code of a question that this server asked at this place within
    /// the last hour, and that was not answered before. The first call marks the question as used; later calls return
    /// the same answer.
    ///
    /// ```
    /// use copilot_wire::protocol::{AgentError, Confirmation, Protocol, Verdict};
    /// use copilot_wire::{Reply, Request};
    ///
    /// async fn answer<P: Protocol>(request: Request<P>, reply: Reply<P>) -> Result<(), AgentError> {
    ///     let question = Confirmation::new("delete", "Delete the log?", "There is no way back.");
    ///     match request.decision() {
    ///         Some(answer) if answer.accepts("delete") => reply.text("It is deleted.").await?,
    ///         Some(answer) if answer.verdict == Verdict::Refused => reply.text("It stays.").await?,
    ///         Some(answer) if answer.verdict != Verdict::Other => {
    ///             reply.ask_again(answer.verdict, question).await?;
    ///         }
    ///         _ => reply.confirm(question)?,
    ///     }
    ///     Ok(())
    /// }
    /// ```
    pub fn decision(&self) -> Option<&Decision> {
        let answer = self.0.decision.get_or_init(|| Some(self.check()?.0));
        answer.as_ref()
    }

    /// Sets the answer after it was checked in the store that all servers share.
    #[cfg(feature = "resumable")]
    pub(crate) fn set_decision(&self, answer: Decision) {
        let _ = self.0.decision.set(Some(answer));
    }

    /// Checks the user's answer, and marks its question as used in this process. Returns the answer and, if it counts,
    /// the question.
    pub(crate) fn check(&self) -> Option<(Decision, Option<Asked>)> {
        if let Some(answer) = self.0.message.dialog_decision() {
            return Some((answer, None));
        }
        if let Some((asked, accepted)) = self.0.message.proven_answer() {
            return Some(self.check_proven(asked, accepted));
        }
        // A background task of the client repeats the user's words but does not answer the question.
        if self.0.message.purpose() != Purpose::Answer {
            return None;
        }
        // The last two items, and the user's last message before them.
        let (mut last, mut asked, mut before) = (None, None, None);
        let is_by = |message: &Option<Message<'_>>, role| {
            message.as_ref().is_some_and(|message| message.role == role)
        };
        // `true` if a client wrote a message after the user's last one, such as that the user stopped the turn.
        let mut is_followed = false;
        for item in self.0.message.raw_history() {
            let item = match item {
                // Front ends add system messages between question and answer.
                HistoryItem::Message(message) if message.role == Role::System => continue,
                HistoryItem::Reasoning(_) => continue,
                HistoryItem::Message(message) if message.role == Role::Other => {
                    is_followed = true;
                    continue;
                }
                HistoryItem::Message(message) => {
                    is_followed = false;
                    Some(message)
                }
                // A file of the message with the question.
                HistoryItem::Attachment(_) if is_by(&last, Role::Assistant) => continue,
                _ => None,
            };
            match std::mem::replace(&mut asked, std::mem::replace(&mut last, item)) {
                Some(message) if message.role == Role::User => before = Some(message.text),
                _ => {}
            }
        }
        if is_followed {
            return None;
        }
        let answer = last.filter(|message| message.role == Role::User)?;
        let asked = asked.filter(|message| message.role == Role::Assistant)?;
        let exchange = Exchange {
            place: || {
                self.asking(String::new())
                    .place(before.as_deref().unwrap_or_default())
            },
            messages: || self.0.message.raw_messages(),
            strings: |each: &mut dyn FnMut(&str)| self.0.message.each_string(each),
            asked: &asked.text,
            answer: &answer.text,
        };
        self.0
            .head
            .consent
            .check(&exchange, self.0.head.env.minute())
    }

    /// Checks an answer that contains the proof of its question.
    fn check_proven(&self, asked: &str, accepted: bool) -> (Decision, Option<Asked>) {
        let typed = match (accepted, find_question(asked)) {
            (true, Some((_, code))) => format!("yes {code}"),
            _ => "no".to_owned(),
        };
        let (none, text) = (String::new(), asked.to_owned());
        let exchange = Exchange {
            place: || self.asking(String::new()).place(&self.last_words()),
            messages: || {
                let texts = [
                    (Role::User, &none),
                    (Role::Assistant, &text),
                    (Role::User, &typed),
                ];
                texts
                    .map(|(role, text)| RawMessage::new(role, text))
                    .into_iter()
            },
            strings: |each: &mut dyn FnMut(&str)| each(asked),
            asked,
            answer: &typed,
        };
        let checked = self
            .0
            .head
            .consent
            .check(&exchange, self.0.head.env.minute());
        checked.unwrap_or_else(|| (Decision::new("", Verdict::NoProof), None))
    }

    /// Returns the text of the user's last message.
    fn last_words(&self) -> String {
        // From the end: every turn begins with it, however long its conversation is.
        let mut history = self.0.message.raw_history().rev();
        let last = history.find_map(|item| match item {
            HistoryItem::Message(message) if message.role == Role::User => Some(message.text),
            _ => None,
        });
        last.map(Cow::into_owned).unwrap_or_default()
    }

    /// Returns the place at which this turn may ask a question.
    fn asking(&self, message: String) -> Asking {
        let head = &self.0.head;
        // Each value is preceded by its length, because a value may contain any character.
        let params = head.params.iter();
        let path = head.path.clone().unwrap_or_default();
        let path = params.fold(path, |path, (_, value)| {
            format!("{path} {} {value}", value.len()).into()
        });
        Asking {
            consent: head.consent.clone(),
            path,
            user: head
                .parts
                .extensions
                .get::<User>()
                .map(|user| Arc::clone(&user.id)),
            conversation: (P::EXTRAS.question_scope)(&self.0.message).map(Cow::into_owned),
            message,
        }
    }

    /// Begins the turn. Questions that are still open at its place are closed, so they can no longer be answered.
    /// Returns the place and the closed questions.
    pub(crate) fn begin(&self) -> (Asking, Vec<Asked>) {
        let asking = self.asking(self.last_words());
        let closed = match self.0.message.proven_answer() {
            // The user has answered the open question.
            Some(_) => Vec::new(),
            None => asking.close(|| self.0.head.env.minute()),
        };
        (asking, closed)
    }

    /// Returns the typed request.
    #[must_use]
    pub fn into_inner(self) -> P::Request {
        self.0.message
    }

    /// Converts request and reply to those of protocol `Q`.
    ///
    /// With this method an agent for all front ends can use features that only one of them has.
    ///
    /// # Errors
    ///
    /// Returns both unchanged when the request is not of protocol `Q`.
    #[expect(clippy::type_complexity)]
    pub fn native<Q: Protocol>(
        self,
        reply: Reply<P>,
    ) -> Result<(Request<Q>, Reply<Q>), (Self, Reply<P>)> {
        let mut pair = Some((self, reply));
        let any: &mut dyn Any = &mut pair;
        let native = any
            .downcast_mut::<Option<(Request<Q>, Reply<Q>)>>()
            .and_then(Option::take);
        match (native, pair) {
            (Some(native), _) => Ok(native),
            (None, Some(pair)) => Err(pair),
            // The pair is moved out only if the downcast succeeds.
            (None, None) => unreachable!(),
        }
    }
}

/// Copies the URI and the values of all headers into a buffer of their own.
pub(crate) fn copy_values(parts: &mut Parts) {
    let Parts { uri, headers, .. } = parts;
    let target = match (uri.authority(), uri.path_and_query()) {
        // The form of a request target in HTTP/1.
        (None, Some(path)) => Cow::Borrowed(path.as_str()),
        _ => Cow::Owned(uri.to_string()),
    };
    let size = headers.values().map(HeaderValue::len).sum::<usize>();
    let mut buffer = Vec::with_capacity(target.len() + size);
    buffer.extend_from_slice(target.as_bytes());
    let target = target.len();
    for value in headers.values() {
        buffer.extend_from_slice(value.as_bytes());
    }
    let mut rest = Bytes::from(buffer);
    if let Ok(copy) = Uri::from_maybe_shared(rest.split_to(target)) {
        *uri = copy;
    }
    for value in headers.values_mut() {
        if let Ok(mut copy) = HeaderValue::from_maybe_shared(rest.split_to(value.len())) {
            copy.set_sensitive(value.is_sensitive());
            *value = copy;
        }
    }
}

impl<P: Protocol> Deref for Request<P> {
    type Target = P::Request;

    fn deref(&self) -> &P::Request {
        &self.0.message
    }
}

/// Shows the names of the headers but not their values, because some values are secrets.
impl<P: Protocol> fmt::Debug for Request<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Request")
            .field("protocol", &P::NAME)
            .field(
                "headers",
                &self.0.head.parts.headers.keys().collect::<Vec<_>>(),
            )
            .field("params", &self.0.head.params)
            .finish_non_exhaustive()
    }
}
