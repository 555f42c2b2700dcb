//! A chat as each front end keeps it: it sends its whole transcript and remembers what it was told.

use copilot_wire::Body;
use futures::StreamExt;
use http::{HeaderMap, HeaderValue, StatusCode};
use serde_json::{Value, json};

use crate::bench::Bench;
use crate::questions::{normalized, yes};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Front {
    OpenBb,
    GitHub,
    OpenAi,
    Meilisearch,
}

pub(crate) const FRONTS: [Front; 4] = [
    Front::OpenBb,
    Front::GitHub,
    Front::OpenAi,
    Front::Meilisearch,
];

/// Those without dialogs.
pub(crate) const TEXT_FRONTS: [Front; 3] = [Front::OpenBb, Front::OpenAi, Front::Meilisearch];

/// One chat of one user.
#[derive(Clone)]
pub(crate) struct Chat<'a> {
    pub(crate) bench: &'a Bench,
    pub(crate) front: Front,
    pub(crate) id: String,
    pub(crate) headers: HeaderMap,
    /// The messages, in the form of the front end.
    pub(crate) messages: Vec<Value>,
    /// The newest answer, byte for byte.
    pub(crate) stream: String,
}

impl<'a> Chat<'a> {
    pub(crate) fn new(bench: &'a Bench, front: Front) -> Self {
        Self {
            bench,
            front,
            id: "chat-1".to_owned(),
            headers: HeaderMap::new(),
            messages: Vec::new(),
            stream: String::new(),
        }
    }

    /// Sets the key of the user.
    pub(crate) fn with_key(mut self, key: &'static str) -> Self {
        let key = HeaderValue::from_static(key);
        self.headers.insert("authorization", key);
        self
    }

    /// Says something; gives the text of the answer.
    pub(crate) async fn say(&mut self, text: &str) -> String {
        let role = if self.front == Front::OpenBb {
            "human"
        } else {
            "user"
        };
        self.messages.push(json!({"role": role, "content": text}));
        self.send().await
    }

    /// Answers the newest question as the front end does: with its dialog, or with its code.
    pub(crate) async fn decide(&mut self, accept: bool) -> String {
        let id = self.question();
        match (self.front, accept) {
            (Front::GitHub, accept) => self.dialogs(&[(&id, accept)]).await,
            (_, true) => self.say(&self.yes()).await,
            (_, false) => self.say("cancel").await,
        }
    }

    /// Returns what the user types to agree to the newest question in text.
    pub(crate) fn yes(&self) -> String {
        yes(&text(&self.stream))
    }

    /// Returns the newest answer with fixed codes and proofs.
    pub(crate) fn normalized(&self) -> String {
        normalized(&self.stream)
    }

    /// Answers dialogs of GitHub.
    pub(crate) async fn dialogs(&mut self, answers: &[(&str, bool)]) -> String {
        let answers: Vec<Value> = answers
            .iter()
            .map(|(id, accept)| {
                let state = if *accept { "accepted" } else { "dismissed" };
                json!({"state": state, "confirmation": {"id": id}})
            })
            .collect();
        let message = json!({"role": "user", "content": "", "copilot_confirmations": answers});
        self.messages.push(message);
        self.send().await
    }

    /// Sends the transcript, and takes the answer into it.
    pub(crate) async fn send(&mut self) -> String {
        let stream = read(self.begin().await).await;
        let said = text(&stream);
        let role = if self.front == Front::OpenBb {
            "ai"
        } else {
            "assistant"
        };
        self.messages.push(json!({"role": role, "content": said}));
        self.stream = stream;
        said
    }

    /// Sends the newest request again, and takes the answer in the place of the first.
    pub(crate) async fn again(&mut self) {
        self.messages.pop();
        self.send().await;
    }

    /// Sends the transcript; the answer is not read yet.
    pub(crate) async fn begin(&self) -> Body {
        let mut headers = self.headers.clone();
        let messages = &self.messages;
        let (path, body) = match self.front {
            Front::OpenBb => {
                headers.insert("x-trace-id", self.id.parse().unwrap());
                // The member `widgets` is how a Workspace of today is known.
                let widgets = json!({"primary": [], "secondary": [], "extra": []});
                (
                    "/v1/query",
                    json!({"messages": messages, "widgets": widgets}),
                )
            }
            Front::GitHub => (
                "/github",
                json!({"copilot_thread_id": self.id, "messages": messages, "agent": "autogpt"}),
            ),
            Front::OpenAi | Front::Meilisearch => {
                let path = match self.front {
                    Front::OpenAi => "/v1/chat/completions",
                    _ => "/chats/tea/chat/completions",
                };
                let body = json!({"model": "autogpt", "stream": true, "messages": messages});
                (path, body)
            }
        };
        let response = self.bench.post(path, &headers, &body.to_string()).await;
        assert_eq!(response.status(), StatusCode::OK);
        response.into_body()
    }

    /// Returns the id of the question at the end of the latest reply. Checks that there is exactly
    /// one.
    pub(crate) fn question(&self) -> String {
        let said = text(&self.stream);
        let dialogs = self.stream.matches("event: copilot_confirmation").count();
        assert_eq!(dialogs, usize::from(self.front == Front::GitHub), "{said}");
        if dialogs == 0 {
            assert_eq!(said.matches("To agree, reply: yes ").count(), 1, "{said}");
            return copilot_wire_kit::question(&said).unwrap().id;
        }
        let ids: Vec<&str> = said.split("(question `").skip(1).collect();
        let [id] = ids.as_slice() else {
            panic!("{} questions in {said}", ids.len());
        };
        let id = id.split_once('`').unwrap().0.to_owned();
        let confirmation = format!(r#""confirmation":{{"id":"{id}"}}"#);
        assert!(self.stream.contains(&confirmation), "{}", self.stream);
        id
    }

    /// Returns `true` if the latest reply asks a question.
    pub(crate) fn asks(&self) -> bool {
        match self.front {
            Front::GitHub => self.stream.contains("event: copilot_confirmation"),
            _ => copilot_wire_kit::question(&text(&self.stream)).is_some(),
        }
    }
}

pub(crate) async fn read(body: Body) -> String {
    let frames: Vec<_> = body.map(|frame| frame.unwrap()).collect().await;
    String::from_utf8(frames.concat()).unwrap()
}

/// Returns the text of a reply.
pub(crate) fn text(stream: &str) -> String {
    let data = stream
        .lines()
        .filter_map(|line| line.strip_prefix("data: "));
    let data = data.filter_map(|data| serde_json::from_str::<Value>(data).ok());
    data.filter_map(|data| {
        let delta = data
            .get("delta")
            .or_else(|| data.pointer("/choices/0/delta/content"));
        Some(delta?.as_str()?.to_owned())
    })
    .collect()
}
