//! The test tools of a protocol.

use std::error::Error;
use std::fmt::Debug;
use std::pin::Pin;

use bytes::Bytes;
use http::header::ACCEPT;
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Response};

use super::check::{self, Exam, Judge, Rule, Stream, Trial};
use super::front_end::{AnyFrontEnd, FrontEnd};
use super::node::Node;
use super::reader::{EventReader, Lines, Summary};
use super::setup::Setup;
use super::signer::Keys;
use copilot_wire::protocol::{Conversation, Framing, Protocol, Refusal, Verdict};
use copilot_wire::router::Mount;

/// An error of any type, boxed.
pub type BoxError = Box<dyn Error + Send + Sync>;

/// The test tools of a protocol, for tests and tools that work with any protocol: the emulated front end,
/// the rules and requests of the conformance kit, and the line formats of the command line.
///
/// [`kit`] turns a toolkit into a value.
pub trait Toolkit: Protocol<Request: Debug + PartialEq, Event: Clone + Debug + PartialEq> {
    /// The name of the front end, such as `The Example desktop application`.
    const TITLE: &'static str;

    /// A small request, and the paths and headers of requests.
    const SAMPLE: Sample;

    /// The tables of the rules of this protocol. Empty by default: then only the rules for endpoints of all protocols
    /// apply.
    const RULES: &'static [&'static [&'static Rule]] = &[];

    /// The ids of rules that the protocol's official servers break: they are reported as warnings. Empty by default.
    const TOLERATED: &'static [&'static str] = &[];

    /// The emulated front end.
    type FrontEnd: FrontEnd<Protocol = Self> + 'static;

    /// Creates the front end.
    ///
    /// # Errors
    ///
    /// When the recorded request cannot be read.
    fn front_end(setup: &Setup<'_>) -> Result<Self::FrontEnd, BoxError>;

    /// Describes an event in a line.
    fn describe(event: &Self::Event) -> Summary;

    /// Returns the members that only requests of this protocol have, without secrets. [`Node::None`] by default.
    fn native(request: &Self::Request, headers: &HeaderMap) -> Node {
        let _ = (request, headers);
        Node::None
    }

    /// Serializes a request as a client does. `None`, the default, if requests are only read.
    fn to_body(request: &Self::Request) -> Option<Bytes> {
        let _ = request;
        None
    }

    /// Returns the mount that most applications use.
    fn mount() -> impl Mount<Protocol = Self>;

    /// Returns the headers of every request of the front end, except the content type.
    fn headers() -> HeaderMap {
        let content_type = HeaderValue::from_static(Self::FRAMING.content_type());
        HeaderMap::from_iter([(ACCEPT, content_type)])
    }

    /// Checks a stream by the rules of this protocol. Does nothing by default.
    fn judge(judge: &mut Judge, stream: &Stream<'_>) {
        let _ = (judge, stream);
    }

    /// Sends the requests of a check: by default the sample, then the requests for every endpoint.
    fn check(exam: &mut Exam<'_>) -> impl Future<Output = ()> + Send {
        async {
            let path = exam.path().unwrap_or(Self::FrontEnd::PATH);
            let sample = Trial::new(None, "the sample", Self::SAMPLE.request);
            exam.plan(1);
            if let Some(exchange) = exam.ask_agent(path, &sample).await {
                if let Some(stream) = exam.answered(&sample, &exchange) {
                    Self::judge(exam.judge(), &stream);
                }
            }
            exam.rest(path, &sample.body).await;
        }
    }

    /// Returns the signing keys of the front end. `None`, the default, if it signs nothing.
    fn keys() -> Option<&'static dyn Keys> {
        None
    }

    /// Returns the path of the list of models of an endpoint at `path`. `None` if
    /// there is no such list.
    fn models(path: &str) -> Option<String> {
        let _ = path;
        None
    }
}

/// Writes functions of a [`Toolkit`]: `describe` calls `show::describe`, `native` calls `native::native`, `judge` and
/// `check` call those of the module `rules`, and `to_body` calls the request's `to_json`. The modules must be in
/// scope.
///
/// [`Toolkit`]: crate::Toolkit
#[macro_export]
macro_rules! in_modules {
    () => {
        fn describe(event: &Self::Event) -> $crate::Summary {
            show::describe(event)
        }

        fn native(request: &Self::Request, headers: &http::HeaderMap) -> $crate::Node {
            native::native(request, headers)
        }

        fn to_body(request: &Self::Request) -> Option<bytes::Bytes> {
            #[allow(unused_imports, reason = "a request may have a function of this name")]
            use copilot_wire::json::Wire as _;
            Some(request.to_json())
        }

        fn judge(judge: &mut $crate::check::Judge, stream: &$crate::check::Stream<'_>) {
            rules::judge(judge, stream);
        }

        fn check(exam: &mut $crate::check::Exam<'_>) -> impl Future<Output = ()> + Send {
            rules::check(exam)
        }
    };
}

/// A small request of a protocol, with the paths and headers of its requests.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Sample {
    /// The body of a small request.
    pub request: &'static str,
    /// The paths of a mounted agent. Empty if no test sends requests to them.
    pub paths: &'static [&'static str],
    /// The names of the headers that are read. Empty if none is.
    pub headers: &'static [&'static str],
}

impl Sample {
    /// Creates a sample.
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

/// A [`Toolkit`] as a value, without type parameters.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Kit {
    /// [`Protocol::NAME`].
    pub name: &'static str,
    /// [`Toolkit::TITLE`].
    pub title: &'static str,
    /// [`FrontEnd::PATH`].
    pub path: &'static str,
    /// [`Protocol::FRAMING`].
    pub framing: Framing,
    /// [`Toolkit::TOLERATED`].
    pub tolerated: &'static [&'static str],
    /// Creates the front end, as [`Toolkit::front_end`] does.
    pub front_end: fn(&Setup<'_>) -> Result<Box<dyn AnyFrontEnd>, BoxError>,
    /// Creates the reader of one stream, which describes its events.
    pub reader: fn() -> Box<dyn EventReader>,
    /// Reads a request and returns it as an agent sees it.
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
    /// Returns every rule for endpoints of this protocol.
    pub fn rules(&self) -> impl Iterator<Item = &'static Rule> + use<> {
        let tables = check::rules(self.framing).into_iter();
        let tables = tables.chain(self.rules.iter().copied());
        tables.flatten().copied()
    }
}

/// Returns the kit of a protocol.
pub const fn kit<P: Toolkit>() -> Kit {
    Kit {
        name: P::NAME,
        title: P::TITLE,
        path: P::FrontEnd::PATH,
        framing: P::FRAMING,
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

/// Reads a request and returns it as an agent sees it.
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
    // Only the server that asked can check an answer in text, so only that of a dialog is shown.
    let answer = request.dialog_decision().map(|answer| {
        let accepted = answer.verdict == Verdict::Accepted;
        Node::object([
            ("id", answer.id.into()),
            ("accepted", accepted.into()),
            ("data", answer.data.into()),
        ])
    });
    let conversation = P::conversation_id(&request, &parts.headers);
    let conversation = conversation.map(|id| id.into_owned());
    let prompt = request.prompt().map(|text| text.into_owned());
    Ok(Node::object([
        ("protocol", P::NAME.into()),
        ("conversation", conversation.into()),
        ("prompt", prompt.into()),
        ("messages", Node::list(messages)),
        ("documents", Node::list(documents)),
        ("tools", Node::list(tools)),
        ("results", Node::list(results)),
        ("answer", answer.into()),
        (P::NAME, P::native(&request, &parts.headers)),
    ]))
}
