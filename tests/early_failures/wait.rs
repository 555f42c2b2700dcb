//! The head of a response waits for the first output.

use super::*;

#[test]
fn the_head_waits_for_five_seconds() {
    for path in PATHS {
        let clock = Clock::new();
        let router = router(&clock);
        // The failure comes after six seconds.
        let mut answer = pin!(router.handle(request(path, "sleep sleep fail")));
        for time in [0, 3000, 1999] {
            clock.advance(Duration::from_millis(time));
            assert!(poll(answer.as_mut()).is_pending());
        }
        clock.advance(Duration::from_millis(1));
        let Poll::Ready(response) = poll(answer.as_mut()) else {
            panic!("{path} still waits");
        };
        assert_eq!(response.status(), 200);
        let mut body = response.into_body();
        // The first write opens the reply.
        assert!(poll(pin!(body.next())).is_pending(), "{path}");
        clock.advance(Duration::from_secs(1));
        let stream = whole(body);
        let first = stream.lines().find(|line| line.starts_with("data: "));
        let opens = [r#""role":"assistant""#, r#""response.created""#];
        assert!(
            opens.iter().any(|it| first.unwrap().contains(it)),
            "{stream}"
        );
        assert_eq!(failure(path, &stream)["message"], "Away.");
    }
}

#[test]
fn the_wait_ends_with_the_first_output_and_with_a_failure() {
    let clock = Clock::new();
    let router = router(&clock);
    for (prompt, status) in [("sleep say sleep fail", 200), ("sleep fail", 400)] {
        for path in PATHS {
            let mut answer = pin!(router.handle(request(path, prompt)));
            assert!(poll(answer.as_mut()).is_pending());
            clock.advance(Duration::from_secs(3));
            // A document yields once.
            let Some(Poll::Ready(response)) =
                (0..2).map(|_| poll(answer.as_mut())).find(Poll::is_ready)
            else {
                panic!("{path} still waits");
            };
            assert_eq!(response.status(), final_status(path, status), "{path}");
        }
    }
}

#[test]
fn the_wait_can_be_shorter_or_left_out() {
    let clock = Clock::new();
    let short = router(&clock).first_output_timeout(Duration::from_secs(1));
    let none = router(&clock).first_output_timeout(Duration::ZERO);
    for path in PATHS {
        let mut answer = pin!(short.handle(request(path, "sleep fail")));
        assert!(poll(answer.as_mut()).is_pending());
        clock.advance(Duration::from_secs(1));
        assert!(poll(answer.as_mut()).is_ready());
        let response = ask(&none, path, "fail", true);
        assert_eq!(response.status(), 200);
        assert_eq!(failure(path, response.body())["message"], "Away.");
    }
}

#[test]
fn without_a_timer_the_head_waits_for_the_first_poll() {
    struct NoTimer;
    impl Environment for NoTimer {
        fn ticks(&self, _: Duration) -> Option<Ticks> {
            None
        }
    }
    let clock = Clock::new();
    let router = router(&clock).env(Env::new(NoTimer));
    for path in PATHS {
        let response = ask(&router, path, "fail", true);
        assert_eq!(response.status(), final_status(path, 400));
        let answer = poll(pin!(router.handle(request(path, "sleep fail"))));
        let Poll::Ready(response) = answer else {
            panic!("{path} waits for ever");
        };
        clock.advance(Duration::from_secs(3));
        let stream = whole(response.into_body());
        assert_eq!(failure(path, &stream)["message"], "Away.");
    }
}

#[test]
fn pages_and_workspaces_get_their_head_at_once() {
    let router = router(&Clock::new());
    let Poll::Ready(response) = poll(pin!(router.handle(request("/v1/query", "sleep")))) else {
        panic!("the head waits");
    };
    assert_eq!(response.status(), 200);
    assert_eq!(ask(&router, "/v1/query", "fail", true).status(), 200);
}

#[test]
fn a_turn_that_failed_early_is_reported_once_as_sent() {
    let reports = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&reports);
    let router = router(&Clock::new()).observe(move |turn| {
        let sent = match turn.outcome {
            Outcome::Failed { sent, .. } | Outcome::Panicked { sent } => sent,
            _ => false,
        };
        let report = (
            turn.outcome.as_str(),
            sent,
            turn.bytes,
            turn.path.to_owned(),
        );
        seen.lock().unwrap().push(report);
    });
    for (prompt, outcome) in [("fail", "failed"), ("panic", "panicked")] {
        for path in PATHS {
            let response = ask(&router, path, prompt, true);
            let report = (outcome, true, response.body().len() as u64, path.to_owned());
            assert_eq!(std::mem::take(&mut *reports.lock().unwrap()), [report]);
        }
    }
}

#[test]
fn a_client_that_leaves_during_the_wait_drops_the_agent() {
    struct Gone(Arc<AtomicBool>);
    impl Drop for Gone {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }
    let gone = Arc::new(AtomicBool::new(false));
    let left = Arc::new(AtomicUsize::new(0));
    let (flag, count) = (Arc::clone(&gone), Arc::clone(&left));
    let router = Router::new()
        .env(Env::new(Clock::new()))
        .observe(move |turn| {
            assert!(matches!(turn.outcome, Outcome::ClientLeft));
            count.fetch_add(1, Ordering::Relaxed);
        })
        .mount(
            responses::Model::new("m"),
            agent_fn(move |_, reply: Reply<responses::Responses>| {
                let gone = Gone(Arc::clone(&flag));
                async move {
                    let _both = (gone, reply);
                    std::future::pending().await
                }
            }),
        )
        .unwrap();
    let mut answer = Box::pin(router.handle(request(RESPONSES, "hi")));
    assert!(poll(answer.as_mut()).is_pending());
    assert!(!gone.load(Ordering::Relaxed));
    drop(answer);
    assert!(gone.load(Ordering::Relaxed));
    assert_eq!(left.load(Ordering::Relaxed), 1);
}

/// A waker that counts.
#[derive(Default)]
struct Count(AtomicUsize);

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

#[test]
fn output_of_another_thread_ends_the_wait() {
    let (go, orders) = channel::<()>();
    let (done, answers) = channel::<()>();
    let orders = Arc::new(Mutex::new(Some((orders, done))));
    let router = Router::new()
        .env(Env::new(Clock::new()))
        .mount(
            openai::Model::new("m"),
            agent_fn(move |_, reply: Reply<openai::OpenAi>| {
                let (orders, done): (Receiver<()>, _) = orders.lock().unwrap().take().unwrap();
                std::thread::spawn(move || {
                    orders.recv().unwrap();
                    block_on(reply.text("from afar")).unwrap();
                    done.send(()).unwrap();
                });
                std::future::pending()
            }),
        )
        .unwrap();
    let wakes = Arc::new(Count::default());
    let waker = Waker::from(Arc::clone(&wakes));
    let mut cx = Context::from_waker(&waker);
    let mut answer = pin!(router.handle(request(CHAT, "hi")));
    assert!(answer.as_mut().poll(&mut cx).is_pending());
    go.send(()).unwrap();
    answers.recv().unwrap();
    assert!(wakes.0.load(Ordering::SeqCst) > 0);
    let Poll::Ready(response) = answer.as_mut().poll(&mut cx) else {
        panic!("nobody looked");
    };
    let mut body: Body = response.into_body();
    let Poll::Ready(Some(Ok(frame))) = body.poll_next_unpin(&mut cx) else {
        panic!("no output");
    };
    assert!(frame.ends_with(b"\"from afar\"},\"finish_reason\":null}]}\n\n"));
}

#[test]
fn an_answer_is_the_same_with_and_without_the_wait() {
    let long = |_: Request<anthropic::Anthropic>, reply: Reply<anthropic::Anthropic>| async move {
        for _ in 0..1000 {
            reply
                .text("some words that fill more than one frame ")
                .await?;
        }
        Ok(())
    };
    let answer = |timeout| {
        let router = Router::new()
            .env(Env::new(Clock::new()))
            .first_output_timeout(timeout)
            .mount(anthropic::Model::new("m"), agent_fn(long))
            .unwrap();
        ask(&router, MESSAGES, "hi", true).into_body()
    };
    let stream = answer(Duration::from_secs(5));
    assert!(stream.len() > 100_000);
    assert_eq!(stream, answer(Duration::ZERO));
}
