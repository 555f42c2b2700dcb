//! A request of each protocol, as it arrives: for a stream, and for an answer that is one document.

pub const OPENBB: &str = r#"{"messages":[{"role":"human","content":"hi"}]}"#;
pub const GITHUB: &str = r#"{"messages":[{"role":"user","content":"hi"}]}"#;
pub const OPENAI: &str =
    r#"{"model":"words","stream":true,"messages":[{"role":"user","content":"hi"}]}"#;
pub const OPENAI_DOCUMENT: &str =
    r#"{"model":"words","messages":[{"role":"user","content":"hi"}]}"#;
pub const RESPONSES: &str = r#"{"model":"words","stream":true,"input":"hi"}"#;
pub const RESPONSES_DOCUMENT: &str = r#"{"model":"words","input":"hi"}"#;
pub const ANTHROPIC: &str =
    r#"{"model":"words","max_tokens":9,"stream":true,"messages":[{"role":"user","content":"hi"}]}"#;
pub const ANTHROPIC_DOCUMENT: &str =
    r#"{"model":"words","max_tokens":9,"messages":[{"role":"user","content":"hi"}]}"#;
pub const UI_STREAM: &str = r#"{"id":"chat-1","messages":[{"id":"u1","role":"user","parts":[{"type":"text","text":"hi"}]}],"trigger":"submit-message"}"#;
pub const AG_UI: &str = r#"{"threadId":"t","runId":"r","state":{},"messages":[{"id":"u1","role":"user","content":"hi"}],"tools":[],"context":[],"forwardedProps":{}}"#;
pub const MCP: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"words","arguments":{"question":"hi"},"_meta":{"progressToken":1}}}"#;
pub const ACP: &str = r#"{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"00000000-0000-4000-8000-000000000000","prompt":[{"type":"text","text":"hi"}]}}"#;
