//! Resumable replies of every protocol.

use std::convert::Infallible;
use std::time::Duration;

use bytes::Bytes;
use copilot_wire::json::Wire as _;
use copilot_wire::mcp::Mcp;
use copilot_wire::protocol::Framing;
use copilot_wire::replies::{ReplyEnd, ReplyStore as _};
use copilot_wire::responses::{Responses, ResponsesRequest};
use copilot_wire::ui_stream::UiStream;
use copilot_wire_kit::Toolkit;
use copilot_wire_kit::Visit;
use futures::StreamExt as _;
use http::{Method, StatusCode};
use serde_json::Value;

use crate::server::{
    Talker, again, ask, env, in_virtual_time, memory, read, read_some, replies, router, seconds,
    send, text,
};
use crate::spy::{Fault, Spy};

/// Returns the number of bytes of a whole reply, and that before its last frame.
async fn length<P: Toolkit>() -> (usize, usize) {
    let router = router::<P>(Talker::default(), Some(replies(memory()).join(true)));
    let frames = ask::<P>(&router, "ada")
        .await
        .map(|frame| frame.unwrap().len());
    let frames: Vec<_> = frames.collect().await;
    let length = frames.iter().sum();
    (length, length - frames.last().unwrap())
}

/// A reader that leaves after any byte and comes back gets all of it, from its beginning.
#[test]
fn a_cut_reply_is_whole_when_it_is_asked_for_again() {
    struct Cut;
    impl Visit for Cut {
        fn visit<P: Toolkit>(&mut self) {
            // Its clients ask for the rest alone: `tests/mcp/resume.rs`.
            if P::NAME == "mcp" {
                return;
            }
            let (length, last) = in_virtual_time(length::<P>());
            assert!(length > 100, "{}", P::NAME);
            for at in (0..length).step_by(19).chain([length]) {
                in_virtual_time(async {
                    let replies = replies(memory()).join(true);
                    let router = router::<P>(Talker::default(), Some(replies));
                    let first = read_some(ask::<P>(&router, "ada").await, at).await;
                    let (one, two) = futures::join!(
                        async { read(again::<P>(&router, "ada").await).await },
                        async { read(again::<P>(&router, "ada").await).await },
                    );
                    assert_eq!(first.len(), at, "{}", P::NAME);
                    // Where the first reader had the last frame, front ends without a verb begin anew.
                    if at <= last {
                        assert_eq!(text(&one), text(&two), "{} at {at}", P::NAME);
                        assert!(one.starts_with(&first), "{} at {at}", P::NAME);
                        assert_eq!(one.len(), length, "{} at {at}", P::NAME);
                    }
                });
            }
        }
    }
    Cut.visit_all();
}

/// Without resumable replies, and without a user, the bytes are those of an ordinary reply.
#[test]
fn without_a_user_nothing_changes() {
    struct Plain;
    impl Visit for Plain {
        fn visit<P: Toolkit>(&mut self) {
            let heads = [None, Some("")].map(|user| {
                in_virtual_time(async {
                    let replies = user.map(|_| replies(memory()).join(true));
                    let router = router::<P>(Talker::default(), replies);
                    let body = read(ask::<P>(&router, "").await).await;
                    // Ids are random.
                    let body = text(&body).replace(|c: char| c.is_ascii_hexdigit(), "");
                    let mut seen = vec![body];
                    for path in [
                        "/v1/responses/x",
                        "/v1/responses/x/cancel",
                        "/api/chat/c/stop",
                    ] {
                        for method in [Method::GET, Method::POST, Method::OPTIONS] {
                            if user.is_none() {
                                let response = send(&router, "", method, path, "{}").await;
                                let missing = response.status() == StatusCode::NOT_FOUND;
                                assert!(missing, "{path} {response:?}");
                            }
                        }
                    }
                    seen.push(format!("{:?}", ask::<P>(&router, "").await));
                    seen
                })
            });
            assert_eq!(heads[0], heads[1], "{}", P::NAME);
        }
    }
    Plain.visit_all();
}

/// A server that is dead for the others leaves a failure for readers elsewhere, in the words of each protocol, and
/// never an end that looks like an answer. Its own readers get all of the answer.
#[test]
fn a_lost_reply_is_a_failure() {
    struct Lost;
    impl Visit for Lost {
        fn visit<P: Toolkit>(&mut self) {
            if P::NAME == "mcp" {
                return;
            }
            in_virtual_time(async {
                let store = Spy::new(memory());
                let one = replies(store.clone()).join(true);
                let two = replies(store.clone()).join(true);
                let (one, two) = (
                    router::<P>(Talker::default(), Some(one)),
                    router::<P>(Talker::default(), Some(two)),
                );
                let first = read_some(ask::<P>(&one, "ada").await, 200).await;
                let elsewhere = again::<P>(&two, "ada").await;
                let (_, connected, elsewhere) = futures::join!(
                    async {
                        tokio::time::sleep(Duration::from_millis(300)).await;
                        store.seal(&store.last(), ReplyEnd::Lost).await.unwrap();
                    },
                    async { read(again::<P>(&one, "ada").await).await },
                    read(elsewhere),
                );
                for (bytes, is_lost) in [(connected, false), (elsewhere, true)] {
                    let whole = text(&bytes);
                    assert!(bytes.starts_with(&first), "{}", P::NAME);
                    assert_eq!(whole.contains("the rest of the answer is lost"), is_lost);
                    assert!(whole.ends_with("\n\n"), "{whole}");
                    assert_eq!(whole.contains("word9"), !is_lost, "{whole}");
                }
            });
        }
    }
    Lost.visit_all();
}

/// The rest of a call that a client asks for, of a reply whose server is dead.
#[test]
fn a_lost_call_of_a_tool_has_a_result() {
    in_virtual_time(async {
        let store = Spy::new(memory());
        let serve = || router::<Mcp>(Talker::default(), Some(replies(store.clone())));
        let (one, two) = (serve(), serve());
        let stream = read_some(ask::<Mcp>(&one, "ada").await, 120).await;
        let id = text(&stream).lines().next().unwrap().strip_prefix("id: ");
        let request = http::Request::get("/mcp")
            .header("x-user", "ada")
            .header("last-event-id", id.unwrap())
            .body(futures::stream::empty::<Result<Bytes, Infallible>>());
        let rest = two.handle(request.unwrap()).await.into_body();
        let (rest, ()) = futures::join!(read(rest), async {
            tokio::time::sleep(Duration::from_millis(300)).await;
            store.seal(&store.last(), ReplyEnd::Lost).await.unwrap();
        });
        let rest = text(&rest);
        assert!(rest.contains("the rest of the answer is lost"), "{rest}");
        assert!(rest.contains("\"id\":1") && rest.contains("\"isError\":true"));
        assert!(rest.contains("\"resultType\":\"complete\""), "{rest}");
    });
}

/// Also one that a connection has taken to its end: the server cannot know what has arrived.
#[test]
fn a_page_gets_the_reply_until_its_time_is_over() {
    in_virtual_time(async {
        let store = Spy::new(memory());
        let router = || router::<UiStream>(Talker::default(), Some(replies(store.clone())));
        let (one, two) = (router(), router());
        let path = "/api/chat/chat-1/stream";
        let ask_again = |router| send(router, "ada", Method::GET, path, "");
        assert_eq!(ask_again(&one).await.status(), StatusCode::NO_CONTENT);
        let body = ask::<UiStream>(&one, "ada").await;
        seconds(1).await;
        let running = ask_again(&one).await;
        assert_eq!(running.status(), StatusCode::OK);
        assert_eq!(running.headers()["x-vercel-ai-ui-message-stream"], "v1");
        assert_eq!(running.headers()["content-type"], "text/event-stream");
        let whole = read(body).await;
        assert!(text(&whole).contains("word9"));
        for wait in [1, 60, 530] {
            seconds(wait).await;
            for router in [&one, &two] {
                let again = read(ask_again(router).await.into_body()).await;
                assert_eq!(text(&again), text(&whole), "{wait}");
            }
        }
        seconds(20).await;
        for router in [&one, &two] {
            assert_eq!(ask_again(router).await.status(), StatusCode::NO_CONTENT);
        }
    });
}

/// Returns a request for the background.
pub(crate) fn background(stream: bool) -> String {
    let request = ResponsesRequest::new("", "hi").stream(stream);
    let request = request.with("background", &true).unwrap();
    String::from_utf8(request.to_json().to_vec()).unwrap()
}

pub(crate) async fn json(response: http::Response<copilot_wire::Body>) -> Value {
    serde_json::from_slice(&read(response.into_body()).await).unwrap()
}

#[test]
fn a_response_goes_on_in_the_background() {
    in_virtual_time(async {
        let router = router::<Responses>(Talker::default(), Some(replies(memory())));
        let posted = send(
            &router,
            "ada",
            Method::POST,
            "/v1/responses",
            &background(false),
        )
        .await;
        assert_eq!(posted.status(), StatusCode::OK);
        let begun = json(posted).await;
        assert_eq!(begun["status"], "in_progress");
        assert_eq!(begun["background"], true);
        let path = format!("/v1/responses/{}", begun["id"].as_str().unwrap());
        seconds(1).await;
        let running = json(send(&router, "ada", Method::GET, &path, "").await).await;
        assert_eq!(running["status"], "in_progress");
        seconds(60).await;
        let done = json(send(&router, "ada", Method::GET, &path, "").await).await;
        assert_eq!(done["status"], "completed");
        assert_eq!(done["id"], begun["id"]);
        assert_eq!(done["background"], true);
        assert!(
            done["output"][0]["content"][0]["text"]
                .as_str()
                .unwrap()
                .contains("word9")
        );
        seconds(700).await;
        let gone = send(&router, "ada", Method::GET, &path, "").await;
        assert_eq!(gone.status(), StatusCode::NOT_FOUND);
    });
}

/// Nobody could ask for it later.
#[test]
fn without_replies_a_response_of_the_background_is_sent_whole() {
    in_virtual_time(async {
        let router = router::<Responses>(Talker::default(), None);
        let post = background(false);
        let post = send(&router, "ada", Method::POST, "/v1/responses", &post);
        assert_eq!(json(post.await).await["status"], "completed");
    });
}

/// Every number that a client has seen is a place to go on from.
#[test]
fn a_response_goes_on_after_any_event() {
    in_virtual_time(async {
        let router = router::<Responses>(Talker::default(), Some(replies(memory())));
        let post = background(true);
        let post = send(&router, "ada", Method::POST, "/v1/responses", &post);
        let whole = read(post.await.into_body()).await;
        let first = text(&whole)
            .split("data: ")
            .nth(1)
            .unwrap()
            .lines()
            .next()
            .unwrap();
        let first: Value = serde_json::from_str(first).unwrap();
        let id = first["response"]["id"].as_str().unwrap();
        let count = Framing::Sse.count(&whole);
        assert!(count > 10);
        for after in 0..count {
            let path = format!("/v1/responses/{id}?stream=true&starting_after={after}");
            let rest = read(
                send(&router, "ada", Method::GET, &path, "")
                    .await
                    .into_body(),
            )
            .await;
            let wanted = &whole[Framing::Sse.skip(&whole, after + 1)..];
            assert_eq!(text(&rest), text(wanted), "{after}");
            let number = format!("\"sequence_number\":{}", after + 1);
            assert!(rest.is_empty() || after + 2 == count || text(&rest).contains(&number));
        }
        for bad in ["x", "", "-1", "+1", "1.5", "1e3", "%30"] {
            let bad = format!("/v1/responses/{id}?stream=true&starting_after={bad}");
            let response = send(&router, "ada", Method::GET, &bad, "").await;
            assert_eq!(response.status(), StatusCode::BAD_REQUEST, "{bad}");
        }
        let _ = env();
    });
}

/// Here and on another server, while the reply runs and afterwards.
#[test]
fn a_number_beyond_the_events_is_their_end() {
    let far = [
        "9007199254740992",
        "18446744073709551614",
        "18446744073709551615",
    ];
    for after in far.into_iter().chain(["99999999999999999999999"]) {
        in_virtual_time(async {
            let store = Spy::new(memory());
            let router = || router::<Responses>(Talker::default(), Some(replies(store.clone())));
            let (one, two) = (router(), router());
            let post = background(true);
            let post = send(&one, "ada", Method::POST, "/v1/responses", &post);
            let mut body = post.await.into_body();
            let first = body.next().await.unwrap().unwrap();
            let id = text(&first).split("\"id\":\"").nth(1).unwrap();
            let path = format!("/v1/responses/{}", id.split('"').next().unwrap());
            let stream = format!("{path}?stream=true&starting_after={after}");
            let tail = async |router| {
                let response = send(router, "ada", Method::GET, &stream, "").await;
                assert_eq!(response.status(), StatusCode::OK, "{after}");
                read(response.into_body()).await
            };
            let (rest, here, elsewhere) = futures::join!(read(body), tail(&one), tail(&two));
            let whole = [&first[..], &rest].concat();
            assert!(text(&whole).contains("response.completed"), "{after}");
            assert_eq!([here, elsewhere], [b"", b""], "{after}");
            for router in [&one, &two] {
                assert_eq!(tail(router).await, b"", "{after}");
                let document = send(router, "ada", Method::GET, &path, "").await;
                assert_eq!(json(document).await["status"], "completed", "{after}");
                let cancel = format!("{path}/cancel");
                let cancel = send(router, "ada", Method::POST, &cancel, "").await;
                assert_eq!(json(cancel).await["status"], "completed", "{after}");
            }
        });
    }
}

/// A server sends events before they are stored, so its readers are ahead of the log.
#[test]
fn an_event_that_is_not_stored_yet_does_not_come_twice() {
    in_virtual_time(async {
        let store = Spy::new(memory());
        let router = || router::<Responses>(Talker::default(), Some(replies(store.clone())));
        let (one, two) = (router(), router());
        store.fail_all("append", Fault::Unavailable);
        let post = background(true);
        let post = send(&one, "ada", Method::POST, "/v1/responses", &post);
        let mut first = Vec::new();
        let mut body = post.await.into_body();
        while Framing::Sse.count(&first) < 6 {
            first.extend(body.next().await.unwrap().unwrap());
        }
        drop(body);
        let id = text(&first).split("\"id\":\"").nth(1).unwrap();
        let (id, after) = (
            id.split('"').next().unwrap(),
            Framing::Sse.count(&first) - 1,
        );
        let path = format!("/v1/responses/{id}?stream=true&starting_after={after}");
        let rest = send(&two, "ada", Method::GET, &path, "").await.into_body();
        store.fail_all("none", Fault::Unavailable);
        let rest = read(rest).await;
        let path = format!("/v1/responses/{id}?stream=true");
        let whole = send(&two, "ada", Method::GET, &path, "").await.into_body();
        assert_eq!(
            text(&[&first[..], &rest].concat()),
            text(&read(whole).await)
        );
    });
}
