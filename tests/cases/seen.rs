//! A request as an agent sees it.

use std::fmt::Write as _;

use bytes::Bytes;
use copilot_wire::protocol::{AttachmentContent, Conversation, HistoryItem, Message, ToolResult};
use copilot_wire_kit::{Toolkit, Visit};
use http::request::Parts;
use serde_json::Value;

/// Reads a request of a protocol, and returns it in lines: only what is there.
pub(crate) fn seen(protocol: &str, parts: &Parts, body: &Bytes) -> String {
    struct Reading<'a>(&'a str, &'a Parts, &'a Bytes, String);
    impl Visit for Reading<'_> {
        fn visit<P: Toolkit>(&mut self) {
            if P::NAME == self.0 {
                self.3 = lines::<P>(self.1, self.2);
            }
        }
    }
    let mut reading = Reading(protocol, parts, body, String::new());
    reading.visit_all();
    reading.3
}

fn lines<P: Toolkit>(parts: &Parts, body: &Bytes) -> String {
    let request = match P::read(parts, body.clone()) {
        Ok(request) => request,
        Err(it) => {
            let (status, kind, path) = (it.status().as_u16(), it.kind(), it.path());
            return format!("refused: {status} {kind} at {path:?}: {}\n", it.message());
        }
    };
    let mut out = String::new();
    let mut line = |text: String| writeln!(out, "{text}").unwrap();
    if let Some(id) = P::conversation_id(&request, &parts.headers) {
        line(format!("conversation: {id:?}"));
    }
    // The user's last words are looked for from its end.
    let (raw, back) = (request.raw_history(), request.raw_history().rev());
    assert!(raw.eq(back.collect::<Vec<_>>().into_iter().rev()));
    let history: Vec<_> = request.history().collect();
    for item in &history {
        line(match item {
            HistoryItem::Message(message) => said(message),
            HistoryItem::Reasoning(text) => format!("reasoning: {text:?}"),
            HistoryItem::Call(call) => {
                let (id, name) = (call.id.as_deref(), &call.name);
                format!("call: {name} {id:?} {:?}", call.arguments)
            }
            HistoryItem::Result(it) => result("result", it),
            HistoryItem::Attachment(file) => {
                let content = match &file.content {
                    AttachmentContent::Url(url) => format!("url {url:?}"),
                    AttachmentContent::Base64(data) => format!("base64 {data:?}"),
                    AttachmentContent::Id(id) => format!("id {id:?}"),
                    _ => "other".to_owned(),
                };
                let (name, media) = (file.name.as_deref(), file.media_type.as_deref());
                format!("file: {content} {name:?} {media:?} {:?}", file.kind())
            }
            _ => "other".to_owned(),
        });
    }
    let messages: Vec<_> = request.messages().collect();
    let in_history = history.iter().filter_map(|item| match item {
        HistoryItem::Message(message) => Some(message),
        _ => None,
    });
    if !messages.iter().eq(in_history) {
        messages
            .iter()
            .for_each(|it| line(format!("message {}", said(it))));
    }
    if let Some(prompt) = request.prompt() {
        line(format!("prompt: {prompt:?}"));
    }
    request
        .results()
        .for_each(|it| line(result("new result", &it)));
    for tool in request.tools() {
        let schema = tool.parameters.map(|it| it.text().to_owned());
        line(format!(
            "tool: {} {:?} {schema:?}",
            tool.name, tool.description
        ));
    }
    for it in request.documents() {
        line(format!(
            "document: {:?} {:?} {:?}",
            it.id, it.name, it.content
        ));
    }
    if let Some(it) = request.dialog_decision() {
        let data = it.data.map(|data| data.text().to_owned());
        line(format!("decision: {:?} {:?} {data:?}", it.id, it.verdict));
    }
    let native = serde_json::to_string(&P::native(&request, &parts.headers)).unwrap();
    line(format!("of the protocol: {native}"));
    if let Some(written) = P::to_body(&request) {
        let again = P::read(parts, written.clone()).unwrap();
        if again != request {
            line("read again: another request".to_owned());
        }
        let [sent, again] = [body, &written].map(|it| serde_json::from_slice::<Value>(it).unwrap());
        line(match sent == again {
            true => "written: as it came".to_owned(),
            false => format!("written: {}", std::str::from_utf8(&written).unwrap()),
        });
    }
    out
}

fn said(message: &Message<'_>) -> String {
    format!(
        "{}: {:?}",
        format!("{:?}", message.role).to_lowercase(),
        message.text
    )
}

fn result(word: &str, it: &ToolResult<'_>) -> String {
    let (id, arguments) = (
        it.call_id.as_deref(),
        it.arguments.as_ref().map(|it| it.text()),
    );
    let failed = if it.failed { " failed" } else { "" };
    format!(
        "{word}: {:?} {id:?} {arguments:?}{failed} {:?}",
        it.name, it.content
    )
}
