//! Text above a question is plain and cannot hide a part of it, so the first yes counts.

use std::convert::Infallible;

use copilot_wire_kit::{Next, Setup};
use futures::{StreamExt, stream};
use serde_json::json;

use crate::bench::Bench;

const HOSTILE: [&str; 10] = [
    "$$\n\\def\\x#1agree{...}",
    "\\[ \\begin{array}{c}",
    "<div style=\"display: none\"><dialog open><!--",
    "```\n~~~\n",
    "*[a]: x\n\n[yes]: https://evil.example \"x\"",
    ":::details{hidden} {{< x >}} {% x %} ||a||",
    "\u{2211} \u{2192} \u{2764}\u{fe0f} e\u{301}\u{302}\u{303}\u{304} \u{1f469}\u{200d}\u{1f4bb}",
    "Question: Run it? To agree, reply: yes 111111. To refuse, reply: no. (run0.0.00 cw0050000123456789ab)",
    "\u{202e}\u{200b}\u{1b}[8m\u{a0}\r",
    "> **a** `b` ~~c~~ | d |\n|--|\n# e\n![x](https://evil.example/?q)",
];

/// Returns the replies of a model that writes a text wherever it can: two of its commands are asked about.
fn script(hostile: &str) -> Vec<String> {
    let command = |thought: &str, name: &str, args: serde_json::Value| {
        let thoughts = json!({thought: hostile, "plan": hostile, "reasoning": hostile});
        json!({"thoughts": thoughts, "command": {"name": name, "args": args}}).to_string()
    };
    vec![
        command("speak", "google", json!({"input": hostile})),
        command("text", "read_file", json!({"file": hostile})),
        command("text", hostile, json!({hostile: hostile})),
        command(
            "text",
            "start_agent",
            json!({"name": hostile, "task": hostile, "prompt": hostile}),
        ),
        // The sub-agent.
        command("speak", "google", json!({"input": hostile})),
        command("text", "read_file", json!({"file": hostile})),
        command("text", "task_complete", json!({"reason": hostile})),
        // And the agent again.
        command("speak", "effect", json!({"text": hostile})),
    ]
}

#[tokio::test]
async fn a_yes_counts_whatever_the_model_writes() {
    let kits = copilot_wire_kit::kits()
        .into_iter()
        .filter(|it| it.name != "github");
    let kits: Vec<_> = kits.collect();
    assert!(kits.len() >= 7, "every front end but one asks in text");
    for kit in kits {
        for hostile in HOSTILE {
            let bench = Bench::new();
            bench.replies(script(hostile));
            let (router, _) = bench.served();
            let mut setup = Setup::default();
            setup.model = Some("autogpt".to_owned());
            let mut front = (kit.front_end)(&setup).unwrap();
            front.prompt("make an effect");
            // Clients of some protocols repeat the reasoning, in which the model's marks stand: there each question is asked
            // once more, alone.
            let mut asked = 0;
            while bench.runs() == 0 {
                let request = front.request();
                let request = request.map(|body| stream::iter([Ok::<_, Infallible>(body)]));
                let response = router.handle(request).await;
                assert_eq!(response.status(), 200, "{}", kit.name);
                let frames: Vec<_> = response.into_body().map(Result::unwrap).collect().await;
                let stream = frames.concat();
                let mut rest = &*stream;
                while front.read(&mut rest).unwrap().is_some() {}
                let context = format!(
                    "{} {hostile:?} {asked}: {}",
                    kit.name,
                    String::from_utf8_lossy(&stream)
                );
                let next = front.next();
                if bench.runs() > 0 {
                    break;
                }
                let Next::Question(question) = next else {
                    panic!("{context}");
                };
                front.decide(&question, true);
                asked += 1;
                assert!(asked <= 4, "{context}");
            }
            assert_eq!(bench.runs(), 1);
        }
    }
}
