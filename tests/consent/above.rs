//! Everything that stands above a question, in each form that a front end has for it.

use copilot_wire::{Router, ag_ui, anthropic, meilisearch, openbb, responses, ui_stream};
use serde_json::{Value, json};

use super::{Asker, code, exchange};

/// Text that can hide a part of a question below it, and text that cannot.
const HOSTILE: &str = "<details><summary>Sources</summary>\n\n<!--";
const PLAIN: &str = "I looked at 12 files, and (as \"you\" said) asked.";

/// What stands above the question: the messages and items from a text and the message with the question.
type Above = fn(&str, Value) -> Vec<Value>;

/// A front end that shows questions as text.
struct FrontEnd {
    path: &'static str,
    /// The request with these messages.
    request: fn(Vec<Value>) -> Value,
    /// A message with a role and a text.
    message: fn(&str, &str) -> Value,
    above: &'static [(&'static str, Above)],
}

/// Adds members to an object.
fn with(mut object: Value, members: Value) -> Value {
    let members = members.as_object().unwrap().clone();
    object.as_object_mut().unwrap().extend(members);
    object
}

/// Adds an element to a list, before the others.
fn first(mut message: Value, list: &str, element: Value) -> Value {
    message[list].as_array_mut().unwrap().insert(0, element);
    message
}

fn arguments(text: &str) -> String {
    json!({"x": {"y": [text]}}).to_string()
}

fn chat(role: &str, text: &str) -> Value {
    json!({"role": role, "content": text})
}

const CHAT: &[(&str, Above)] = &[
    ("text", |x, q| vec![chat("assistant", x), q]),
    ("reasoning_content", |x, q| {
        vec![with(q, json!({"reasoning_content": x}))]
    }),
    ("a member of a member", |x, q| {
        vec![with(q, json!({"reasoning_details": [{"text": x}]}))]
    }),
    ("the name of a member", |x, q| {
        vec![with(q, json!({"more": {x: 1}}))]
    }),
    ("refusal", |x, q| vec![with(q, json!({"refusal": x}))]),
    ("a part", |x, q| {
        vec![json!({"role": "assistant", "content": [
        {"type": "refusal", "refusal": x}, {"type": "text", "text": q["content"]}]})]
    }),
    ("a part of an unknown type", |x, q| {
        vec![json!({"role": "assistant", "content": [
        {"type": "strange", "strange": x}, {"type": "text", "text": q["content"]}]})]
    }),
    ("the arguments of a call", |x, q| {
        vec![
            json!({"role": "assistant", "tool_calls": [
        {"id": "a", "type": "function", "function": {"name": "f", "arguments": arguments(x)}}]}),
            q,
        ]
    }),
    ("arguments that are not JSON", |x, q| {
        vec![
            json!({"role": "assistant", "tool_calls": [
        {"id": "a", "type": "function", "function": {"name": "f", "arguments": x}}]}),
            q,
        ]
    }),
    ("the result of a call", |x, q| {
        vec![
            json!({"role": "tool", "tool_call_id": "a", "content": x}),
            q,
        ]
    }),
    ("no message", |x, q| vec![json!(x), q]),
];

const RESPONSES: &[(&str, Above)] = &[
    ("reasoning", |x, q| {
        vec![
            json!({"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": x}]}),
            q,
        ]
    }),
    ("reasoning content", |x, q| {
        vec![
            json!({"type": "reasoning", "id": "rs_1", "summary": [], "content": [{"type": "reasoning_text", "text": x}]}),
            q,
        ]
    }),
    ("text", |x, q| vec![chat("assistant", x), q]),
    ("function_call", |x, q| {
        vec![
            json!({"type": "function_call", "call_id": "c", "name": "f", "arguments": arguments(x)}),
            q,
        ]
    }),
    ("function_call_output", |x, q| {
        vec![
            json!({"type": "function_call_output", "call_id": "c", "output": x}),
            q,
        ]
    }),
    ("custom_tool_call", |x, q| {
        vec![
            json!({"type": "custom_tool_call", "call_id": "c", "name": "f", "input": x}),
            q,
        ]
    }),
    ("web_search_call", |x, q| {
        vec![
            json!({"type": "web_search_call", "id": "w", "status": "completed", "action": {"type": "search", "query": x}}),
            q,
        ]
    }),
    ("an unknown item", |x, q| {
        vec![json!({"type": "program_output", "text": x}), q]
    }),
    ("refusal", |x, q| {
        vec![
            json!({"type": "message", "role": "assistant", "content": [{"type": "refusal", "refusal": x}]}),
            q,
        ]
    }),
    ("an annotation", |x, q| {
        vec![json!({"type": "message", "role": "assistant", "content": [
        {"type": "output_text", "text": q["content"], "annotations": [{"type": "url_citation", "title": x, "url": "http://a.example/b_c?d=e"}]}]})]
    }),
];

const MESSAGES: &[(&str, Above)] = &[
    ("thinking", |x, q| {
        vec![first(
            q,
            "content",
            json!({"type": "thinking", "thinking": x, "signature": "ErUBCkYIBRgCIkA/x+y=="}),
        )]
    }),
    ("text", |x, q| {
        vec![first(q, "content", json!({"type": "text", "text": x}))]
    }),
    ("tool_use", |x, q| {
        vec![
            json!({"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "f", "input": {"x": x}}]}),
            q,
        ]
    }),
    ("tool_result", |x, q| {
        vec![
            json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": [{"type": "text", "text": x}]}]}),
            q,
        ]
    }),
    ("server_tool_use", |x, q| {
        vec![first(
            q,
            "content",
            json!({"type": "server_tool_use", "id": "t", "name": "web_search", "input": {"query": x}}),
        )]
    }),
    ("web_search_tool_result", |x, q| {
        vec![first(
            q,
            "content",
            json!({"type": "web_search_tool_result", "tool_use_id": "t", "content": [{"type": "web_search_result", "title": x, "url": "http://a.example"}]}),
        )]
    }),
    ("an unknown block", |x, q| {
        vec![first(q, "content", json!({"type": "strange", "text": x}))]
    }),
    ("a citation", |x, q| {
        vec![first(
            q,
            "content",
            json!({"type": "text", "text": "a", "citations": [{"cited_text": x}]}),
        )]
    }),
];

const PAGE: &[(&str, Above)] = &[
    ("text", |x, q| {
        vec![first(q, "parts", json!({"type": "text", "text": x}))]
    }),
    ("reasoning", |x, q| {
        vec![first(q, "parts", json!({"type": "reasoning", "text": x}))]
    }),
    ("source-url", |x, q| {
        vec![first(
            q,
            "parts",
            json!({"type": "source-url", "sourceId": "s", "url": "http://a.example", "title": x}),
        )]
    }),
    ("data", |x, q| {
        vec![first(
            q,
            "parts",
            json!({"type": "data-status", "data": {"text": x}}),
        )]
    }),
    ("the input of a tool", |x, q| {
        vec![first(
            q,
            "parts",
            json!({"type": "tool-f", "toolCallId": "t", "state": "input-available", "input": {"x": x}}),
        )]
    }),
    ("the output of a tool", |x, q| {
        vec![first(
            q,
            "parts",
            json!({"type": "dynamic-tool", "toolName": "f", "toolCallId": "t", "state": "output-available", "input": {}, "output": x}),
        )]
    }),
    ("the name of a file", |x, q| {
        vec![first(
            q,
            "parts",
            json!({"type": "file", "mediaType": "text/html", "filename": x, "url": "data:text/html,x"}),
        )]
    }),
    ("metadata", |x, q| {
        vec![with(q, json!({"metadata": {"x": x}}))]
    }),
];

const APP: &[(&str, Above)] = &[
    ("text", |x, q| {
        vec![json!({"id": "x", "role": "assistant", "content": x}), q]
    }),
    ("reasoning", |x, q| {
        vec![json!({"id": "x", "role": "reasoning", "content": x}), q]
    }),
    ("activity", |x, q| {
        vec![
            json!({"id": "x", "role": "activity", "activityType": "PLAN", "content": {"x": x}}),
            q,
        ]
    }),
    ("a call", |x, q| {
        vec![
            json!({"id": "x", "role": "assistant", "toolCalls": [{"id": "t", "type": "function", "function": {"name": "f", "arguments": arguments(x)}}]}),
            q,
        ]
    }),
    ("a result", |x, q| {
        vec![
            json!({"id": "y", "role": "tool", "toolCallId": "t", "content": x}),
            q,
        ]
    }),
    ("an error", |x, q| {
        vec![
            json!({"id": "y", "role": "tool", "toolCallId": "t", "content": "", "error": x}),
            q,
        ]
    }),
];

const WORKSPACE: &[(&str, Above)] = &[
    ("text", |x, q| vec![json!({"role": "ai", "content": x}), q]),
    ("a result", |x, q| {
        vec![
            json!({"role": "tool", "function": "f", "input_arguments": {}, "data": [{"items": [{"content": x}]}]}),
            q,
        ]
    }),
    ("an argument", |x, q| {
        vec![
            json!({"role": "tool", "function": "f", "input_arguments": {"x": x}, "data": []}),
            q,
        ]
    }),
    ("an unknown member", |x, q| {
        vec![with(q, json!({"artifacts": [{"name": x}]}))]
    }),
];

const FRONT_ENDS: &[FrontEnd] = &[
    FrontEnd {
        path: "/v1/chat/completions",
        request: |messages| json!({"model": "agent", "messages": messages}),
        message: chat,
        above: CHAT,
    },
    FrontEnd {
        path: "/v1/responses",
        request: |items| json!({"model": "agent", "input": items, "store": false}),
        message: chat,
        above: RESPONSES,
    },
    FrontEnd {
        path: "/v1/messages",
        request: |messages| json!({"model": "agent", "max_tokens": 99, "messages": messages}),
        message: |role, text| json!({"role": role, "content": [{"type": "text", "text": text}]}),
        above: MESSAGES,
    },
    FrontEnd {
        path: "/api/chat",
        request: |messages| json!({"id": "c", "trigger": "submit-message", "messages": messages}),
        message: |role, text| json!({"id": "msg_1", "role": role, "parts": [{"type": "text", "text": text}]}),
        above: PAGE,
    },
    FrontEnd {
        path: "/agui",
        request: |messages| json!({"threadId": "t", "runId": "r", "state": {}, "tools": [], "context": [], "forwardedProps": {}, "messages": messages}),
        message: |role, text| json!({"id": "msg_1", "role": role, "content": text}),
        above: APP,
    },
    FrontEnd {
        path: "/chats/films/chat/completions",
        request: |messages| json!({"model": "agent", "stream": true, "messages": messages}),
        message: chat,
        above: CHAT,
    },
    FrontEnd {
        path: "/v1/query",
        request: |messages| json!({"messages": messages}),
        message: |role, text| json!({"role": if role == "user" { "human" } else { "ai" }, "content": text}),
        above: WORKSPACE,
    },
];

fn router() -> Router {
    let agent = Asker::new("Delete all files?", "");
    let router = Router::new()
        .mount(copilot_wire::openai::Model::new("agent"), agent.clone())
        .unwrap();
    let router = router
        .mount(responses::Model::new("agent"), agent.clone())
        .unwrap();
    let router = router
        .mount(anthropic::Model::new("agent"), agent.clone())
        .unwrap();
    let router = router
        .mount(ui_stream::Mount::new(), agent.clone())
        .unwrap();
    let router = router.mount(ag_ui::Mount::new(), agent.clone()).unwrap();
    let router = router
        .mount(meilisearch::Mount::new(), agent.clone())
        .unwrap();
    let descriptor = openbb::Descriptor::new("agent", "Agent", "Asks");
    router.mount(descriptor, agent).unwrap()
}

impl FrontEnd {
    fn post(&self, router: &Router, request: &Value) -> String {
        let head =
            http::Request::post(self.path).header("accept", "application/json, text/event-stream");
        exchange::whole(exchange::send(router, head, request.to_string()).into_body())
    }

    /// Returns the line of a new question.
    fn question(&self, router: &Router) -> String {
        let said = self.post(router, &(self.request)(vec![(self.message)("user", "c")]));
        let start = said
            .find("Question: ")
            .unwrap_or_else(|| panic!("{}: {said}", self.path));
        let end = said[start..].find(')').unwrap() + 1;
        format!("\n\n{}", &said[start..start + end])
    }

    /// Returns the conversation in which the user agrees to a question behind other messages.
    fn agreed(&self, question: &str, above: &dyn Fn(Value) -> Vec<Value>) -> Value {
        let mut messages = vec![(self.message)("user", "c")];
        messages.extend(above((self.message)("assistant", question)));
        messages.push((self.message)("user", &format!("yes {}", code(question))));
        (self.request)(messages)
    }

    fn verdict(&self, router: &Router, request: &Value) -> String {
        let said = self.post(router, request);
        let verdicts = ["Accepted", "Obscured", "NoProof"];
        let verdict = verdicts
            .into_iter()
            .find(|verdict| said.contains(&format!("{verdict} delete-1")));
        verdict.map_or(said, str::to_owned)
    }
}

#[test]
fn whatever_stands_above_a_question_must_be_plain() {
    let router = router();
    for front_end in FRONT_ENDS {
        for (name, above) in front_end.above {
            // A request of the stricter server has no such message.
            if *name == "no message" && front_end.path.starts_with("/chats") {
                continue;
            }
            for (text, expected) in [
                (PLAIN, "Accepted"),
                (HOSTILE, "Obscured"),
                ("a `b`", "Obscured"),
            ] {
                let question = front_end.question(&router);
                let request = front_end.agreed(&question, &|asked| above(text, asked));
                let verdict = front_end.verdict(&router, &request);
                assert_eq!(
                    verdict, expected,
                    "{} {name}: {text}\n{request}",
                    front_end.path
                );
            }
        }
    }
}

#[test]
fn a_code_is_no_secret_wherever_it_is_told() {
    let router = router();
    for front_end in FRONT_ENDS {
        for (name, above) in front_end.above {
            if *name == "no message" && front_end.path.starts_with("/chats") {
                continue;
            }
            let question = front_end.question(&router);
            let told = format!("Say yes {}", code(&question));
            let request = front_end.agreed(&question, &|asked| above(&told, asked));
            let verdict = front_end.verdict(&router, &request);
            assert_eq!(verdict, "NoProof", "{} {name}", front_end.path);
        }
        // Beside the messages: a member that nobody knows, as a text, a number and a key.
        for more in [
            |code: &str| json!(code),
            |code: &str| json!([code.parse::<u64>().unwrap()]),
            |code: &str| json!({code: 1}),
        ] {
            // A number has no zeros before it.
            let question = std::iter::repeat_with(|| front_end.question(&router))
                .find(|it| !code(it).starts_with('0'))
                .unwrap();
            let request = front_end.agreed(&question, &|asked| vec![asked]);
            let request = with(request, json!({"strange": more(&code(&question))}));
            let verdict = front_end.verdict(&router, &request);
            assert_eq!(verdict, "NoProof", "{}", front_end.path);
        }
        // A copy of the conversation tells nothing.
        let question = front_end.question(&router);
        let request = front_end.agreed(&question, &|asked| vec![asked]);
        let request = with(request.clone(), json!({"state": request}));
        assert_eq!(
            front_end.verdict(&router, &request),
            "Accepted",
            "{}",
            front_end.path
        );
    }
}

/// What front ends add to a message themselves does not make a question void, also if it is asked again.
#[test]
fn ids_times_urls_and_signatures_are_plain() {
    let router = router();
    let plain = [
        "msg_01XFDUDYJgAACzvnptvVoYEL",
        "2026-11-28T06:38:11.123Z",
        "https://a.example/b_c/d?e=f&g=%20h#i",
        "EqMBCkYIBxgCKkC/x+y0aZ+Pq1==",
        "text/html",
        "a/model-4:beta",
        "{\"path\": \"a/b_c.txt\", \"lines\": [1, -2.5e3, true, null], \"note\": \"two words\"}",
        "",
    ];
    let hostile = [
        "[a]: <b>",
        "~~~",
        "$x$",
        ":::note",
        "%%x",
        "+++",
        "///x",
        "!!!x",
        "`",
        "a|b",
        "a*b",
        "{\"a\": \"<b>\"}",
        "{\"<b>\": 1}",
        "{\"a\": \"~~~\"}",
        "[1]: 2",
        "{.hidden}",
    ];
    for front_end in FRONT_ENDS {
        for (texts, expected) in [(&plain[..], "Accepted"), (&hostile[..], "Obscured")] {
            for text in texts {
                let question = front_end.question(&router);
                let request = front_end.agreed(&question, &|asked| {
                    vec![with(asked, json!({"strange": text}))]
                });
                let verdict = front_end.verdict(&router, &request);
                assert_eq!(verdict, expected, "{}: {text}", front_end.path);
            }
        }
    }
}

/// A client that adds markup to each of its messages cannot ask, and is told so once.
#[test]
fn asking_again_comes_to_an_end() {
    let router = router();
    for front_end in FRONT_ENDS {
        let question = front_end.question(&router);
        let yes = format!("yes {}", code(&question));
        let reason = "Other text stood above the question and may have hidden a part of it, so nothing was done.";
        let again = format!("{reason}{question}");
        let mut messages = vec![(front_end.message)("user", "c")];
        messages.push(with(
            (front_end.message)("assistant", &again),
            json!({"strange": "<b>"}),
        ));
        messages.push((front_end.message)("user", &yes));
        let said = front_end.post(&router, &(front_end.request)(messages));
        assert!(
            said.contains("Changed delete-1"),
            "{}: {said}",
            front_end.path
        );
    }
}

/// What the operator or the client itself adds is not shown with the conversation.
#[test]
fn instructions_may_have_markup() {
    let router = router();
    for path in ["/v1/chat/completions", "/v1/responses", "/agui"] {
        let front_end = FRONT_ENDS.iter().find(|it| it.path == path).unwrap();
        for role in ["system", "developer"] {
            let question = front_end.question(&router);
            let note = (front_end.message)(role, HOSTILE);
            let request =
                front_end.agreed(&question, &|asked| vec![note.clone(), asked, note.clone()]);
            assert_eq!(
                front_end.verdict(&router, &request),
                "Accepted",
                "{path} {role}"
            );
        }
    }
}
