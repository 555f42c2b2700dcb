//! Memory of the search for a question. Alone in its process, because it looks at the memory of all of it.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]
#![cfg(target_os = "linux")]

use std::fs;

use copilot_wire::openai::{ChatMessage, ChatRequest, OpenAi};
use copilot_wire::protocol::{AgentError, Confirmation, Conversation, Env, Verdict};
use copilot_wire::{Body, Reply, Request, agent_fn};
use futures::StreamExt as _;
use futures::executor::block_on;

/// Returns a line of the memory of this process, in KiB.
fn memory(line: &str) -> usize {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|it| it.strip_prefix(line)).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

/// Returns the KiB by which the memory grew while a function ran.
fn growth<T>(run: impl FnOnce() -> T) -> (usize, T) {
    // Sets the peak to what is used now.
    fs::write("/proc/self/clear_refs", "5").unwrap();
    let before = memory("VmRSS:");
    let result = run();
    (memory("VmHWM:").saturating_sub(before), result)
}

fn request(messages: Vec<ChatMessage>) -> Request<OpenAi> {
    Request::new(ChatRequest::new("m", messages))
}

/// Returns a new question behind the user's message `c`.
fn question() -> String {
    let agent = agent_fn(async |_, reply: Reply<OpenAi>| {
        reply.confirm(Confirmation::new("delete-1", "Delete all files?", ""))?;
        Ok::<_, AgentError>(())
    });
    let request = request(vec![ChatMessage::user("c")]);
    let frames = Body::run(agent, request, &Env::default()).map(Result::unwrap);
    let frames: Vec<_> = block_on(frames.collect());
    let body: serde_json::Value = serde_json::from_slice(&frames.concat()).unwrap();
    let text = body["choices"][0]["message"]["content"].as_str();
    text.unwrap().to_owned()
}

#[test]
fn a_question_is_found_in_constant_memory() {
    for unit in ["a", "\u{fdfa}", "\u{301}", "\u{1100}", "<", "1\n"] {
        for size in [1 << 19, 1 << 20] {
            let question = question();
            let (_, code) = question.rsplit_once("reply: yes ").unwrap();
            let yes = format!("yes {}", &code[..6]);
            let above = unit.repeat(size / unit.len());
            let messages = |asked: String| {
                let (before, answer) = (ChatMessage::user("c"), ChatMessage::user(&*yes));
                vec![before, ChatMessage::assistant(asked), answer]
            };
            let found = request(messages(format!("{above}{question}")));
            let (grown, answer) = growth(|| found.decision().map(|answer| answer.verdict));
            let expected = match unit {
                "a" | "\u{fdfa}" | "\u{1100}" | "1\n" => Verdict::Accepted,
                _ => Verdict::Obscured,
            };
            // A list of ones has no code, unless it is 111111.
            assert!(
                answer == Some(expected) || unit == "1\n",
                "{unit:?}: {answer:?}"
            );
            assert!(grown < 12 << 10, "{unit:?}, {size} bytes: {grown} KiB");
            // The history has it without the code.
            let (grown, words) = growth(|| found.messages().map(|it| it.text.len()).sum::<usize>());
            assert!(
                words > size - 8 && grown < 12 << 10,
                "{unit:?}: {grown} KiB"
            );
            // The text of the user, and an answer that is none.
            let long = request(vec![
                ChatMessage::user(&*above),
                ChatMessage::assistant(question),
                ChatMessage::user(above),
            ]);
            let (grown, answer) = growth(|| long.decision().map(|answer| answer.verdict));
            assert_ne!(answer, Some(Verdict::Accepted));
            assert!(grown < 12 << 10, "{unit:?}, {size} bytes: {grown} KiB");
        }
    }
}
