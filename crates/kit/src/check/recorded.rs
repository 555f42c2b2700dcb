//! A stream that was recorded.

use http::Response;

use super::arrival::Arrived;
use super::exam::Stream;
use super::exchange::{End, Exchange};
use super::judge::Judge;
use super::report::Report;
use super::{question, read};
use crate::kit::Kit;

/// Checks a recorded stream, the whole body of one answer, by the rules of its protocol. The timing and the request
/// are not known: rules about these are in [`Report::unseen`].
pub fn recorded(kit: Kit, body: &[u8]) -> Report {
    let (head, ()) = Response::new(()).into_parts();
    let exchange = Exchange {
        name: "the stream".to_owned(),
        head,
        late: false,
        arrival: Arrived::default(),
        body: body.to_owned(),
        // The recording counts as complete, so a missing end is a finding.
        end: End::Clean,
    };
    let mut judge = Judge::default();
    judge.reads(&exchange.body);
    let blocks = read(&mut judge, kit.framing, &exchange);
    let stream = Stream {
        exchange: &exchange,
        blocks,
        asked: None,
    };
    question::judge(&mut judge, kit, &exchange);
    (kit.judge)(&mut judge, &stream);
    judge.report(kit.rules())
}
