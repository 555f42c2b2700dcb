//! Requests whose memory is counted while a router answers them and their agent asks a model.

use std::convert::Infallible;
use std::hint::black_box;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use copilot_wire::anthropic::Anthropic;
use copilot_wire::models::{Profile, Prompt as _, Upstream as _};
use copilot_wire::openai::OpenAi;
use copilot_wire::protocol::{AgentError, Protocol};
use copilot_wire::responses::Responses;
use copilot_wire::router::Mount;
use copilot_wire::{
    Agent, Reply, Request, Router, ag_ui, anthropic, async_trait, github, mcp, meilisearch, openai,
    openbb, responses, ui_stream,
};
use futures_core::Stream;

use crate::lists::each;
use crate::reply::frames;

/// A request, and what answers it. The result is the length of the answer.
pub struct Case {
    pub name: String,
    pub body: String,
    pub answer: fn(Bytes) -> usize,
}

/// A body of one piece.
pub struct Piece(pub Option<Bytes>);

impl Stream for Piece {
    type Item = Result<Bytes, Infallible>;

    fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        Poll::Ready(self.0.take().map(Ok))
    }
}

/// Makes the request to a model of each dialect.
struct Asker;

#[async_trait]
impl<P: Protocol> Agent<P> for Asker {
    async fn answer(&self, request: Request<P>, reply: Reply<P>) -> Result<(), AgentError> {
        black_box(OpenAi::prompt(&*request, &Profile::default()).body(true));
        black_box(Responses::prompt(&*request, &Profile::default()).body(true));
        black_box(Anthropic::prompt(&*request, &Profile::default()).body(true));
        Ok(reply.text("done").await?)
    }
}

fn answered<M: Mount + 'static>(mount: M, path: &str, body: Bytes) -> usize
where
    Asker: Agent<M::Protocol>,
{
    let router = Router::new().mount(mount, Asker).unwrap();
    // Some protocols refuse elements of another kind, once all are read.
    let may_be_refused = body.windows(4).any(|it| it == b"0,0,");
    let request = http::Request::post(path)
        .header("host", "127.0.0.1:7777")
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream")
        .header("content-length", body.len())
        .body(Piece(Some(body)))
        .unwrap();
    let mut cx = Context::from_waker(Waker::noop());
    let Poll::Ready(response) = pin!(router.handle(request)).poll(&mut cx) else {
        panic!("the request is there");
    };
    let is_success = response.status().is_success();
    assert!(is_success || may_be_refused, "{}", response.status());
    frames(response.into_body()).map(|frame| frame.len()).sum()
}

/// A front end, with a request of one text of the user, and with the place of tiny elements.
struct FrontEnd {
    name: &'static str,
    answer: fn(Bytes) -> usize,
    /// A request with the text `TEXT`.
    text: &'static str,
    /// Requests with a list in place of `LIST`, each with the smallest elements that the list may have.
    tiny: &'static [(&'static str, &'static [&'static str])],
}

const FRONT_ENDS: [FrontEnd; 9] = [
    FrontEnd {
        name: "openbb",
        answer: |body| answered(openbb::Descriptor::new("a", "A", "a"), "/v1/query", body),
        text: r#"{"messages":[{"role":"human","content":"TEXT"}]}"#,
        tiny: &[
            (
                r#"{"messages":[{"role":"human","content":"a"},LIST]}"#,
                &["{}", r#"{"role":"ai","content":""}"#],
            ),
            (
                r#"{"messages":[{"role":"human","content":"a"}],"tools":[LIST]}"#,
                &["{}", r#"{"server_id":"","name":""}"#],
            ),
            (
                r#"{"messages":[{"role":"human","content":"a"}],"context":[LIST]}"#,
                &["{}", r#"{"uuid":"","name":""}"#],
            ),
            (
                r#"{"messages":[{"role":"human","content":"a"}],"widgets":{"primary":[LIST]}}"#,
                &["{}", r#"{"origin":"","widget_id":""}"#],
            ),
        ],
    },
    FrontEnd {
        name: "github",
        answer: |body| answered(github::Mount::unverified(), "/github", body),
        text: r#"{"messages":[{"role":"user","content":"TEXT"}]}"#,
        tiny: &[
            (
                r#"{"messages":[{"role":"user","content":"a"},LIST]}"#,
                &["{}", r#"{"role":"","content":""}"#],
            ),
            (
                r#"{"messages":[{"role":"user","content":"a","copilot_references":[LIST]}]}"#,
                &["{}", r#"{"type":"","id":""}"#],
            ),
        ],
    },
    FrontEnd {
        name: "openai",
        answer: |body| answered(openai::Model::new("m"), "/v1/chat/completions", body),
        text: r#"{"model":"m","stream":true,"messages":[{"role":"user","content":"TEXT"}]}"#,
        tiny: &[
            (
                r#"{"model":"m","stream":true,"messages":[{"role":"user","content":"a"},LIST]}"#,
                &["{}", r#"{"role":"","content":""}"#],
            ),
            (
                r#"{"model":"m","stream":true,"messages":[{"role":"user","content":[LIST]}]}"#,
                &["{}", r#"{"type":"text","text":""}"#],
            ),
            (
                r#"{"model":"m","stream":true,"messages":[{"role":"user","content":"a"},{"role":"assistant","tool_calls":[LIST]}]}"#,
                &["{}", r#"{"id":"","function":{"name":""}}"#],
            ),
            (
                r#"{"model":"m","stream":true,"messages":[{"role":"user","content":"a"}],"tools":[LIST]}"#,
                &["{}", r#"{"type":"function","function":{"name":""}}"#],
            ),
        ],
    },
    FrontEnd {
        name: "responses",
        answer: |body| answered(responses::Model::new("m"), "/v1/responses", body),
        text: r#"{"model":"m","stream":true,"input":[{"role":"user","content":"TEXT"}]}"#,
        tiny: &[
            (
                r#"{"model":"m","stream":true,"input":[{"role":"user","content":"a"},LIST]}"#,
                &[
                    "{}",
                    r#"{"role":"user","content":""}"#,
                    r#"{"type":"function_call","call_id":"","name":"","arguments":""}"#,
                ],
            ),
            (
                r#"{"model":"m","stream":true,"input":[{"role":"user","content":[LIST]}]}"#,
                &["{}", r#"{"type":"input_text","text":""}"#],
            ),
            (
                r#"{"model":"m","stream":true,"input":"a","tools":[LIST]}"#,
                &["{}", r#"{"type":"function","name":""}"#],
            ),
        ],
    },
    FrontEnd {
        name: "anthropic",
        answer: |body| answered(anthropic::Model::new("m"), "/v1/messages", body),
        text: r#"{"model":"m","max_tokens":1,"stream":true,"messages":[{"role":"user","content":"TEXT"}]}"#,
        tiny: &[
            (
                r#"{"model":"m","max_tokens":1,"stream":true,"messages":[{"role":"user","content":"a"},LIST]}"#,
                &["{}", r#"{"role":"user","content":""}"#],
            ),
            (
                r#"{"model":"m","max_tokens":1,"stream":true,"messages":[{"role":"user","content":[LIST]}]}"#,
                &["{}", r#"{"type":"text","text":""}"#],
            ),
            (
                r#"{"model":"m","max_tokens":1,"stream":true,"messages":[{"role":"assistant","content":[LIST]}]}"#,
                &[r#"{"type":"tool_use","id":"","name":"","input":{}}"#],
            ),
            (
                r#"{"model":"m","max_tokens":1,"stream":true,"messages":[{"role":"user","content":"a"}],"tools":[LIST]}"#,
                &["{}", r#"{"name":"","input_schema":{}}"#],
            ),
        ],
    },
    FrontEnd {
        name: "meilisearch",
        answer: |body| {
            answered(
                meilisearch::Mount::new(),
                "/chats/bear/chat/completions",
                body,
            )
        },
        text: r#"{"model":"m","stream":true,"messages":[{"role":"user","content":"TEXT"}]}"#,
        tiny: &[(
            r#"{"model":"m","stream":true,"messages":[LIST]}"#,
            &[r#"{"role":"user","content":""}"#],
        )],
    },
    FrontEnd {
        name: "ui_stream",
        answer: |body| answered(ui_stream::Mount::new(), "/api/chat", body),
        text: r#"{"id":"c","trigger":"submit-message","messages":[{"id":"u","role":"user","parts":[{"type":"text","text":"TEXT"}]}]}"#,
        tiny: &[
            (
                r#"{"id":"c","trigger":"submit-message","messages":[{"id":"u","role":"user","parts":[{"type":"text","text":"a"}]},LIST]}"#,
                &["{}", r#"{"id":"","role":"user","parts":[]}"#],
            ),
            (
                r#"{"id":"c","trigger":"submit-message","messages":[{"id":"u","role":"user","parts":[{"type":"text","text":"a"},LIST]}]}"#,
                &["{}", r#"{"type":"text","text":""}"#],
            ),
        ],
    },
    FrontEnd {
        name: "ag_ui",
        answer: |body| answered(ag_ui::Mount::new(), "/agui", body),
        text: r#"{"threadId":"t","runId":"r","state":{},"messages":[{"id":"u","role":"user","content":"TEXT"}],"tools":[],"context":[],"forwardedProps":{}}"#,
        tiny: &[
            (
                r#"{"threadId":"t","runId":"r","state":{},"messages":[{"id":"u","role":"user","content":"a"},LIST],"tools":[],"context":[],"forwardedProps":{}}"#,
                &["{}", r#"{"id":"","role":"user","content":""}"#],
            ),
            (
                r#"{"threadId":"t","runId":"r","state":{},"messages":[{"id":"u","role":"user","content":"a"}],"tools":[LIST],"context":[],"forwardedProps":{}}"#,
                &["{}", r#"{"name":"","description":"","parameters":{}}"#],
            ),
            (
                r#"{"threadId":"t","runId":"r","state":{},"messages":[{"id":"u","role":"user","content":"a"}],"tools":[],"context":[LIST],"forwardedProps":{}}"#,
                &["{}", r#"{"description":"","value":""}"#],
            ),
        ],
    },
    FrontEnd {
        name: "mcp",
        answer: |body| answered(mcp::Mount::new("words", "Says words."), "/mcp", body),
        text: r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"words","arguments":{"question":"TEXT"},"_meta":{"progressToken":1}}}"#,
        tiny: &[],
    },
];

/// Long contents of each kind, in one text of each front end.
pub fn contents() -> Vec<Case> {
    const LENGTH: usize = 1 << 18;
    let kinds = [
        ("ascii", "a"),
        ("words", "two words "),
        ("fdfa", "\u{fdfa}"),
        ("marks", "e\u{301}\u{323}"),
        ("escapes", r"\n"),
        ("units", r"\u00e9"),
        ("base64", "AAAA"),
        ("markup", "<b>*_[x](y)\\n"),
    ];
    let cases = FRONT_ENDS.iter().flat_map(|front_end| {
        kinds.iter().map(|(kind, piece)| Case {
            name: format!("{}-{kind}", front_end.name),
            body: front_end
                .text
                .replace("TEXT", &piece.repeat(LENGTH / piece.len())),
            answer: front_end.answer,
        })
    });
    cases.collect()
}

/// Requests of nothing but tiny elements, of so many that lists that are doubled have room for nearly twice as many; and
/// of some, with elements of another kind behind them.
pub fn tiny() -> Vec<Case> {
    const COUNT: usize = 4100;
    let mut cases = Vec::new();
    for front_end in &FRONT_ENDS {
        for (frame, elements) in front_end.tiny {
            for element in *elements {
                for (name, most, before) in [
                    ("", COUNT, 0),
                    (" and numbers", 100, 0),
                    (" behind a text", COUNT, 20_000),
                ] {
                    let element = |at| if at < most { *element } else { "0" };
                    let list = each(COUNT, |at| element(at).to_owned());
                    let begin = format!("{{\"before\":\"{}\",", "x".repeat(before));
                    cases.push(Case {
                        name: format!("{} {}{name}", front_end.name, element(0)),
                        body: frame.replacen('{', &begin, 1).replace("LIST", &list),
                        answer: front_end.answer,
                    });
                }
            }
        }
    }
    cases
}
