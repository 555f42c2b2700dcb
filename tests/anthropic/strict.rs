//! A reader that is as strict as the strictest known client in every respect.

use serde_json::Value;

/// The result of reading a stream.
#[derive(Debug, Default)]
pub(crate) struct Read {
    pub(crate) message: Value,
    /// The blocks that were closed.
    pub(crate) blocks: Vec<Block>,
    pub(crate) stop_reason: Option<String>,
    pub(crate) usage: Value,
    pub(crate) error: Option<Value>,
    /// The number of keep-alive events.
    pub(crate) alive: usize,
}

#[derive(Debug, Default, PartialEq)]
pub(crate) struct Block {
    pub(crate) kind: String,
    /// Text, reasoning, or the arguments of a call.
    pub(crate) text: String,
    pub(crate) signature: String,
    pub(crate) citations: Vec<Value>,
    pub(crate) start: Value,
}

impl Read {
    /// The text of the answer.
    pub(crate) fn text(&self) -> String {
        let texts = self.blocks.iter().filter(|block| block.kind == "text");
        texts.map(|block| &*block.text).collect()
    }

    pub(crate) fn kinds(&self) -> Vec<&str> {
        self.blocks.iter().map(|block| &*block.kind).collect()
    }
}

/// Reads a stream, and panics where a client would fail.
pub(crate) fn read(stream: &str) -> Read {
    let mut read = Read::default();
    let mut open: Option<Block> = None;
    let mut over = false;
    for frame in stream.split_inclusive("\n\n") {
        assert!(!over, "something follows the end: {frame}");
        // Both libraries need the `event` line; nothing else is in a frame.
        let frame = frame.strip_suffix("\n\n").unwrap();
        let (name, data) = frame.split_once('\n').unwrap();
        let name = name.strip_prefix("event: ").unwrap();
        let data: Value = serde_json::from_str(data.strip_prefix("data: ").unwrap()).unwrap();
        assert_eq!(data["type"], name);
        if name != "ping" && name != "message_start" {
            assert!(!read.message.is_null(), "{name} before message_start");
        }
        match name {
            "ping" => read.alive += 1,
            "message_start" => {
                assert!(read.message.is_null(), "two messages");
                read.message = data["message"].clone();
                let message = &read.message;
                assert!(message["id"].is_string() && message["model"].is_string());
                assert_eq!(
                    [&message["type"], &message["role"]],
                    ["message", "assistant"]
                );
                assert_eq!(message["content"].as_array().map(Vec::len), Some(0));
                assert!(message["stop_reason"].is_null() && message["stop_sequence"].is_null());
                let usage = &message["usage"];
                assert!(usage["input_tokens"].is_u64() && usage["output_tokens"].is_u64());
            }
            "content_block_start" => {
                assert!(open.is_none(), "two blocks are open");
                assert_eq!(data["index"], read.blocks.len());
                let start = data["content_block"].clone();
                let kind = start["type"].as_str().unwrap().to_owned();
                match &*kind {
                    "text" => assert_eq!(start["text"], ""),
                    "thinking" => {
                        assert_eq!([&start["thinking"], &start["signature"]], ["", ""]);
                    }
                    "tool_use" => {
                        assert_eq!(start["input"], serde_json::json!({}));
                        let id = start["id"].as_str().unwrap();
                        let allowed = |c: char| c.is_ascii_alphanumeric() || "_-".contains(c);
                        assert!(!id.is_empty() && id.chars().all(allowed), "{id}");
                    }
                    _ => {}
                }
                open = Some(Block {
                    kind,
                    start,
                    ..Block::default()
                });
            }
            "content_block_delta" => {
                let block = open.as_mut().expect("a block is open");
                assert_eq!(data["index"], read.blocks.len());
                let delta = &data["delta"];
                let text = |name: &str| delta[name].as_str().unwrap();
                match (&*block.kind, delta["type"].as_str().unwrap()) {
                    ("text", "text_delta") => block.text.push_str(text("text")),
                    ("text", "citations_delta") => {
                        let citation = &delta["citation"];
                        for key in ["type", "url", "title", "cited_text", "encrypted_index"] {
                            assert!(citation[key].is_string(), "{citation}");
                        }
                        block.citations.push(citation.clone());
                    }
                    ("thinking", "thinking_delta") => block.text.push_str(text("thinking")),
                    ("thinking", "signature_delta") => {
                        assert!(block.signature.is_empty(), "two signatures");
                        block.signature.push_str(text("signature"));
                    }
                    ("tool_use" | "server_tool_use", "input_json_delta") => {
                        block.text.push_str(text("partial_json"));
                    }
                    pair => panic!("{pair:?}"),
                }
            }
            "content_block_stop" => {
                assert_eq!(data["index"], read.blocks.len());
                let block = open.take().expect("a block is open");
                // VS Code drops thinking without a signature.
                assert!(block.kind != "thinking" || !block.signature.is_empty());
                if block.kind == "tool_use" {
                    let input: Value = serde_json::from_str(&block.text).unwrap();
                    assert!(input.is_object());
                }
                read.blocks.push(block);
            }
            "message_delta" => {
                assert!(data["usage"]["output_tokens"].is_u64());
                match data["delta"]["stop_reason"].as_str() {
                    None => read.alive += 1,
                    Some(reason) => {
                        assert!(open.is_none(), "a block has no stop");
                        assert!(read.stop_reason.is_none(), "two reasons");
                        read.stop_reason = Some(reason.to_owned());
                        read.usage = data["usage"].clone();
                    }
                }
            }
            "message_stop" => {
                over = true;
                assert!(read.stop_reason.is_some());
                let kinds = read.kinds();
                let ended = ["end_turn", "stop_sequence"];
                let ended = ended.contains(&&**read.stop_reason.as_ref().unwrap());
                assert!(
                    !ended || kinds.iter().any(|kind| *kind != "thinking"),
                    "nothing is said"
                );
                let calls = read.stop_reason.as_deref() == Some("tool_use");
                assert_eq!(kinds.contains(&"tool_use"), calls);
            }
            "error" => {
                over = true;
                // Otherwise Claude Code runs the turn again, and VS Code shows nothing.
                assert!(open.is_none() && !read.blocks.is_empty());
                assert!(
                    !read.kinds().contains(&"tool_use"),
                    "Claude Code runs the call"
                );
                assert!(data["error"]["type"].is_string() && data["error"]["message"].is_string());
                read.error = Some(data["error"].clone());
            }
            other => panic!("an event of no client's: {other}"),
        }
    }
    assert!(over, "the stream has no end: {stream}");
    read
}
