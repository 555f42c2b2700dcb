//! Honest trouble: clocks, keys, and clients that trim or change texts.

use copilot_wire::protocol::Verdict;

use super::{Asker, Server, code};

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
