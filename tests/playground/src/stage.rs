//! The agent. The first word of the prompt says what it plays.

use std::time::Duration;

use copilot_wire::meilisearch::{
    self, Append, Meilisearch, Message, Output, Search, SearchFailure, SearchProgress, Sources,
};
use copilot_wire::openbb::{Artifact, FunctionCall, OpenBb, PromptSuggestions, StatusUpdate, Tier};
use copilot_wire::protocol::{
    AgentError, Chart, ChartKind, Citation, Confirmation, Conversation, Notice, Protocol, Status,
    Table, ToolCall, Verdict,
};
use copilot_wire::{Agent, Reply, Request, async_trait};
use serde_json::{Value, json};

use crate::hostile;

pub(crate) struct Stage;

#[async_trait]
impl<P: Protocol> Agent<P> for Stage {
    async fn answer(&self, request: Request<P>, reply: Reply<P>) -> Result<(), AgentError> {
        match request.decision().map(|answer| answer.verdict) {
            None | Some(Verdict::Other) => {}
            Some(Verdict::Accepted) => return Ok(reply.text("You accepted it.").await?),
            Some(Verdict::Refused) => return Ok(reply.text("You dismissed it.").await?),
            Some(verdict) => return Ok(reply.ask_again(verdict, deletion()).await?),
        }
        let results: Vec<_> = request
            .results()
            .map(|result| result.content.into_owned())
            .collect();
        if !results.is_empty() {
            return Ok(reply
                .text(&format!("The result: {}", results.join("; ")))
                .await?);
        }
        let prompt = request.prompt().unwrap_or_default().into_owned();
        match prompt.split_whitespace().next().unwrap_or_default() {
            "everything" => everything(request, reply).await,
            "hostile" => hostile::answer(request, reply).await,
            "data" => data(request, reply).await,
            "unknown" => unknown(request, reply).await,
            "search" => search(request, reply).await,
            "flood" => flood(reply).await,
            "slow" => slow(reply).await,
            "confirm" => Ok(reply.confirm(deletion())?),
            "weather" => {
                Ok(reply.call(ToolCall::new("get_weather", &json!({"place": "Lisbon"}))?)?)
            }
            "fail" => {
                reply.text("It begins well.").await?;
                Err(AgentError::new("The stage collapsed."))
            }
            _ => Ok(reply.text(&format!("You said: {prompt}")).await?),
        }
    }
}

fn deletion() -> Confirmation {
    let message = "`feature/tides` is **merged**.";
    Confirmation::new("delete-1", "Delete the branch?", message)
}

/// A turn with a bit of all.
async fn everything<P: Protocol>(request: Request<P>, reply: Reply<P>) -> Result<(), AgentError> {
    reply.status("Reading the question").await?;
    let step = Status::new("Looking at the prices")
        .detail("Symbol", "AAPL")
        .detail("Rows", "4");
    reply.status(step).await?;
    for word in TEXT.split_inclusive(' ') {
        reply.text(word).await?;
        tokio::time::sleep(Duration::from_millis(4)).await;
    }
    reply.table(Table::new("Prices", &prices())?).await?;
    reply
        .text("\n\nThe close over the last days, and the volume:\n\n")
        .await?;
    let line = ChartKind::Line {
        x: "date".into(),
        y: vec!["close".into(), "open".into()],
    };
    reply
        .chart(Chart::new("Close and open", line, &prices())?)
        .await?;
    let parts = json!([{"part": "iPhone", "share": 52}, {"part": "Services", "share": 26},
        {"part": "Mac", "share": 12}, {"part": "Wearables", "share": 10}]);
    let donut = ChartKind::Donut {
        angle: "share".into(),
        label: "part".into(),
    };
    reply.chart(Chart::new("Revenue", donut, &parts)?).await?;
    reply
        .error(Notice::new("One source could not be read.").code("timeout"))
        .await?;
    let page = Citation::new("Annual report").url("https://example.com/report");
    reply.cite(page).await?;
    if let Ok((_, reply)) = request.native::<OpenBb>(reply) {
        reply.send(Artifact::html("Report", REPORT)).await?;
        reply.send(StatusUpdate::info("Done")).await?;
        reply
            .send(PromptSuggestions::new([
                "Compare with MSFT",
                "Draw the volume",
            ]))
            .await?;
    }
    Ok(())
}

const TEXT: &str = "## In short\n\n**Apple rose** from 270.6 to *284.2* in nine days, with \
    `volume` above its average. What stands out:\n\n1. The close is a record.\n2. Volume grew \
    on up days:\n   - 17 November\n   - 20 November\n\n> Past prices say little about \
    future ones.\n\n```rust\nfn change(first: f64, last: f64) -> f64 {\n    last / first - 1.0\n}\n```\n\n\
    | Measure | Value |\n|---|---:|\n| Change | 5.0 % |\n| Highest | 284.9 |\n\n";

const REPORT: &str = "<style>h1{font:600 18px system-ui;margin:0 0 8px}td{padding:4px 16px 4px 0}</style>\
    <h1>Quarter at a glance</h1><table><tr><td>Revenue</td><td><b>124.3 bn</b></td></tr>\
    <tr><td>Margin</td><td>46.9 %</td></tr></table>\
    <svg width=\"220\" height=\"60\"><polyline points=\"0,50 60,32 120,38 200,8\" fill=\"none\" \
    stroke=\"teal\" stroke-width=\"3\"/></svg>";

fn prices() -> Value {
    json!([
        {"date": "11-10", "open": 270.9, "close": 272.2, "volume": 43_107_600},
        {"date": "11-13", "open": 274.8, "close": 272.9, "volume": 47_850_200},
        {"date": "11-17", "open": 275.6, "close": 280.4, "volume": 66_901_300},
        {"date": "11-20", "open": 279.0, "close": 284.2, "volume": 63_375_600},
    ])
}

/// Asks for the first widget in context.
async fn data<P: Protocol>(request: Request<P>, reply: Reply<P>) -> Result<(), AgentError> {
    use copilot_wire::openbb::GetWidgetData;
    let Ok((request, reply)) = request.native::<OpenBb>(reply) else {
        return Ok(());
    };
    let selected = request.widgets().find(|(tier, _)| *tier == Tier::Primary);
    match selected {
        Some((_, widget)) => Ok(reply.end(GetWidgetData::new([widget]))?),
        None => Ok(reply.text("There is no widget in context.").await?),
    }
}

/// Calls a function that no Workspace has.
async fn unknown<P: Protocol>(request: Request<P>, reply: Reply<P>) -> Result<(), AgentError> {
    let Ok((_, reply)) = request.native::<OpenBb>(reply) else {
        return Ok(());
    };
    Ok(reply.end(FunctionCall::new("water_the_plants", &json!({"room": 3}))?)?)
}

/// Two searches: one finds two films, one fails.
async fn search<P: Protocol>(request: Request<P>, reply: Reply<P>) -> Result<(), AgentError> {
    let Ok((_, reply)) = request.native::<Meilisearch>(reply) else {
        return Ok(());
    };
    reply.text("Let me look. ").await?;
    let films = json!([
        {"id": 18, "title": "Metropolis", "year": 1927, "genres": ["Drama", "Science Fiction"]},
        {"id": 7, "title": "Blade Runner 2049", "year": 2017, "url": "https://example.com/7"},
    ]);
    let search = Search::new("movies", "robot").filter("year > 1900");
    let call = meilisearch::ToolCall::new("call_1", "_meiliSearchInIndex", search.to_arguments());
    for said in [
        Output::Progress(SearchProgress::new("call_1", &search)),
        Output::Append(Append::new(Message::calls([&call]))),
        Output::Sources(Sources::new("call_1", &films)?),
        Output::Append(Append::new(Message::tool("call_1", "Metropolis (1927)"))),
        Output::Progress(SearchProgress::new("call_2", &Search::new("nope", "robot"))),
        Output::SearchFailure(SearchFailure::new(404, "Index `nope` not found.")),
        Output::RoundBreak,
    ] {
        reply.send(said).await?;
    }
    Ok(reply.text("Two films have robots.").await?)
}

/// Much at once.
async fn flood<P: Protocol>(reply: Reply<P>) -> Result<(), AgentError> {
    for line in 0..3000 {
        reply
            .text(&format!("Line **{line}** of the flood.\n\n"))
            .await?;
    }
    Ok(())
}

/// Never comes to an end by itself.
async fn slow<P: Protocol>(reply: Reply<P>) -> Result<(), AgentError> {
    for count in 1.. {
        reply.text(&format!("{count} ")).await?;
        tokio::time::sleep(Duration::from_millis(30)).await;
    }
    Ok(())
}
