//! A check says how far it is, gives up where it is no use, and can be stopped half-way.

use std::pin::pin;
use std::sync::Mutex;
use std::task::{Context, Waker};

use copilot_wire_kit::check::{Check, check};
use futures::executor::block_on;

use crate::FRONTS;
use crate::script::{Front, Head, Piece, Script};

#[test]
fn every_request_is_reported_and_counted() {
    for front in FRONTS {
        let script = Script::new(front, |_, answer| answer);
        let told = Mutex::new(Vec::new());
        let mut check = Check::new(&script, script.target());
        block_on(check.run(|progress| {
            let request = progress.request.to_owned();
            let step = (progress.number, progress.total, request);
            told.lock().unwrap().push(step);
        }));
        let told = told.into_inner().unwrap();
        let numbers: Vec<_> = told.iter().map(|(number, _, _)| *number).collect();
        assert_eq!(numbers, (1..=told.len()).collect::<Vec<_>>());
        let (number, total, last) = told.last().unwrap();
        assert_eq!(number, total, "{front:?}");
        assert_eq!(last, "a client after three that left");
        assert!(told.iter().all(|(number, total, _)| number <= total));
        assert!(check.report().is_clean());
    }
}

#[test]
fn answers_without_an_end_are_waited_for_three_times() {
    for front in FRONTS {
        let script = Script::new(front, |_, answer| answer.then(Piece::Never));
        let told = Mutex::new(Vec::new());
        let mut check = Check::new(&script, script.target());
        block_on(check.run(|progress| told.lock().unwrap().push(progress.request.to_owned())));
        let (report, told) = (check.report(), told.into_inner().unwrap());
        assert!(report.rules().eq(["http/silence"]), "{front:?}\n{report}");
        assert!(!report.skipped.is_empty(), "{report}");
        assert!(report.skipped.iter().all(|skipped| !told.contains(skipped)));
        let said = format!("stopped, {} request", report.skipped.len());
        assert!(report.to_string().contains(&said), "{report}");
        // What needs no stream is judged all the same.
        assert!(report.passed.contains(&"http/method"), "{report}");
    }
}

#[test]
fn what_an_endpoint_that_is_not_there_was_not_asked_is_named() {
    let script = Script::new(Front::Meilisearch, |_, mut answer| {
        answer.head = Head::Failed;
        answer
    });
    let report = block_on(check(&script, script.target()));
    let oversized = "48 MiB".to_owned();
    assert!(report.skipped.contains(&oversized), "{report}");
}

#[test]
fn a_refusal_of_everything_ends_the_check_and_shows_no_query() {
    let script = Script::new(Front::Meilisearch, |_, answer| answer.status(404));
    let target = script.target().path("/nowhere?key=secret");
    let report = block_on(check(&script, target));
    assert!(report.rules().eq(["http/denied"]), "{report}");
    let shown = report.to_string();
    assert!(shown.contains("POST /nowhere: 404 Not Found"), "{shown}");
    assert!(!shown.contains("secret"), "{shown}");
    assert!(report.skipped.contains(&"48 MiB".to_owned()), "{shown}");
}

#[test]
fn what_was_found_before_it_is_stopped_stays() {
    let script = Script::new(Front::OpenAi, |asked, answer| {
        let answer = answer.without("cache-control");
        if asked.has("stream_options") {
            answer.then(Piece::Never)
        } else {
            answer
        }
    });
    let mut check = Check::new(&script, script.target());
    {
        let told = Mutex::new(0);
        let mut run = pin!(check.run(|progress| *told.lock().unwrap() = progress.number));
        let mut cx = Context::from_waker(Waker::noop());
        while *told.lock().unwrap() < 3 {
            assert!(run.as_mut().poll(&mut cx).is_pending());
        }
    }
    let report = check.report();
    assert!(report.rules().eq(["http/cache-control"]), "{report}");
    assert_eq!(report.findings[0].requests, ["one message"]);
}
