//! Streams to the byte.

use copilot_wire::Reply;
use copilot_wire::anthropic::Anthropic;
use copilot_wire::protocol::{AgentError, Citation, ToolCall};
use serde_json::json;

use crate::strict::read;
use crate::support::{Answer, stream_of};

type Case = (&'static str, fn(Reply<Anthropic>) -> Answer);

#[test]
fn streams_are_golden() {
    let cases: [Case; 4] = [
        ("words", |reply| {
            Box::pin(async move {
                reply.status("Looking it up").await?;
                reply.text("It is ").await?;
                reply.text("\"up\".").await?;
                reply
                    .cite(Citation::new("Report").url("https://a.example"))
                    .await?;
                Ok(())
            })
        }),
        ("call", |reply| {
            Box::pin(async move {
                reply.text("One moment.").await?;
                Ok(reply.call(ToolCall::new("get_tide", &json!({"port": "Brest"}))?)?)
            })
        }),
        ("fails", |reply| {
            Box::pin(async move {
                reply.text("Par").await?;
                Err(AgentError::new("The model is away."))
            })
        }),
        ("fails-at-once", |_| {
            Box::pin(async { Err(AgentError::new("The model is away.")) })
        }),
    ];
    for (name, answer) in cases {
        let stream = stream_of(answer);
        read(&stream);
        let path = format!(
            "{}/fixtures/anthropic/{name}.sse",
            env!("CARGO_MANIFEST_DIR")
        );
        if std::env::var_os("GOLDEN").is_some_and(|mode| mode == "write") {
            std::fs::write(&path, &stream).unwrap();
        }
        assert_eq!(stream, std::fs::read_to_string(&path).unwrap(), "{name}");
    }
}
