//! Calls, their results, and the end of the loop.

use copilot_wire::json::Json;
use copilot_wire::models::{AgentTool, Profile, Toolset};
use copilot_wire::protocol::{AgentError, Attachment, AttachmentContent, Contents};
use copilot_wire_kit::Toolkit;
use futures::executor::block_on;
use serde::Deserialize;
use serde_json::json;

use std::future::poll_fn;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::Poll;

use copilot_wire::protocol::Env;
use copilot_wire_kit::Clock;

use crate::stub::{Case, Chat, Model, Said, Script, everywhere, usage};

#[derive(Deserialize)]
struct Place {
    at: String,
    #[serde(default)]
    days: u32,
}

fn schema() -> serde_json::Value {
    json!({
        "properties": {"at": {"type": "string"}, "days": {"type": "integer"}},
        "required": ["at"],
        "type": "object",
    })
}

/// Returns two tools, of which each waits until both run.
fn harbour() -> Toolset<'static> {
    let tide = AgentTool::new(
        "get_tide",
        "The tide.",
        &schema(),
        |place: Place| async move {
            match &*place.at {
                "Brest" => Ok(format!("{} m", 4 + place.days)),
                _ => Err(AgentError::new("no such place")),
            }
        },
    );
    let wind = AgentTool::new("get_wind", "The wind.", &schema(), |_: Place| async {
        Json::encode(&json!({"knots": 12})).map_err(AgentError::from)
    });
    Toolset::new().with(tide.unwrap()).with(wind.unwrap())
}

struct Rounds {
    answers: Vec<Said>,
    /// The calls and results in the last request.
    calls: Vec<&'static str>,
    text: &'static str,
}

impl Case for Rounds {
    fn answers(&self) -> Vec<Said> {
        self.answers.clone()
    }

    fn tools(&self) -> Toolset<'static> {
        harbour()
    }

    fn check<U: Model, P: Toolkit>(&self, mut chat: Chat<P>, script: &Script) {
        let place = format!("{} with {}", P::NAME, U::NAME);
        let turn = block_on(chat.prompt("How is the sea?")).unwrap();
        assert_eq!(turn.faults(), [""; 0], "{place}");
        let requests = script.requests();
        assert_eq!(requests.len(), self.answers.len(), "{place}");
        assert_eq!(script.calls::<U>(), self.calls, "{place}");
        assert!(
            turn.text().ends_with(self.text),
            "{place}: {:?}",
            turn.text()
        );
        // Every tool is offered every time.
        for request in &requests {
            assert!(
                request.contains("get_tide") && request.contains("get_wind"),
                "{place}"
            );
        }
    }
}

#[test]
fn calls_run_and_their_results_go_back() {
    everywhere(Rounds {
        answers: vec![
            Said {
                text: "Let me look.",
                ..Said::calls([
                    ("c0", "get_tide", r#"{"at":"Brest"}"#),
                    ("c1", "get_wind", r#"{"at":"Brest"}"#),
                ])
            },
            Said::text("It is high."),
        ],
        calls: vec![
            r#"c0 get_tide {"at":"Brest"}"#,
            r#"c1 get_wind {"at":"Brest"}"#,
            "c0 = 4 m",
            r#"c1 = {"knots":12}"#,
        ],
        text: "Let me look.\n\nIt is high.",
    });
}

#[test]
fn wrong_calls_are_told_to_the_model() {
    everywhere(Rounds {
        answers: vec![
            Said::calls([
                ("c0", "get_tide", r#"{"days":1}"#),
                ("c1", "get_tide", r#"{"at":"#),
                ("c2", "get_moon", "{}"),
                ("c3", "get_tide", r#"{"at":"Atlantis"}"#),
            ]),
            // One meaning: a number in a string, and a list of one.
            Said::calls([("c4", "get_tide", r#"{"at":["Brest"],"days":"2"}"#)]),
            Said::text("It is high."),
        ],
        calls: vec![
            r#"c0 get_tide {"days":1}"#,
            r#"c1 get_tide {"invalid_json":"{\"at\":"}"#,
            "c2 get_moon {}",
            r#"c3 get_tide {"at":"Atlantis"}"#,
            "c0 = failed: wrong arguments: at is missing",
            "c1 = failed: wrong arguments: not a JSON object",
            "c2 = failed: no such tool",
            "c3 = failed: no such place",
            r#"c4 get_tide {"at":["Brest"],"days":"2"}"#,
            "c4 = 6 m",
        ],
        text: "It is high.",
    });
}

/// Reasoning goes back as it came, with what only its server can read, and so do members that nobody else knows.
#[test]
fn reasoning_goes_back_unchanged() {
    struct Reasoning;
    impl Case for Reasoning {
        fn answers(&self) -> Vec<Said> {
            let call = Said::calls([("c0", "get_tide", r#"{"at":"Brest"}"#)]);
            let reasoning = Said {
                reasoning: "Hm.",
                ..call
            };
            vec![reasoning.clone(), reasoning, Said::text("High.")]
        }

        fn tools(&self) -> Toolset<'static> {
            harbour()
        }

        fn check<U: Model, P: Toolkit>(&self, mut chat: Chat<P>, script: &Script) {
            let spent = Arc::new(Mutex::new(None));
            let log = Arc::clone(&spent);
            let env = Env::new(Clock::new());
            let env = env.observe(move |turn| *log.lock().unwrap() = turn.usage);
            chat = chat.env(env);
            let turn = block_on(chat.prompt("How is the sea?")).unwrap();
            let place = format!("{} with {}", P::NAME, U::NAME);
            assert_eq!(turn.faults(), [""; 0], "{place}");
            let requests = script.requests();
            let counts: Vec<_> = requests
                .iter()
                .map(|request| request.matches(U::REASONING).count())
                .collect();
            assert_eq!(counts, [0, 1, 2], "{place}: {requests:#?}");
            // Its ids are unique, because some servers repeat them.
            let calls = script.calls::<U>();
            assert!(calls[0].starts_with("c0 "), "{place}: {calls:?}");
            assert!(calls[2].starts_with("call_1 "), "{place}: {calls:?}");
            assert_eq!(calls[3], "call_1 = 4 m", "{place}");
            assert_eq!(*spent.lock().unwrap(), Some(usage(3)), "{place}");
        }
    }
    everywhere(Reasoning);
}

#[test]
fn the_rounds_are_limited() {
    struct Limit {
        obeys: bool,
    }
    impl Case for Limit {
        fn answers(&self) -> Vec<Said> {
            let call = Said::calls([("c0", "get_tide", r#"{"at":"Brest"}"#)]);
            let last = match self.obeys {
                true => Said::text("High."),
                false => call.clone(),
            };
            vec![call.clone(), call, last]
        }

        fn tools(&self) -> Toolset<'static> {
            harbour().rounds(2)
        }

        fn check<U: Model, P: Toolkit>(&self, mut chat: Chat<P>, script: &Script) {
            let place = format!("{} with {}", P::NAME, U::NAME);
            let turn = block_on(chat.prompt("How is the sea?")).unwrap();
            let requests = script.requests();
            assert_eq!(requests.len(), 3, "{place}");
            let is_last: Vec<_> = requests
                .iter()
                .map(|request| {
                    let request: serde_json::Value = serde_json::from_str(request).unwrap();
                    request["tool_choice"].to_string().contains("none")
                })
                .collect();
            assert_eq!(is_last, [false, false, true], "{place}");
            let has_failed = turn.faults().iter().any(|it| it.contains("without end"));
            assert_eq!(has_failed, !self.obeys, "{place}: {:?}", turn.faults());
        }
    }
    everywhere(Limit { obeys: true });
    everywhere(Limit { obeys: false });
}

/// Waits until `count` runs have begun.
async fn meet(begun: &AtomicUsize, count: usize) {
    begun.fetch_add(1, Ordering::SeqCst);
    poll_fn(|cx| match begun.load(Ordering::SeqCst) >= count {
        true => Poll::Ready(()),
        false => {
            cx.waker().wake_by_ref();
            Poll::Pending
        }
    })
    .await;
}

#[test]
fn calls_of_one_answer_run_at_the_same_time() {
    struct Parallel;
    impl Case for Parallel {
        fn answers(&self) -> Vec<Said> {
            let calls = [
                ("a", "meet", "{}"),
                ("b", "meet", "{}"),
                ("c", "meet", "{}"),
            ];
            vec![Said::calls(calls), Said::text("Met.")]
        }

        fn tools(&self) -> Toolset<'static> {
            let begun = Arc::new(AtomicUsize::new(0));
            let meet = AgentTool::new("meet", "", &json!({"type": "object"}), move |_: Json| {
                let begun = Arc::clone(&begun);
                async move {
                    meet(&begun, 3).await;
                    Ok("met")
                }
            });
            Toolset::new().with(meet.unwrap())
        }

        fn check<U: Model, P: Toolkit>(&self, mut chat: Chat<P>, script: &Script) {
            let turn = block_on(chat.prompt("Meet")).unwrap();
            assert_eq!(turn.text().trim(), "Met.", "{}", P::NAME);
            let calls = script.calls::<U>();
            assert_eq!(calls[3..], ["a = met", "b = met", "c = met"]);
        }
    }
    everywhere(Parallel);
}

/// A result may have texts, data and files, of which the model gets each as its dialect has it.
#[test]
fn results_have_contents() {
    struct Files;
    impl Case for Files {
        fn answers(&self) -> Vec<Said> {
            vec![Said::calls([("a", "draw", "{}")]), Said::text("See.")]
        }

        fn tools(&self) -> Toolset<'static> {
            let draw = AgentTool::new("draw", "", &json!({}), |_: Json| async {
                let mut contents = Contents::from("A chart.");
                let png = AttachmentContent::Base64("iVBORw0KGgo=".into());
                contents.add_file(Attachment::new(png).name("chart.png"));
                Ok(contents)
            });
            Toolset::new().with(draw.unwrap())
        }

        fn check<U: Model, P: Toolkit>(&self, mut chat: Chat<P>, script: &Script) {
            let turn = block_on(chat.prompt("Draw")).unwrap();
            assert_eq!(turn.faults(), [""; 0], "{}", P::NAME);
            assert_eq!(script.calls::<U>()[1], "a = A chart.", "{}", U::NAME);
            let request = script.requests().pop().unwrap();
            assert!(request.contains("iVBORw0KGgo="), "{}", U::NAME);
        }
    }
    everywhere(Files);
}

/// When the client leaves, the runs are dropped.
#[test]
fn runs_end_with_the_client() {
    struct Leave(Arc<AtomicUsize>);
    struct Guard(Arc<AtomicUsize>);
    impl Drop for Guard {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }
    impl Case for Leave {
        fn answers(&self) -> Vec<Said> {
            vec![Said::calls([("a", "wait", "{}"), ("b", "wait", "{}")])]
        }

        fn tools(&self) -> Toolset<'static> {
            let ended = Arc::clone(&self.0);
            let wait = AgentTool::new("wait", "", &json!({}), move |_: Json| {
                let guard = Guard(Arc::clone(&ended));
                async move {
                    let _guard = guard;
                    std::future::pending::<Result<String, AgentError>>().await
                }
            });
            Toolset::new().with(wait.unwrap())
        }

        fn check<U: Model, P: Toolkit>(&self, mut chat: Chat<P>, script: &Script) {
            let before = self.0.load(Ordering::SeqCst);
            block_on(async {
                let turn = chat.prompt("Wait");
                let mut turn = std::pin::pin!(turn);
                // Until the model has answered, and a little longer.
                for _ in 0..10_000 {
                    assert!(futures::poll!(&mut turn).is_pending());
                }
            });
            assert_eq!(script.requests().len(), 1);
            let ended = self.0.load(Ordering::SeqCst) - before;
            assert_eq!(ended, 2, "{} with {}", P::NAME, U::NAME);
        }
    }
    everywhere(Leave(Arc::default()));
}

/// A name that no server accepts, and the one that is sent in its place.
const NAMES: (&str, &str) = ("get the tide", "_get_the_tide_7bd15d9c279e");

struct Renamed;

impl Case for Renamed {
    fn answers(&self) -> Vec<Said> {
        let call = |id| Said::calls([(id, NAMES.1, r#"{"at":"Brest"}"#)]);
        vec![call("c0"), call("c1"), Said::text("It is high.")]
    }

    fn tools(&self) -> Toolset<'static> {
        let tide = AgentTool::new(NAMES.0, "The tide.", &schema(), |_: Place| async {
            Ok("4 m")
        });
        let profile = Profile::named("OpenAI").unwrap();
        Toolset::new().with(tide.unwrap()).profile(&profile)
    }

    fn check<U: Model, P: Toolkit>(&self, mut chat: Chat<P>, script: &Script) {
        let place = format!("{} with {}", P::NAME, U::NAME);
        let turn = block_on(chat.prompt("How is the sea?")).unwrap();
        assert_eq!(turn.faults(), [""; 0], "{place}");
        assert!(turn.text().ends_with("It is high."), "{place}");
        let call = |id| format!(r#"{id} {} {{"at":"Brest"}}"#, NAMES.1);
        let (first, second) = (call("c0"), call("c1"));
        let calls = [&*first, "c0 = 4 m", &second, "c1 = 4 m"];
        assert_eq!(script.calls::<U>(), calls, "{place}");
        for request in script.requests() {
            assert!(!request.contains(NAMES.0), "{place}: {request}");
        }
    }
}

#[test]
fn names_that_a_server_does_not_accept_are_replaced_in_every_round() {
    everywhere(Renamed);
}

/// A model's server that counts the ids of each answer anew.
#[test]
fn an_id_that_is_repeated_is_replaced() {
    let call = Said::calls([("call_1", "get_wind", r#"{"at":"Brest"}"#)]);
    everywhere(Rounds {
        answers: vec![call.clone(), call.clone(), call, Said::text("It blows.")],
        calls: vec![
            r#"call_1 get_wind {"at":"Brest"}"#,
            r#"call_1 = {"knots":12}"#,
            r#"call_2 get_wind {"at":"Brest"}"#,
            r#"call_2 = {"knots":12}"#,
            r#"call_3 get_wind {"at":"Brest"}"#,
            r#"call_3 = {"knots":12}"#,
        ],
        text: "It blows.",
    });
}

/// A value that the schema allows stays, and a word of an enumeration is found in any case.
#[test]
fn arguments_are_converted_to_what_the_schema_allows() {
    struct Patch;
    impl Case for Patch {
        fn answers(&self) -> Vec<Said> {
            let arguments = r#"{"any":null,"both":null,"word":"RED","none":null}"#;
            vec![
                Said::calls([("c0", "patch", arguments)]),
                Said::text("Done."),
            ]
        }

        fn tools(&self) -> Toolset<'static> {
            let schema = json!({"properties": {
                "any": {},
                "both": {"enum": ["a", null]},
                "none": {"type": "string"},
                "word": {"enum": ["red", "green", "Green"]},
            }, "type": "object"});
            let patch = AgentTool::new("patch", "Patches.", &schema, |it: Json| async { Ok(it) });
            Toolset::new().with(patch.unwrap())
        }

        fn check<U: Model, P: Toolkit>(&self, mut chat: Chat<P>, script: &Script) {
            block_on(chat.prompt("Patch it")).unwrap();
            let result = r#"c0 = {"any":null,"both":null,"word":"red"}"#;
            let calls = script.calls::<U>();
            assert_eq!(
                calls.last().unwrap(),
                result,
                "{} with {}",
                P::NAME,
                U::NAME
            );
        }
    }
    everywhere(Patch);
}
