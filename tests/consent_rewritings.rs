//! Rewritings of a question by clients that send it back, and the verdict on a yes.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

#[path = "exchange/mod.rs"]
mod exchange;

use std::sync::{Arc, Mutex};

use copilot_wire::openai::{Event, Model, OpenAi};
use copilot_wire::protocol::{AgentError, Confirmation, EventDecoder, Verdict};
use copilot_wire::{Reply, Request, Router};
use serde_json::{Value, json};
use unicode_normalization::UnicodeNormalization as _;

const TITLE: &str = "Delete *all* files?";
const MESSAGE: &str =
    "ls 'a' & rm -rf \"/home/ann/thesis\" <now> → ２ ｆｉｌｅｓ\nand `notes.txt`, once & for all";

/// A server whose agent says something, asks, and asks again as long as an answer does not count.
struct Server {
    router: Router,
    verdicts: Arc<Mutex<Vec<Verdict>>>,
}

impl Server {
    fn new() -> Self {
        let verdicts: Arc<Mutex<Vec<Verdict>>> = Arc::default();
        let seen = verdicts.clone();
        let answer = move |request: Request<OpenAi>, reply: Reply<OpenAi>| {
            let seen = seen.clone();
            async move {
                let question = Confirmation::new("delete-1", TITLE, MESSAGE);
                let verdict = request.decision().map(|answer| {
                    assert!(answer.verdict != Verdict::Accepted || answer.accepts("delete-1"));
                    answer.verdict
                });
                seen.lock().unwrap().extend(verdict);
                match verdict {
                    Some(Verdict::Accepted) => reply.text("It is done.").await?,
                    Some(verdict) => reply.ask_again(verdict, question).await?,
                    None => {
                        reply
                            .text("I looked at it:\n\n- notes.txt\n- thesis ")
                            .await?;
                        reply.confirm(question)?;
                    }
                }
                Ok::<_, AgentError>(())
            }
        };
        let router = Router::new().mount_fn(Model::new("m"), answer).unwrap();
        Self { router, verdicts }
    }

    /// Sends a conversation, and returns the answer's text.
    fn post(&self, messages: &[Value]) -> String {
        let body = json!({"model": "m", "stream": true, "messages": messages});
        let request = http::Request::post("/v1/chat/completions");
        let response = exchange::send(&self.router, request, body.to_string());
        let stream = exchange::whole(response.into_body());
        let mut input = stream.as_bytes();
        let mut decoder = EventDecoder::<OpenAi>::new();
        let mut text = String::new();
        while let Some(event) = decoder.next(&mut input).unwrap() {
            match event {
                Event::Chunk(chunk) => {
                    let choices = chunk.choices.iter();
                    text.extend(choices.filter_map(|choice| choice.delta.content.as_deref()));
                }
                Event::Done => {}
                other => panic!("{other:?}"),
            }
        }
        text
    }

    fn verdict(&self) -> Option<Verdict> {
        self.verdicts.lock().unwrap().last().copied()
    }
}

/// A rewriting of a text by a client.
type Rewriting = fn(&str) -> String;

fn says(role: &str, text: &str) -> Value {
    json!({"role": role, "content": text})
}

/// Returns the code as a user reads it.
fn code(answer: &str) -> String {
    let (_, rest) = answer.rsplit_once("To agree, reply: yes ").unwrap();
    rest.chars().take(6).collect()
}

fn identical(text: &str) -> String {
    text.to_owned()
}

fn trimmed(text: &str) -> String {
    text.trim().to_owned()
}

fn newline_appended(text: &str) -> String {
    format!("{text}\n")
}

fn crlf(text: &str) -> String {
    text.replace('\n', "\r\n")
}

fn spaces_collapsed(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ")
}

fn markers_dropped(text: &str) -> String {
    text.replace("**", "").replace('`', "")
}

fn backslashes_dropped(text: &str) -> String {
    text.replace('\\', "")
}

fn smart_quotes(text: &str) -> String {
    text.replace('\'', "’").replace('"', "”")
}

fn html_entities(text: &str) -> String {
    let entities = [
        ("&", "&amp;"),
        ("<", "&lt;"),
        (">", "&gt;"),
        ("'", "&#39;"),
        ("\"", "&quot;"),
    ];
    let mut text = text.to_owned();
    for (character, entity) in entities {
        text = text.replace(character, entity);
    }
    text
}

fn slack_bold(text: &str) -> String {
    text.replace("**", "*")
}

fn nfkc(text: &str) -> String {
    text.nfkc().collect()
}

/// The `innerText` of the rendered answer.
fn rendered(text: &str) -> String {
    let text = text.replace("**", "").replace("\n- ", "\n• ");
    text.replace(['`', '\\'], "")
}

fn wrapped(text: &str) -> String {
    let characters: Vec<char> = text.chars().collect();
    let lines = characters.chunks(60).map(String::from_iter);
    lines.collect::<Vec<String>>().join("\n")
}

fn footer_appended(text: &str) -> String {
    format!("{text}\n\n---\nSources: [1] notes.txt")
}

fn no_break_spaces(text: &str) -> String {
    text.replace(' ', "\u{A0}")
}

fn lower_case(text: &str) -> String {
    text.to_lowercase()
}

fn quoted(text: &str) -> String {
    let lines: Vec<String> = text.lines().map(|line| format!("> {line}")).collect();
    lines.join("\n")
}

/// Into German; code and proof are kept.
fn translated(text: &str) -> String {
    let words = [
        ("Question", "Frage"),
        ("To agree, reply", "Zum Zustimmen antworte"),
        ("To refuse, reply", "Zum Ablehnen antworte"),
        ("yes", "ja"),
        ("no.", "nein."),
    ];
    let mut text = text.to_owned();
    for (english, german) in words {
        text = text.replace(english, german);
    }
    text
}

#[test]
fn a_yes_counts_whatever_a_client_makes_of_the_text() {
    let rewritings: [(&str, Rewriting); 17] = [
        ("identical", identical),
        ("trimmed", trimmed),
        ("newline appended", newline_appended),
        ("CRLF", crlf),
        ("spaces collapsed", spaces_collapsed),
        ("markers dropped", markers_dropped),
        ("backslashes dropped", backslashes_dropped),
        ("smart quotes", smart_quotes),
        ("HTML entities", html_entities),
        ("Slack's bold", slack_bold),
        ("NFKC", nfkc),
        ("rendered", rendered),
        ("wrapped at 60", wrapped),
        ("footer appended", footer_appended),
        ("no-break spaces", no_break_spaces),
        ("lower case", lower_case),
        ("quoted", quoted),
    ];
    for (name, rewrite) in rewritings {
        let server = Server::new();
        let user = says("user", "Clean up.");
        let answer = server.post(std::slice::from_ref(&user));
        let yes = says("user", &format!("yes {}", code(&answer)));
        let text = server.post(&[user, says("assistant", &rewrite(&answer)), yes]);
        // A quotation mark in front of a line is no plain text.
        if name == "quoted" {
            assert_eq!(server.verdict(), Some(Verdict::Obscured));
            continue;
        }
        assert_eq!(server.verdict(), Some(Verdict::Accepted), "{name}");
        assert_eq!(text, "It is done.", "{name}");
    }
}

#[test]
fn a_translated_question_never_counts_and_is_asked_again_once() {
    let server = Server::new();
    let mut messages = vec![says("user", "Clean up.")];
    let mut answer = server.post(&messages);
    for expected in [Verdict::NoProof, Verdict::Changed] {
        let yes = format!("yes {}", code(&answer));
        messages.push(says("assistant", &translated(&answer)));
        messages.push(says("user", &yes));
        answer = server.post(&messages);
        assert_eq!(server.verdict(), Some(expected), "{answer}");
        assert!(answer.starts_with(expected.reason().unwrap()), "{answer}");
    }
    assert!(!answer.contains("Question:"), "{answer}");
}

#[test]
fn a_translated_question_is_open_still_where_the_client_sends_it_as_it_was() {
    let server = Server::new();
    let user = says("user", "Clean up.");
    let answer = server.post(std::slice::from_ref(&user));
    let yes = says("user", &format!("yes {}", code(&answer)));
    let rewritten = says("assistant", &translated(&answer));
    server.post(&[user.clone(), rewritten, yes.clone()]);
    assert_eq!(server.verdict(), Some(Verdict::NoProof));
    server.post(&[user, says("assistant", &answer), yes]);
    assert_eq!(server.verdict(), Some(Verdict::Accepted));
}
