//! A confirmation over several requests, each built from the state of a client: it stores the
//! thread, sends its history, and answers with the data that it received.

use std::sync::Mutex;

use copilot_wire::github::{ChatRequest, ConfirmationDecision, GitHub, Message, Mount};
use copilot_wire::json::Json;
use copilot_wire::protocol::{AgentError, Confirmation, Conversation, Protocol, Verdict};
use copilot_wire::{Agent, Reply, Request, Router, async_trait};
use serde_json::{Value, json};
use std::sync::Arc;

use crate::server::{post, strictly};
use crate::vs_code::Chat;

/// An agent for every protocol that switches a flag off if the user agrees.
struct Flags {
    off: Arc<Mutex<Vec<String>>>,
}

#[async_trait]
impl<P: Protocol> Agent<P> for Flags {
    async fn answer(&self, request: Request<P>, reply: Reply<P>) -> Result<(), AgentError> {
        if let Some(answer) = request.decision() {
            let flag = answer.data.as_ref().and_then(|data| data.get("flag"));
            let flag = flag.and_then(|flag| Some(flag.string()?.into_owned()));
            return match (&*answer.id, answer.verdict, flag) {
                ("turn-off", Verdict::Accepted, Some(flag)) => {
                    self.off.lock().unwrap().push(flag.clone());
                    Ok(reply.text(&format!("{flag} is off.")).await?)
                }
                ("turn-off", Verdict::Refused, _) => Ok(reply.text("It stays on.").await?),
                _ => Ok(reply.text("I did not ask that.").await?),
            };
        }
        let prompt = request.prompt().unwrap_or_default();
        match prompt.strip_prefix("turn off ") {
            Some(flag) => {
                let data = Json::encode(&json!({"flag": flag, "attempt": 2}))?;
                let question = Confirmation::new("turn-off", "Turn it off?", "Are you sure?");
                Ok(reply.confirm(question.data(data))?)
            }
            None => Ok(reply.text(&format!("You said: {prompt}")).await?),
        }
    }
}

/// VS Code's state of a thread.
struct Client {
    router: Router,
    messages: Vec<Message>,
}

impl Client {
    fn new() -> (Self, Arc<Mutex<Vec<String>>>) {
        let off = Arc::new(Mutex::new(Vec::new()));
        let agent = Flags {
            off: Arc::clone(&off),
        };
        let router = Router::new().mount(Mount::unverified(), agent).unwrap();
        let messages = Vec::new();
        (Self { router, messages }, off)
    }

    fn turn(&mut self, message: Message) -> Chat {
        let mut history = self.messages.clone();
        history.push(message);
        let request = ChatRequest::new(history.clone());
        let (_, chat) = strictly(&post(&self.router, request.to_json()).body);
        history.push(Message::new("assistant", chat.text.as_str()));
        self.messages = history;
        chat
    }

    fn say(&mut self, text: &str) -> Chat {
        self.turn(Message::new("user", text))
    }

    fn answer(&mut self, accept: bool, confirmation: &Value) -> Chat {
        let confirmation = Json::encode(confirmation).unwrap();
        let mut message = Message::new("user", "");
        message.confirmations.push(match accept {
            true => ConfirmationDecision::accepted(confirmation),
            false => ConfirmationDecision::dismissed(confirmation),
        });
        self.turn(message)
    }

    fn asked(&mut self) -> Value {
        let chat = self.say("turn off lights");
        let [(title, message, data)] = chat.dialogs.as_slice() else {
            panic!("{chat:?}")
        };
        assert_eq!(
            (title.as_str(), message.as_str()),
            ("Turn it off?", "Are you sure?")
        );
        assert_eq!(
            *data,
            json!({"id": "turn-off", "flag": "lights", "attempt": 2})
        );
        data.clone()
    }
}

#[test]
fn asked_and_accepted_it_acts() {
    let (mut client, off) = Client::new();
    let question = client.asked();
    assert!(off.lock().unwrap().is_empty());
    assert_eq!(client.answer(true, &question).text, "lights is off.");
    assert_eq!(*off.lock().unwrap(), ["lights"]);
    // The answer is in the history now, and has no effect again.
    assert_eq!(client.say("and now?").text, "You said: and now?");
    assert_eq!(*off.lock().unwrap(), ["lights"]);
}

#[test]
fn asked_and_dismissed_it_does_not() {
    let (mut client, off) = Client::new();
    let question = client.asked();
    assert_eq!(client.answer(false, &question).text, "It stays on.");
    assert!(off.lock().unwrap().is_empty());
}

#[test]
fn asked_and_ignored_the_user_talks_on() {
    let (mut client, off) = Client::new();
    client.asked();
    assert_eq!(client.say("hello").text, "You said: hello");
    // `gh debug-cli` sends text for its own prompt, not an answer.
    client.asked();
    assert_eq!(client.say("y").text, "You said: y");
    assert!(off.lock().unwrap().is_empty());
}

#[test]
fn an_answer_to_another_question_does_nothing() {
    let (mut client, off) = Client::new();
    client.asked();
    for other in [
        json!({"id": "other", "flag": "lights"}),
        json!({"flag": "lights"}),
        json!([]),
    ] {
        assert_eq!(client.answer(true, &other).text, "I did not ask that.");
    }
    assert!(off.lock().unwrap().is_empty());
}

#[test]
fn the_session_of_a_reply_is_its_own() {
    // Two concurrent replies share no state: citations of one are not in the other.
    let (mut one, _) = Client::new();
    let (mut two, _) = Client::new();
    one.asked();
    assert_eq!(two.say("hi").dialogs, []);
    assert_eq!(GitHub::NAME, "github");
}
