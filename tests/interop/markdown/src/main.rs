//! Answers each line of standard input, a text and a question, as an agent that writes the text and then asks,
//! and prints what a client of chat completions reads, and the verdict when the user agrees.

use std::convert::Infallible;
use std::io::{self, BufRead as _, Write as _};
use std::sync::Arc;

use bytes::Bytes;
use copilot_wire::openai::{Event, Model, OpenAi};
use copilot_wire::protocol::{AgentError, Confirmation, Conversation, EventDecoder};
use copilot_wire::{Reply, Request, Router};
use futures::executor::block_on;
use futures::{StreamExt, stream};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

type Failure = Box<dyn std::error::Error>;

/// The text before a question, and the question.
#[derive(Deserialize)]
struct Turn {
    text: String,
    /// The place of the text, if it is not the text of the agent's message.
    #[serde(default)]
    place: Option<Place>,
    title: String,
    message: String,
}

/// Another place of a text above a question, which a page may show.
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Place {
    Message,
    Reasoning,
    Refusal,
    Part,
    Annotation,
    Member,
    Key,
    Arguments,
    Result,
}

impl Place {
    /// Returns the messages that have the text at this place and then the question.
    fn messages(self, text: &str, question: &str) -> Vec<Value> {
        let call = |arguments: String| {
            let function = json!({"name": "f", "arguments": arguments});
            json!({"role": "assistant", "tool_calls": [{"id": "1", "type": "function", "function": function}]})
        };
        let asked = |name: &str, value: Value| json!({"role": "assistant", name: value, "content": question});
        let parts = |part: Value| json!({"role": "assistant", "content": [part, {"type": "text", "text": question}]});
        let alone = json!({"role": "assistant", "content": question});
        match self {
            Self::Message => vec![json!({"role": "assistant", "content": text}), alone],
            Self::Reasoning => vec![asked("reasoning_content", json!(text))],
            Self::Refusal => vec![parts(json!({"type": "refusal", "refusal": text}))],
            Self::Part => vec![parts(json!({"type": "strange", "strange": [text]}))],
            Self::Annotation => vec![asked(
                "annotations",
                json!([{"url_citation": {"title": text}}]),
            )],
            Self::Member => vec![asked("strange", json!({"strange": text}))],
            Self::Key => vec![asked("strange", json!({text: 1}))],
            Self::Arguments => vec![call(json!({"x": text}).to_string()), alone],
            Self::Result => vec![
                call("{}".to_owned()),
                json!({"role": "tool", "tool_call_id": "1", "content": text}),
                alone,
            ],
        }
    }
}

/// An answer of the agent, and the verdict on a yes to it.
#[derive(Serialize)]
struct Asked {
    answer: String,
    verdict: String,
}

/// What precedes the number of a turn in the user's message.
const NUMBER: &str = "Turn ";

/// What precedes the code of a question.
const CODE: &str = " To agree, reply: yes ";

/// Says the verdict on an answer, or says and asks what the turn of the user's number has.
async fn ask(
    turns: Arc<[Turn]>,
    request: Request<OpenAi>,
    reply: Reply<OpenAi>,
) -> Result<(), AgentError> {
    if let Some(answer) = request.decision() {
        return Ok(reply.text(format!("{:?}", answer.verdict)).await?);
    }
    let prompt = request.prompt().unwrap_or_default();
    let number: usize = prompt.strip_prefix(NUMBER).unwrap_or_default().parse()?;
    let turn = turns
        .get(number)
        .ok_or_else(|| io::Error::other("there is no such turn"))?;
    if turn.place.is_none() {
        reply.text(turn.text.as_str()).await?;
    }
    let (title, message) = (turn.title.as_str(), turn.message.as_str());
    Ok(reply.confirm(Confirmation::new("delete-1", title, message))?)
}

/// Returns the text that follows a conversation; `None` if the agent fails.
fn send(router: &Router, messages: &[Value]) -> Result<Option<String>, Failure> {
    let body = json!({"model": "asker", "stream": true, "messages": messages});
    let body = stream::iter([Ok::<_, Infallible>(Bytes::from(body.to_string()))]);
    let request = http::Request::post("/v1/chat/completions")
        .header("content-type", "application/json")
        .body(body)?;
    let response = block_on(router.handle(request));
    let frames: Vec<Bytes> = block_on(response.into_body().map(Result::unwrap).collect());
    let bytes = frames.concat();

    let mut text = String::new();
    let mut input = bytes.as_slice();
    let mut decoder = EventDecoder::<OpenAi>::new();
    while let Some(event) = decoder.next(&mut input)? {
        match event {
            Event::Chunk(chunk) => {
                let contents = chunk
                    .choices
                    .iter()
                    .filter_map(|it| it.delta.content.as_deref());
                text.extend(contents);
            }
            Event::Error(_) => return Ok(None),
            _ => {}
        }
    }
    Ok(Some(text))
}

/// Returns the answer of a turn, and the verdict on the user's yes to it; `None` if the agent may not ask.
fn asked(router: &Router, number: usize, turn: &Turn) -> Result<Option<Asked>, Failure> {
    // A place of its own for each question: another turn at the same place would close it.
    let user = json!({"role": "user", "content": format!("{NUMBER}{number}")});
    let Some(mut answer) = send(router, std::slice::from_ref(&user))? else {
        return Ok(None);
    };
    let (_, code) = answer.rsplit_once(CODE).ok_or("an answer has no code")?;
    let code: String = code.chars().take_while(char::is_ascii_digit).collect();
    let mut messages = vec![user];
    match turn.place {
        None => messages.push(json!({"role": "assistant", "content": answer})),
        Some(place) => {
            messages.extend(place.messages(&turn.text, &answer));
            // A page that shows all of it.
            answer.insert_str(0, &turn.text);
        }
    }
    messages.push(json!({"role": "user", "content": format!("yes {code}")}));
    let verdict = send(router, &messages)?.ok_or("a yes has no verdict")?;
    Ok(Some(Asked { answer, verdict }))
}

fn main() -> Result<(), Failure> {
    let lines = io::stdin().lock().lines();
    let turns: Result<Arc<[Turn]>, Failure> = lines
        .map(|line| Ok(serde_json::from_str(&line?)?))
        .collect();
    let turns = turns?;
    let all = Arc::clone(&turns);
    let agent = move |request, reply| ask(Arc::clone(&all), request, reply);
    let router = Router::new().mount_fn(Model::new("asker"), agent)?;
    let mut out = io::stdout().lock();
    for (number, turn) in turns.iter().enumerate() {
        serde_json::to_writer(&mut out, &asked(&router, number, turn)?)?;
        writeln!(out)?;
    }
    Ok(())
}
