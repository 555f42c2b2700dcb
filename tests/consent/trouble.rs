//! Honest trouble: clocks, keys, and clients that trim or change texts.

use std::collections::HashSet;

use copilot_wire::json::{Json, Wire as _};
use copilot_wire::openai::{ChatRequest, OpenAi};
use copilot_wire::protocol::{Decision, Env, Verdict};
use copilot_wire::{Body, Request};
use serde_json::json;

use super::{Asker, Server, code, exchange};

fn agent() -> Asker {
    Asker::new("Delete all files?", "rm -rf thesis")
}

#[test]
fn a_question_is_open_for_an_hour() {
    for (minutes, expected) in [
        (0, "Accepted"),
        (60, "Accepted"),
        (61, "Stale"),
        (600, "Stale"),
        // The clock of another server may be behind.
        (-2, "Accepted"),
        (-3, "Stale"),
        (-600, "Stale"),
    ] {
        let server = Server::new(&agent());
        let question = server.post(&["c"]);
        server
            .clock
            .set(29_900_000_u64.saturating_add_signed(minutes));
        let said = server.post(&["c", &question, &format!("yes {}", code(&question))]);
        assert!(said.starts_with(expected), "{minutes}: {said}");
    }
}

/// As long as a question may be answered, the ledger has it as used.
#[test]
fn an_answer_counts_once_to_the_end_of_the_hour() {
    for minutes in [1, 59, 60] {
        let server = Server::new(&agent());
        let question = server.post(&["c"]);
        let yes = format!("yes {}", code(&question));
        assert_eq!(
            server.post(&["c", &question, &yes]),
            "Accepted delete-1",
            "{minutes}"
        );
        server.clock.set(29_900_000 + minutes);
        assert_eq!(
            server.post(&["c", &question, &yes]),
            "Used delete-1",
            "{minutes}"
        );
    }
}

/// Turns run at the same time, so the clock of one may be a minute behind that of another.
#[test]
fn an_answer_counts_once_where_the_clock_goes_back_a_minute() {
    let server = Server::new(&agent());
    let question = server.post(&["c"]);
    let yes = format!("yes {}", code(&question));
    let again = || server.post(&["c", &question, &yes]);
    assert_eq!(again(), "Accepted delete-1");
    server.clock.set(29_900_061);
    let other = server.post(&["d"]);
    let agreed = server.post(&["d", &other, &format!("yes {}", code(&other))]);
    assert_eq!(agreed, "Accepted delete-1");
    server.clock.set(29_900_060);
    assert_eq!(again(), "Used delete-1");
}

/// The clock is set forward and back, and questions are asked and answered meanwhile.
#[test]
fn an_answer_counts_once_wherever_the_clock_goes() {
    const NOW: u64 = 29_900_000;
    for step in [
        -525_600,
        -120,
        -62,
        -3,
        -1,
        1,
        3,
        61,
        62,
        63,
        120,
        1_440,
        525_600_i64,
    ] {
        let server = Server::new(&agent());
        let question = server.post(&["c"]);
        let again = || server.post(&["c", &question, &format!("yes {}", code(&question))]);
        assert_eq!(again(), "Accepted delete-1", "{step}");
        for minute in [NOW.saturating_add_signed(step), NOW + 1, NOW, NOW + 2] {
            server.clock.set(minute);
            let prompt = format!("d {minute}");
            let other = server.post(&[&prompt]);
            let _ = server.post(&[&prompt, &other, &format!("yes {}", code(&other))]);
            let said = again();
            assert!(
                ["Used delete-1", "Stale delete-1"].contains(&&*said),
                "{step}: {said}"
            );
        }
        // Questions of a later minute can be answered.
        let other = server.post(&["e"]);
        let said = server.post(&["e", &other, &format!("yes {}", code(&other))]);
        assert_eq!(said, "Accepted delete-1", "{step}");
    }
}

#[test]
fn a_clock_that_is_not_set_asks_and_reads() {
    for minutes in [0, 1, (1 << 20) - 1, 1 << 20, u64::MAX / 60_000_000_000] {
        let server = Server::new(&agent());
        server.clock.set(minutes);
        let question = server.post(&["c"]);
        let said = server.post(&["c", &question, &format!("yes {}", code(&question))]);
        assert_eq!(said, "Accepted delete-1", "{minutes}");
    }
}

#[test]
fn another_key_knows_no_question() {
    let (one, other) = (Server::new(&agent()), Server::new(&agent()));
    let question = one.post(&["c"]);
    let yes = format!("yes {}", code(&question));
    assert_eq!(other.post(&["c", &question, &yes]), "NoProof delete-1");
    assert_eq!(one.post(&["c", &question, &yes]), "Accepted delete-1");
}

#[test]
fn turns_without_a_router_know_each_others_questions() {
    let turn = |texts: &[&str]| {
        let roles = ["user", "assistant"].into_iter().cycle();
        let messages = roles.zip(texts);
        let messages: Vec<_> = messages
            .map(|(role, text)| json!({"role": role, "content": text}))
            .collect();
        let body = json!({"model": "m", "messages": messages}).to_string();
        let request = Request::<OpenAi>::new(ChatRequest::from_json(body.as_bytes()).unwrap());
        let body = exchange::whole(Body::run(agent(), request, &Env::default()));
        let answer: serde_json::Value = serde_json::from_str(&body).unwrap();
        let content = answer["choices"][0]["message"]["content"].as_str();
        content.unwrap().to_owned()
    };
    let question = turn(&["c"]);
    let yes = format!("yes {}", code(&question));
    assert_eq!(turn(&["c", &question, &yes]), "Accepted delete-1");
    assert_eq!(turn(&["c", &question, &yes]), "Used delete-1");
}

#[test]
fn each_reason_is_told_in_its_own_words() {
    let verdicts = [
        Verdict::WrongCode,
        Verdict::Stale,
        Verdict::Used,
        Verdict::Obscured,
        Verdict::NoProof,
        Verdict::Changed,
        Verdict::Unchecked,
    ];
    let reasons: HashSet<_> = verdicts.into_iter().filter_map(Verdict::reason).collect();
    assert_eq!(reasons.len(), verdicts.len());
    for verdict in [Verdict::Accepted, Verdict::Refused, Verdict::Other] {
        assert_eq!(verdict.reason(), None);
    }
}

#[test]
fn debug_shows_neither_the_data_nor_the_remark_of_an_answer() {
    let data = Json::parse(r#"{"file":"thesis"}"#).unwrap();
    let mut answer = Decision::in_dialog("delete-1", true).data(Some(data));
    answer.remark = Some("only the thesis".into());
    let expected = r#"Decision { id: "delete-1", verdict: Accepted, .. }"#;
    assert_eq!(format!("{answer:?}"), expected);
}

#[test]
fn servers_with_one_secret_know_each_others_questions() {
    let server = || Server::with(&agent(), |router| router.secret([7; 32]));
    let (one, other) = (server(), server());
    let question = one.post(&["c"]);
    let yes = format!("yes {}", code(&question));
    assert_eq!(other.post(&["c", &question, &yes]), "Accepted delete-1");
    assert_eq!(other.post(&["c", &question, &yes]), "Used delete-1");
    // What the documentation says: each of them accepts it once.
    assert_eq!(one.post(&["c", &question, &yes]), "Accepted delete-1");
    let below = Server::with(&agent(), |router| router.secret([7; 32]).base_path("/b"));
    let question = one.post(&["d"]);
    let yes = format!("yes {}", code(&question));
    assert!(below.post(&["d", &question, &yes]).starts_with("NoProof"));
}

#[test]
fn a_client_that_sends_few_messages_is_understood_at_every_turn() {
    let server = Server::new(&agent());
    let mut texts: Vec<String> = ["1", "a1", "2", "a2", "3", "a3"].map(String::from).to_vec();
    let mut next = "delete it".to_owned();
    for turn in 0..5 {
        texts.push(next);
        let from = texts.len().saturating_sub(5);
        let sent: Vec<&str> = texts[from..].iter().map(String::as_str).collect();
        let said = server.post(&sent);
        if turn % 2 == 1 {
            assert_eq!(said, "Accepted delete-1", "{turn}");
            texts.push(said);
            next = format!("delete it, {turn}");
        } else {
            next = format!("yes {}", code(&said));
            texts.push(said);
        }
    }
}

#[test]
fn a_message_of_the_client_is_no_answer_and_hides_none() {
    let server = Server::new(&agent());
    for (role, is_followed) in [("system", false), ("note", true)] {
        let question = server.post(&["c"]);
        let yes = format!("yes {}", code(&question));
        let added = (role, "The user is away.");
        let turn = [("user", "c"), ("assistant", &*question)];
        let after = [&turn[..], &[("user", &*yes), added]].concat();
        let said = server.post_roles("", &after);
        assert_eq!(!said.starts_with("Accepted"), is_followed, "{role}: {said}");
        let question = server.post(&["c"]);
        let yes = format!("yes {}", code(&question));
        let turn = [("user", "c"), ("assistant", &*question)];
        let before = [&turn[..], &[added, ("user", &*yes)]].concat();
        let said = server.post_roles("", &before);
        assert_eq!(said, "Accepted delete-1", "{role}");
    }
}

#[test]
fn a_client_that_changes_texts_learns_that_once_again_is_of_no_use() {
    let server = Server::new(&agent());
    let translated = |question: &str| {
        question
            .replace("To agree, reply", "Zum Zustimmen antworte")
            .replace("To refuse, reply", "Zum Ablehnen antworte")
    };
    let question = server.post(&["c"]);
    let yes = format!("yes {}", code(&question));
    assert_eq!(server.post(&["c", &translated(&question), &yes]), "NoProof");
    let reason = Verdict::NoProof.reason().unwrap();
    let again = format!("{reason}{}", translated(&question));
    assert_eq!(server.post(&["c", "x", &yes, &again, &yes]), "Changed");
}
