//! The agent.

use std::time::Duration;

use copilot_wire::protocol::{
    AgentError, Chart, ChartKind, Citation, Confirmation, Conversation, Protocol, Table, ToolCall,
    Verdict, escape_markdown,
};
use copilot_wire::{Agent, Reply, Request, async_trait};
use serde::Serialize;

/// The tool that runs in the browser.
pub(crate) const CLOCK: &str = "getTimeZone";

/// The arguments of a tool that takes none.
#[derive(Serialize)]
struct Nothing {}

/// A row of the table. Its members are the columns, in this order.
#[derive(Serialize)]
struct Water {
    time: &'static str,
    water: &'static str,
    metres: f64,
}

/// A point of the chart.
#[derive(Serialize)]
struct Height {
    time: String,
    metres: f64,
}

/// A harbour office that knows the tides of one day. It shows every part of a reply that a page can
/// render, and needs no model.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Harbour;

#[async_trait]
impl<P: Protocol> Agent<P> for Harbour {
    async fn answer(&self, request: Request<P>, reply: Reply<P>) -> Result<(), AgentError> {
        match request.decision() {
            Some(answer) if answer.accepts(DELETE_LOG) => {
                return Ok(reply.text("The log is deleted.").await?);
            }
            Some(answer) => match answer.verdict {
                // An ordinary message.
                Verdict::Other => {}
                Verdict::Accepted | Verdict::Refused => {
                    return Ok(reply.text("The log stays as it is.").await?);
                }
                // The answer does not count: nothing is done without a new one.
                verdict => return Ok(reply.ask_again(verdict, deletion()).await?),
            },
            None => {}
        }
        if let Some(result) = request.results().last() {
            let text = match result.failed {
                true => format!(
                    "Your browser did not say: {}",
                    escape_markdown(&result.content)
                ),
                false => {
                    let zone = escape_markdown(&result.content);
                    format!("Your clock is set to **{zone}**.")
                }
            };
            return Ok(reply.text(text).await?);
        }
        let prompt = request.prompt().unwrap_or_default().to_lowercase();
        let asks = |words: &[&str]| words.iter().any(|word| prompt.contains(word));
        match () {
            () if asks(&["tide", "water"]) => tides(&reply).await,
            () if asks(&["clock", "time zone"]) => {
                reply.text("Let me ask your browser.").await?;
                Ok(reply.call(ToolCall::new(CLOCK, &Nothing {})?)?)
            }
            () if asks(&["delete"]) => Ok(reply.confirm(deletion())?),
            () if asks(&["count"]) => count(&reply).await,
            () if asks(&["fail"]) => {
                reply.text("Reading the gauge at the pier, ").await?;
                Err(AgentError::new("The gauge does not answer."))
            }
            () => say(&reply, INTRODUCTION).await,
        }
    }
}

/// The id of the only question.
const DELETE_LOG: &str = "delete-log";

fn deletion() -> Confirmation {
    let message = "All entries of this year. There is no way back.";
    Confirmation::new(DELETE_LOG, "Delete the log?", message)
}

const INTRODUCTION: &str = "This is the harbour office. Ask me about:\n\n\
    - the **tides**: steps, a table, a chart and a source\n\
    - your **clock**: a tool that runs in your browser\n\
    - to **delete** the log: a question, in a dialog with two buttons where the page has one\n\
    - to **count**: a long answer, to be stopped\n\
    - to **fail**: an answer that breaks off\n";

/// Tells the tides of the day with all that belongs to them.
async fn tides<P: Protocol>(reply: &Reply<P>) -> Result<(), AgentError> {
    reply.status("Reading the gauge").await?;
    pause(400).await;
    say(reply, "High water is at **05:10** and at **17:35**.").await?;
    let water = |time, water, metres| Water {
        time,
        water,
        metres,
    };
    let rows = [
        water("05:10", "high", 6.1),
        water("11:25", "low", 1.2),
        water("17:35", "high", 5.9),
        water("23:50", "low", 1.4),
    ];
    reply
        .table(Table::new("High and low water", &rows)?)
        .await?;
    reply.status("Drawing the curve").await?;
    pause(400).await;
    let (x, y) = ("time".to_owned(), vec!["metres".to_owned()]);
    let line = ChartKind::Line { x, y };
    reply
        .chart(Chart::new("Height of the water", line, &curve())?)
        .await?;
    let source = Citation::new("Tide tables of the year").url("https://example.com/tides");
    reply.cite(source).await?;
    say(reply, "The next spring tide is on Friday.").await
}

/// Returns the height of the water every hour.
fn curve() -> Vec<Height> {
    let metres = [
        2.4, 2.1, 3.0, 4.4, 5.7, 6.1, 5.8, 4.9, 3.7, 2.4, 1.5, 1.2, 1.3, 2.0, 3.1, 4.3, 5.4, 5.9,
        5.7, 5.0, 3.9, 2.8, 1.9, 1.5,
    ];
    let rows = metres.into_iter().enumerate();
    rows.map(|(hour, metres)| Height {
        time: format!("{hour:02}:00"),
        metres,
    })
    .collect()
}

/// Counts the ships, one every quarter of a second.
async fn count<P: Protocol>(reply: &Reply<P>) -> Result<(), AgentError> {
    for ship in 1..=100 {
        reply.text(format!("{ship} ")).await?;
        pause(250).await;
    }
    Ok(())
}

/// Writes a text word by word.
async fn say<P: Protocol>(reply: &Reply<P>, text: &str) -> Result<(), AgentError> {
    for word in text.split_inclusive(' ') {
        reply.text(word).await?;
        pause(15).await;
    }
    Ok(())
}

async fn pause(milliseconds: u64) {
    tokio::time::sleep(Duration::from_millis(milliseconds)).await;
}
