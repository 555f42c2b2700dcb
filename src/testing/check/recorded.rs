//! A stream that was recorded.

use http::Response;

use super::arrival::Arrived;
use super::exchange::{End, Exchange};
use super::judge::Judge;
use super::{Front, Report, github, meilisearch, openai, openbb, sse};

/// Judges the body of a stream that an agent sent, to its end. How it came is not known, nor what
/// was asked: rules about those are among [`Report::unseen`].
///
/// ```
/// use copilot_wire::testing::check::{Front, recorded};
///
/// let report = recorded(Front::OpenBb, b"event: copilotMessageChunk\ndata: {'delta': 'x'}\n\n");
/// assert!(report.rules().eq(["openbb/json", "openbb/empty"]));
/// assert_eq!(report.findings[0].offset, Some(0));
/// ```
#[must_use]
pub fn recorded(front: Front, body: &[u8]) -> Report {
    let (head, ()) = Response::new(()).into_parts();
    let exchange = Exchange {
        name: "the stream".to_owned(),
        head,
        late: false,
        arrival: Arrived::default(),
        body: body.to_owned(),
        end: End::Clean,
    };
    let mut judge = Judge::new(front);
    judge.reads(&exchange.body);
    let blocks = sse::read(&mut judge, &exchange);
    match front {
        Front::OpenBb => openbb::stream(&mut judge, &exchange, &blocks, None),
        Front::GitHub => github::stream(&mut judge, &exchange, &blocks),
        Front::OpenAi => openai::stream(&mut judge, &exchange, &blocks, None),
        Front::Meilisearch => meilisearch::stream(&mut judge, &exchange, &blocks, None),
    }
    judge.report()
}
