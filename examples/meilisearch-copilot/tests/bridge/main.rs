//! The bridge over HTTP, in front of a search engine that does what the test says.
// Helpers of tests may be blunt too; `clippy.toml` reaches the test functions only.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod failures;
mod fronts;
mod history;
mod hostile;
mod keys;
#[cfg(unix)]
mod program;
mod support;

use std::time::{Duration, Instant};

use bytes::Bytes;
use copilot_wire::meilisearch::{ApiError, ChatRequest, Event, Sources, StreamOutcome, Tools};
use meilisearch_copilot::replay::{Recordings, Step};
use serde_json::{Value, json};

use support::*;

#[tokio::test]
async fn every_recording_passes_through_to_our_own_route() {
    let patience = Duration::from_secs(20);
    let setup = Setup::with(recordings(), patience, |bridge| bridge.error_frames(true)).await;
    for name in [
        "search_all_tools",
        "parallel_two_all_tools",
        "sequential_two_all_tools",
        "args_not_json_all_tools",
        "unknown_index_all_tools",
        "unicode_text",
        "refusal",
        "finish_length",
        "llm_401",
        "llm_error_second_turn",
        "provider_ip_denied",
    ] {
        let (events, outcome) = setup.meilisearch(name, Tools::ALL).await;
        let (recorded, expected) = read(Recordings::stream(name).unwrap().as_bytes());
        let terminal =
            |event: &Event| matches!(event, Event::Error(failure) if failure.is_terminal());
        // Word for word but for what a provider's connection error says.
        let kept = |events: Vec<Event>| -> Vec<Event> {
            events
                .into_iter()
                .filter(|event| !terminal(event))
                .collect()
        };
        assert_eq!(kept(events), kept(recorded), "{name}");
        match (outcome, expected) {
            (StreamOutcome::Failed(ours), StreamOutcome::Failed(theirs)) => {
                assert_eq!((ours.kind, ours.code), (theirs.kind, theirs.code), "{name}");
                assert!(!ours.message.contains("IP"), "{name}");
            }
            (ours, theirs) => assert_eq!(ours, theirs, "{name}"),
        }
    }
    for tools in [Tools::NONE, Tools::SOURCES, Tools::APPEND] {
        let (events, _) = setup.meilisearch("search_all_tools", tools).await;
        let heard = events
            .iter()
            .any(|event| matches!(event, Event::Progress(_)));
        assert!(!heard, "{tools:?}");
    }
}

#[tokio::test]
async fn an_openai_client_reads_the_answer_and_its_sources() {
    let setup = Setup::new(recordings()).await;
    let answer = setup.openai("Which films are about robots?").await;
    assert_eq!(
        answer.text,
        "I'll search for robots now.\n\n\
         Here is what I found: Blade Runner 2049 and Her both fit. \
         \n\n**Sources**\n\n\
         - Metropolis: A robot double stirs up the workers of a divided city.\n\
         - Blade Runner 2049: A young robot hunter uncovers a buried secret and looks for a missing predecessor.\n\
         - WALL·E: The last robot on a deserted Earth follows a visitor into space.\n"
    );
    assert_eq!(answer.finish.as_deref(), Some("stop"));
    assert!(answer.done && answer.error.is_none());
}

#[tokio::test]
async fn the_workspace_reads_the_answer() {
    let setup = Setup::new(recordings()).await;
    let answer = setup
        .openbb("t", &[("human", "Which films are about robots?")])
        .await;
    assert!(
        answer.starts_with("I'll search for robots now.\n\nHere is what I found"),
        "{answer}"
    );
}

#[tokio::test]
async fn a_github_client_reads_the_answer_and_its_sources() {
    let setup = Setup::new(recordings()).await;
    let answer = setup
        .github("t", &[("user", "Which films are about robots?")])
        .await;
    assert!(
        answer
            .text
            .starts_with("I'll search for robots now.\n\nHere is what I found"),
        "{answer:?}"
    );
    assert!(
        answer.references == 3 || answer.text.contains("- Metropolis"),
        "{answer:?}"
    );
    assert!(answer.done && !answer.error);
}

#[tokio::test]
async fn text_survives_every_front_end() {
    let (events, _) = read(Recordings::stream("unicode_text").unwrap().as_bytes());
    let expected = text(&events);
    assert!(
        expected.contains("data: [DONE]")
            && expected.contains('\u{2028}')
            && expected.contains('\0')
    );
    for front in FRONTS {
        let setup = Setup::new(then("unicode_text", usize::MAX, vec![])).await;
        let stream = setup.ask(front, json!({})).await;
        assert_eq!(text_of(front, &stream), expected, "{front}");
    }
}

#[tokio::test]
async fn an_answer_that_goes_wrong_ends_cleanly() {
    let search = "search_all_tools";
    let error = "data: {\"event_id\":\"e\",\"type\":\"error\",\"error\":{\"type\":\"server_error\",\"code\":null,\"message\":\"out of order\",\"param\":null,\"event_id\":null}}\n\n";
    let done = || send("data: [DONE]\n\n");
    let cases = [
        ("dies", vec![Step::Break]),
        ("ends without its end", vec![]),
        ("stalls", vec![Step::Stall]),
        ("fails", vec![send(error), done()]),
        (
            "sends garbage",
            vec![send("data: {\"choices\":[}\n\n"), done()],
        ),
        (
            "sends a page",
            vec![send("<html>\n\n<body>gateway</body>"), send("\n\n")],
        ),
    ];
    for (what, last) in cases {
        let script = then(search, 6, last);
        let setup = Setup::patient(script, Duration::from_millis(300)).await;
        let (events, outcome) = setup.meilisearch("m", Tools::ALL).await;
        assert!(
            matches!(outcome, StreamOutcome::Failed(_)),
            "{what}: {outcome:?}"
        );
        assert_eq!(text(&events), "I'll search for robots now.", "{what}");

        let answer = setup.openai("x").await;
        assert!(
            answer.error.is_some() && answer.finish.is_none(),
            "{what}: {answer:?}"
        );
        assert_eq!(answer.text, "I'll search for robots now.", "{what}");

        let answer = setup.github("t", &[("user", "x")]).await;
        assert!(answer.error && answer.done, "{what}: {answer:?}");
        assert!(
            answer.text.starts_with("I'll search for robots now."),
            "{what}"
        );

        let answer = setup.openbb("t", &[("human", "x")]).await;
        assert!(
            answer.starts_with("I'll search for robots now."),
            "{what}: {answer}"
        );
        assert!(answer.len() > 40, "{what}: {answer}");

        for front in FRONTS {
            let stream = setup.ask(front, json!({})).await;
            let text = text_of(front, &stream);
            assert!(
                text.starts_with("I'll search for robots now."),
                "{what}, {front}: {text}"
            );
            let reasons = [
                "broke off",
                "stopped answering",
                "had an error",
                "cannot be read",
            ];
            let is_told = reasons.iter().any(|reason| stream.contains(reason));
            assert!(is_told, "{what}, {front}: {stream}");
        }
    }
}

#[tokio::test]
async fn a_search_that_fails_is_noted_and_the_answer_goes_on() {
    let setup = Setup::new(then("unknown_index_all_tools", usize::MAX, vec![])).await;
    let answer = setup.openai("x").await;
    assert!(
        answer
            .text
            .contains("A search failed: there is no such index."),
        "{}",
        answer.text
    );
    assert!(
        answer.text.ends_with("Sorry, that index does not exist."),
        "{}",
        answer.text
    );
    assert_eq!(answer.finish.as_deref(), Some("stop"));
    let (events, outcome) = setup.meilisearch("m", Tools::NONE).await;
    assert!(outcome.is_answered());
    // OpenAI's clients would abort on an error frame.
    assert!(!events.iter().any(|event| matches!(event, Event::Error(_))));
    assert!(text(&events).contains("A search failed"));
    // The search engine's own words name indexes, and more.
    assert!(!text(&events).contains("nope"));
    assert!(!answer.text.contains("nope"));
}

#[tokio::test]
async fn a_refused_request_is_a_failure_without_secrets() {
    let setup = Setup::new(|_: &ChatRequest| -> Result<Vec<Step>, ApiError> {
        Err(ApiError::invalid_api_key())
    })
    .await;
    let answer = setup.openai("x").await;
    assert!(answer.error.unwrap().contains("refused the request"));
}

#[tokio::test]
async fn large_sources_arrive_whole() {
    let documents: Vec<_> = (0..400)
        .map(
            |id| json!({"id": id, "title": format!("Film {id}"), "overview": "é\"\\\n".repeat(60)}),
        )
        .collect();
    let sources = Sources::new("call_1", &documents).unwrap();
    assert!(sources.documents.text().len() > 136 * 1024);
    let arguments = json!({"call_id": "call_1", "sources": documents}).to_string();
    let chunk = json!({"id": "1", "choices": [{"index": 0, "delta": {"tool_calls": [{
        "index": 0, "id": "u", "type": "function",
        "function": {"name": "_meiliSearchSources", "arguments": arguments}}]}}]});
    let finish =
        json!({"id": "1", "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]});
    let frames = format!("data: {chunk}\n\ndata: {finish}\n\ndata: [DONE]\n\n");
    let script = move |_: &ChatRequest| Ok(vec![Step::Send(Bytes::from(frames.clone()))]);
    let setup = Setup::new(script).await;
    let (events, outcome) = setup.meilisearch("m", Tools::ALL).await;
    assert!(outcome.is_answered());
    let [Event::Sources(got), ..] = &events[..] else {
        panic!("sources are due")
    };
    assert_eq!(got.decode::<Value>().unwrap(), documents);
    let answer = setup.openai("x").await;
    assert_eq!(answer.text.matches("\n- Film ").count(), 400);
}

#[tokio::test]
async fn a_front_end_that_leaves_stops_the_search_engine() {
    let setup = Setup::new(then("search_all_tools", 4, vec![Step::Stall])).await;
    let mut shortest = Duration::MAX;
    // The best of a few: the machine may be busy, the code may not.
    for _ in 0..5 {
        for front in FRONTS {
            let (path, body) = asking(front, json!({}));
            let mut response = setup.post(path, &[], body).await;
            assert!(response.chunk().await.unwrap().is_some());
            let left = Instant::now();
            drop(response);
            let noticed =
                tokio::time::timeout(Duration::from_secs(20), setup.replay.hang_up()).await;
            let noticed = noticed.expect(path).unwrap();
            shortest = shortest.min(noticed.duration_since(left));
        }
    }
    assert!(shortest < Duration::from_millis(100), "{shortest:?}");
}

#[tokio::test]
async fn thousands_of_tiny_frames_lose_nothing() {
    let frame = json!({"id": "1", "choices": [{"index": 0, "delta": {"content": "ab"}}]});
    let frame = Bytes::from(format!("data: {frame}\n\n"));
    let count = 5000;
    let end = json!({"id": "1", "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]});
    let end = Bytes::from(format!("data: {end}\n\ndata: [DONE]\n\n"));
    let script = move |_: &ChatRequest| {
        let mut steps = vec![Step::Send(frame.clone()); count];
        steps.push(Step::Send(end.clone()));
        Ok(steps)
    };
    let setup = Setup::new(script).await;
    let (events, outcome) = setup.meilisearch("m", Tools::NONE).await;
    assert!(outcome.is_answered());
    assert_eq!(text(&events).len(), 2 * count);
}

/// The whole stream of every front end for a recorded answer. `GOLDEN=write` writes the files anew.
#[tokio::test]
async fn golden_streams() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    for name in [
        "search_all_tools",
        "parallel_two_all_tools",
        "unknown_index_all_tools",
        "llm_error_second_turn",
    ] {
        for front in FRONTS {
            let setup = Setup::new(then(name, usize::MAX, vec![])).await;
            let members = match front {
                "meilisearch" => json!({"model": name}),
                _ => json!({}),
            };
            let stream = setup.ask(front, members).await;
            let file = folder.join(format!("{front}.{name}.sse"));
            if std::env::var("GOLDEN").is_ok_and(|value| value == "write") {
                std::fs::create_dir_all(&folder).unwrap();
                std::fs::write(&file, &stream).unwrap();
            }
            let golden = std::fs::read_to_string(&file).unwrap();
            assert!(stream == golden, "{}:\n{stream}", file.display());
        }
    }
}
