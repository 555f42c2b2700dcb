//! Answers of models, of every type of block and item that has broken a gateway.

use serde_json::{Value, json};

/// A dialect: the path of its requests.
pub(crate) const CHAT: &str = "/v1/chat/completions";
pub(crate) const RESPONSES: &str = "/v1/responses";
pub(crate) const MESSAGES: &str = "/v1/messages";

/// An answer: the path of its dialect, a name, and the data of its events.
pub(crate) struct Sent {
    pub(crate) path: &'static str,
    pub(crate) name: &'static str,
    pub(crate) events: Vec<Value>,
}

fn chat(name: &'static str, choices: Vec<Value>) -> Sent {
    let chunk = |choices: Value| json!({"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "up", "choices": choices});
    let mut events: Vec<_> = choices.into_iter().map(|it| chunk(json!([it]))).collect();
    let mut usage = chunk(json!([]));
    usage["usage"] = json!({"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15});
    events.push(usage);
    Sent {
        path: CHAT,
        name,
        events,
    }
}

fn delta(delta: Value) -> Value {
    json!({"index": 0, "delta": delta, "finish_reason": null})
}

fn finish(reason: &str) -> Value {
    json!({"index": 0, "delta": {}, "finish_reason": reason})
}

/// A message: each block with its deltas.
fn message(name: &'static str, reason: &str, blocks: Vec<(Value, Vec<Value>)>) -> Sent {
    let mut events = vec![
        json!({"type": "message_start", "message": {"id": "msg_up", "type": "message",
        "role": "assistant", "model": "up", "content": [], "stop_reason": null, "stop_sequence": null,
        "container": null, "usage": {"input_tokens": 10, "output_tokens": 1}}}),
    ];
    for (index, (block, deltas)) in blocks.into_iter().enumerate() {
        events.push(json!({"type": "content_block_start", "index": index, "content_block": block}));
        for delta in deltas {
            events.push(json!({"type": "content_block_delta", "index": index, "delta": delta}));
        }
        events.push(json!({"type": "content_block_stop", "index": index}));
    }
    events.push(json!({"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": null},
        "usage": {"output_tokens": 5, "server_tool_use": {"web_search_requests": 1}}, "context_management": {"applied_edits": []}}));
    events.push(json!({"type": "message_stop"}));
    Sent {
        path: MESSAGES,
        name,
        events,
    }
}

fn text(text: &str) -> (Value, Vec<Value>) {
    let deltas = text.split_inclusive(' ');
    let deltas = deltas.map(|it| json!({"type": "text_delta", "text": it}));
    (json!({"type": "text", "text": ""}), deltas.collect())
}

fn thinking(text: &str, signature: &str) -> (Value, Vec<Value>) {
    let mut deltas = vec![json!({"type": "signature_delta", "signature": signature})];
    if !text.is_empty() {
        deltas.insert(0, json!({"type": "thinking_delta", "thinking": text}));
    }
    (
        json!({"type": "thinking", "thinking": "", "signature": ""}),
        deltas,
    )
}

fn call(kind: &str, name: &str) -> (Value, Vec<Value>) {
    let pieces = ["{\"a\":", " \"b\"}"];
    let deltas = pieces.map(|it| json!({"type": "input_json_delta", "partial_json": it}));
    (
        json!({"type": kind, "id": format!("{kind}_1"), "name": name, "input": {}}),
        deltas.to_vec(),
    )
}

/// A response: its items, each with the events between its start and its end.
fn response(name: &'static str, ending: &str, items: Vec<(Value, Vec<Value>)>) -> Sent {
    let object = |status: &str, output: &[Value]| {
        json!({"id": "resp_up", "object": "response", "created_at": 1, "model": "up", "status": status,
            "output": output, "error": null, "incomplete_details": null, "prompt_cache_retention": "24h",
            "usage": {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15}})
    };
    let mut events = vec![
        json!({"type": "response.created", "response": object("in_progress", &[])}),
        json!({"type": "response.in_progress", "response": object("in_progress", &[])}),
    ];
    let mut output = Vec::new();
    for (index, (item, between)) in items.into_iter().enumerate() {
        events.push(
            json!({"type": "response.output_item.added", "output_index": index, "item": item}),
        );
        for mut event in between {
            event["output_index"] = json!(index);
            event["item_id"] = item["id"].clone();
            events.push(event);
        }
        events.push(
            json!({"type": "response.output_item.done", "output_index": index, "item": item}),
        );
        output.push(item);
    }
    events.push(json!({"type": format!("response.{ending}"), "response": object(ending, &output)}));
    for (number, event) in events.iter_mut().enumerate() {
        // Some servers do not count from zero.
        event["sequence_number"] = json!(number + 3);
    }
    Sent {
        path: RESPONSES,
        name,
        events,
    }
}

fn said(id: &str, phase: &str) -> (Value, Vec<Value>) {
    let part = json!({"type": "output_text", "text": "A b", "annotations": []});
    let item = json!({"type": "message", "id": id, "role": "assistant", "status": "completed", "phase": phase, "content": [part]});
    let delta = |it: &str| json!({"type": "response.output_text.delta", "content_index": 0, "delta": it, "obfuscation": "x"});
    (item, vec![delta("A "), delta("b")])
}

/// Returns all answers.
pub(crate) fn sent() -> Vec<Sent> {
    let item = |item: Value| (item, Vec::new());
    let piece = |kind: &str, delta: &str| json!({"type": kind, "delta": delta});
    let citation = json!({"type": "citations_delta", "citation": {"type": "web_search_result_location",
        "url": "https://e.example", "title": "T", "encrypted_index": "i", "cited_text": "c"}});
    let found = json!({"type": "web_search_tool_result", "tool_use_id": "server_tool_use_1",
        "content": [{"type": "web_search_result", "url": "https://e.example", "title": "T", "encrypted_content": "e"}]});
    let call_of = |id: &str, name: &str, arguments: &str| json!({"tool_calls": [{"index": 0, "id": id, "type": "function", "function": {"name": name, "arguments": arguments}}]});
    vec![
        message(
            "omitted thinking",
            "tool_use",
            vec![thinking("", "SIG"), call("tool_use", "get_tide")],
        ),
        message(
            "thinking after text",
            "tool_use",
            vec![
                text("Let me check."),
                thinking("hm", "SIG"),
                call("tool_use", "get_tide"),
            ],
        ),
        message(
            "server tools",
            "end_turn",
            vec![
                call("server_tool_use", "web_search"),
                (found, vec![]),
                text("one "),
                {
                    let (block, mut deltas) = text("two");
                    deltas.insert(0, citation);
                    (block, deltas)
                },
                text("three"),
            ],
        ),
        message(
            "a pause",
            "pause_turn",
            vec![call("server_tool_use", "web_search")],
        ),
        message(
            "a compaction",
            "compaction",
            vec![(
                json!({"type": "compaction", "content": ""}),
                vec![json!({"type": "compaction_delta", "content": "all so far"})],
            )],
        ),
        message(
            "a tool that was not offered",
            "tool_use",
            vec![call("tool_use", "Other")],
        ),
        message(
            "the window",
            "model_context_window_exceeded",
            vec![text("Half")],
        ),
        response(
            "phases",
            "completed",
            vec![
                said("msg_1", "commentary"),
                item(
                    json!({"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "Other", "arguments": "null", "status": "completed"}),
                ),
                said("msg_2", "final_answer"),
            ],
        ),
        response(
            "a hosted shell",
            "completed",
            vec![
                item(
                    json!({"type": "shell_call", "id": "sh_1", "call_id": "c1", "status": "completed", "action": {"commands": ["ls"], "timeout_ms": null}, "environment": {"type": "container_reference", "container_id": "c"}}),
                ),
                item(
                    json!({"type": "shell_call_output", "id": "sho_1", "call_id": "c1", "output": [{"stdout": "a", "stderr": "", "outcome": {"type": "exit", "exit_code": 0}}]}),
                ),
                said("msg_1", "final_answer"),
            ],
        ),
        response(
            "a hosted search of tools",
            "completed",
            vec![
                item(
                    json!({"type": "tool_search_call", "id": "ts_1", "call_id": "c1", "status": "completed", "execution": "server", "arguments": {"q": "x"}}),
                ),
                item(
                    json!({"type": "tool_search_output", "id": "tso_1", "call_id": "c1", "status": "completed", "execution": "server", "tools": []}),
                ),
                said("msg_1", "final_answer"),
            ],
        ),
        response(
            "an approval",
            "completed",
            vec![item(
                json!({"type": "mcp_approval_request", "id": "mcpr_1", "name": "t", "server_label": "s", "arguments": "{}"}),
            )],
        ),
        response(
            "raw reasoning",
            "incomplete",
            vec![(
                json!({"type": "reasoning", "id": "rs_1", "summary": [], "content": [{"type": "reasoning_text", "text": "hm"}]}),
                vec![piece("response.reasoning_text.delta", "hm")],
            )],
        ),
        response(
            "a custom call",
            "completed",
            vec![(
                json!({"type": "custom_tool_call", "id": "ctc_1", "call_id": "c1", "name": "patch", "input": "*** Begin"}),
                vec![piece("response.custom_tool_call_input.delta", "*** Begin")],
            )],
        ),
        response(
            "next month",
            "completed",
            vec![(
                json!({"type": "dream", "id": "d_1", "shape": {"a": [1, 2]}}),
                vec![
                    piece("response.dream.delta", "z"),
                    json!({"type": "response.dream.deeper", "delta": {"not": "a text"}}),
                ],
            )],
        ),
        chat(
            "lists",
            vec![
                delta(json!({"role": "assistant", "content": ""})),
                delta(
                    json!({"reasoning_details": [{"type": "reasoning.text", "text": "Let", "index": 0}], "images": [{"type": "image_url", "index": 0, "image_url": {"url": "data:image/png;base64,AAA"}}]}),
                ),
                delta(
                    json!({"reasoning_details": [{"type": "reasoning.text", "signature": "SIG", "index": 0}], "audio": {"data": "BBBB"}}),
                ),
                finish("stop"),
            ],
        ),
        chat(
            "an id with each piece",
            vec![
                delta(call_of("a", "get_tide", "{")),
                delta(call_of("b", "", "}")),
                finish("tool_calls"),
            ],
        ),
        chat(
            "a tool that was not offered",
            vec![
                delta(json!({"content": "Now."})),
                delta(call_of("a", "Other", "null")),
                finish("tool_calls"),
            ],
        ),
        chat(
            "thinking parts",
            vec![
                delta(
                    json!({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}]}),
                ),
                delta(json!({"content": "A"})),
                finish("error"),
            ],
        ),
    ]
}

/// Returns the stream of an answer, as its vendor writes it.
pub(crate) fn stream(sent: &Sent) -> String {
    let mut all = String::new();
    for event in &sent.events {
        if sent.path != CHAT {
            all += &format!("event: {}\n", event["type"].as_str().unwrap());
        }
        all += &format!("data: {event}\n\n");
        if event["type"] == "message_start" {
            all += "event: ping\ndata: {\"type\": \"ping\"}\n\n";
        }
    }
    match sent.path {
        CHAT => all + "data: [DONE]\n\n",
        _ => all,
    }
}

/// Returns the blocks of a message, put together from its events.
pub(crate) fn blocks(sent: &Sent) -> Value {
    let mut blocks: Vec<Value> = Vec::new();
    let mut input = String::new();
    for event in &sent.events {
        match event["type"].as_str().unwrap() {
            "content_block_start" => blocks.push(event["content_block"].clone()),
            "content_block_stop" if !input.is_empty() => {
                blocks.last_mut().unwrap()["input"] = serde_json::from_str(&input).unwrap();
                input.clear();
            }
            "content_block_delta" => {
                let block = blocks.last_mut().unwrap();
                for (name, piece) in event["delta"].as_object().unwrap() {
                    match (&**name, piece.as_str()) {
                        ("type", _) => {}
                        ("partial_json", Some(piece)) => input += piece,
                        ("signature", _) => block[name] = piece.clone(),
                        ("citation", _) => block["citations"] = json!([piece]),
                        (_, piece) => {
                            let text = block[name].as_str().unwrap().to_owned();
                            block[name] = json!(text + piece.unwrap());
                        }
                    }
                }
            }
            _ => {}
        }
    }
    json!(blocks)
}
