//! What a protocol brings to the tests and tools that work with any protocol.

use std::error::Error;
use std::fmt::Debug;
use std::future::Future;
use std::pin::Pin;

use bytes::Bytes;
use http::header::ACCEPT;
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Response};

use super::check::{self, Exam, Judge, Recorded, Rule, Stream};
use super::front_end::{AnyFrontEnd, FrontEnd};
use super::node::Node;
use super::reader::{EventReader, Lines, MissingEnd, Summary};
use super::setup::Setup;
use super::signer::Keys;
use crate::protocol::{Conversation, Protocol, Refusal};
use crate::router::Mount;

/// Any error.
pub type BoxError = Box<dyn Error + Send + Sync>;

/// What a protocol brings to the tests and tools that work with any protocol: the played front end,
/// the rules and requests of the conformance kit, and the line formats of the command line.
///
/// [`kit`] makes a value of it.
pub trait Toolkit: Protocol<Request: Debug + PartialEq, Event: Debug + PartialEq> {
    /// The front end in a few words, such as `The Example desktop application`.
    const TITLE: &'static str;

    /// A small request, and where and with which headers requests come.
    const SAMPLE: Sample;

    /// The rules of this protocol, in tables.
    const RULES: &'static [&'static [&'static Rule]] = &[];

    /// The ids of rules that the protocol's own servers break: as warnings they are shown.
    const TOLERATED: &'static [&'static str] = &[];

    /// The front end that is played.
    type FrontEnd: FrontEnd<Protocol = Self> + 'static;

    /// Creates the front end.
    ///
    /// # Errors
    ///
    /// When the recorded request cannot be read.
    fn front_end(setup: &Setup<'_>) -> Result<Self::FrontEnd, BoxError>;

    /// Describes an event in a line.
    fn describe(event: &Self::Event) -> Summary;

    /// Shows what only a request of this protocol has, apart from its secrets. Nothing by default.
    fn native(request: &Self::Request, headers: &HeaderMap) -> Node {
        let _ = (request, headers);
        Node::None
    }

    /// Writes a request as a client does. `None` where there is no client's side.
    fn to_body(request: &Self::Request) -> Option<Vec<u8>> {
        let _ = request;
        None
    }

    /// Returns what an agent is mounted as in the most usual way.
    fn mount() -> impl Mount<Protocol = Self>;

    /// Returns the headers that the front end sends with every request beside the content type.
    #[must_use]
    fn headers() -> HeaderMap {
        HeaderMap::from_iter([(ACCEPT, HeaderValue::from_static("text/event-stream"))])
    }

    /// Judges a stream by the rules of this protocol. By default there are none.
    fn judge(judge: &mut Judge, stream: &Stream<'_>) {
        let _ = (judge, stream);
    }

    /// Makes the requests of a check. By default the sample, and what every endpoint is asked.
    fn check(exam: &mut Exam<'_>) -> impl Future<Output = ()> + Send {
        async {
            let path = exam.path().unwrap_or(Self::FrontEnd::PATH);
            let sample = Recorded::new(None, "the sample", Self::SAMPLE.request);
            exam.plan(1);
            if let Some(exchange) = exam.ask_agent(path, &sample).await {
                if let Some(stream) = exam.answered(&sample, &exchange) {
                    Self::judge(exam.judge(), &stream);
                }
            }
            exam.rest(path, &sample.body).await;
        }
    }

    /// Returns what is missing if the stream that `decoder` has read ends here. Nothing by default:
    /// the end of the body is the end of the answer.
    fn missing_end(decoder: &Self::Decoder) -> Option<MissingEnd> {
        let _ = decoder;
        None
    }

    /// Returns the keys, where the front end signs its requests.
    #[must_use]
    fn keys() -> Option<&'static dyn Keys> {
        None
    }

    /// Returns the path of the list of models that belongs to an endpoint at `path`. `None` where
    /// there is no such list.
    #[must_use]
    fn models(path: &str) -> Option<String> {
        let _ = path;
        None
    }
}

/// A small request of a protocol, and where and with which headers its requests come.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Sample {
    /// The body of a small request.
    pub request: &'static str,
    /// Paths that a mounted agent answers at.
    pub paths: &'static [&'static str],
    /// Names of headers that are read.
    pub headers: &'static [&'static str],
}

impl Sample {
    /// Creates a sample.
    #[must_use]
    pub const fn new(
        request: &'static str,
        paths: &'static [&'static str],
        headers: &'static [&'static str],
    ) -> Self {
        Self {
            request,
            paths,
            headers,
        }
    }
}

/// A [`Toolkit`] as a value: what its protocol brings, apart from types.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Kit {
    /// [`Protocol::NAME`].
    pub name: &'static str,
    /// [`Toolkit::TITLE`].
    pub title: &'static str,
    /// [`FrontEnd::PATH`].
    pub path: &'static str,
    /// [`Toolkit::TOLERATED`].
    pub tolerated: &'static [&'static str],
    /// Creates the front end, as [`Toolkit::front_end`] does.
    pub front_end: fn(&Setup<'_>) -> Result<Box<dyn AnyFrontEnd>, BoxError>,
    /// Creates the reader of one stream, which describes its events.
    pub reader: fn() -> Box<dyn EventReader>,
    /// Reads a request and shows what an agent sees of it.
    pub request: fn(&Parts, Bytes) -> Result<Node, Refusal>,
    /// [`Toolkit::judge`].
    pub judge: fn(&mut Judge, &Stream<'_>),
    /// [`Toolkit::keys`].
    pub keys: fn() -> Option<&'static dyn Keys>,
    /// [`Toolkit::models`].
    pub models: fn(&str) -> Option<String>,
    pub(super) headers: fn() -> HeaderMap,
    pub(super) refuse: fn(&Refusal) -> Response<Bytes>,
    pub(super) check: for<'a> fn(&'a mut Exam<'_>) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>>,
    rules: &'static [&'static [&'static Rule]],
}

impl Kit {
    /// Returns every rule that an endpoint of this protocol is judged by.
    pub fn rules(&self) -> impl Iterator<Item = &'static Rule> + use<> {
        let tables = check::RULES.iter().chain(self.rules);
        tables.copied().flatten().copied()
    }
}

/// Returns the kit of a protocol.
#[must_use]
pub const fn kit<P: Toolkit>() -> Kit {
    Kit {
        name: P::NAME,
        title: P::TITLE,
        path: P::FrontEnd::PATH,
        tolerated: P::TOLERATED,
        front_end: |setup| Ok(Box::new(P::front_end(setup)?)),
        reader: || Box::new(Lines::<P>::new()),
        request: show::<P>,
        judge: P::judge,
        keys: P::keys,
        models: P::models,
        headers: P::headers,
        refuse: P::refuse,
        check: |exam| Box::pin(P::check(exam)),
        rules: P::RULES,
    }
}

/// Reads a request and shows what an agent sees of it.
fn show<P: Toolkit>(parts: &Parts, body: Bytes) -> Result<Node, Refusal> {
    let request = P::read(parts, body)?;
    let messages = request.messages().map(|message| {
        Node::object([
            ("role", format!("{:?}", message.role).to_lowercase().into()),
            ("text", message.text.into_owned().into()),
        ])
    });
    let documents = request.documents().map(|document| {
        Node::object([
            ("name", document.name.into_owned().into()),
            ("content", document.content.into_owned().into()),
            ("id", document.id.into_owned().into()),
        ])
    });
    let tools = request.tools().map(|tool| {
        Node::object([
            ("name", tool.name.into_owned().into()),
            ("description", tool.description.into_owned().into()),
            ("parameters", tool.parameters.into()),
        ])
    });
    let results = request.results().map(|result| {
        Node::object([
            ("name", result.name.into_owned().into()),
            ("content", result.content.into_owned().into()),
            ("failed", result.failed.into()),
            ("call", result.call_id.map(|id| id.into_owned()).into()),
            ("arguments", result.arguments.into()),
        ])
    });
    let decision = request.decision().map(|decision| {
        Node::object([
            ("id", decision.id.into_owned().into()),
            ("accepted", decision.accepted.into()),
            ("data", decision.data.into()),
        ])
    });
    let conversation = P::conversation_id(&request, &parts.headers);
    Ok(Node::object([
        ("protocol", P::NAME.into()),
        (
            "conversation",
            conversation.map(|id| id.into_owned()).into(),
        ),
        (
            "prompt",
            request.prompt().map(|text| text.into_owned()).into(),
        ),
        ("messages", Node::list(messages)),
        ("documents", Node::list(documents)),
        ("tools", Node::list(tools)),
        ("results", Node::list(results)),
        ("decision", decision.into()),
        (P::NAME, P::native(&request, &parts.headers)),
    ]))
}
