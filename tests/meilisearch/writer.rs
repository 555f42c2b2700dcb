//! Output of this crate's server, written by replies.

use std::pin::Pin;

use copilot_wire::meilisearch::{
    Append, Event, Meilisearch, Message, Output, Search, SearchFailure, SearchProgress, Sources,
    StreamError, StreamOutcome, ToolCall, Tools,
};
use copilot_wire::openai::FinishReason;
use copilot_wire::protocol::{AgentError, EventDecoder, Protocol};
use copilot_wire::{Agent, Body, Reply, Request, async_trait};
use futures::StreamExt;
use futures::executor::block_on;
use proptest::prelude::*;
use serde_json::json;

use crate::support::{Read, counting, decode, encode, request, send, text, whole};

type Answer = Pin<Box<dyn Future<Output = Result<(), AgentError>> + Send>>;

struct Run<F>(F);

#[async_trait]
impl<F> Agent<Meilisearch> for Run<F>
where
    F: Fn(Reply<Meilisearch>) -> Answer + Send + Sync,
{
    async fn answer(
        &self,
        _: Request<Meilisearch>,
        reply: Reply<Meilisearch>,
    ) -> Result<(), AgentError> {
        (self.0)(reply).await
    }
}

fn run<F, Fut>(tools: Tools, agent: F) -> Vec<u8>
where
    F: Fn(Reply<Meilisearch>) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<(), AgentError>> + Send + 'static,
{
    let agent = Run(move |reply| -> Answer { Box::pin(agent(reply)) });
    let body = Body::run(agent, Request::new(request("m", tools)), &counting());
    let frames: Vec<_> = block_on(body.map(Result::unwrap).collect());
    frames.concat()
}

fn read<F, Fut>(tools: Tools, agent: F) -> Read
where
    F: Fn(Reply<Meilisearch>) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<(), AgentError>> + Send + 'static,
{
    whole(&run(tools, agent))
}

async fn notify(reply: &Reply<Meilisearch>) -> Result<(), AgentError> {
    let search = Search::new("movies", "robot").filter("");
    let progress = SearchProgress::new("call_1", &search);
    let call = ToolCall::new("call_1", "_meiliSearchInIndex", search.to_arguments());
    reply.send(progress).await?;
    reply.send(Append::new(Message::calls([&call]))).await?;
    reply
        .send(Sources::new("call_1", &[json!({"id": 1})])?)
        .await?;
    reply
        .send(Append::new(Message::tool("call_1", "one")))
        .await?;
    Ok(())
}

#[test]
fn notifications_are_gated_by_the_request() {
    for (tools, expected) in [
        (Tools::NONE, 0),
        (Tools::PROGRESS, 1),
        (Tools::SOURCES, 1),
        (Tools::APPEND, 2),
        (Tools::PROGRESS.with(Tools::APPEND), 3),
        (Tools::ALL, 4),
    ] {
        let read = read(tools, |reply| async move { notify(&reply).await });
        let count = read
            .events
            .iter()
            .filter(|event| {
                matches!(
                    event,
                    Event::Progress(_) | Event::Append(_) | Event::Sources(_)
                )
            })
            .count();
        assert_eq!(count, expected, "{tools:?}");
        assert_eq!(read.outcome, StreamOutcome::Answered(FinishReason::Stop));
    }
}

#[test]
fn every_notification_has_an_id_of_its_own() {
    let read = read(Tools::ALL, |reply| async move { notify(&reply).await });
    let mut ids: Vec<_> = read
        .events
        .iter()
        .filter_map(|event| match event {
            Event::Progress(progress) => Some(&progress.id),
            Event::Append(append) => Some(&append.id),
            Event::Sources(sources) => Some(&sources.id),
            _ => None,
        })
        .collect();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 4);
    assert!(ids.iter().all(|id| id.len() == 36));
}

#[test]
fn a_search_that_failed_does_not_end_the_answer() {
    let read = read(Tools::NONE, |reply| async move {
        reply.text("a").await?;
        reply
            .send(SearchFailure::new(404, "Index `nope` not found."))
            .await?;
        reply.send(Output::RoundBreak).await?;
        reply.text("b").await?;
        Ok(())
    });
    assert_eq!(text(&read.events), "ab");
    assert!(read.events.contains(&Event::RoundBreak));
    assert_eq!(read.outcome, StreamOutcome::Answered(FinishReason::Stop));
    let failure = read.events.iter().find_map(|event| match event {
        Event::Error(failure) => Some(failure),
        _ => None,
    });
    assert_eq!(failure.unwrap().code.as_deref(), Some("404"));
}

#[test]
fn a_turn_ends_with_the_given_reason() {
    let length = read(Tools::NONE, |reply| async move {
        reply.text("a").await?;
        Ok(reply.end(FinishReason::Length)?)
    });
    assert_eq!(
        length.outcome,
        StreamOutcome::Answered(FinishReason::Length)
    );
    let failure = StreamError::new("requests", "Rate limit reached").code("rate_limit_exceeded");
    let expected = failure.clone();
    let failed = read(Tools::NONE, move |reply| {
        let failure = failure.clone();
        async move { Ok(reply.end(failure)?) }
    });
    let StreamOutcome::Failed(got) = failed.outcome else {
        panic!("a failure is due")
    };
    assert_eq!((got.kind, got.code), (expected.kind, expected.code));
    assert!(failed.done);
}

#[test]
fn there_is_no_frame_without_data() {
    // OpenAI's Python client fails on a frame with only `retry`.
    let out = run(Tools::ALL, |reply| async move { notify(&reply).await });
    let out = String::from_utf8(out).unwrap();
    assert!(
        out.split_terminator("\n\n")
            .all(|frame| frame.starts_with("data: "))
    );
}

fn say() -> impl Strategy<Value = Event> {
    let any = || ".{0,12}|\\PC{0,8}|[\\x00-\\x1f\"\\\\\u{2028}{}]{0,8}";
    prop_oneof![
        any()
            .prop_filter("empty text says nothing", |text| !text.is_empty())
            .prop_map(Event::Text),
        any()
            .prop_filter("empty text says nothing", |text| !text.is_empty())
            .prop_map(Event::Refusal),
        Just(Event::RoundBreak),
        (any(), any(), any()).prop_map(|(id, call_id, arguments)| {
            let mut progress = SearchProgress::new(call_id, &Search::new("i", "q"));
            progress.id = format!("id{id}");
            progress.function_arguments = arguments;
            Event::Progress(progress)
        }),
        (any(), any(), any()).prop_map(|(id, call_id, title)| {
            let mut sources = Sources::new(call_id, &[json!({"title": title})]).unwrap();
            sources.id = format!("id{id}");
            Event::Sources(sources)
        }),
        (any(), any(), any()).prop_map(|(id, call_id, content)| {
            let mut append = Append::new(Message::tool(&call_id, &content));
            append.id = format!("id{id}");
            Event::Append(append)
        }),
        (any(), 400_u16..600).prop_map(|(message, status)| {
            let mut failure = StreamError::from(SearchFailure::new(status, message));
            failure.event_id = "e".into();
            Event::Error(failure)
        }),
        any().prop_map(|message| {
            let mut failure = StreamError::new("server_error", message);
            failure.event_id = "e".into();
            Event::Error(failure)
        }),
        Just(Event::Finish(FinishReason::ContentFilter)),
    ]
}

/// Adds a break where text follows a search: it is the model's next round.
fn with_breaks(events: Vec<Event>) -> Vec<Event> {
    let (mut has_text, mut has_search, mut broken) = (false, false, Vec::new());
    for event in events {
        match &event {
            Event::Text(_) | Event::Refusal(_) => {
                if has_text && has_search {
                    broken.push(Event::RoundBreak);
                }
                (has_text, has_search) = (true, false);
            }
            Event::RoundBreak => (has_text, has_search) = (false, false),
            _ => has_search = true,
        }
        broken.push(event);
    }
    broken
}

proptest! {
    #[test]
    fn what_is_written_is_read_back(
        events in prop::collection::vec(say(), 0..12),
        model in ".{0,8}",
        sizes in prop::collection::vec(1_usize..200, 1..8),
    ) {
        // An answer has one end.
        let mut events = events;
        let ends = |event: &Event| match event {
            Event::Error(failure) => failure.is_terminal(),
            event => matches!(event, Event::Finish(_)),
        };
        match events.iter().position(ends) {
            Some(end) => events.truncate(end + 1),
            None => events.push(Event::Finish(FinishReason::Stop)),
        }
        events.push(Event::Done);
        let stream = encode(&model, Tools::ALL, &events);
        let read = decode(&stream, &sizes);
        prop_assert_eq!(read.errors, Vec::<String>::new());
        prop_assert_eq!(read.events, with_breaks(events));
    }

    #[test]
    fn one_frame_is_one_event(event in say()) {
        let mut session = Meilisearch::session(&request("m", Tools::ALL), &(), &counting());
        let mut stream = Vec::new();
        session.open(&mut stream);
        stream.clear();
        send(&mut session, event.clone(), &mut stream);
        let mut frames = EventDecoder::<Meilisearch>::new();
        let expected = match event {
            // Only the next frame shows if it is a break between rounds or the end.
            Event::RoundBreak | Event::Finish(FinishReason::ToolCalls) => None,
            event => Some(event),
        };
        prop_assert_eq!(frames.next(&mut stream.as_slice()).unwrap(), expected.as_ref());
    }

    #[test]
    fn no_bytes_make_the_reader_panic(bytes in prop::collection::vec(any::<u8>(), 0..400), frames in prop::collection::vec("\\PC{0,40}", 0..6)) {
        let mut stream: Vec<u8> = frames.iter().flat_map(|frame| format!("data: {{{frame}}}\n\n").into_bytes()).collect();
        stream.extend(bytes);
        let mut decoder = EventDecoder::<Meilisearch>::new().limit(256);
        let mut input = stream.as_slice();
        for _ in 0..100 {
            if let Ok(None) = decoder.next(&mut input) {
                break;
            }
        }
        let _ = decoder.decoder().outcome();
    }
}
