//! Streams to the byte.

use copilot_wire::Reply;
use copilot_wire::ag_ui::{AgUi, Interrupt, Mount, StateDelta, StateSnapshot};
use copilot_wire::protocol::{AgentError, Citation, Table, ToolCall, ToolRun, Usage};
use serde_json::json;

use crate::support::{Answer, mounted, read};

type Case = (&'static str, fn(Reply<AgUi>) -> Answer);

#[test]
fn streams_are_golden() {
    let cases: [Case; 5] = [
        ("words", |reply| {
            Box::pin(async move {
                reply.reasoning("The tides, then.").await?;
                reply.status("Looking it up").await?;
                let run = ToolRun::new("search", &json!({"q": "tides"}), &json!(["a page"]))?;
                reply.tool_run(run).await?;
                reply.text("It is ").await?;
                reply.text("\"up\".\u{2028}\r\n").await?;
                reply
                    .table(Table::new("Tides", &json!([{"at": "6:00"}]))?)
                    .await?;
                reply
                    .cite(Citation::new("Report").url("https://a.example"))
                    .await?;
                reply.usage(Usage::new(19, 10)).await?;
                Ok(())
            })
        }),
        ("call", |reply| {
            Box::pin(async move {
                reply.text("One moment.").await?;
                Ok(reply.call(ToolCall::new("get_tide", &json!({"port": "Brest"}))?)?)
            })
        }),
        ("state", |reply| {
            Box::pin(async move {
                reply
                    .send(StateSnapshot::new(&json!({"count": 1, "none": null}))?)
                    .await?;
                let patch = json!([{"op": "replace", "path": "/count", "value": 2}]);
                reply.send(StateDelta::new(&patch)?).await?;
                Ok(reply.end(Interrupt::new("q1", "choice").message("Which?"))?)
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
        let stream = mounted(Mount::new(), answer);
        read(&stream);
        assert!(!stream.contains('\r'), "{name}");
        let path = format!("{}/fixtures/ag-ui/{name}.sse", env!("CARGO_MANIFEST_DIR"));
        if std::env::var_os("GOLDEN").is_some_and(|mode| mode == "write") {
            std::fs::write(&path, &stream).unwrap();
        }
        assert_eq!(stream, std::fs::read_to_string(&path).unwrap(), "{name}");
    }
}
