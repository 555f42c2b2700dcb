//! The kit with endpoints that are slow or silent.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use copilot_wire::async_trait;
use copilot_wire_kit::Clock;
use copilot_wire_kit::check::{Endpoint, EndpointBody, EndpointError, Report, Target, check};
use futures::executor::block_on;
use futures::{StreamExt, TryStreamExt, stream};
use http::{Method, Request, Response};

use crate::script::{Front, Head, Piece, Script};

/// Answers in as many pieces as there are times, in seconds from the head on.
struct Paced {
    script: Script,
    clock: Clock,
    times: &'static [u64],
}

#[async_trait]
impl Endpoint for Paced {
    async fn call(&self, request: Request<Bytes>) -> Result<Response<EndpointBody>, EndpointError> {
        let (head, body) = self.script.call(request).await?.into_parts();
        if head.headers["content-type"] != "text/event-stream" {
            return Ok(Response::from_parts(head, body));
        }
        let body: Vec<Bytes> = body.try_collect().await?;
        let body = body.concat();
        let size = body.len().div_ceil(self.times.len());
        let pieces: Vec<_> = body.chunks(size).map(Bytes::copy_from_slice).collect();
        let sleeps = self.times.iter();
        let sleeps = sleeps.map(|time| self.clock.sleep(Duration::from_secs(*time)));
        let sleeps: Vec<_> = sleeps.collect();
        let paced = stream::iter(pieces.into_iter().zip(sleeps));
        let paced = paced.then(|(piece, sleep)| async {
            sleep.await;
            Ok(piece)
        });
        Ok(Response::from_parts(head, Box::pin(paced)))
    }

    async fn sleep(&self, duration: Duration) {
        self.clock.sleep(duration).await;
    }
}

/// Judges an agent that says something at each of `times`.
fn paced(times: &'static [u64]) -> Report {
    let endpoint = Paced {
        script: Script::new(Front::OpenAi, |_, answer| answer),
        clock: Clock::new(),
        times,
    };
    let mut check = pin!(check(&endpoint, endpoint.script.target()));
    block_on(poll_fn(|cx| {
        let report = check.as_mut().poll(cx);
        if report.is_pending() {
            endpoint.clock.advance(Duration::from_secs(1));
            cx.waker().wake_by_ref();
        }
        report
    }))
}

#[test]
fn a_pause_of_less_than_twenty_seconds_is_none() {
    for times in [&[8, 22][..], &[1, 20, 39], &[19, 38]] {
        let report = paced(times);
        assert!(report.is_clean(), "{times:?}\n{report}");
    }
}

#[test]
fn a_pause_of_half_a_minute_is_found() {
    for times in [&[8, 40][..], &[32], &[1, 2, 35]] {
        let report = paced(times);
        assert!(report.rules().eq(["http/silence"]), "{times:?}\n{report}");
    }
}

#[test]
fn one_request_without_an_answer_hides_nothing() {
    let script = Script::new(Front::OpenAi, |asked, mut answer| {
        if asked.is(Method::GET, "/v1/models") {
            answer.head = Head::Failed;
        }
        match asked.request.method() == Method::PUT {
            true => answer.status(404),
            false => answer,
        }
    });
    let report = block_on(check(&script, script.target()));
    let found: Vec<_> = report.rules().collect();
    assert_eq!(found, ["http/unreachable", "http/method"], "{report}");

    let script = Script::new(Front::OpenBb, |asked, answer| {
        let answer = answer.then(Piece::Never);
        match asked.request.method() == Method::PUT {
            true => answer.status(404),
            false => answer,
        }
    });
    let report = block_on(check(&script, script.target()));
    let found: Vec<_> = report.rules().collect();
    assert_eq!(found, ["http/silence", "http/method"], "{report}");
}

/// Nobody is there.
#[derive(Default)]
struct Gone(AtomicUsize);

#[async_trait]
impl Endpoint for Gone {
    async fn call(&self, _: Request<Bytes>) -> Result<Response<EndpointBody>, EndpointError> {
        self.0.fetch_add(1, Ordering::Relaxed);
        Err(EndpointError::new("connection refused"))
    }

    async fn sleep(&self, _: Duration) {}
}

#[test]
fn an_endpoint_that_is_not_there_is_left_alone() {
    for front in [Front::OpenBb, Front::GitHub, Front::OpenAi] {
        let gone = Gone::default();
        let report = block_on(check(&gone, Target::new(front.kit())));
        assert!(report.rules().eq(["http/unreachable"]), "{report}");
        assert_eq!(gone.0.into_inner(), 3);
    }
}
