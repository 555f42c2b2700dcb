//! Connections that are broken so that their clients resume.

use std::time::Duration;

use copilot_wire::Body;
use copilot_wire::agent::Interrupted;
use copilot_wire::openai::OpenAi;
use copilot_wire::replies::{ReplyEnd, ReplyStore as _};
use copilot_wire::responses::Responses;
use copilot_wire::ui_stream::UiStream;
use futures::StreamExt as _;
use http::Method;
use tokio::time::{Instant, sleep};

use crate::protocols::background;
use crate::server::{
    Talker, again, ask, in_virtual_time, memory, read, replies, router, seconds, send, text, watch,
};
use crate::spy::{Fault, Spy};

const LIMIT: Duration = Duration::from_secs(3);

fn slow(words: usize) -> Talker {
    Talker {
        words,
        pause: Duration::from_millis(400),
        ..Talker::default()
    }
}

/// Reads until the connection breaks. `None` if the reply ends before.
async fn until_broken(mut body: Body) -> Option<Vec<u8>> {
    let mut all = Vec::new();
    while let Some(frame) = body.next().await {
        match frame {
            Ok(frame) => all.extend_from_slice(&frame),
            Err(Interrupted { .. }) => {
                assert!(body.next().await.is_none());
                return Some(all);
            }
        }
    }
    None
}

#[test]
fn a_connection_ends_at_its_time_and_the_next_one_goes_on() {
    in_virtual_time(async {
        let replies = replies(memory()).reconnect_after(LIMIT);
        let (router, outcomes) = watch(router::<UiStream>(slow(20), Some(replies)));
        let start = Instant::now();
        let broken = until_broken(ask::<UiStream>(&router, "ada").await).await;
        assert_eq!(start.elapsed(), LIMIT);
        let broken = broken.unwrap();
        assert!(text(&broken).contains("word6") && broken.ends_with(b"\n\n"));
        // Also where it begins anew, in its turn.
        let second = until_broken(again::<UiStream>(&router, "ada").await).await;
        assert!(second.unwrap().starts_with(&broken));
        let third = read(again::<UiStream>(&router, "ada").await).await;
        assert!(third.starts_with(&broken) && text(&third).contains("word19"));
        assert!(third.ends_with(b"data: [DONE]\n\n"));
        assert_eq!(*outcomes.lock().unwrap(), ["answered"]);
    });
}

/// It has an id of its own, and belongs to no conversation.
#[test]
fn a_response_of_the_background_is_broken_too() {
    in_virtual_time(async {
        let replies = replies(memory()).reconnect_after(LIMIT);
        let router = router::<Responses>(slow(20), Some(replies));
        let post = background(true);
        let post = send(&router, "ada", Method::POST, "/v1/responses", &post).await;
        let broken = until_broken(post.into_body()).await.unwrap();
        assert!(text(&broken).contains("word6"));
    });
}

#[test]
fn a_reply_that_never_waits_is_broken_too() {
    in_virtual_time(async {
        let talker = Talker {
            words: 50_000,
            pause: Duration::ZERO,
            ..Talker::default()
        };
        let replies = replies(memory()).reconnect_after(LIMIT);
        let router = router::<UiStream>(talker, Some(replies));
        let mut body = ask::<UiStream>(&router, "ada").await;
        let start = Instant::now();
        while let Some(Ok(_)) = body.next().await {
            sleep(Duration::from_millis(100)).await;
        }
        assert_eq!(start.elapsed(), LIMIT);
    });
}

#[test]
fn at_a_shutdown_readers_go_on_at_another_server() {
    in_virtual_time(async {
        let store = Spy::new(memory());
        let server = || {
            let replies = replies(store.clone()).reconnect_after(Duration::from_secs(600));
            router::<UiStream>(slow(20), Some(replies))
        };
        let (one, outcomes) = watch(server());
        let two = server();
        let here = ask::<UiStream>(&one, "ada").await;
        let path = "/api/chat/chat-1/stream";
        let elsewhere = send(&two, "ada", Method::GET, path, "").await.into_body();
        seconds(2).await;
        let start = Instant::now();
        let moves = async {
            let broken = until_broken(here).await.unwrap();
            assert!(start.elapsed() <= Duration::from_secs(1));
            let whole = read(again::<UiStream>(&two, "ada").await).await;
            assert!(whole.starts_with(&broken));
            whole
        };
        let drain = one.drain(seconds(60));
        let (moved, elsewhere, ()) = futures::join!(moves, read(elsewhere), drain);
        assert_eq!(moved, elsewhere);
        assert!(text(&moved).contains("word19"));
        // It has ended as it would have, and the shutdown did not wait any longer.
        assert_eq!(*outcomes.lock().unwrap(), ["answered"]);
        assert!(start.elapsed() < Duration::from_secs(8));
        let end = store.state(&store.last()).await.unwrap().end;
        assert_eq!(end, Some(ReplyEnd::Done));
    });
}

#[test]
fn a_reply_that_cannot_be_resumed_is_not_broken() {
    in_virtual_time(async {
        // The store is away.
        let store = Spy::new(memory());
        store.fail_all("create", Fault::Unavailable);
        let configured = replies(store).reconnect_after(LIMIT);
        let server = router::<UiStream>(slow(12), Some(configured));
        let whole = until_broken(ask::<UiStream>(&server, "ada").await).await;
        assert_eq!(whole, None);
        // The client has no way to resume.
        let configured = replies(memory()).join(true).reconnect_after(LIMIT);
        let server = router::<OpenAi>(slow(12), Some(configured));
        let first = ask::<OpenAi>(&server, "ada").await;
        let joined = ask::<OpenAi>(&server, "ada").await;
        let both = futures::join!(until_broken(first), until_broken(joined));
        assert_eq!(both, (None, None));
    });
}
