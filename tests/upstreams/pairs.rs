//! Two hundred invented answers: each dialect, relayed to each front end, arrives as it was said.

use copilot_wire::anthropic::Anthropic;
use copilot_wire::models::{Relay, Upstream};
use copilot_wire::openai::OpenAi;
use copilot_wire::protocol::{Cut, Protocol, Usage};
use copilot_wire::responses::Responses;
use copilot_wire_kit::{Effect, Transcript};
use serde_json::Value;

use crate::support::{
    Call, End, Gateway, Said, TOOLS, anthropic, app, ask, chat, copilot, messages, openai, page,
    responses, responses_client, search, workspace,
};

/// A source of numbers that are the same in every run.
struct Seed(u64);

impl Seed {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }

    fn words(&mut self, most: u64) -> Vec<String> {
        const WORDS: [&str; 12] = [
            "high ",
            "water",
            " at six\n",
            "\"quoted\" ",
            "\\",
            "🌊",
            "é",
            "\u{2028}",
            "</p>",
            "data: x\n\n",
            "```rust\n",
            "\t",
        ];
        let count = self.below(most) + 1;
        let count = (0..count).map(|_| WORDS[self.below(12) as usize].to_owned());
        count.collect()
    }

    fn said(&mut self, at: u64) -> Said {
        let has_calls = at % 3 == 1;
        let mut text = self.words(9);
        // Front ends trim blanks at the edges in ways of their own.
        text.insert(0, "So ".into());
        text.push(".".into());
        let calls = (0..if has_calls { self.below(3) + 1 } else { 0 }).map(|call| {
            let name = TOOLS[self.below(2) as usize].to_owned();
            let arguments = match self.below(3) {
                0 => serde_json::json!({}),
                1 => serde_json::json!({"port": self.words(3).concat(), "depth": 1.5}),
                _ => serde_json::json!({"deep": {"list": [1, null, true, self.words(2).concat()]}}),
            };
            (format!("call_{at}_{call}"), name, arguments)
        });
        let calls: Vec<Call> = calls.collect();
        let input = self.below(5000) + 10;
        let output = self.below(900) + 3;
        Said {
            reasoning: if at % 4 == 0 {
                self.words(4)
            } else {
                Vec::new()
            },
            end: match at % 9 {
                2 => End::Length,
                5 => End::Filter,
                _ => End::Stop,
            },
            text: if has_calls && at % 2 == 0 {
                Vec::new()
            } else {
                text
            },
            calls,
            usage: [input, self.below(input), output, self.below(output)],
        }
    }
}

/// What a client of a dialect has received.
#[derive(Debug, PartialEq, Eq)]
struct Seen {
    text: String,
    reasoning: String,
    calls: Vec<Call>,
    cut: Option<Cut>,
    usage: Usage,
}

/// Reads a stream as a client of this dialect.
fn read<U: Upstream>(bytes: &[u8]) -> Seen {
    let mut relay = Relay::<U>::new();
    relay.read(bytes).unwrap();
    let answer = relay.finish().unwrap();
    let calls = answer.calls().into_iter();
    Seen {
        text: answer.text().to_owned(),
        reasoning: answer.reasoning().to_owned(),
        calls: calls
            .map(|call| (call.id.unwrap(), call.name, parsed(call.arguments.text())))
            .collect(),
        cut: answer.cut(),
        usage: answer.usage().unwrap_or_default(),
    }
}

fn parsed(arguments: &str) -> Value {
    serde_json::from_str(arguments).unwrap()
}

/// Compares the text, the calls by name and arguments, and the end where it has only words.
fn check<P: Protocol>(turn: &Transcript<P>, said: &Said, most_calls: usize, has_reason: bool) {
    assert_eq!(turn.faults(), [""; 0], "{turn}");
    let text = said.text.concat();
    let seen = turn.text();
    let end = match said.end {
        End::Stop => "",
        End::Length => "has reached its limit of tokens",
        End::Filter => "was withheld",
    };
    if said.end == End::Stop {
        assert_eq!(seen, text, "{turn}");
    } else {
        assert!(seen.starts_with(&text), "{turn}");
        assert!(has_reason || turn.to_string().contains(end), "{turn}");
    }
    let calls = turn.calls().iter().map(|call| {
        let arguments = parsed(call.arguments.text());
        match &*call.name {
            // The function by which a Workspace runs tools.
            "execute_agent_tool" => (
                arguments["tool_name"].as_str().unwrap().to_owned(),
                arguments["parameters"].clone(),
            ),
            name => (name.to_owned(), arguments),
        }
    });
    let calls: Vec<_> = calls.collect();
    let expected = said
        .calls
        .iter()
        .map(|(_, name, arguments)| (name.clone(), arguments.clone()));
    let expected: Vec<_> = expected.take(most_calls).collect();
    assert_eq!(calls, expected, "{turn}");
}

fn usage_of<P: Protocol>(turn: &Transcript<P>) -> Usage {
    let mut all = turn
        .effects()
        .iter()
        .filter_map(|(_, effect)| match effect {
            Effect::Usage(usage) => Some(*usage),
            _ => None,
        });
    all.next_back().unwrap_or_default()
}

/// Relays one answer of a dialect to all front ends.
fn relay<U: Upstream>(stream: &str, size: usize, said: &Said, has_reasoning_tokens: bool) {
    let gateway = || Gateway::<U>::new(stream, size);
    let [input, cached, output, reasoning] = said.usage;
    let reasoning = if has_reasoning_tokens { reasoning } else { 0 };
    let usage = Usage::new(input, output).cached_input_tokens(cached);
    let seen = |usage: Usage| Seen {
        text: said.text.concat(),
        reasoning: said.reasoning.concat(),
        calls: said.calls.clone(),
        cut: match said.end {
            End::Stop => None,
            End::Length => Some(Cut::Length),
            End::Filter => Some(Cut::Filter),
        },
        usage,
    };
    let full = usage.reasoning_tokens(reasoning);

    let turn = ask(openai(), gateway());
    check(&turn, said, 9, true);
    let mut got = read::<OpenAi>(turn.bytes());
    // The client of the kit asks for no usage.
    got.usage = full;
    assert_eq!(got, seen(full), "{turn}");

    let turn = ask(anthropic(), gateway());
    check(&turn, said, 9, true);
    assert_eq!(read::<Anthropic>(turn.bytes()), seen(usage), "{turn}");

    let turn = ask(responses_client(), gateway());
    check(&turn, said, 9, true);
    assert_eq!(read::<Responses>(turn.bytes()), seen(full), "{turn}");

    let turn = ask(page(), gateway());
    check(&turn, said, 9, false);
    assert_eq!(usage_of(&turn), full, "{turn}");
    let turn = ask(app(), gateway());
    check(&turn, said, 9, false);
    check(&ask(workspace(), gateway()), said, 1, false);
    // These two have no tools.
    if said.calls.is_empty() {
        check(&ask(copilot(), gateway()), said, 0, false);
        check(&ask(search(), gateway()), said, 0, true);
    }
}

/// With calls an answer has no other end: those that are cut off are among the faults.
fn whole(mut said: Said) -> Said {
    if !said.calls.is_empty() {
        said.end = End::Stop;
    }
    said
}

#[test]
fn what_a_model_says_arrives_in_every_front_end() {
    for at in 0..200 {
        let mut seed = Seed(at);
        let said = whole(seed.said(at));
        let size = [1, 7, 64, 4096][seed.below(4) as usize];
        let piece = [1, 3, 1000][seed.below(3) as usize];
        relay::<OpenAi>(&chat(&said, piece), size, &said, true);
        relay::<Responses>(&responses(&said, piece), size, &said, true);
        relay::<Anthropic>(&messages(&said, piece), size, &said, false);
    }
}
