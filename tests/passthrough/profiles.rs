//! Recorded turns with tools of coding clients, against stubs of known servers that refuse what the real ones refuse.

use std::fs;

use copilot_wire::anthropic::Anthropic;
use copilot_wire::json::Wire as _;
use copilot_wire::models::{Passthrough, Profile, Upstream, refused};
use copilot_wire::openai::OpenAi;
use copilot_wire::protocol::{AgentError, Protocol};
use copilot_wire::responses::Responses;
use copilot_wire::{Agent, Reply, Request, Router, async_trait};
use http::{HeaderMap, StatusCode};
use serde_json::{Value, json};

use crate::streams::{CHAT, MESSAGES, RESPONSES};
use crate::{ask, data};

/// A name that no server accepts.
const TOOL: &str = "mcp__files of the project__read_a_file_that_has_a_rather_long_name_and_lies_in_a_deep_folder_of_the_repository_of_the_user_whose_name_is_long";

/// The signature of the reasoning of this crate.
const SIGNATURE: &str = "Y29waWxvdC13aXJl";

/// A model's server.
#[derive(Clone)]
struct Stub {
    server: &'static str,
    /// The path of its dialect.
    path: &'static str,
    profile: Profile,
}

fn names(body: &Value, path: &str) -> Vec<String> {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let mut names: Vec<Value> = Vec::new();
    for tool in list(&body["tools"]) {
        names.push(match path {
            CHAT => tool["function"]["name"].clone(),
            _ => tool["name"].clone(),
        });
    }
    for message in list(&body["messages"]) {
        let calls = list(&message["tool_calls"]).into_iter();
        names.extend(calls.map(|call| call["function"]["name"].clone()));
        let blocks = list(&message["content"]).into_iter();
        names.extend(
            blocks
                .filter(|it| it["type"] == "tool_use")
                .map(|it| it["name"].clone()),
        );
    }
    let items = list(&body["input"]).into_iter();
    names.extend(
        items
            .filter(|it| it["type"] == "function_call")
            .map(|it| it["name"].clone()),
    );
    names
        .iter()
        .filter_map(|name| Some(name.as_str()?.to_owned()))
        .collect()
}

fn has(body: &Value, name: &str) -> bool {
    match body {
        Value::Object(members) => {
            members.contains_key(name) || members.values().any(|it| has(it, name))
        }
        Value::Array(list) => list.iter().any(|it| has(it, name)),
        _ => false,
    }
}

impl Stub {
    /// Returns what the server would say against a request.
    fn refuses(&self, body: &Value) -> Option<String> {
        let of = |servers: &[&str]| servers.contains(&self.server);
        let longest = match self.server {
            "Anthropic" => 128,
            _ => 64,
        };
        let is_valid = |it: &char| it.is_ascii_alphanumeric() || matches!(it, '_' | '-');
        let open = ["Ollama", "vLLM", "llama.cpp", "LM Studio", "SGLang"];
        let bad = |name: &String| name.len() > longest || !name.chars().all(|it| is_valid(&it));
        if let Some(name) = names(body, self.path).into_iter().find(bad) {
            if !of(&open) {
                return Some(format!("tools: invalid name {name}"));
            }
        }
        let members: Vec<&String> = body.as_object()?.keys().collect();
        let unknown = |known: &[&str]| {
            members
                .iter()
                .find(|it| !known.contains(&it.as_str()))
                .copied()
        };
        if of(&["Mistral"]) {
            let known = [
                "frequency_penalty",
                "max_tokens",
                "messages",
                "metadata",
                "model",
                "n",
                "parallel_tool_calls",
                "prediction",
                "presence_penalty",
                "prompt_mode",
                "random_seed",
                "response_format",
                "safe_prompt",
                "stop",
                "stream",
                "temperature",
                "tool_choice",
                "tools",
                "top_p",
            ];
            if let Some(name) = unknown(&known) {
                return Some(format!("extra_forbidden: {name}"));
            }
        }
        if of(&["Gemini"]) {
            let known = [
                "max_completion_tokens",
                "max_tokens",
                "messages",
                "model",
                "n",
                "reasoning_effort",
                "response_format",
                "stop",
                "stream",
                "stream_options",
                "temperature",
                "tool_choice",
                "tools",
                "top_p",
            ];
            if let Some(name) = unknown(&known) {
                return Some(format!("Unknown name \"{name}\": Cannot find field."));
            }
        }
        if of(&["Mistral", "Gemini", "Groq"]) && has(body, "cache_control") {
            return Some("property 'cache_control' is unsupported".to_owned());
        }
        if of(&["Mistral", "Gemini", "Groq"]) && has(body, "reasoning_content") {
            return Some("property 'reasoning_content' is unsupported".to_owned());
        }
        if of(&["Gemini", "Moonshot"]) && has(body, "strict") {
            return Some("Unknown name \"strict\"".to_owned());
        }
        let stops = body["stop"].as_array().map_or(0, Vec::len);
        let most = match self.server {
            "OpenAI" | "Groq" => 4,
            "Moonshot" => 5,
            _ => 16,
        };
        if stops > most {
            return Some("stop: too many".to_owned());
        }
        if of(&["Anthropic"]) && !body["temperature"].is_null() && !body["top_p"].is_null() {
            return Some("`temperature` and `top_p` cannot both be specified".to_owned());
        }
        if of(&["Ollama", "LM Studio", "llama.cpp", "DeepSeek", "Moonshot"])
            && body["max_tokens"].is_null()
        {
            return Some("the limit is not read".to_owned());
        }
        let messages = body["messages"].as_array().cloned().unwrap_or_default();
        for (at, message) in messages.iter().enumerate() {
            let role = message["role"].as_str().unwrap();
            if self.path == CHAT
                && !of(&["OpenAI", "OpenRouter", "Groq", "Gemini"])
                && role == "developer"
            {
                return Some(format!("unknown variant `developer` at {at}"));
            }
            if of(&["vLLM", "llama.cpp", "LM Studio", "SGLang"]) && role == "system" && at > 0 {
                return Some("System message must be at the beginning.".to_owned());
            }
            if of(&["Groq"]) && !message["name"].is_null() {
                return Some("messages[].name is not supported".to_owned());
            }
            let calls = message["tool_calls"]
                .as_array()
                .cloned()
                .unwrap_or_default();
            let text = |name: &str| message[name].as_str().unwrap_or_default().to_owned();
            if !calls.is_empty()
                && of(&["DeepSeek", "Moonshot"])
                && text("reasoning_content").is_empty()
            {
                return Some(format!("reasoning_content is missing at {at}"));
            }
            let ids = calls.iter().map(|call| call["id"].clone());
            for id in ids.chain([message["tool_call_id"].clone()]) {
                let id = id.as_str().unwrap_or("123456789");
                let is_valid = id.len() == 9 && id.chars().all(|it| it.is_ascii_alphanumeric());
                if of(&["Mistral"]) && !is_valid {
                    return Some(format!("tool call id {id} must have 9 letters"));
                }
            }
        }
        None
    }

    /// Returns an answer that calls the last tool.
    fn answer(&self, body: &Value) -> String {
        let name = names(body, self.path);
        let name = name
            .iter()
            .find(|name| name.contains("files_of_the_project"));
        let name = name.map_or(TOOL, String::as_str);
        let events = match self.path {
            CHAT if body["stream"] == false => {
                let call = json!({"id": "123456789", "type": "function", "function": {"name": name, "arguments": "{}"}});
                let message = json!({"role": "assistant", "content": null, "tool_calls": [call]});
                let choice = json!({"index": 0, "message": message, "finish_reason": "tool_calls"});
                return json!({"id": "c", "object": "chat.completion", "choices": [choice]})
                    .to_string();
            }
            CHAT => vec![
                json!({"choices": [{"index": 0, "delta": {"reasoning_content": "Hm.", "tool_calls": [
                    {"index": 0, "id": "123456789", "type": "function", "function": {"name": name, "arguments": "{}"}}]}}]}),
                json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}),
            ],
            MESSAGES => vec![
                json!({"type": "message_start", "message": {"id": "m", "type": "message", "role": "assistant",
                    "model": "m", "content": [], "usage": {"input_tokens": 1, "output_tokens": 1}}}),
                json!({"type": "content_block_start", "index": 0,
                    "content_block": {"type": "tool_use", "id": "t", "name": name, "input": {}}}),
                json!({"type": "content_block_stop", "index": 0}),
                json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 2}}),
                json!({"type": "message_stop"}),
            ],
            _ => {
                let item = json!({"type": "function_call", "id": "fc_1", "call_id": "c", "name": name,
                    "arguments": "{}", "status": "completed"});
                vec![
                    json!({"type": "response.created", "sequence_number": 0, "response": {"id": "resp_1",
                        "object": "response", "status": "in_progress", "model": "m", "output": []}}),
                    json!({"type": "response.output_item.added", "sequence_number": 1, "output_index": 0, "item": item}),
                    json!({"type": "response.output_item.done", "sequence_number": 2, "output_index": 0, "item": item}),
                    json!({"type": "response.completed", "sequence_number": 3, "response": {"id": "resp_1",
                        "object": "response", "status": "completed", "model": "m", "output": [item]}}),
                ]
            }
        };
        events
            .iter()
            .map(|event| format!("data: {event}\n\n"))
            .collect()
    }

    async fn serve<U: Upstream, P: Protocol>(
        &self,
        request: Request<P>,
        reply: Reply<P>,
    ) -> Result<(), AgentError> {
        let mut passthrough = Passthrough::<U, P>::new(&request, reply).profile(&self.profile);
        let mut prompt = self.profile.ask::<U, P>(&request);
        let body = passthrough.body(&mut prompt);
        let body: Value = serde_json::from_slice(&body).unwrap();
        if let Some(why) = self.refuses(&body) {
            let error = json!({"error": {"message": why, "type": "invalid_request_error"}});
            let error = error.to_string();
            let status = StatusCode::BAD_REQUEST;
            let error = refused::<U>(status, &HeaderMap::new(), error.as_bytes());
            return Err(error.user_message(why));
        }
        passthrough.write(self.answer(&body).as_bytes()).await?;
        Ok(passthrough.end().await?)
    }
}

#[async_trait]
impl<P: Protocol> Agent<P> for Stub {
    async fn answer(&self, request: Request<P>, reply: Reply<P>) -> Result<(), AgentError> {
        match self.path {
            CHAT => self.serve::<OpenAi, P>(request, reply).await,
            RESPONSES => self.serve::<Responses, P>(request, reply).await,
            _ => self.serve::<Anthropic, P>(request, reply).await,
        }
    }

    fn is_gateway(&self) -> bool {
        true
    }
}

fn fixture(path: &str) -> Value {
    let path = format!("{}/fixtures/{path}", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

/// Adds a turn to a recorded request that has a call of a tool with a long name and its result, reasoning, late
/// instructions and settings.
fn turn(path: &str, mut body: Value) -> Value {
    body["model"] = json!("m");
    body["stream"] = json!(true);
    let (tool, schema) = (TOOL, json!({"type": "object", "properties": {}}));
    let push = |list: &mut Value, more: Value| {
        list.as_array_mut()
            .unwrap()
            .extend(more.as_array().unwrap().clone());
    };
    body["temperature"] = json!(0.5);
    body["top_p"] = json!(0.9);
    match path {
        MESSAGES => {
            push(
                &mut body["tools"],
                json!([{"name": tool, "input_schema": schema}]),
            );
            body["stop_sequences"] = json!(["1", "2", "3", "4", "5", "6"]);
            push(
                &mut body["messages"],
                json!([
                    {"role": "assistant", "content": [
                        {"type": "thinking", "thinking": "I read it.", "signature": SIGNATURE},
                        {"type": "tool_use", "id": "toolu_1", "name": tool, "input": {}}]},
                    {"role": "user", "content": [
                        {"type": "tool_result", "tool_use_id": "toolu_1", "content": "calm",
                            "cache_control": {"type": "ephemeral"}}]},
                ]),
            );
        }
        RESPONSES => {
            push(
                &mut body["tools"],
                json!([{"type": "function", "name": tool, "strict": true, "parameters": schema}]),
            );
            body["max_output_tokens"] = json!(9000);
            push(
                &mut body["input"],
                json!([
                    {"type": "reasoning", "summary": [{"type": "summary_text", "text": "I read it."}]},
                    {"type": "function_call", "call_id": "call_1", "name": tool, "arguments": "{}"},
                    {"type": "function_call_output", "call_id": "call_1", "output": "calm"},
                    {"type": "message", "role": "developer", "content": "Be brief."},
                ]),
            );
        }
        _ => {
            push(
                &mut body["tools"],
                json!([{"type": "function", "function":
                {"name": tool, "strict": true, "parameters": schema}}]),
            );
            body["stop"] = json!(["1", "2", "3", "4", "5", "6"]);
            body["seed"] = json!(1);
            push(
                &mut body["messages"],
                json!([
                    {"role": "assistant", "content": null, "reasoning_content": "I read it.", "tool_calls": [
                        {"id": "call_1", "type": "function", "function": {"name": tool, "arguments": "{}"}}]},
                    {"role": "tool", "tool_call_id": "call_1", "content": "calm"},
                    {"role": "developer", "name": "ed", "content": [
                        {"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}]},
                ]),
            );
        }
    }
    body
}

/// The clients' names, the paths of their dialects, and their requests.
fn clients() -> Vec<(&'static str, &'static str, Value)> {
    let chores = fixture("openai/chores.json");
    let mut chat = chores[4]["body"].clone();
    chat["max_completion_tokens"] = chat["max_tokens"].take();
    chat.as_object_mut().unwrap().remove("max_tokens");
    vec![
        (
            "Claude Code",
            MESSAGES,
            fixture("anthropic/claude-code.json")["body"].clone(),
        ),
        (
            "Copilot",
            MESSAGES,
            fixture("anthropic/copilot-cli.json")["body"].clone(),
        ),
        ("Codex", RESPONSES, fixture("responses/codex-02.json")),
        ("Copilot", RESPONSES, fixture("responses/copilot-01.json")),
        ("opencode", CHAT, chat),
    ]
}

/// The servers, their dialects, and a host or the owner of their models.
const SERVERS: [(&str, &str, &str, &str); 15] = [
    ("OpenAI", CHAT, "api.openai.com", ""),
    ("OpenAI", RESPONSES, "api.openai.com", ""),
    ("Anthropic", MESSAGES, "api.anthropic.com", ""),
    ("Gemini", CHAT, "generativelanguage.googleapis.com", ""),
    ("Mistral", CHAT, "api.mistral.ai", ""),
    ("DeepSeek", CHAT, "api.deepseek.com", ""),
    ("Moonshot", CHAT, "api.moonshot.ai", ""),
    ("Groq", CHAT, "api.groq.com", ""),
    ("OpenRouter", CHAT, "openrouter.ai", ""),
    ("Ollama", CHAT, "127.0.0.1:11434", ""),
    ("vLLM", CHAT, "10.0.0.1:8000", "vllm"),
    ("vLLM", MESSAGES, "10.0.0.1:8000", "vllm"),
    ("llama.cpp", CHAT, "[::1]:8080", "llamacpp"),
    ("LM Studio", CHAT, "localhost:1234", ""),
    ("SGLang", CHAT, "localhost:30000", "sglang"),
];

pub(crate) fn profile(host: &str, owner: &str) -> Profile {
    let list =
        json!({"object": "list", "data": [{"id": "m", "object": "model", "owned_by": owner}]});
    let list = copilot_wire::json::Json::parse(list.to_string()).unwrap();
    Profile::of(host, Some(&list))
}

#[test]
fn recorded_turns_are_accepted_by_every_known_server() {
    let mut refusals = 0;
    for (server, path, host, owner) in SERVERS {
        let profile = profile(host, owner);
        assert_ne!(profile, Profile::default(), "{server}");
        assert_eq!(Some(&profile), Profile::named(server).as_ref());
        assert_eq!(profile.check(), Ok(()), "{server}");
        for (client, client_path, body) in clients() {
            let case = format!("{client} to {server}, {client_path} to {path}");
            let body = turn(client_path, body);
            let ask_with = |profile: Profile| {
                let stub = Stub {
                    server,
                    path,
                    profile,
                };
                let router = Router::new().mount_model("m", stub).unwrap();
                ask(&router, client_path, &body)
            };
            let (status, answer) = ask_with(profile.clone());
            assert_eq!(status, 200, "{case}: {answer}");
            let made = data(&answer)
                .iter()
                .any(|event| event.to_string().contains(&format!("\"{TOOL}\"")));
            assert!(made, "{case}: {answer}");
            assert!(!answer.contains("files_of_the_project"), "{case}: {answer}");
            refusals += usize::from(ask_with(Profile::default()).0 != 200);
        }
    }
    // What the stubs refuse without a profile.
    assert_eq!(refusals, 56);
}

#[test]
fn an_unknown_server_gets_names_that_all_servers_accept_unless_its_own_clients_send_them() {
    for path in [CHAT, MESSAGES, RESPONSES] {
        for (client, client_path, body) in clients() {
            let stub = Stub {
                server: "unknown",
                path,
                profile: profile("models.example", ""),
            };
            let router = Router::new().mount_model("m", stub).unwrap();
            let (status, answer) = ask(&router, client_path, &turn(client_path, body));
            let case = format!("{client}, {client_path} to {path}: {answer}");
            assert_eq!(status == 200, client_path != path, "{case}");
            assert!(answer.contains(TOOL), "{case}");
            assert!(!answer.contains("files_of_the_project"), "{case}");
        }
    }
}

#[test]
fn a_server_without_streams_is_asked_for_a_document() {
    for (client, client_path, body) in clients() {
        let mut profile = profile("api.mistral.ai", "");
        profile.no_stream = true;
        let (server, path) = ("Mistral", CHAT);
        let stub = Stub {
            server,
            path,
            profile,
        };
        let router = Router::new().mount_model("m", stub).unwrap();
        let (status, answer) = ask(&router, client_path, &turn(client_path, body));
        assert_eq!(status, 200, "{client}: {answer}");
        assert!(data(&answer).len() > 1, "{client}: {answer}");
        assert!(
            answer.contains(&format!("\"{TOOL}\"")),
            "{client}: {answer}"
        );
    }
}

#[test]
fn the_reasoning_and_the_effort_of_another_dialect_are_sent() {
    let openrouter = Profile::named("OpenRouter").unwrap();
    for (client, client_path, body) in clients() {
        let body = turn(client_path, body);
        let ask = |profile: &Profile| -> Value {
            let body = body.to_string();
            let prompt = match client_path {
                MESSAGES => {
                    let request = copilot_wire::anthropic::MessagesRequest::from_json(body);
                    profile.ask::<OpenAi, Anthropic>(&Request::new(request.unwrap()))
                }
                RESPONSES => {
                    let request = copilot_wire::responses::ResponsesRequest::from_json(body);
                    profile.ask::<OpenAi, Responses>(&Request::new(request.unwrap()))
                }
                _ => return Value::Null,
            };
            serde_json::from_slice(&prompt.to_json()).unwrap()
        };
        let (plain, sent) = (ask(&Profile::default()), ask(&openrouter));
        assert!(
            !has(&plain, "reasoning") && !has(&plain, "cache_control"),
            "{client}"
        );
        if sent.is_null() {
            continue;
        }
        let messages = sent["messages"].as_array().unwrap();
        let calls: Vec<_> = messages
            .iter()
            .filter(|it| !it["tool_calls"].is_null())
            .collect();
        assert_eq!(calls.last().unwrap()["reasoning"], "I read it.", "{client}");
        assert!(has(&sent, "cache_control"), "{client}");
        if client == "Claude Code" {
            assert_eq!(sent["reasoning"], json!({"effort": "high"}));
        }
    }
    // A client that wants no thinking.
    let off = json!({"model": "m", "max_tokens": 9, "thinking": {"type": "disabled"},
        "messages": [{"role": "user", "content": "a"}]});
    let request = copilot_wire::anthropic::MessagesRequest::from_json(off.to_string()).unwrap();
    let prompt = openrouter.ask::<OpenAi, Anthropic>(&Request::new(request));
    let sent: Value = serde_json::from_slice(&prompt.to_json()).unwrap();
    assert_eq!(sent["reasoning"], json!({"effort": "none"}));
    // Reasoning that only its provider can read is not sent to another.
    let (_, _, body) = clients().swap_remove(0);
    let body = turn(MESSAGES, body)
        .to_string()
        .replace(SIGNATURE, "c2lnbmVk");
    let request = copilot_wire::anthropic::MessagesRequest::from_json(body).unwrap();
    let prompt = openrouter.ask::<OpenAi, Anthropic>(&Request::new(request));
    assert!(!String::from_utf8_lossy(&prompt.to_json()).contains("I read it."));
}
