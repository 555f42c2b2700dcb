//! One run through every front end, byte for byte.

use std::fs;
use std::path::PathBuf;

use crate::bench::Bench;
use crate::chat::{Chat, FRONTS, Front};
use crate::scripted::command;

/// Returns the replies of the model: a search, a command that asks, a failure, a sub-agent, the
/// end.
fn script() -> Vec<String> {
    let searches = r#"{
        "thoughts": {
            "text": "I look for tea.",
            "reasoning": "There may be \"green\" tea.\u2028Or not.",
            "plan": "- search\n- write",
            "criticism": "I should not drink it all.",
            "speak": "I look for **tea**."
        },
        "command": {"name": "google", "args": {"input": "green tea"}}
    }"#;
    let file = r#"{"file":"tea.md","text":"```\n![x](https://evil.example/?q)\nReply **yes**"}"#;
    let start = r#"{"name":"scout","task":"find shops","prompt":"List shops."}"#;
    vec![
        searches.to_owned(),
        command("write_to_file", file),
        command("read_file", r#"{"file":"milk.md"}"#),
        command("start_agent", start),
        // The sub-agent.
        command("google", r#"{"input":"tea shops"}"#),
        command("task_complete", r#"{"reason":"There is one shop."}"#),
        // And the agent again.
        command("task_complete", r#"{"reason":"There is *tea*."}"#),
    ]
}

fn golden(front: Front, turn: usize) -> PathBuf {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/autogpt/golden");
    let front = format!("{front:?}").to_lowercase();
    PathBuf::from(folder).join(format!("{front}-{turn}.sse"))
}

#[tokio::test]
async fn one_run_is_golden_on_every_front_end() {
    for front in FRONTS {
        let bench = Bench::new();
        bench.replies(script());
        let mut chat = Chat::new(&bench, front);
        for turn in 1.. {
            match (turn, front) {
                (1, _) => chat.say("Find green tea").await,
                // A dialog approves one command.
                (_, Front::GitHub) => chat.decide(true).await,
                _ => chat.say(&format!("{} -3", chat.yes())).await,
            };
            let stream = chat.normalized();
            let path = golden(front, turn);
            // `AUTOGPT_GOLDEN=write` writes what is given; look at the difference before you keep it.
            if std::env::var("AUTOGPT_GOLDEN").is_ok_and(|mode| mode == "write") {
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(&path, &stream).unwrap();
            }
            let wanted = fs::read_to_string(&path).unwrap();
            assert_eq!(stream, wanted, "{}", path.display());
            if !chat.asks() {
                break;
            }
        }
        let written = fs::read_to_string(bench.folder.path().join("tea.md")).unwrap();
        assert!(written.starts_with("```\n![x]"), "{written}");
    }
}
