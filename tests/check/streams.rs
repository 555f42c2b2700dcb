//! Streams that nothing is wrong with, with everything in them that rules are about.

use serde_json::{Value, json};

pub(crate) const OPENBB: &str = r#"event: copilotStatusUpdate
data: {"eventType":"INFO","message":"Looking","group":"reasoning","details":[],"hidden":false}

: ping

event: copilotMessageChunk
data: {"delta":"Here it is."}

event: copilotMessageArtifact
data: {"type":"table","name":"Table","description":"T","uuid":"1","content":[{"x":1}]}

event: copilotMessageArtifact
data: {"type":"chart","name":"Chart","description":"C","uuid":"2","content":[{"x":1,"y":2}],"chart_params":{"chartType":"line","xKey":"x","yKey":["y"]}}

event: copilotCitationCollection
data: {"citations":[{"id":"3","source_info":{"type":"web","name":"https://a.example","metadata":{},"citable":true}}]}

event: copilotPromptSuggestions
data: {"suggestions":["More?"]}

event: copilotFunctionCall
data: {"function":"get_widget_data","input_arguments":{"data_sources":[{"widget_uuid":"4","origin":"A","id":"b","input_args":{}}]},"extra_state":{"copilot_function_call_arguments":{"summary":"s"}}}

"#;

pub(crate) const CALL: &str = r#"{"function":"get_widget_data","input_arguments":{"data_sources":[{"widget_uuid":"4","origin":"A","id":"b","input_args":{}}]},"extra_state":{"copilot_function_call_arguments":{"summary":"s"}}}"#;

pub(crate) const GITHUB: &str = r#"data: {"choices":[{"index":0,"delta":{"content":"","role":"assistant"}}]}

data: {"choices":[{"index":0,"delta":{"content":"Hello","role":"assistant"}}]}

event: copilot_references
data: [{"type":"a.b","id":"1","data":{},"is_implicit":false,"metadata":{"display_name":"One","display_icon":"https://a.example/i.png"}}]

data: {"choices":[{"index":0,"finish_reason":"stop","delta":{"content":null}}]}

data: [DONE]

"#;

pub(crate) const REFERENCES: &str = r#"event: copilot_references
data: [{"type":"a.b","id":"1","data":{},"is_implicit":false,"metadata":{"display_name":"One","display_icon":"https://a.example/i.png"}}]
"#;

pub(crate) const CONFIRMATION: &str = r#"event: copilot_confirmation
data: {"type":"action","title":"Sure?","message":"Really?","confirmation":{"id":"1"}}
"#;

pub(crate) const ERRORS: &str = r#"event: copilot_errors
data: [{"type":"agent","code":"c","message":"It failed.","identifier":"i"}]
"#;

pub(crate) const OPENAI: &str = r#"data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}

data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"Hello"},"finish_reason":null}]}

data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}

data: [DONE]

"#;

/// The chunk with the text of [`OPENAI`].
pub(crate) const HELLO: &str = r#"data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"Hello"},"finish_reason":null}]}

"#;

/// The chunk that ends the answer of [`OPENAI`].
pub(crate) const STOP: &str = r#"data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}

"#;

pub(crate) const FAILURE: &str = r#"data: {"error":{"message":"It failed.","type":"server_error","param":null,"code":null}}

"#;

pub(crate) const OPENAI_CALL: &str = r#"data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":null},"finish_reason":null}]}

data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"get_weather","arguments":""}}]},"finish_reason":null}]}

data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"place\":"}}]},"finish_reason":null}]}

data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"\"Brest\"}"}}]},"finish_reason":null}]}

data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}

data: [DONE]

"#;

/// The chunk that begins a second call in [`OPENAI_CALL`] before the first one is complete.
pub(crate) const SECOND_CALL: &str = r#"data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"tool_calls":[{"index":1,"id":"call_2","type":"function","function":{"name":"get_weather","arguments":"{}"}}]},"finish_reason":null}]}

"#;

/// The second fragment of the call in [`OPENAI_CALL`].
pub(crate) const FRAGMENT: &str = r#"data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"place\":"}}]},"finish_reason":null}]}

"#;

pub(crate) const USAGE: &str = r#"data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"m","choices":[],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}

"#;

pub(crate) const MEILISEARCH: &str = r#"data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"Hello","tool_calls":null},"finish_reason":null}]}

data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":null},"finish_reason":"stop"}]}

data: [DONE]

"#;

pub(crate) fn whole() -> Value {
    json!({
        "id": "c1", "object": "chat.completion", "created": 1, "model": "m",
        "choices": [{
            "index": 0, "message": {"role": "assistant", "content": "Hello"}, "finish_reason": "stop",
        }],
    })
}

pub(crate) fn descriptor() -> Value {
    json!({"agent": {
        "name": "Agent", "description": "Answers",
        "endpoints": {"query": "/v1/query", "feedback": "/feedback"},
        "features": {
            "streaming": true, "feedback": true,
            "model": {"label": "Model", "type": "select", "options": [{"label": "A", "value": "a"}]},
        },
    }})
}

/// One notification, as an event.
pub(crate) fn notification(name: &str, arguments: &Value) -> String {
    let call = json!({
        "index": 0, "id": "n", "type": "function",
        "function": {"name": name, "arguments": arguments.to_string()},
    });
    let chunk = json!({
        "id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m",
        "choices": [{"index": 0, "delta": {"tool_calls": [call]}, "finish_reason": null}],
    });
    format!("data: {chunk}\n\n")
}

pub(crate) fn progress() -> String {
    let arguments = json!({
        "call_id": "a", "function_name": "_meiliSearchInIndex", "function_arguments": "{}",
    });
    notification("_meiliSearchProgress", &arguments)
}

pub(crate) fn sources() -> String {
    notification(
        "_meiliSearchSources",
        &json!({"call_id": "a", "sources": []}),
    )
}

/// The result of the call that is to be kept.
pub(crate) fn kept_result() -> String {
    let result = json!({"role": "tool", "content": "", "tool_call_id": "a"});
    notification("_meiliAppendConversationMessage", &result)
}

/// A search with all its notifications, and an answer.
pub(crate) fn searches() -> String {
    let call = json!({"role": "assistant", "tool_calls": [{
        "id": "a", "type": "function", "function": {"name": "_meiliSearchInIndex", "arguments": "{}"},
    }]});
    let kept = notification("_meiliAppendConversationMessage", &call);
    [
        progress(),
        kept,
        sources(),
        kept_result(),
        MEILISEARCH.to_owned(),
    ]
    .concat()
}

pub(crate) const ANTHROPIC: &str = r#"event: message_start
data: {"type":"message_start","message":{"id":"m1","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":0}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"Hm."}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"x"}}

event: content_block_stop
data: {"type":"content_block_stop","index":0}

event: content_block_start
data: {"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"Hello"}}

event: content_block_stop
data: {"type":"content_block_stop","index":1}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":2}}

event: message_stop
data: {"type":"message_stop"}

"#;

/// The blocks of [`ANTHROPIC`] that say something, and what follows them.
pub(crate) const ANTHROPIC_TEXT: &str = r#"event: content_block_start
data: {"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"Hello"}}

event: content_block_stop
data: {"type":"content_block_stop","index":1}

"#;

/// The end of [`ANTHROPIC`], from the stop of its text on.
pub(crate) const ANTHROPIC_END: &str = r#"event: content_block_stop
data: {"type":"content_block_stop","index":1}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":2}}

event: message_stop
data: {"type":"message_stop"}

"#;

pub(crate) const ANTHROPIC_CALL: &str = r#"event: message_start
data: {"type":"message_start","message":{"id":"m1","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":0}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}

event: ping
data: {"type":"ping"}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Look."}}

event: content_block_stop
data: {"type":"content_block_stop","index":0}

event: content_block_start
data: {"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"toolu_1","name":"get_weather","input":{}}}

event: content_block_delta
data: {"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"place\":"}}

event: content_block_delta
data: {"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"\"Brest\"}"}}

event: content_block_stop
data: {"type":"content_block_stop","index":1}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":2}}

event: message_stop
data: {"type":"message_stop"}

"#;

/// An answer to a client that asked for no stream.
pub(crate) fn message() -> Value {
    json!({
        "id": "m1", "type": "message", "role": "assistant", "model": "m",
        "content": [{"type": "text", "text": "Hello"}],
        "stop_reason": "end_turn", "stop_sequence": null,
        "usage": {"input_tokens": 1, "output_tokens": 2},
    })
}

/// A run with everything in it that rules are about.
pub(crate) const AG_UI: &str = r#"data: {"type":"RUN_STARTED","threadId":"t1","runId":"r1"}

data: {"type":"STEP_STARTED","stepName":"s"}

data: {"type":"REASONING_START","messageId":"r"}

data: {"type":"REASONING_MESSAGE_START","messageId":"r","role":"reasoning"}

data: {"type":"REASONING_MESSAGE_CONTENT","messageId":"r","delta":"Hm."}

data: {"type":"REASONING_MESSAGE_END","messageId":"r"}

data: {"type":"REASONING_END","messageId":"r"}

data: {"type":"TEXT_MESSAGE_START","messageId":"m","role":"assistant"}

data: {"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"Hello"}

data: {"type":"STEP_FINISHED","stepName":"s"}

data: {"type":"TEXT_MESSAGE_END","messageId":"m"}

data: {"type":"STATE_DELTA","delta":[{"op":"add","path":"/a","value":null}]}

data: {"type":"ACTIVITY_SNAPSHOT","messageId":"a","activityType":"t","content":{}}

data: {"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"f"}

data: {"type":"TOOL_CALL_ARGS","toolCallId":"c","delta":"{}"}

data: {"type":"TOOL_CALL_END","toolCallId":"c"}

data: {"type":"CUSTOM","name":"n","value":null}

data: {"type":"RUN_FINISHED","threadId":"t1","runId":"r1"}

"#;

/// The beginning of [`AG_UI`], up to the first piece of its text.
pub(crate) const RUN_STARTED: &str = r#"data: {"type":"RUN_STARTED","threadId":"t1","runId":"r1"}

data: {"type":"STEP_STARTED","stepName":"s"}

data: {"type":"TEXT_MESSAGE_START","messageId":"m","role":"assistant"}

"#;

/// [`AG_UI`] with the ids of the request.
pub(crate) fn ag_ui(request: &Value) -> String {
    let ids = ["threadId", "runId"].map(|name| request[name].to_string());
    let [thread, run] = ids.each_ref().map(String::as_str);
    AG_UI.replace("\"t1\"", thread).replace("\"r1\"", run)
}

pub(crate) const UI_STREAM: &str = r#"data: {"type":"start","messageId":"m9"}

data: {"type":"start-step"}

data: {"type":"text-start","id":"t1"}

data: {"type":"text-delta","id":"t1","delta":"Hello"}

data: {"type":"text-end","id":"t1"}

data: {"type":"finish-step"}

data: {"type":"finish"}

data: [DONE]

"#;

/// [`UI_STREAM`], which continues the last message of the request if that is the assistant's.
pub(crate) fn ui_stream(request: &Value) -> String {
    let last = request["messages"].as_array().and_then(|all| all.last());
    let continued = last.filter(|message| message["role"] == "assistant");
    let id = continued.map_or_else(|| "\"m9\"".to_owned(), |message| message["id"].to_string());
    UI_STREAM.replace("\"m9\"", &id)
}
