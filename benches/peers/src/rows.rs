//! All rows, in the order of the tables.

use copilot_wire::ag_ui::AgUi;
use copilot_wire::anthropic::Anthropic;
use copilot_wire::github::GitHub;
use copilot_wire::meilisearch::Meilisearch;
use copilot_wire::models::Upstream;
use copilot_wire::openai::OpenAi;
use copilot_wire::openbb::OpenBb;
use copilot_wire::responses::Responses;
use copilot_wire::ui_stream::UiStream;

use crate::documents::Whole;
use crate::encode::{ACTIX, JSON_DATA, SSE_STREAM};
use crate::peer::Peer;
use crate::relay::BOTH_WAYS;
use crate::source::{self, ANSWERS, LARGE, PIECES, READ, SAMPLE, Sample};
use crate::{Row, conversation, decode, documents, encode, line, plumbing, query, relay, table};

/// Answers of one event and more, and answers of one kind of text, of which the first has no line ends.
fn encode<P: Peer>(goal: f64) -> Row {
    let title = format!("text events of {}", P::TITLE);
    let mut row = Row::new(format!("encode-{}", P::NAME), title, "event").goal(SSE_STREAM, goal);
    for number in ANSWERS {
        row = row.size(number, move || {
            encode::case::<P>(source::tokens(number).leak())
        });
    }
    for (kind, sample) in Sample::ALL {
        row = row.size(kind, || encode::case::<P>(sample.tokens(SAMPLE).leak()));
    }
    row
}

/// Events of 64 KiB.
fn large<P: Peer>() -> impl Iterator<Item = Row> {
    let goals = [0.15, 0.30, 0.35];
    source::TEXTS
        .into_iter()
        .zip(goals)
        .map(|((kind, text), goal)| {
            let name = format!("large-{}-{kind}", P::NAME);
            let title = format!("text events of 64 KiB of {}: {kind}", P::TITLE);
            let row = Row::new(name, title, "event").goal(SSE_STREAM, goal);
            [1, 8, LARGE].into_iter().fold(row, |row, number| {
                row.size(number, move || {
                    let text: &'static str = text(64 * 1024).leak();
                    encode::case::<P>(vec![text; number].leak())
                })
            })
        })
}

fn document<P: Whole>() -> Row {
    let title = format!("an answer in tokens without a stream of {}", P::TITLE);
    let row =
        Row::new(format!("document-{}", P::NAME), title, "answer").goal(documents::PUSH_STR, 1.2);
    [1, 100, 2000, 10_000]
        .into_iter()
        .fold(row, |row, number| {
            row.size(number, move || {
                documents::case::<P>(source::tokens(number).leak())
            })
        })
        .size("2000 as one text", || {
            let text: &'static str = source::tokens(2000).concat().leak();
            documents::case::<P>(vec![text].leak())
        })
}

/// Frames in pieces of every size, and in single bytes.
fn frames(kind: &'static str, title: &str, goal: f64, wire: decode::Wire) -> Row {
    let row = Row::new(format!("frames-{kind}"), title, "event").goal(SSE_DECODER, goal);
    let pieces = [("1", 1)].into_iter().chain(PIECES);
    pieces.fold(row, |row, (name, size)| {
        row.size(name, move || decode::frames(wire, size))
    })
}

const SSE_DECODER: &str = "sse-stream";

fn typed<P: Peer>() -> Row {
    let title = format!("typed text events of {}", P::TITLE);
    let row = Row::new(format!("typed-{}", P::NAME), title, "event");
    PIECES.into_iter().fold(row, |row, (name, size)| {
        row.size(name, move || {
            decode::typed::<P>(source::tokens(READ).leak(), size)
        })
    })
}

fn typed_large() -> Row {
    let title = "typed text events of 64 KiB of OpenBB";
    let row = Row::new("typed-large", title, "event").goal("sseer", 0.9);
    PIECES.into_iter().fold(row, |row, (name, size)| {
        row.size(name, move || {
            let text: &'static str = source::text(64 * 1024, false).leak();
            decode::typed::<OpenBb>(vec![text; decode::LARGE].leak(), size)
        })
    })
}

fn relay<U: Upstream + Peer, P: Peer>() -> Row {
    let title = format!(
        "tokens of a model that speaks {} for {}",
        U::TITLE,
        P::TITLE
    );
    let row = Row::new(format!("relay-{}-{}", U::NAME, P::NAME), title, "token");
    [10, 300, 10_000].into_iter().fold(row, |row, number| {
        row.size(number, move || relay::case::<U, P>(number))
    })
}

fn passage<U: Upstream + Peer>() -> Row {
    let title = format!("tokens of a model, passed on in {}", U::TITLE);
    let row = Row::new(format!("passage-{}", U::NAME), title, "token").goal(BOTH_WAYS, 0.10);
    [10, 300, 10_000].into_iter().fold(row, |row, number| {
        row.size(number, move || relay::passage::<U>(number))
    })
}

fn plumbing(name: &str, title: &str, paced: bool, goals: [f64; 2]) -> Row {
    let row = Row::new(format!("plumbing-{name}"), title, "event")
        .goal("mpsc, spawn and axum", goals[0])
        .goal("async-stream, format! frames", goals[1]);
    [1, 200, 10_000].into_iter().fold(row, |row, number| {
        row.size(number, move || plumbing::case(number, paced))
    })
}

pub fn rows() -> Vec<Row> {
    let mut rows = vec![
        encode::<OpenBb>(0.15)
            .goal(JSON_DATA, 0.07)
            .goal(ACTIX, 0.15),
        encode::<GitHub>(0.15),
        encode::<OpenAi>(0.08).goal(JSON_DATA, 0.025),
        encode::<Responses>(0.15),
        encode::<Anthropic>(0.15),
        encode::<Meilisearch>(0.15),
        encode::<UiStream>(0.15),
        encode::<AgUi>(0.15),
    ];
    rows.extend(large::<OpenBb>());
    rows.extend(large::<Responses>());
    rows.extend([
        [10, 1000, 7000].into_iter().fold(
            Row::new(
                "table",
                "a table of OpenBB; of 7000 rows it has 1 MB",
                "row",
            )
            .goal("format! and to_string", 0.72),
            |row, number| row.size(number, move || table::case(number)),
        ),
        [10, 1000, 7000].into_iter().fold(
            Row::new("table-reused", "the same into a reused buffer", "row")
                .goal("prefix and serde_json", 0.72),
            |row, number| row.size(number, move || table::reused(number)),
        ),
        document::<OpenAi>(),
        document::<Anthropic>(),
        document::<Responses>(),
        frames("token", "frames of OpenBB tokens", 0.8, decode::tokens),
        frames("chunk", "frames of OpenAI chunks", 0.9, decode::chunks),
        frames("large", "frames of events of 64 KiB", 0.8, decode::large).goal("sseer", 0.9),
        typed::<OpenBb>().goal("sse-stream and serde_json", 0.8),
        typed::<GitHub>(),
        typed::<OpenAi>(),
        typed::<Responses>(),
        typed::<Anthropic>(),
        typed::<Meilisearch>(),
        typed::<UiStream>(),
        typed::<AgUi>(),
        typed_large(),
        [1_000_000, 5_000_000, 10_000_000].into_iter().fold(
            Row::new("line", "one line in pieces of 16 bytes", "piece")
                .goal("sse-stream", 0.7)
                .goal("memchr and keep", 1.3),
            |row, length| {
                row.size(format!("{} MB", length / 1_000_000), move || {
                    line::case(length)
                })
            },
        ),
        [10, 1000, 58_000].into_iter().fold(
            Row::new(
                "query-string",
                "a query with widget data in a string; of 58,000 rows it has 10 MB",
                "row",
            )
            .goal(query::BORROWED, 0.34),
            |row, number| row.size(number, move || query::case(number, true)),
        ),
        [10, 1000, 66_000].into_iter().fold(
            Row::new(
                "query-records",
                "a query with widget data as records; of 66,000 rows it has 10 MB",
                "row",
            )
            .goal(query::BORROWED, 0.80),
            |row, number| row.size(number, move || query::case(number, false)),
        ),
        [2, 20, 200, 2000].into_iter().fold(
            Row::new(
                "conversation",
                "a conversation as a model's request, 10 KB a turn",
                "turn",
            )
            .goal("serde structs by hand", 0.7),
            |row, turns| row.size(turns, move || conversation::case(turns)),
        ),
        passage::<OpenAi>(),
        passage::<Anthropic>(),
        passage::<Responses>(),
        relay::<OpenAi, Anthropic>(),
        relay::<OpenAi, Responses>(),
        relay::<OpenAi, UiStream>(),
        relay::<Anthropic, OpenAi>(),
        relay::<Anthropic, UiStream>(),
        relay::<Responses, OpenAi>(),
        relay::<Responses, Anthropic>(),
        relay::<Responses, UiStream>(),
        plumbing(
            "burst",
            "agent to body, tokens always ready",
            false,
            [0.07, 0.20],
        ),
        plumbing(
            "paced",
            "agent to body, every token waited for",
            true,
            [0.60, 0.80],
        ),
    ]);
    rows
}
