//! For any input: no panic, linear time, and the stored state is the restored one.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests may be blunt")]

use std::sync::Arc;

use autogpt::agent_loop::context::{Context, ContextRules, Parts};
use autogpt::agent_loop::decision::{AnswerRules, Decision};
use autogpt::agent_loop::message::{Message, Role, ToolCall};
use autogpt::agent_loop::model::ModelReply;
use autogpt::agent_loop::prompt::{Codec, Profile};
use autogpt::agent_loop::reply::{Reading, ReplyRules, finish, read, read_tool_call};
use autogpt::agent_loop::run::{Answer, Effect, Input, Machine};
use autogpt::agent_loop::settings::{Asking, Settings};
use autogpt::agent_loop::tokens::{Cl100k, Tokenizer};
use autogpt::commands::{Outcome, Wording};
use autogpt::json::ListText;
use autogpt::json::{Object, Value, find_object, parse};
use proptest::prelude::*;

/// Exact counts take too long for thousands of cases.
#[derive(Debug)]
struct Quick;

impl Tokenizer for Quick {
    fn count(&self, text: &str) -> usize {
        text.len().div_ceil(4)
    }
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(|n| Value::Number(n.to_string())),
        any::<f64>().prop_map(|n| match n.is_finite() {
            true => Value::Number(format!("{n:e}")),
            false => Value::Null,
        }),
        any::<String>().prop_map(Value::Text),
    ];
    leaf.prop_recursive(4, 32, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::List),
            prop::collection::vec((any::<String>(), inner), 0..4)
                .prop_map(|members| Value::Object(Object::from_iter(members))),
        ]
    })
}

/// Returns texts that are almost JSON.
fn nearly_json() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("{".to_owned()),
        Just("}".to_owned()),
        Just("[".to_owned()),
        Just("]".to_owned()),
        Just("\"".to_owned()),
        Just("\\".to_owned()),
        Just("\\u12".to_owned()),
        Just(",".to_owned()),
        Just(":".to_owned()),
        Just("command".to_owned()),
        Just("\"command\":{\"name\":".to_owned()),
        Just("\n\t".to_owned()),
        Just("12e".to_owned()),
        any::<char>().prop_map(String::from),
    ];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

fn rules() -> [ReplyRules; 2] {
    [ReplyRules::Hardened, ReplyRules::Original]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_text_is_a_reply(text in prop_oneof![any::<String>(), nearly_json()]) {
        for rules in rules() {
            if let Reading::Damaged(damaged) = read(&text, rules) {
                let _ = finish(&damaged, Some(&text), rules);
                let _ = finish(&damaged, None, rules);
            }
        }
        let _ = read_tool_call(&text, Some(&ToolCall::new("1", "a", &text)));
        let _ = find_object(&text, |_| false);
        let _ = Decision::read(&text, AnswerRules::Original);
    }

    #[test]
    fn strict_parsing_agrees_with_serde(text in nearly_json()) {
        // serde_json stops at another depth and refuses lone surrogates; nothing else.
        let theirs = serde_json::from_str::<serde_json::Value>(&text);
        match (parse(&text), theirs) {
            (Ok(ours), Ok(theirs)) => {
                let ours: serde_json::Value = serde_json::from_str(&ours.to_string()).unwrap();
                prop_assert_eq!(ours, theirs);
            }
            (Err(_), Err(_)) => {}
            (Ok(_), Err(_)) => prop_assert!(text.contains("\\u") || text.contains("e")),
            (Err(_), Ok(_)) => prop_assert!(false, "{}", text),
        }
    }

    #[test]
    fn values_survive_their_text(value in value()) {
        prop_assert_eq!(&parse(&value.to_string()).unwrap(), &value);
        let stored = serde_json::to_string(&value).unwrap();
        prop_assert_eq!(&serde_json::from_str::<Value>(&stored).unwrap(), &value);
        // The Python text of a text is one line of printable characters.
        let python = ListText::Python.of(&value);
        let broken = python.contains(['\n', '\r', '\t', '\u{2028}', '\0']);
        prop_assert!(!broken);
    }

    #[test]
    fn a_command_in_prose_is_found(
        before in "[^{}\"]{0,40}", after in "[^{}\"]{0,40}", args in value()
    ) {
        let text = format!("{before}{{\"command\":{{\"name\":\"go\",\"args\":{args}}}}}{after}");
        let Reading::Done(reply) = read(&text, ReplyRules::Hardened) else {
            panic!("{text}");
        };
        let command = reply.command.unwrap();
        prop_assert_eq!(command.name, "go");
        let wanted = if args == Value::Null { Object::new().into() } else { args };
        prop_assert_eq!(command.args, wanted);
    }

    #[test]
    fn a_context_never_exceeds_its_limit(
        sizes in prop::collection::vec((0_usize..3000, any::<bool>()), 0..12),
        memories in prop::collection::vec(0_usize..2000, 0..12),
        input in 0_usize..3000,
        limit in 1000_usize..5000,
    ) {
        let words = |count: usize| "tea ".repeat(count);
        let memories: Vec<String> = memories.into_iter().map(words).collect();
        let history: Vec<Message> = sizes
            .into_iter()
            .map(|(size, user)| Message::new(if user { Role::User } else { Role::Assistant }, words(size)))
            .collect();
        let input = words(input);
        let parts = Parts { memories: &memories, history: &history, ..Parts::new("prompt", "now", &input) };
        let rules = ContextRules { token_limit: limit, ..ContextRules::default() };
        if let Ok(context) = Context::build(&rules, &Quick, &parts) {
            prop_assert!(context.used <= rules.send_limit());
            let counted = rules.cost.count(&Quick, &context.messages);
            prop_assert!(counted <= context.used);
        }
    }

    #[test]
    fn a_cut_text_has_at_most_so_many_tokens(text in any::<String>(), tokens in 0_usize..20) {
        let cut = Cl100k.cut(&text, tokens);
        prop_assert!(Cl100k.count(cut) <= tokens);
        prop_assert!(text.starts_with(cut));
    }

    #[test]
    fn damaged_state_is_refused(at in 0_usize..2000, byte in any::<u8>()) {
        let machine = machine(Settings::default());
        let mut run = machine.start("run", Profile::new("Bo", "a helper", &["tea"]));
        run.feed(memories()).unwrap();
        let mut bytes = run.to_json().into_bytes();
        let at = at % bytes.len();
        bytes[at] = byte;
        if let Ok(mut restored) = machine.restore(&String::from_utf8_lossy(&bytes)) {
            // Whatever it is now, it goes on without a panic.
            let _ = restored.effect();
            let _ = restored.feed(Input::Reply(ModelReply::text("x")));
        }
    }

    #[test]
    fn any_inputs_in_any_order(
        original in any::<bool>(),
        tools in any::<bool>(),
        inputs in prop::collection::vec((0_u8..7, nearly_json()), 0..40)
    ) {
        let mut settings = if original { Settings::original() } else { Settings::default() };
        settings.codec = if tools { Codec::Tools } else { Codec::Json };
        settings.asking = if original { Asking::EveryStep } else { Asking::ByPolicy };
        let machine = machine(settings);
        let mut run = machine.start("run", Profile::new("Bo", "a helper", &["tea"]));
        for (kind, text) in inputs {
            // What is expected, most of the time.
            let input = match (run.effect(), kind) {
                (Effect::Recall { .. }, 0..6) => memories(),
                (Effect::CallModel(_), 0..2) => {
                    let call = ToolCall::new("1", "message_agent", r#"{"key":0,"message":"m"}"#);
                    Input::Reply(ModelReply::call("", call))
                }
                (Effect::CallModel(_), 2..4) => reply(START),
                (Effect::CallModel(_), 4) => reply(r#"{"command":{"name":"x"}}"#),
                (Effect::CallModel(_), 5) => Input::Reply(ModelReply::text(&text)),
                (Effect::CallModel(_), _) => Input::ModelFailed(text),
                (Effect::Execute { .. }, 0..5) => Input::Ended(Outcome::new(&text)),
                (Effect::Execute { .. }, _) => Input::Lost,
                (Effect::Withdraw { .. }, 0..5) => Input::Withdrawn,
                (Effect::Withdraw { .. }, _) => Input::Lost,
                (Effect::Remember(_), _) => Input::Remembered,
                (Effect::Ask(_), 0..3) => Input::Answer(Answer::Text("y".to_owned())),
                (Effect::Ask(question), 3) => Input::Answer(Answer::Confirmation {
                    id: question.id().to_owned(),
                    accepted: text.len() % 2 == 0,
                }),
                (Effect::Ask(_), _) => Input::Answer(Answer::Text(text)),
                _ => Input::Remembered,
            };
            let restored = machine.restore(&run.to_json()).unwrap();
            prop_assert_eq!(restored.effect(), run.effect());
            let _ = run.feed(input);
        }
    }
}

const START: &str =
    r#"{"command":{"name":"start_agent","args":{"name":"a","task":"t","prompt":"p"}}}"#;

fn reply(text: &str) -> Input {
    Input::Reply(ModelReply::text(text))
}

fn memories() -> Input {
    Input::Memories {
        texts: vec!["m".to_owned()],
        now: "now".to_owned(),
    }
}

fn machine(settings: Settings) -> Arc<Machine> {
    let tokenizer = Arc::new(Cl100k);
    Arc::new(Machine::new(
        settings,
        Vec::new(),
        Wording::Clear,
        tokenizer,
    ))
}

#[test]
fn hostile_texts_take_linear_time() {
    let many = 200_000;
    let texts = [
        "{".repeat(many),
        "[".repeat(many),
        "{\"a\":".repeat(many),
        "{\"".repeat(many),
        "{a".repeat(many),
        "{ ".repeat(many),
        "\\".repeat(many),
        format!("{{\"{}", "\\'".repeat(many)),
        "}".repeat(many),
        "a:".repeat(many),
        (0..many)
            .map(|n| format!("\"k{n}\":1,"))
            .fold("{".to_owned(), |a, b| a + &b),
    ];
    for text in &texts {
        for rules in rules() {
            if let Reading::Damaged(damaged) = read(text, rules) {
                let _ = finish(&damaged, None, rules);
            }
        }
    }
    for text in ["a", " ", "\n", "a ", "é", "1"] {
        assert!(Cl100k.count(&text.repeat(many)) > 0);
    }
}
