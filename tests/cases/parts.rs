//! An agent that says the parts of a case.

use std::panic::{AssertUnwindSafe, resume_unwind};
use std::sync::{Arc, Mutex};

use copilot_wire::json::Json;
use copilot_wire::protocol::{
    AgentError, Chart, ChartKind, Citation, Confirmation, Conversation, Cut, Level, Notice,
    Protocol, SendError, Status, Table, ToolCall, ToolRun, Usage,
};
use copilot_wire::{Agent, Reply, Request, async_trait};
use futures::FutureExt as _;

/// The parts of the next turn, one in a line: a word, and JSON.
#[derive(Clone, Debug)]
pub(crate) struct Parts(pub(crate) Arc<Mutex<Vec<String>>>);

/// The faults of cases, which the router would make failures of their turns.
pub(crate) static FAULTS: Mutex<Vec<String>> = Mutex::new(Vec::new());

#[async_trait]
impl<P: Protocol> Agent<P> for Parts {
    async fn answer(&self, request: Request<P>, reply: Reply<P>) -> Result<(), AgentError> {
        let said = AssertUnwindSafe(self.say(request, reply)).catch_unwind();
        said.await.unwrap_or_else(|panic| {
            if panic.downcast_ref() != Some(&"on purpose") {
                FAULTS.lock().unwrap().push(format!("{self:?}"));
            }
            resume_unwind(panic)
        })
    }
}

impl Parts {
    async fn say<P: Protocol>(
        &self,
        request: Request<P>,
        reply: Reply<P>,
    ) -> Result<(), AgentError> {
        let mut reply = Some(reply);
        let lines = self.0.lock().unwrap().clone();
        for line in &lines {
            let Some(open) = reply.take() else {
                panic!("{line}: the turn has ended")
            };
            let (refusal, part) = match line.split_once(' ') {
                Some((word @ ("unsupported" | "invalid"), part)) => (Some(word), part),
                _ => (None, &**line),
            };
            let said = say(&request, open, part, &mut reply).await;
            match (refusal, said) {
                (Some("unsupported"), Err(error)) if is_unsupported(&error) => {}
                (Some("invalid"), Err(error)) if is_invalid(&error) => {}
                (None, said) => said?,
                (_, said) => panic!("{line}: {said:?}"),
            }
        }
        Ok(())
    }
}

fn is_unsupported(error: &AgentError) -> bool {
    matches!(cause(error), Some(SendError::Unsupported(_)))
}

fn is_invalid(error: &AgentError) -> bool {
    matches!(cause(error), Some(SendError::Invalid(_)))
}

fn cause(error: &AgentError) -> Option<&SendError> {
    error.cause()?.downcast_ref()
}

/// Says a part, and gives the reply back if the turn goes on.
async fn say<P: Protocol>(
    request: &Request<P>,
    reply: Reply<P>,
    part: &str,
    rest: &mut Option<Reply<P>>,
) -> Result<(), AgentError> {
    let (word, value) = part.split_once(' ').unwrap_or((part, "null"));
    let value = Json::parse(value.to_owned()).unwrap_or_else(|error| panic!("{part}: {error}"));
    let raw = |name: &str| value.get(name).unwrap_or_default();
    let maybe = |name: &str| value.get(name).map(|it| it.string().unwrap().into_owned());
    let text = |name: &str| maybe(name).unwrap_or_else(|| panic!("{part}: {name}"));
    let number = |name: &str| raw(name).as_u64().unwrap_or(0);
    let whole = || value.string().unwrap().into_owned();
    let call = |call: &Json| {
        let name = call.get("name").unwrap().string().unwrap().into_owned();
        ToolCall::new(name, &call.get("arguments").unwrap())
    };
    match word {
        "call" => return Ok(reply.call(call(&value)?)?),
        "calls" => {
            let calls: Vec<Json> = value.decode().unwrap();
            let calls: Result<Vec<_>, _> = calls.iter().map(call).collect();
            return Ok(reply.calls(&calls?)?);
        }
        "confirm" => {
            let mut question = Confirmation::new(text("id"), text("title"), text("message"));
            question.data = value.get("data");
            if let Some(answers) = value.get("answers") {
                question.answers = answers.decode().unwrap();
            }
            return Ok(reply.confirm(question)?);
        }
        "cut" => {
            return Ok(reply.cut(match &*whole() {
                "length" => Cut::Length,
                "filter" => Cut::Filter,
                _ => Cut::Other,
            })?);
        }
        "fail" => return Err(AgentError::new(whole())),
        "retryable" => return Err(AgentError::new(whole()).retryable()),
        "panic" => panic!("on purpose"),
        _ => {}
    }
    let said = match word {
        "text" => reply.text(whole()).await,
        "prompt" => reply.text(request.prompt().unwrap_or_default()).await,
        "answer" => {
            let answer = request.decision();
            let answer = answer.map(|it| {
                let data = it
                    .data
                    .as_ref()
                    .map_or(String::new(), |data| format!(" {}", data.text()));
                format!("{} {:?}{data}", it.id, it.verdict)
            });
            reply.text(answer.as_deref().unwrap_or("no answer")).await
        }
        "result" => {
            let result = request.results().last().unwrap();
            reply.text(result.content).await
        }
        "tools" => {
            let names: Vec<_> = request.tools().map(|tool| tool.name).collect();
            reply.text(names.join(", ")).await
        }
        "reasoning" => reply.reasoning(whole()).await,
        "status" | "warning" | "failure" => {
            let details = value
                .get("details")
                .map(|it| it.decode::<Vec<(String, String)>>());
            let message = maybe("message").unwrap_or_else(whole);
            let mut status = Status::new(message);
            status.level = match word {
                "warning" => Level::Warning,
                "failure" => Level::Error,
                _ => Level::Info,
            };
            status.details = details.transpose().unwrap().unwrap_or_default();
            reply.status(status).await
        }
        "tool_run" => {
            let run = match maybe("failed") {
                Some(why) => ToolRun::failed(text("name"), &raw("arguments"), why)?,
                None => ToolRun::new(text("name"), &raw("arguments"), &raw("result"))?,
            };
            reply.tool_run(run).await
        }
        "cite" => {
            let mut citation = Citation::new(text("title"));
            citation.url = maybe("url");
            citation.document = maybe("document");
            citation.excerpt = maybe("excerpt");
            reply.cite(citation).await
        }
        "table" => {
            let mut table = Table::new(text("name"), &raw("rows"))?;
            table.description = maybe("description");
            reply.table(table).await
        }
        "chart" => {
            let y = || raw("y").decode::<Vec<String>>().unwrap();
            let kind = match &*text("kind") {
                "line" => ChartKind::Line {
                    x: text("x"),
                    y: y(),
                },
                "bar" => ChartKind::Bar {
                    x: text("x"),
                    y: y(),
                },
                "scatter" => ChartKind::Scatter {
                    x: text("x"),
                    y: y(),
                },
                "pie" => ChartKind::Pie {
                    angle: text("angle"),
                    label: text("label"),
                },
                _ => ChartKind::Donut {
                    angle: text("angle"),
                    label: text("label"),
                },
            };
            let mut chart = Chart::new(text("name"), kind, &raw("rows"))?;
            chart.description = maybe("description");
            reply.chart(chart).await
        }
        "error" => {
            let mut notice = Notice::new(maybe("message").unwrap_or_else(whole));
            if let Some(code) = maybe("code") {
                notice = notice.code(code);
            }
            notice.identifier = maybe("identifier");
            reply.error(notice).await
        }
        "usage" => {
            let mut usage = Usage::new(number("input"), number("output"));
            usage.cached_input_tokens = number("cached");
            usage.cache_write_tokens = number("written");
            usage.reasoning_tokens = number("reasoning");
            reply.usage(usage).await
        }
        _ => panic!("{part}: no such part"),
    };
    *rest = Some(reply);
    Ok(said?)
}
