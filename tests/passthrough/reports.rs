//! What holds for every reply holds for an answer that is passed on.

use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use bytes::Bytes;
use copilot_wire::json::Wire as _;
use copilot_wire::protocol::{AgentError, Env, Protocol};
use copilot_wire::{Agent, Reply, Request, Router, async_trait};
use copilot_wire_kit::Clock;
use futures::StreamExt;
use futures::executor::block_on;

use crate::streams::{CHAT, MESSAGES, RESPONSES, sent, stream};
use crate::{Gateway, ask, request};

const PATHS: [&str; 3] = [CHAT, RESPONSES, MESSAGES];

fn answer(path: &str) -> String {
    let sent = sent();
    stream(sent.iter().find(|it| it.path == path).unwrap())
}

fn poll<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

fn post(
    path: &str,
) -> http::Request<
    futures::stream::Iter<std::array::IntoIter<Result<Bytes, std::convert::Infallible>, 1>>,
> {
    let body = Bytes::from(request(path, true).to_string());
    http::Request::post(path)
        .header("content-type", "application/json")
        .body(futures::stream::iter([Ok(body)]))
        .unwrap()
}

#[test]
fn usage_first_output_and_events_are_reported() {
    for path in PATHS {
        let reports = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&reports);
        let router = Gateway::new(path, answer(path))
            .router()
            .observe(move |turn| {
                let usage = turn.usage.map(|it| (it.input_tokens, it.output_tokens));
                let report = (
                    turn.outcome.as_str(),
                    usage,
                    turn.first_output.is_some(),
                    turn.bytes,
                );
                seen.lock().unwrap().push(report);
            });
        let (_, body) = ask(&router, path, &request(path, true));
        let expected = ("answered", Some((10, 5)), true, body.len() as u64);
        assert_eq!(*reports.lock().unwrap(), [expected], "{path}");
    }
}

#[test]
fn keep_alives_take_no_number_and_no_id() {
    for path in PATHS {
        let clock = Clock::new();
        let frames = answer(path);
        for events in [0, 4] {
            let head: String = frames.split_inclusive("\n\n").take(events).collect();
            let mut gateway = Gateway::new(path, head);
            gateway.hangs = true;
            let router = gateway.router().env(Env::new(clock.clone()));
            let mut answer = pin!(router.handle(post(path)));
            let response = loop {
                match poll(answer.as_mut()) {
                    Poll::Ready(response) => break response,
                    Poll::Pending => clock.advance(Duration::from_secs(1)),
                }
            };
            let mut body = response.into_body();
            let (mut text, mut seconds) = (String::new(), 0);
            while seconds < 60 {
                match poll(pin!(body.next())) {
                    Poll::Ready(frame) => {
                        text += std::str::from_utf8(&frame.unwrap().unwrap()).unwrap();
                    }
                    Poll::Pending => {
                        clock.advance(Duration::from_secs(1));
                        seconds += 1;
                    }
                }
            }
            let keep_alive = match (path, events) {
                (MESSAGES, 0) => "event: ping\n",
                (MESSAGES, _) => "\"type\":\"message_delta\"",
                _ => ": ping\n\n",
            };
            assert!(
                text.matches(keep_alive).count() >= 2,
                "{path} {events}: {text}"
            );
            assert!(
                !text.contains("msg_0") && !text.contains("resp_0"),
                "{text}"
            );
        }
    }
}

#[test]
fn a_shutdown_ends_the_answer_as_a_failure() {
    for path in PATHS {
        let frames = answer(path);
        let head: String = frames.split_inclusive("\n\n").take(4).collect();
        let mut gateway = Gateway::new(path, head);
        gateway.hangs = true;
        let router = gateway.router();
        let mut body = block_on(router.handle(post(path))).into_body();
        let first = block_on(body.next()).unwrap().unwrap();
        let mut drain = pin!(router.drain(std::future::ready(())));
        let _ = poll(drain.as_mut());
        let rest: Vec<Bytes> = block_on(body.map(Result::unwrap).collect());
        let text = String::from_utf8([&first[..], &rest.concat()].concat()).unwrap();
        let failure = match path {
            RESPONSES => "response.failed",
            _ => "\"error\":",
        };
        assert!(
            text.contains(failure) && !text.contains("message_stop"),
            "{text}"
        );
    }
}

/// An agent that leaves out the end.
struct Forgets(Gateway);

#[async_trait]
impl<P: Protocol> Agent<P> for Forgets {
    async fn answer(&self, request: Request<P>, reply: Reply<P>) -> Result<(), AgentError> {
        use copilot_wire::models::Passthrough;
        async fn half<U: copilot_wire::models::Upstream, P: Protocol>(
            gateway: &Gateway,
            request: Request<P>,
            reply: Reply<P>,
        ) -> Result<(), AgentError> {
            let mut passthrough = Passthrough::<U, P>::new(&request, reply);
            Ok(passthrough.write(&gateway.pieces[0]).await?)
        }
        match self.0.path {
            CHAT => half::<copilot_wire::openai::OpenAi, P>(&self.0, request, reply).await,
            RESPONSES => {
                half::<copilot_wire::responses::Responses, P>(&self.0, request, reply).await
            }
            _ => half::<copilot_wire::anthropic::Anthropic, P>(&self.0, request, reply).await,
        }
    }
}

#[test]
fn half_an_answer_never_looks_complete() {
    for path in PATHS {
        let frames = answer(path);
        let head: String = frames.split_inclusive("\n\n").take(4).collect();
        let router = Router::new()
            .mount_model("m", Forgets(Gateway::new(path, head)))
            .unwrap();
        let (_, body) = ask(&router, path, &request(path, true));
        let failure = match path {
            RESPONSES => "response.failed",
            _ => "\"error\":",
        };
        assert!(body.contains(failure), "{body}");
    }
}

#[test]
fn a_reply_that_has_begun_is_relayed() {
    struct Waits(Gateway, Clock);
    #[async_trait]
    impl<P: Protocol> Agent<P> for Waits {
        async fn answer(&self, request: Request<P>, reply: Reply<P>) -> Result<(), AgentError> {
            self.1.sleep(Duration::from_secs(9)).await;
            self.0.answer(request, reply).await
        }
    }
    // The head was sent after five seconds, and nothing else.
    for path in PATHS {
        let clock = Clock::new();
        let agent = Waits(Gateway::new(path, answer(path)), clock.clone());
        let router = Router::new()
            .env(Env::new(clock.clone()))
            .mount_model("m", agent)
            .unwrap();
        let mut handled = pin!(router.handle(post(path)));
        assert!(poll(handled.as_mut()).is_pending());
        clock.advance(Duration::from_secs(5));
        let Poll::Ready(response) = poll(handled.as_mut()) else {
            panic!("{path} waits");
        };
        let mut body = response.into_body();
        assert!(poll(pin!(body.next())).is_pending());
        clock.advance(Duration::from_secs(4));
        let frames: Vec<Bytes> = block_on(body.map(Result::unwrap).collect());
        let text = String::from_utf8(frames.concat()).unwrap();
        assert!(text.contains("\"up\""), "{text}");
    }
}

/// Returns what arrives of an answer that is cancelled after some events.
fn cancelled<P: Protocol>(
    request: P::Request,
    events: usize,
    answer: &str,
    path: &'static str,
) -> String {
    let head: String = answer.split_inclusive("\n\n").take(events).collect();
    let mut gateway = Gateway::new(path, head);
    gateway.hangs = true;
    let mut body = copilot_wire::Body::run::<P, _>(gateway, Request::new(request), &Env::default());
    let first = block_on(body.next()).unwrap().unwrap();
    body.canceller().unwrap().cancel();
    let rest: Vec<Bytes> = block_on(body.map(Result::unwrap).collect());
    String::from_utf8([&first[..], &rest.concat()].concat()).unwrap()
}

#[test]
fn a_cancelled_answer_has_no_words_of_its_own() {
    for sent in sent() {
        let all = stream(&sent);
        for events in 1..all.matches("\n\n").count() - 1 {
            let request = Bytes::from(request(sent.path, true).to_string());
            let text = match sent.path {
                CHAT => cancelled::<copilot_wire::openai::OpenAi>(
                    copilot_wire::openai::ChatRequest::from_json(request).unwrap(),
                    events,
                    &all,
                    CHAT,
                ),
                RESPONSES => cancelled::<copilot_wire::responses::Responses>(
                    copilot_wire::responses::ResponsesRequest::from_json(request).unwrap(),
                    events,
                    &all,
                    RESPONSES,
                ),
                _ => cancelled::<copilot_wire::anthropic::Anthropic>(
                    copilot_wire::anthropic::MessagesRequest::from_json(request).unwrap(),
                    events,
                    &all,
                    MESSAGES,
                ),
            };
            let events = crate::data(&text);
            let own = events.iter().filter(|event| !sent.events.contains(event));
            let own = serde_json::to_string(&own.collect::<Vec<_>>()).unwrap();
            assert!(
                !own.contains("There is no answer.") && !own.contains("text_delta"),
                "{}: {own}",
                sent.name
            );
            assert!(
                !own.contains("signature_delta") && !own.contains("\"output\":[{"),
                "{}: {own}",
                sent.name
            );
            let is_open = text.matches("event: content_block_start").count()
                > text.matches("event: content_block_stop").count();
            assert!(
                !is_open || own.contains("\"error\""),
                "{}: {own}",
                sent.name
            );
        }
    }
}

#[test]
fn a_client_that_does_not_read_holds_up_the_server() {
    struct Counts(Gateway, Arc<Mutex<usize>>);
    #[async_trait]
    impl Agent<copilot_wire::openai::OpenAi> for Counts {
        async fn answer(
            &self,
            request: Request<copilot_wire::openai::OpenAi>,
            reply: Reply<copilot_wire::openai::OpenAi>,
        ) -> Result<(), AgentError> {
            use copilot_wire::models::Passthrough;
            let mut passthrough =
                Passthrough::<copilot_wire::openai::OpenAi, _>::new(&request, reply);
            loop {
                passthrough.write(&self.0.pieces[0]).await?;
                *self.1.lock().unwrap() += self.0.pieces[0].len();
            }
        }
    }
    let piece =
        r#"data: {"choices":[{"index":0,"delta":{"content":"word"},"finish_reason":null}]}"#;
    let written = Arc::new(Mutex::new(0));
    let agent = Counts(
        Gateway::new(CHAT, format!("{piece}\n\n")),
        Arc::clone(&written),
    );
    let request = Bytes::from(request(CHAT, true).to_string());
    let request = copilot_wire::openai::ChatRequest::from_json(request).unwrap();
    let mut body = copilot_wire::Body::run(agent, Request::new(request), &Env::default());
    for frames in 1..10 {
        assert!(poll(pin!(body.next())).is_ready());
        let written = *written.lock().unwrap();
        assert!(
            written < frames * 20_000,
            "{written} bytes of {frames} frames"
        );
    }
}
