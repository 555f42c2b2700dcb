//! The defaults of a router.

#![cfg(feature = "openbb")]
// Helpers of tests may be blunt too; `clippy.toml` reaches the test functions only.
#![allow(clippy::unwrap_used)]

use bytes::Bytes;
use copilot_wire::openbb::Descriptor;
use copilot_wire::protocol::{AgentError, Protocol};
use copilot_wire::{Agent, Body, Reply, Request, Router, async_trait};
use futures::{StreamExt, stream};

/// Fails, or waits.
struct Moody(bool);

#[async_trait]
impl<P: Protocol> Agent<P> for Moody {
    async fn answer(&self, _: Request<P>, reply: Reply<P>) -> Result<(), AgentError> {
        if self.0 {
            return Err(std::io::Error::other("the disk\nis full").into());
        }
        reply.text("one").await?;
        std::future::pending().await
    }
}

async fn ask(router: &Router) -> Body {
    let body = r#"{"messages":[{"role":"human","content":"hello"}]}"#;
    let request = http::Request::post("/v1/query")
        .header("content-type", "application/json")
        .body(stream::iter([Ok::<_, std::io::Error>(Bytes::from(body))]));
    router.handle(request.unwrap()).await.into_body()
}

fn router(fails: bool) -> Router {
    let descriptor = Descriptor::new("moody", "Moody", "Fails, or waits");
    Router::new().mount(descriptor, Moody(fails)).unwrap()
}

/// The test that is run again in a process of its own.
const CHILD: &str = "a_failure_is_a_line_on_standard_error_until_somebody_observes";

/// `tracing` observes always.
#[test]
fn a_failure_is_a_line_on_standard_error_until_somebody_observes() {
    use std::process::Command;

    if let Ok(observed) = std::env::var("OBSERVED") {
        let router = match &*observed {
            "yes" => router(true).observe(|_| {}),
            _ => router(true),
        };
        futures::executor::block_on(async { ask(&router).await.collect::<Vec<_>>().await });
        return;
    }
    let unobserved = usize::from(cfg!(not(feature = "tracing")));
    for (observed, expected) in [("no", unobserved), ("yes", 0)] {
        let child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", CHILD, "--nocapture"])
            .env("OBSERVED", observed)
            .output()
            .unwrap();
        assert!(child.status.success());
        let errors = String::from_utf8(child.stderr).unwrap();
        let line = "copilot-wire: openbb turn at /v1/query failed: the disk\\nis full, at ";
        let line = format!("{line}{}:", file!());
        assert_eq!(errors.matches(&line).count(), expected, "{errors}");
        assert_eq!(errors.contains("disk"), expected > 0, "{errors}");
    }
}

#[cfg(feature = "tokio")]
#[test]
fn inside_a_tokio_runtime_there_is_keep_alive() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap();
    runtime.block_on(async {
        let start = tokio::time::Instant::now();
        let mut body = ask(&router(false)).await;
        let one = body.next().await.unwrap().unwrap();
        assert!(one.ends_with(b"data: {\"delta\":\"one\"}\n\n"), "{one:?}");
        let ping = body.next().await.unwrap().unwrap();
        assert_eq!(ping, ": ping\n\n");
        assert_eq!(start.elapsed().as_secs(), 15);
    });
}

/// tokio's panic is shown once a thread. Where the environment says that there is no timer, there is no
/// panic, which would end a program that aborts.
#[cfg(feature = "tokio")]
#[test]
fn an_environment_without_a_timer_never_asks_for_one() {
    use std::time::Duration;

    use copilot_wire::protocol::{Env, Environment, Ticks};

    struct NoTimer;

    impl Environment for NoTimer {
        fn ticks(&self, _: Duration) -> Option<Ticks> {
            None
        }
    }

    if let Ok(env) = std::env::var("ENVIRONMENT") {
        let router = match &*env {
            "default" => router(false),
            _ => router(false).env(Env::new(NoTimer)),
        };
        let runtime = tokio::runtime::Builder::new_current_thread().build();
        runtime.unwrap().block_on(async {
            for _ in 0..2 {
                assert!(ask(&router).await.next().await.is_some());
            }
        });
        return;
    }
    for (env, panics) in [("default", 1), ("without", 0)] {
        let child = std::process::Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "an_environment_without_a_timer_never_asks_for_one",
            ])
            .args(["--nocapture"])
            .env("ENVIRONMENT", env)
            .output()
            .unwrap();
        let errors = String::from_utf8(child.stderr).unwrap();
        assert!(child.status.success(), "{errors}");
        assert_eq!(errors.matches("panicked").count(), panics, "{errors}");
    }
}

/// Neither outside of a runtime nor in one without a timer.
#[cfg(feature = "tokio")]
#[test]
fn without_a_timer_there_is_none_and_no_panic() {
    let first = async { ask(&router(false)).await.next().await };
    assert!(futures::executor::block_on(first).is_some());
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    let first = async { ask(&router(false)).await.next().await };
    assert!(runtime.unwrap().block_on(first).is_some());
}

/// The message of a path that a feature would have names the feature.
#[cfg(not(feature = "playground"))]
#[test]
fn a_feature_that_is_missing_is_named() {
    let ask = |path: &str, base: &str| {
        let body = stream::iter([Ok::<_, std::io::Error>(Bytes::new())]);
        let request = http::Request::get(path).body(body).unwrap();
        futures::executor::block_on(async {
            let router = router(false).base_path(base);
            let body = router.handle(request).await.into_body();
            let frames: Vec<_> = body.map(|frame| frame.unwrap_or_default()).collect().await;
            String::from_utf8(frames.concat()).unwrap()
        })
    };
    for (path, base) in [("/", ""), ("/agents/", "/agents"), ("/", "/agents")] {
        let page = ask(path, base);
        assert!(page.contains("the feature `playground`"), "{path}: {page}");
    }
    let other = ask("/other", "");
    assert!(
        other.contains("no such path") && !other.contains("feature"),
        "{other}"
    );
}
