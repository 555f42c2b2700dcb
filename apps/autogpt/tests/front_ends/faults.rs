//! Clients that leave and models that misbehave.

use std::pin::pin;

use copilot_wire::protocol::ModelFault;
use futures::StreamExt;
use futures::future::{Either, select};

use crate::bench::Bench;
use crate::chat::{Chat, FRONTS, Front};
use crate::scripted::command;

#[tokio::test]
async fn a_client_that_leaves_stops_the_run_and_repeats_nothing() {
    for front in FRONTS {
        let bench = Bench::new();
        bench.replies([
            command("effect", r#"{"number":1}"#),
            command("effect", r#"{"number":2}"#),
        ]);
        let mut chat = Chat::new(&bench, front);
        chat.say("make effects").await;
        bench.effect.gate.forget_permits(100);
        let mut left = chat.clone();
        left.messages.push(yes(&chat));
        let mut body = left.begin().await;
        // The client leaves while the command is at work.
        let started = async {
            while bench.runs() == 0 {
                tokio::task::yield_now().await;
            }
        };
        let mut started = pin!(started);
        while let Either::Left((frame, _)) = select(body.next(), started.as_mut()).await {
            assert!(frame.is_some(), "{front:?}: the command waits");
        }
        drop(body);
        bench.effect.gate.add_permits(100);
        assert_eq!(bench.runs(), 1, "{front:?}");
        // It sends its request again, and hears that nobody knows what came of it.
        left.send().await;
        let lost = "its result is lost";
        assert!(left.stream.contains(lost), "{front:?}: {}", left.stream);
        assert_eq!(bench.runs(), 1, "{front:?}");
        left.decide(true).await;
        assert!(left.asks(), "{front:?}: the second effect");
        assert_eq!(bench.runs(), 1, "{front:?}");
        left.decide(true).await;
        assert_eq!(bench.runs(), 2, "{front:?}");
    }
}

fn yes(chat: &Chat<'_>) -> serde_json::Value {
    match chat.front {
        Front::OpenBb => serde_json::json!({"role": "human", "content": chat.yes()}),
        Front::GitHub => {
            let confirmation = serde_json::json!({"id": chat.question()});
            let answer = serde_json::json!({"state": "accepted", "confirmation": confirmation});
            serde_json::json!({"role": "user", "content": "", "copilot_confirmations": [answer]})
        }
        _ => serde_json::json!({"role": "user", "content": chat.yes()}),
    }
}

/// Replies without a command, short, usual and far too long: in prose, damaged, and of a wrong shape.
#[tokio::test]
async fn what_is_shown_and_repeated_of_a_useless_reply_is_bounded() {
    for front in FRONTS {
        // Also characters that are longer as they are shown: as escapes, or as code points.
        let kinds = ["word ", "\\u202e", "\u{a0}", "日本語 ", "<b>![x]"];
        let sizes = [1, 100, 1_000_000].map(|size| ("word ", size));
        let kinds = kinds.map(|kind| (kind, 20_000));
        for (kind, size) in sizes.into_iter().chain(kinds) {
            let words = kind.repeat(size);
            for reply in [
                words.clone(),
                format!(r#"{{"thoughts": [{{{words}"#),
                format!(
                    r#"{{"thoughts":{{"text":"{words}","plan":"{words}","speak":"{words}"}}}}"#
                ),
                format!(r#"{{"command":{{"name":"error","args":"{words}"}}}}"#),
            ] {
                let bench = Bench::new();
                // The second is the repair of a damaged one.
                bench.replies((0..6).map(|_| reply.clone()));
                let mut chat = Chat::new(&bench, front);
                chat.say("make an effect").await;
                let length = chat.stream.chars().count();
                assert!(length < 70_000, "{front:?} {kind:?} {size}: {length}");
                let sent = bench.script.latest_request().concat();
                let length = sent.chars().count();
                assert!(length < 60_000, "{front:?} {kind:?} {size}: {length}");
                let is_cut = |text: &str| text.contains("[Cut: ") || text.contains("［Cut： ");
                assert_eq!(
                    is_cut(&chat.stream),
                    size > 1_000,
                    "{front:?} {kind:?} {size}"
                );
                chat.question();
            }
        }
    }
}

#[tokio::test]
async fn replies_that_are_no_commands_end_in_a_question() {
    let prose = "I would rather not.\n```\n![x](https://evil.example/?q)";
    for front in FRONTS {
        let bench = Bench::new();
        bench.replies((0..3).map(|_| prose.to_owned()));
        let mut chat = Chat::new(&bench, front);
        chat.say("make an effect").await;
        chat.question();
        // What the model wrote is shown as it is: as code, which it cannot leave, or without any markup.
        let shown = match front {
            Front::GitHub => {
                let prose = prose.replace('\n', "\n    ");
                let text = format!(
                    "````text\nThe model's replies cannot be read. The last one was:\n    {prose}\n````"
                );
                let json = serde_json::to_string(&text).unwrap();
                json.trim_matches('"').to_owned()
            }
            _ => "The model’s replies cannot be read. The last one was： ⏎ I would rather not. ⏎ ｀｀｀ ⏎ \
                  ！［x］（https：／／evil．example/?q）"
                .to_owned(),
        };
        assert!(chat.stream.contains(&shown), "{front:?}: {}", chat.stream);
        let said = chat.say("then do as I say").await;
        assert!(said.contains("Task complete"), "{front:?}: {said}");
    }
}

#[tokio::test]
async fn odd_commands_run_nothing() {
    let odd = [
        command("format_disk", r#"{"now":true}"#),
        command("write_to_file", r#"{"file":"../../escape.md","text":"x"}"#),
        command("effect", r#"["not", "an", "object"]"#),
        r#"{"command":{"name":7,"args":null}}"#.to_owned(),
        "\u{0}\u{2028}{{{{[[[[".to_owned(),
        String::new(),
    ];
    for front in FRONTS {
        for reply in &odd {
            let bench = Bench::new();
            bench.replies([reply.clone()]);
            let mut chat = Chat::new(&bench, front);
            chat.say("go").await;
            if chat.asks() {
                chat.decide(true).await;
            }
            assert!(
                chat.stream.contains("Task complete") || chat.asks(),
                "{front:?}: {reply}"
            );
            let files = std::fs::read_dir(bench.folder.path()).unwrap();
            assert_eq!(files.count(), 0, "{front:?}: {reply}");
        }
    }
}

#[tokio::test]
async fn a_model_that_is_gone_is_told_and_waited_for() {
    for front in FRONTS {
        let bench = Bench::new();
        bench.fails(ModelFault::NoAnswer.into());
        for _ in 0..3 {
            bench.fails(ModelFault::NoAnswer.into());
        }
        let mut chat = Chat::new(&bench, front);
        let said = chat.say("make an effect").await;
        chat.question();
        assert!(
            chat.stream.contains("The model did not answer"),
            "{front:?}: {said}"
        );
        bench.replies([command("effect", "{}")]);
        chat.decide(true).await;
        assert!(chat.asks(), "{front:?}");
        assert_eq!(bench.runs(), 0, "{front:?}");
    }
}

#[tokio::test]
async fn what_the_model_says_loads_nothing() {
    let image = "![x](https://evil.example/?q)<img src=//evil.example>";
    for front in FRONTS {
        for thought in ["speak", "text"] {
            let bench = Bench::new();
            bench.replies([format!(
                r#"{{"thoughts":{{"{thought}":"Look: {image}"}},"command":{{"name":"task_complete","args":{{"reason":"Look: {image}"}}}}}}"#
            )]);
            let mut chat = Chat::new(&bench, front);
            let said = chat.say("make an effect").await;
            assert!(said.contains("Task complete"), "{front:?}: {said}");
            assert!(said.contains("Look: !"), "{front:?}: {said}");
            assert!(!said.contains("![x]"), "{front:?}: {said}");
            assert!(!said.contains("<img"), "{front:?}: {said}");
        }
    }
}

#[tokio::test]
async fn steps_of_the_work_load_nothing() {
    let image = "![x](https://evil.example/?q)<img src=//evil.example>";
    let bench = Bench::new();
    bench.replies([
        format!("no command: {image}"),
        command("google", &format!(r#"{{"input":"{image}"}}"#)),
        command("read_file", &format!(r#"{{"file":"{image}"}}"#)),
        format!(
            r#"{{"thoughts":{{"text":"{image}","reasoning":"{image}","plan":"- {image}","criticism":"{image}"}},"command":{{"name":"task_complete","args":{{"reason":"Done"}}}}}}"#
        ),
    ]);
    let mut chat = Chat::new(&bench, Front::OpenBb);
    chat.say("make an effect").await;
    assert!(chat.stream.contains("Criticism"), "{}", chat.stream);
    assert!(!chat.stream.contains("![x]"), "{}", chat.stream);
    assert!(!chat.stream.contains("<img"), "{}", chat.stream);
}
