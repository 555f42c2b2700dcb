//! A stream that was recorded.

use http::Response;

use super::arrival::Arrived;
use super::exchange::{End, Exchange};
use super::judge::Judge;
use super::report::Report;
use super::sse;
use crate::testing::kit::Kit;

/// Judges the body of a stream that an agent sent, to its end. How it came is not known, nor what
/// was asked: rules about those are among [`Report::unseen`].
///
#[cfg_attr(feature = "openbb", doc = "```")]
#[cfg_attr(not(feature = "openbb"), doc = "```ignore")]
/// use copilot_wire::openbb::OpenBb;
/// use copilot_wire::testing::{check::recorded, kit};
///
/// let stream = b"event: copilotMessageChunk\ndata: {'delta': 'x'}\n\n";
/// let report = recorded(kit::<OpenBb>(), stream);
/// assert!(report.rules().eq(["openbb/json", "openbb/empty"]));
/// assert_eq!(report.findings[0].offset, Some(0));
/// ```
#[must_use]
pub fn recorded(kit: &dyn Kit, body: &[u8]) -> Report {
    let (head, ()) = Response::new(()).into_parts();
    let exchange = Exchange {
        name: "the stream".to_owned(),
        head,
        late: false,
        arrival: Arrived::default(),
        body: body.to_owned(),
        end: End::Clean,
    };
    let mut judge = Judge::default();
    judge.reads(&exchange.body);
    let blocks = sse::read(&mut judge, &exchange);
    kit.judge(&mut judge, &exchange, &blocks, None);
    judge.report(kit.rules())
}
