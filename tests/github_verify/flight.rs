//! Many requests, one fetch: sharing, cancellation, panic.

use std::{
    error::Error,
    mem,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::{Pin, pin},
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
        mpsc,
    },
    task::{Context, Poll, Wake, Waker},
    thread,
    time::Duration,
};

use bytes::Bytes;
use copilot_wire::github::verify::{CachedKeys, KeyErrorKind, KeySource};
use futures::{channel::oneshot, executor::block_on};
use http::{Request, Response};

use super::{
    cache::{Clock, HOUR, MINUTE},
    *,
};

type Answer = Result<Response<Bytes>, Box<dyn Error + Send + Sync>>;
type Fetch = Pin<Box<dyn Future<Output = Answer> + Send>>;

/// An endpoint whose answers are sent by hand, one channel a request.
#[derive(Clone, Default)]
struct Endpoint(Arc<Mutex<Vec<oneshot::Sender<Answer>>>>);

impl Endpoint {
    fn fetch(&self) -> impl Fn(Request<()>) -> Fetch + Send + Sync + use<> {
        let open = Arc::clone(&self.0);
        move |_| {
            let (sender, answer) = oneshot::channel();
            open.lock().unwrap().push(sender);
            Box::pin(async move { answer.await? })
        }
    }

    fn count(&self) -> usize {
        self.0.lock().unwrap().len()
    }

    /// Answers the request of this number.
    fn answer(&self, number: usize, answer: Answer) {
        let (used, _) = oneshot::channel();
        let sender = mem::replace(&mut self.0.lock().unwrap()[number], used);
        sender.send(answer).unwrap();
    }

    fn is_dropped(&self, number: usize) -> bool {
        self.0.lock().unwrap()[number].is_canceled()
    }
}

fn setup() -> (
    Endpoint,
    Clock,
    CachedKeys<impl Fn(Request<()>) -> Fetch + Send + Sync + 'static>,
) {
    let (endpoint, clock) = (Endpoint::default(), Clock::default());
    let keys = CachedKeys::new(endpoint.fetch()).clock(clock.read());
    (endpoint, clock, keys)
}

fn ok(signer: &RequestSigner) -> Answer {
    Ok(Response::new(RequestSigner::key_document([(signer, true)])))
}

#[derive(Default)]
struct Count(AtomicUsize);

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

fn poll<F: Future + ?Sized>(future: Pin<&mut F>, count: &Arc<Count>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(&Waker::from(Arc::clone(count))))
}

/// Returns `true` if there was a wake since the last call.
fn woken(count: &Count) -> bool {
    count.0.swap(0, Ordering::Relaxed) > 0
}

#[test]
fn all_who_ask_share_one_fetch() {
    let (endpoint, _, keys) = setup();
    let signer = RequestSigner::from_seed(b"shared");
    let unknown = KeyId::new("unknown").unwrap();
    let counts: Vec<Arc<Count>> = (0..10).map(|_| Arc::default()).collect();
    let wanted = |at| {
        if at % 2 == 0 {
            signer.identifier()
        } else {
            &unknown
        }
    };
    let mut futures: Vec<_> = (0..10).map(|at| keys.keys(wanted(at))).collect();
    for (future, count) in futures.iter_mut().zip(&counts) {
        assert!(poll(future.as_mut(), count).is_pending());
    }
    assert_eq!(endpoint.count(), 1);
    endpoint.answer(0, ok(&signer));
    for (future, count) in futures.iter_mut().zip(&counts).rev() {
        assert!(woken(count));
        let Poll::Ready(Ok(keys)) = poll(future.as_mut(), count) else {
            panic!("not ready")
        };
        assert!(keys.get(signer.identifier()).is_some());
    }
    assert_eq!(endpoint.count(), 1);
}

#[test]
fn a_failure_is_shared_too() {
    let (endpoint, _, keys) = setup();
    let (count, unknown) = (Arc::default(), KeyId::new("unknown").unwrap());
    let mut futures = [keys.keys(&unknown), keys.keys(&unknown)];
    for future in &mut futures {
        assert!(poll(future.as_mut(), &count).is_pending());
    }
    endpoint.answer(0, Err("no route".into()));
    for future in &mut futures {
        let Poll::Ready(Err(error)) = poll(future.as_mut(), &count) else {
            panic!("not ready")
        };
        assert_eq!(error.kind(), KeyErrorKind::Transport);
    }
    assert_eq!(endpoint.count(), 1);
}

#[test]
fn when_the_one_who_fetches_is_dropped_another_goes_on() {
    let (endpoint, _, keys) = setup();
    let signer = RequestSigner::from_seed(b"handed over");
    let [first, second, third]: [Arc<Count>; 3] = Default::default();
    let [mut one, mut two, mut three] = [(); 3].map(|()| keys.keys(signer.identifier()));
    assert!(poll(one.as_mut(), &first).is_pending());
    assert!(poll(two.as_mut(), &second).is_pending());
    assert!(poll(three.as_mut(), &third).is_pending());
    woken(&second);
    woken(&third);
    drop(one);
    assert!(!woken(&second) && !woken(&third), "there is nothing to do");

    // Whoever is woken by the answer may go away without looking; the last must hear of it.
    endpoint.answer(0, ok(&signer));
    assert!(woken(&second) && woken(&third));
    drop(two);
    assert!(woken(&third), "it may have been the other's turn");
    assert!(matches!(poll(three.as_mut(), &third), Poll::Ready(Ok(_))));
    assert_eq!(endpoint.count(), 1);
}

#[test]
fn cancelled_requests_cause_no_more_fetches() {
    let (endpoint, clock, keys) = setup();
    let signer = RequestSigner::from_seed(b"cancelled");
    let count = Arc::default();
    for _ in 0..100 {
        assert!(poll(keys.keys(signer.identifier()).as_mut(), &count).is_pending());
        clock.advance(Duration::from_millis(500));
    }
    assert_eq!(endpoint.count(), 1, "each goes on with the same fetch");
    assert!(!endpoint.is_dropped(0));

    // Answered while nobody waits: the next to ask has it.
    endpoint.answer(0, ok(&signer));
    assert!(block_on(keys.keys(signer.identifier())).is_ok());
    assert_eq!(endpoint.count(), 1);
}

#[test]
fn a_fetch_that_nobody_waits_for_is_given_up_in_time() {
    let (endpoint, clock, keys) = setup();
    let signer = RequestSigner::from_seed(b"given up");
    let count = Arc::default();
    assert!(poll(keys.keys(signer.identifier()).as_mut(), &count).is_pending());
    clock.advance(MINUTE);
    let mut next = keys.keys(signer.identifier());
    assert!(poll(next.as_mut(), &count).is_pending());
    assert_eq!(endpoint.count(), 2);
    assert!(endpoint.is_dropped(0));
    // One that is waited for is not, however long it takes.
    clock.advance(HOUR);
    assert!(poll(keys.keys(signer.identifier()).as_mut(), &count).is_pending());
    assert_eq!(endpoint.count(), 2);
    endpoint.answer(1, ok(&signer));
    assert!(matches!(poll(next.as_mut(), &count), Poll::Ready(Ok(_))));
}

#[test]
fn a_known_key_does_not_wait_while_another_fetches() {
    let (endpoint, clock, keys) = setup();
    let signer = RequestSigner::from_seed(b"known");
    let (count, unknown) = (Arc::default(), KeyId::new("unknown").unwrap());
    let mut first = keys.keys(signer.identifier());
    assert!(poll(first.as_mut(), &count).is_pending());
    endpoint.answer(0, ok(&signer));
    assert!(poll(first.as_mut(), &count).is_ready());

    for age in [MINUTE, HOUR] {
        clock.advance(age);
        let mut waiting = keys.keys(&unknown);
        assert!(poll(waiting.as_mut(), &count).is_pending());
        assert!(
            poll(keys.keys(signer.identifier()).as_mut(), &count).is_ready(),
            "young or old"
        );
        endpoint.answer(endpoint.count() - 1, Err("down".into()));
        assert!(matches!(
            poll(waiting.as_mut(), &count),
            Poll::Ready(Err(_))
        ));
    }
    assert_eq!(endpoint.count(), 3);
}

#[test]
fn a_fetch_that_panics_is_a_failed_one() {
    let (clock, calls) = (Clock::default(), Arc::new(AtomicUsize::new(0)));
    let signer = RequestSigner::from_seed(b"panic");
    let document = RequestSigner::key_document([(&signer, true)]);
    let (gate, gated) = oneshot::channel::<()>();
    let (gated, called) = (Mutex::new(Some(gated)), Arc::clone(&calls));
    let keys = CachedKeys::new(move |_| {
        called.fetch_add(1, Ordering::Relaxed);
        let (gated, document) = (gated.lock().unwrap().take(), document.clone());
        async move {
            if let Some(gated) = gated {
                gated.await.unwrap();
            }
            Ok(Response::new(document))
        }
    })
    .clock(clock.read());

    let count = Arc::default();
    let [mut one, mut two] = [(); 2].map(|()| keys.keys(signer.identifier()));
    assert!(poll(one.as_mut(), &count).is_pending());
    assert!(poll(two.as_mut(), &count).is_pending());
    drop(gate);
    woken(&count);
    assert!(catch_unwind(AssertUnwindSafe(|| poll(one.as_mut(), &count))).is_err());
    drop(one);
    assert!(woken(&count));
    let Poll::Ready(Err(error)) = poll(two.as_mut(), &count) else {
        panic!("not ready")
    };
    assert_eq!(error.kind(), KeyErrorKind::Transport);
    assert!(block_on(keys.keys(signer.identifier())).is_err());
    assert_eq!(calls.load(Ordering::Relaxed), 1);
    clock.advance(MINUTE);
    assert!(block_on(keys.keys(signer.identifier())).is_ok());
    assert_eq!(calls.load(Ordering::Relaxed), 2);
}

#[test]
fn threads_share_one_fetch() {
    let signer = &RequestSigner::from_seed(b"threads");
    for round in 0..100 {
        let (asked, requests) = mpsc::channel::<oneshot::Sender<Answer>>();
        let asked = Mutex::new(asked);
        let keys = &CachedKeys::new(move |_| {
            let (sender, answer) = oneshot::channel();
            asked.lock().unwrap().send(sender).unwrap();
            async move { answer.await? }
        });
        thread::scope(|scope| {
            for at in 0..8 {
                scope.spawn(move || {
                    if (at + round) % 3 == 0 {
                        // Some come and go.
                        let _ = poll(pin!(keys.keys(signer.identifier())), &Arc::default());
                    }
                    assert!(block_on(keys.keys(signer.identifier())).is_ok());
                });
            }
            scope.spawn(move || {
                let request = requests.recv().unwrap();
                thread::sleep(Duration::from_millis(round % 4));
                request.send(ok(signer)).unwrap();
                assert!(requests.try_recv().is_err());
            });
        });
    }
}
