//! Lists of requests.

use std::hint::black_box;

use bytes::Bytes;
use copilot_wire::Request;
use copilot_wire::ag_ui::AgUi;
use copilot_wire::anthropic::Anthropic;
use copilot_wire::github::GitHub;
use copilot_wire::mcp::Mcp;
use copilot_wire::meilisearch::Meilisearch;
use copilot_wire::models::{Profile, Prompt as _, Upstream};
use copilot_wire::openai::OpenAi;
use copilot_wire::openbb::OpenBb;
use copilot_wire::protocol::{Conversation, Env, Protocol};
use copilot_wire::responses::Responses;
use copilot_wire::ui_stream::UiStream;

use super::{List, Lists, each};
use crate::Work;

/// Reads a request and does everything with it that agents and models' servers need.
fn request<P: Protocol>(body: String) -> Work
where
    P::Request: Conversation,
{
    let (head, body) = (head(), Bytes::from(body));
    Box::new(move || {
        let read = P::read(&head, black_box(body.clone())).unwrap();
        let session = P::session(&read, &P::Settings::default(), &Env::default());
        drop(black_box(session));
        let read = Request::<P>::new(read);
        black_box(read.decision());
        let counts = [
            read.history().count(),
            read.results().count(),
            read.documents().count(),
            read.tools().count(),
            OpenAi::prompt(&*read, &Profile::default()).body(true).len(),
            Responses::prompt(&*read, &Profile::default())
                .body(true)
                .len(),
            Anthropic::prompt(&*read, &Profile::default())
                .body(true)
                .len(),
        ];
        counts.iter().sum()
    })
}

/// Reads a request and asks a model of a dialect.
fn ask<P: Protocol, U: Upstream>(body: String) -> Work
where
    P::Request: Conversation,
{
    let (head, body) = (head(), Bytes::from(body));
    Box::new(move || {
        let read = P::read(&head, black_box(body.clone())).unwrap();
        U::prompt(&read, &Profile::default()).body(true).len()
    })
}

fn head() -> http::request::Parts {
    let mut head = http::Request::post("/").body(()).unwrap().into_parts().0;
    let json = http::HeaderValue::from_static("application/json");
    head.headers.insert("content-type", json);
    head
}

impl Lists {
    fn requests<P: Protocol>(of: &'static str) -> Self
    where
        P::Request: Conversation,
    {
        let mut lists = Self::new(of, request::<P>);
        lists.asks = const {
            &[
                ("openai", ask::<P, OpenAi>),
                ("responses", ask::<P, Responses>),
                ("anthropic", ask::<P, Anthropic>),
            ]
        };
        lists
    }

    /// Adds the orders of calls and their results. `calls` makes one item of several calls.
    fn calls(
        &mut self,
        frame: &'static str,
        calls: fn(&mut dyn Iterator<Item = usize>) -> String,
        result: fn(usize) -> String,
    ) {
        let in_frame = move |items: String| frame.replace("LIST", &items);
        let one = move |at: usize| calls(&mut std::iter::once(at));
        self.add("calls", move |count| in_frame(calls(&mut (0..count))));
        self.add("turns", move |count| {
            in_frame(each(count, |at| format!("{},{}", one(at), result(at))))
        });
        self.add("results", move |count| {
            let results = each(count, result);
            in_frame(format!("{},{results}", calls(&mut (0..count))))
        });
        self.add("reversed", move |count| {
            let results = each(count, |at| result(count - 1 - at));
            in_frame(format!("{},{results}", calls(&mut (0..count))))
        });
        self.add("before", move |count| {
            let results = each(count, result);
            in_frame(format!("{results},{}", calls(&mut (0..count))))
        });
        self.add("orphans", move |count| in_frame(each(count, result)));
        self.add("long-name", move |count| {
            let call = one(0).replace("f0000", &"f".repeat(16 * count));
            in_frame(format!("{call},{}", each(count, |_| result(0))))
        });
        self.add("same-call", move |count| {
            in_frame(format!("{},{}", each(count, |_| one(0)), result(0)))
        });
        self.add("same-result", move |count| {
            in_frame(format!("{},{}", one(0), each(count, |_| result(0))))
        });
    }
}

fn chat_calls(calls: &mut dyn Iterator<Item = usize>) -> String {
    let call = |at| {
        format!(
            r#"{{"id":"c{at:04}","type":"function","function":{{"name":"f{at:04}","arguments":"{{}}"}}}}"#
        )
    };
    let calls: Vec<_> = calls.map(call).collect();
    let calls = calls.join(",");
    // The names of chat completions and of AG-UI.
    format!(
        r#"{{"id":"a","role":"assistant","content":"","tool_calls":[{calls}],"toolCalls":[{calls}]}}"#
    )
}

fn chat_result(at: usize) -> String {
    format!(
        r#"{{"id":"r","role":"tool","tool_call_id":"c{at:04}","toolCallId":"c{at:04}","content":"r{at:04}"}}"#
    )
}

fn message(at: usize) -> String {
    let role = ["user", "assistant"][at % 2];
    format!(r#"{{"id":"m{at:04}","role":"{role}","content":"text {at:04}"}}"#)
}

fn unknown(at: usize) -> String {
    format!(r#""unknown{at:04}":{at}"#)
}

/// The lists of the dialects with messages like those of chat completions.
fn chat(lists: &mut Lists, frame: &'static str) {
    lists.of("messages", frame, message);
    lists.calls(frame, chat_calls, chat_result);
    lists.of(
        "members",
        frame
            .replacen('{', r#"{LIST,"#, 1)
            .replace(r#"[LIST]"#, r#"[{"id":"u","role":"user","content":"a"}]"#),
        unknown,
    );
    let one = |inside: &str| frame.replace("LIST", inside);
    lists.of(
        "message-members",
        one(r#"{"id":"u","role":"user","content":"a",LIST}"#),
        unknown,
    );
    lists.of(
        "parts",
        one(r#"{"id":"u","role":"user","content":[LIST]}"#),
        |at| format!(r#"{{"type":"text","text":"t{at:04}"}}"#),
    );
}

pub(super) fn lists() -> Vec<List> {
    let user = r#"{"role":"user","content":"a"}"#;
    let mut openai = Lists::requests::<OpenAi>("openai");
    chat(&mut openai, r#"{"model":"m","messages":[LIST]}"#);
    let of_user =
        |member: &str| format!(r#"{{"model":"m","max_tokens":1,"messages":[{user}],{member}}}"#);
    openai.of("tools", of_user(r#""tools":[LIST]"#), |at| {
        format!(r#"{{"type":"function","function":{{"name":"f{at:04}"}}}}"#)
    });
    openai.of(
        "images",
        r#"{"model":"m","messages":[{"role":"user","content":[LIST]}]}"#,
        |at| format!(r#"{{"type":"image_url","image_url":{{"url":"https://x/{at:04}"}}}}"#),
    );
    openai.of(
        "invalid",
        r#"{"model":"m","messages":[{"role":"user","content":"a"},LIST]}"#,
        |_| "null".to_owned(),
    );

    let mut github = Lists::requests::<GitHub>("github");
    chat(&mut github, r#"{"messages":[LIST]}"#);
    github.of("references", r#"{"messages":[{"role":"user","content":"a","copilot_references":[LIST]}]}"#, |at| format!(r#"{{"type":"client.file","id":"f{at:04}","data":{{"content":"x","language":"rust"}}}}"#));
    github.of(
        "confirmations",
        r#"{"messages":[{"role":"user","content":"a","copilot_confirmations":[LIST]}]}"#,
        |at| format!(r#"{{"state":"accepted","confirmation":{{"id":"c{at:04}"}}}}"#),
    );

    let mut meilisearch = Lists::requests::<Meilisearch>("meilisearch");
    chat(
        &mut meilisearch,
        r#"{"model":"m","stream":true,"messages":[LIST]}"#,
    );

    let mut ag_ui = Lists::requests::<AgUi>("ag_ui");
    chat(
        &mut ag_ui,
        r#"{"threadId":"t","runId":"r","state":{},"messages":[LIST],"tools":[],"context":[],"forwardedProps":{}}"#,
    );
    let with = |state: &str, tools: &str, context: &str| {
        format!(
            r#"{{"threadId":"t","runId":"r","state":{{{state}}},"messages":[{{"id":"u","role":"user","content":"a"}}],"tools":[{tools}],"context":[{context}],"forwardedProps":{{}}}}"#
        )
    };
    ag_ui.of("tools", with("", "LIST", ""), |at| {
        format!(r#"{{"name":"f{at:04}","description":"d","parameters":{{}}}}"#)
    });
    ag_ui.of("context", with("", "", "LIST"), |at| {
        format!(r#"{{"description":"d{at:04}","value":"v"}}"#)
    });
    ag_ui.of("state", with("LIST", "", ""), unknown);

    let mut responses = Lists::requests::<Responses>("responses");
    let input = r#"{"model":"m","input":[LIST]}"#;
    responses.of("messages", input, message);
    responses.calls(
        input,
        |calls| {
            let call = |at| format!(r#"{{"type":"function_call","call_id":"c{at:04}","name":"f{at:04}","arguments":"{{}}"}}"#);
            let calls: Vec<_> = calls.map(call).collect();
            calls.join(",")
        },
        |at| format!(r#"{{"type":"function_call_output","call_id":"c{at:04}","output":"r{at:04}"}}"#),
    );
    responses.of("reasoning", input, |at| {
        format!(r#"{{"type":"reasoning","id":"rs_{at:04}","summary":[],"encrypted_content":"x"}}"#)
    });
    responses.of("other-items", input, |at| {
        format!(r#"{{"type":"kind{at:04}","id":"i{at:04}"}}"#)
    });
    responses.of(
        "parts",
        r#"{"model":"m","input":[{"role":"user","content":[LIST]}]}"#,
        |at| format!(r#"{{"type":"input_text","text":"t{at:04}"}}"#),
    );
    let of_input = |member: &str| format!(r#"{{"model":"m","input":"a",{member}}}"#);
    responses.of("tools", of_input(r#""tools":[LIST]"#), |at| {
        format!(r#"{{"type":"function","name":"f{at:04}"}}"#)
    });
    responses.of("other-tools", of_input(r#""tools":[LIST]"#), |at| {
        format!(r#"{{"type":"custom","name":"f{at:04}"}}"#)
    });
    responses.of("members", of_input("LIST"), unknown);

    let mut anthropic = Lists::requests::<Anthropic>("anthropic");
    let messages = r#"{"model":"m","max_tokens":1,"messages":[LIST]}"#;
    anthropic.of("messages", messages, message);
    anthropic.calls(
        messages,
        |calls| {
            let call = |at| format!(r#"{{"type":"tool_use","id":"c{at:04}","name":"f{at:04}","input":{{}}}}"#);
            let calls: Vec<_> = calls.map(call).collect();
            format!(r#"{{"role":"assistant","content":[{}]}}"#, calls.join(","))
        },
        |at| format!(r#"{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"c{at:04}","content":"r{at:04}"}}]}}"#),
    );
    let content = |role: &str| {
        format!(
            r#"{{"model":"m","max_tokens":1,"messages":[{{"role":"{role}","content":[LIST]}}]}}"#
        )
    };
    anthropic.of("blocks", content("user"), |at| {
        format!(r#"{{"type":"text","text":"t{at:04}"}}"#)
    });
    anthropic.of("reminders", content("user"), |at| {
        format!(r#"{{"type":"text","text":"<system-reminder>{at:04}</system-reminder>"}}"#)
    });
    anthropic.of("thinking", content("assistant"), |at| {
        format!(r#"{{"type":"thinking","thinking":"t{at:04}","signature":"s"}}"#)
    });
    anthropic.of("documents", content("user"), |at| format!(r#"{{"type":"document","title":"d{at:04}","source":{{"type":"text","media_type":"text/plain","data":"x"}}}}"#));
    anthropic.of("tools", of_user(r#""tools":[LIST]"#), |at| {
        format!(r#"{{"name":"f{at:04}","input_schema":{{"type":"object"}}}}"#)
    });
    anthropic.of("system", of_user(r#""system":[LIST]"#), |at| {
        format!(r#"{{"type":"text","text":"s{at:04}"}}"#)
    });

    let mut page = Lists::requests::<UiStream>("ui_stream");
    let messages = r#"{"id":"c","trigger":"submit-message","messages":[LIST]}"#;
    page.of("messages", messages, |at| {
        format!(
            r#"{{"id":"m{at:04}","role":"user","parts":[{{"type":"text","text":"t{at:04}"}}]}}"#
        )
    });
    let parts = r#"{"id":"c","trigger":"submit-message","messages":[{"id":"m","role":"assistant","parts":[LIST]}]}"#;
    page.of("parts", parts, |at| {
        format!(r#"{{"type":"text","text":"t{at:04}"}}"#)
    });
    page.of("tools", parts, |at| format!(r#"{{"type":"tool-f{at:04}","toolCallId":"c{at:04}","state":"output-available","input":{{}},"output":{at}}}"#));
    page.of("same-tool", parts, |_| {
        r#"{"type":"tool-f","toolCallId":"c","state":"output-available","input":{},"output":1}"#
            .to_owned()
    });
    page.of("calls", parts, |at| {
        format!(
            r#"{{"type":"tool-f{at:04}","toolCallId":"c{at:04}","state":"input-available","input":{{}}}}"#
        )
    });
    page.of("turns", parts, |at| format!(r#"{{"type":"step-start"}},{{"type":"tool-f{at:04}","toolCallId":"c{at:04}","state":"output-available","input":{{}},"output":{at}}}"#));
    page.of("files", parts, |at| {
        format!(r#"{{"type":"file","mediaType":"image/png","url":"https://x/{at:04}"}}"#)
    });
    page.of("sources", parts, |at| {
        format!(r#"{{"type":"source-url","sourceId":"s{at:04}","url":"https://x/{at:04}"}}"#)
    });
    page.of("data", parts, |at| {
        format!(r#"{{"type":"data-x","id":"d{at:04}","data":{at}}}"#)
    });
    page.of("offered", r#"{"id":"c","trigger":"submit-message","messages":[{"id":"m","role":"user","parts":[{"type":"text","text":"a"}]}],"tools":{LIST}}"#, |at| format!(r#""f{at:04}":{{"description":"d"}}"#));

    let mut openbb = Lists::requests::<OpenBb>("openbb");
    let messages = r#"{"messages":[LIST]}"#;
    openbb.of("messages", messages, |at| {
        format!(
            r#"{{"role":"{}","content":"t{at:04}"}}"#,
            ["human", "ai"][at % 2]
        )
    });
    openbb.of("turns", messages, |at| format!(r#"{{"role":"ai","content":{{"function":"f{at:04}","input_arguments":{{}}}}}},{{"role":"tool","function":"f{at:04}","data":[{{"items":[{{"content":"x"}}]}}]}}"#));
    openbb.of("orphans", messages, |at| {
        format!(
            r#"{{"role":"tool","function":"f{at:04}","data":[{{"items":[{{"content":"x"}}]}}]}}"#
        )
    });
    for is_reversed in [false, true] {
        let name = if is_reversed { "reversed" } else { "sources" };
        openbb.add(name, move |count| {
            let source = |at: usize| format!(r#"{{"origin":"o","id":"w{at:04}","input_args":{{}}}}"#);
            let made = each(count, source);
            let found = each(count, |at| source(if is_reversed { count - 1 - at } else { at }));
            let data = each(count, |_| r#"{"items":[{"content":"x"}]}"#.to_owned());
            format!(r#"{{"messages":[{{"role":"human","content":"a"}},{{"role":"ai","content":{{"function":"get_widget_data","input_arguments":{{"data_sources":[{made}]}}}}}},{{"role":"tool","function":"get_widget_data","input_arguments":{{"data_sources":[{found}]}},"data":[{data}]}}]}}"#)
        });
    }
    let with =
        |member: &str| format!(r#"{{"messages":[{{"role":"human","content":"a"}}],{member}}}"#);
    openbb.of("widgets", with(r#""widgets":{"primary":[LIST]}"#), |at| {
        format!(r#"{{"origin":"o","widget_id":"w{at:04}","name":"W"}}"#)
    });
    openbb.of(
        "same-widget",
        with(r#""widgets":{"primary":[LIST]}"#),
        |_| r#"{"origin":"o","widget_id":"w","name":"W"}"#.to_owned(),
    );
    openbb.of(
        "params",
        with(r#""widgets":{"primary":[{"origin":"o","widget_id":"w","params":[LIST]}]}"#),
        |at| format!(r#"{{"name":"p{at:04}","type":"text"}}"#),
    );
    openbb.of("tools", with(r#""tools":[LIST]"#), |at| {
        format!(r#"{{"server_id":"s","name":"s_{at:04}"}}"#)
    });
    openbb.of("context", with(r#""context":[LIST]"#), |at| {
        format!(r#"{{"uuid":"u{at:04}","name":"T {at:04}","content":"x"}}"#)
    });
    openbb.of("documents", with(r#""documents":[LIST]"#), |at| {
        format!(r#"{{"id":"{at:04}","name":"a.txt","content_b64":"YQ=="}}"#)
    });
    openbb.of("files", with(r#""uploaded_files":[LIST]"#), |at| {
        format!(r#"{{"name":"{at:04}.pdf","mime":"application/pdf","data_base64":"YQ=="}}"#)
    });
    openbb.of("options", with(r#""workspace_options":[LIST]"#), |at| {
        format!(r#""o{at:04}=x""#)
    });
    openbb.of(
        "artifacts",
        r#"{"messages":[{"role":"ai","content":"LIST"}]}"#,
        |at| format!("<|start_artifact_id|>T{at:04}<|end_artifact_id|>"),
    );

    let mut mcp = Lists::requests::<Mcp>("mcp");
    let call = |arguments: &str, meta: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"words","arguments":{{"question":"hi"{arguments}}},"_meta":{{"progressToken":1{meta}}}}}}}"#
        )
    };
    mcp.of("arguments", call(",LIST", ""), unknown);
    mcp.of("meta", call("", ",LIST"), unknown);

    let all = [
        openai,
        github,
        meilisearch,
        ag_ui,
        responses,
        anthropic,
        page,
        openbb,
        mcp,
    ];
    all.into_iter().flat_map(|lists| lists.all).collect()
}
