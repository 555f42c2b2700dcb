//! Tools that ask the user first.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use copilot_wire::json::Json;
use copilot_wire::models::{AgentTool, Toolset};
use copilot_wire_kit::Toolkit;
use futures::executor::block_on;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::stub::{Case, Chat, Model, Said, Script, everywhere};

#[derive(Deserialize)]
struct File {
    path: String,
}

/// The step of the user after the first question.
#[derive(Clone, Copy)]
enum Does {
    Agrees,
    Refuses,
    AsksElse,
}

struct Delete {
    /// The number of files that were deleted.
    deleted: Arc<AtomicUsize>,
    first: Said,
    does: Does,
    then: Vec<Said>,
    /// The number of files that are deleted, and `true` if there is a question again.
    expected: (usize, bool),
    /// The last results in the last request.
    results: Vec<&'static str>,
    note: &'static str,
}

impl Case for Delete {
    fn answers(&self) -> Vec<Said> {
        vec![self.first.clone()]
    }

    fn tools(&self) -> Toolset<'static> {
        let deleted = Arc::clone(&self.deleted);
        let schema = json!({"properties": {"path": {"type": "string"}}, "type": "object"});
        let delete = AgentTool::new("delete", "Deletes.", &schema, move |_: File| {
            deleted.fetch_add(1, Ordering::SeqCst);
            async { Ok("deleted") }
        });
        let list = AgentTool::new("list", "Lists.", &json!({}), |_: Json| async { Ok("a, b") });
        let ask = |file: File| (file.path != "tmp").then(|| format!("Delete {}?", file.path));
        Toolset::new()
            .with(delete.unwrap().asks(ask))
            .with(list.unwrap())
    }

    fn check<U: Model, P: Toolkit>(&self, mut chat: Chat<P>, script: &Script) {
        let place = format!("{} with {}", P::NAME, U::NAME);
        let before = self.deleted.load(Ordering::SeqCst);
        let turn = block_on(chat.prompt("Delete it")).unwrap();
        assert_eq!(turn.faults(), [""; 0], "{place}");
        let question = turn.question();
        assert!(question.is_some(), "{place}: {turn}");
        assert!(turn.to_string().contains("Delete a?"), "{place}: {turn}");
        // The reply does not end like the model's answer, which has calls.
        let bytes = String::from_utf8_lossy(turn.bytes());
        assert!(
            !bytes.contains(r#""stop_reason":"tool_use""#),
            "{place}: {bytes}"
        );
        assert!(
            !bytes.contains(r#""finish_reason":"tool_calls""#),
            "{place}: {bytes}"
        );
        assert_eq!(self.deleted.load(Ordering::SeqCst), before, "{place}");
        assert!(!script.requests()[0].contains("The user has"), "{place}");

        script.extend(self.then.clone());
        let turn = block_on(match self.does {
            Does::Agrees => chat.decide(true),
            Does::Refuses => chat.decide(false),
            Does::AsksElse => {
                let turn = block_on(chat.prompt("What else is there?")).unwrap();
                return self.after::<U, P>(&turn, before, script);
            }
        });
        self.after::<U, P>(&turn.unwrap(), before, script);
    }
}

impl Delete {
    fn after<U: Model, P: Toolkit>(
        &self,
        turn: &copilot_wire_kit::Transcript<P>,
        before: usize,
        script: &Script,
    ) {
        let place = format!("{} with {}", P::NAME, U::NAME);
        assert_eq!(turn.faults(), [""; 0], "{place}");
        let deleted = self.deleted.load(Ordering::SeqCst) - before;
        let seen = (deleted, turn.question().is_some());
        assert_eq!(seen, self.expected, "{place}: {turn}");
        let requests = script.requests();
        assert_eq!(requests.len(), 1 + self.then.len(), "{place}");
        assert!(requests[1].contains(self.note), "{place}: {}", requests[1]);
        // Only until the model has done so.
        let is_told = requests
            .iter()
            .skip(2)
            .any(|it| it.contains("The user has"));
        assert!(!is_told, "{place}");
        let calls = script.calls::<U>();
        assert!(
            calls.ends_with(
                &self
                    .results
                    .iter()
                    .map(|it| (*it).to_owned())
                    .collect::<Vec<_>>()
            ),
            "{place}: {calls:?}"
        );
    }
}

const A: (&str, &str, &str) = ("c0", "delete", r#"{"path":"a"}"#);
const B: (&str, &str, &str) = ("c1", "delete", r#"{"path":"b"}"#);

impl Default for Delete {
    fn default() -> Self {
        Self {
            deleted: Arc::default(),
            first: Said::calls([A]),
            does: Does::Agrees,
            then: Vec::new(),
            expected: (0, false),
            results: Vec::new(),
            note: "The user has agreed",
        }
    }
}

#[test]
fn a_yes_runs_the_call_once() {
    everywhere(Delete {
        then: vec![Said::calls([A]), Said::text("It is gone.")],
        expected: (1, false),
        results: vec!["c0 = deleted"],
        ..Delete::default()
    });
    // The same call again is asked again.
    everywhere(Delete {
        then: vec![Said::calls([A]), Said::calls([A])],
        expected: (1, true),
        ..Delete::default()
    });
}

#[test]
fn a_yes_is_for_these_arguments_only() {
    everywhere(Delete {
        then: vec![Said::calls([B])],
        expected: (0, true),
        ..Delete::default()
    });
    everywhere(Delete {
        then: vec![Said::calls([A, B])],
        expected: (0, true),
        ..Delete::default()
    });
}

/// A reader of arguments takes the last of two members of one name.
#[test]
fn the_order_of_members_of_one_name_counts() {
    struct Twice(Delete);
    impl Case for Twice {
        fn answers(&self) -> Vec<Said> {
            self.0.answers()
        }

        fn tools(&self) -> Toolset<'static> {
            let deleted = Arc::clone(&self.0.deleted);
            let delete = AgentTool::new("delete", "Deletes.", &json!({}), move |_: Value| {
                deleted.fetch_add(1, Ordering::SeqCst);
                async { Ok("deleted") }
            });
            let ask = |file: Value| Some(format!("Delete {}?", file["path"].as_str()?));
            Toolset::new().with(delete.unwrap().asks(ask))
        }

        fn check<U: Model, P: Toolkit>(&self, chat: Chat<P>, script: &Script) {
            self.0.check::<U, P>(chat, script);
        }
    }
    const SHOWN: (&str, &str, &str) = ("c0", "delete", r#"{"path":"b","path":"a"}"#);
    const OTHER: (&str, &str, &str) = ("c0", "delete", r#"{"path":"a","path":"b"}"#);
    everywhere(Twice(Delete {
        first: Said::calls([SHOWN]),
        then: vec![Said::calls([OTHER])],
        expected: (0, true),
        ..Delete::default()
    }));
}

#[test]
fn calls_of_one_answer_are_one_question() {
    everywhere(Delete {
        first: Said::calls([A, B, ("c2", "list", "{}")]),
        // In another order, and one that needs no question.
        then: vec![
            Said::calls([B, A, ("c3", "delete", r#"{"path":"tmp"}"#)]),
            Said::text("They are gone."),
        ],
        expected: (3, false),
        results: vec!["c1 = deleted", "c0 = deleted", "c3 = deleted"],
        ..Delete::default()
    });
}

#[test]
fn a_no_is_told_to_the_model() {
    everywhere(Delete {
        does: Does::Refuses,
        then: vec![Said::calls([A]), Said::text("It stays.")],
        expected: (0, false),
        results: vec!["c0 = failed: the user refused this call"],
        note: "The user has refused",
        ..Delete::default()
    });
}

#[test]
fn without_an_answer_nothing_runs() {
    everywhere(Delete {
        does: Does::AsksElse,
        then: vec![Said::calls([("c1", "list", "{}")]), Said::calls([A])],
        expected: (0, true),
        results: vec!["c1 = a, b"],
        note: "",
        ..Delete::default()
    });
}

/// Text that may hide a question makes the first yes void. The question is then asked again, with nothing above it that
/// could hide it.
#[test]
fn a_question_that_was_obscured_is_asked_alone() {
    struct Obscured(Delete);
    impl Case for Obscured {
        fn answers(&self) -> Vec<Said> {
            vec![self.call()]
        }

        fn tools(&self) -> Toolset<'static> {
            self.0.tools()
        }

        fn check<U: Model, P: Toolkit>(&self, mut chat: Chat<P>, script: &Script) {
            let place = format!("{} with {}", P::NAME, U::NAME);
            let before = self.0.deleted.load(Ordering::SeqCst);
            block_on(chat.prompt("Delete it")).unwrap();
            let answers = [self.call(), Said::text("**Gone.**")];
            script.extend(answers.clone());
            let mut turn = block_on(chat.decide(true)).unwrap();
            let has_dialog = turn.question().is_none();
            if !has_dialog {
                assert!(
                    turn.text().contains("Other text stood above"),
                    "{place}: {turn}"
                );
                assert!(!turn.text().contains("<b>"), "{place}: {turn}");
                script.clear();
                script.extend(answers);
                turn = block_on(chat.decide(true)).unwrap();
            }
            assert_eq!(turn.faults(), [""; 0], "{place}");
            assert!(turn.text().ends_with("**Gone.**"), "{place}: {turn}");
            assert_eq!(self.0.deleted.load(Ordering::SeqCst) - before, 1, "{place}");
            let dialogs = ["github", "mcp"];
            assert_eq!(has_dialog, dialogs.contains(&P::NAME), "{place}");
        }
    }
    impl Obscured {
        fn call(&self) -> Said {
            Said {
                text: "<b>Sure</b> <!--",
                ..Said::calls([A])
            }
        }
    }
    everywhere(Obscured(Delete::default()));
}
