//! Lines that are a question by their words, and lines that only look like one.

use copilot_wire::json::Wire as _;
use copilot_wire::openai::ChatRequest;
use copilot_wire::protocol::{Conversation, find_question};
use serde_json::json;

use super::{Asker, Server, code};

const PROOF: &str = "cw0070000abcdefghjkmn";

fn line(id: &str, proof: &str) -> String {
    format!("Question: Go? To agree, reply: yes 123456. To refuse, reply: no. ({id} {proof})")
}

/// Returns the texts of a history as an agent reads them.
fn history(asked: &str, answer: &str) -> [String; 2] {
    let messages = json!([
        {"role": "assistant", "content": asked},
        {"role": "user", "content": answer},
    ]);
    let body = json!({"model": "m", "messages": messages}).to_string();
    let request = ChatRequest::from_json(body.as_bytes()).unwrap();
    let texts = request.messages().map(|message| message.text.into_owned());
    texts.collect::<Vec<_>>().try_into().unwrap()
}

#[test]
fn a_question_has_its_words_an_id_and_a_proof() {
    let read = |answer| history(&line("delete-1", PROOF), answer);
    assert_eq!(read("yes 123456"), ["Question: Go?", "yes"]);
    // Another code is no answer to it.
    for answer in ["yes 123457", "yes 123457 now", "no 123457"] {
        assert_eq!(read(answer), ["Question: Go?", answer]);
    }
    // The last of two readings is the one: an id may contain what looks like a proof.
    let ids = ["a", &"x".repeat(128), &format!("a{PROOF}"), "cwcwcw"];
    for (id, mark) in ids.into_iter().zip(["CW", "Cw", "cW", "cw"]) {
        let line = line(id, &PROOF.replace("cw", mark));
        assert_eq!(find_question(&line), Some((id.into(), "123456".into())));
        assert_eq!(history(&line, "yes 123456"), ["Question: Go?", "yes"]);
    }
    // What looks like a second proof but has another letter, or one that is not ASCII, is a footer.
    for footer in ["cw0070000abcdefghjkmu", "cw0070000abcdefghjkmı"] {
        let [asked, _] = history(&line("a", &format!("{PROOF} {footer}")), "");
        assert_eq!(asked, format!("Question: Go? {footer})"));
    }
    for (id, proof) in [("", PROOF), (&"x".repeat(129), PROOF)] {
        let line = line(id, proof);
        assert_eq!(find_question(&line), None, "{line}");
        assert_eq!(history(&line, "yes 123456"), [&*line, "yes 123456"]);
    }
}

/// Text without a whole proof is not searched for a question, so a plain `no` answers nothing.
#[test]
fn a_no_below_a_line_without_a_proof_is_a_prompt() {
    let server = Server::new(&Asker::new("Delete all files?", ""));
    for proof in [
        "",
        "cw",
        "cw.",
        "xw0070000abcdefghjkmn",
        "cw0070000abcdefghjkm",
        "cw0070000abcdefghjkmu",
        "cwu0070000abcdefghjkmn",
    ] {
        let line = line("delete-1", proof);
        assert_eq!(find_question(&line), None, "{line}");
        assert_eq!(history(&line, "yes 123456"), [&*line, "yes 123456"]);
        let said = server.post(&["c", &line, "no"]);
        assert!(said.starts_with("\n\nQuestion: Delete"), "{line}: {said}");
        let said = server.post(&["c", &line, "yes 123456"]);
        assert_eq!(said, "NoProof", "{line}");
    }
    let forged = line("delete-1", PROOF);
    assert_eq!(server.post(&["c", &forged, "no"]), "NoProof delete-1");
    assert_eq!(server.post(&["c", &forged, "what?"]), "Other delete-1");
}

#[test]
fn a_client_may_append_a_footer_of_256_letters() {
    let line = line("delete-1", PROOF);
    let with_footer = |letters| format!("{line}\n\n{}", "x".repeat(letters));
    assert!(find_question(&with_footer(256)).is_some());
    assert_eq!(find_question(&with_footer(257)), None);
}

#[test]
fn a_proof_counts_in_wide_letters_and_on_two_lines() {
    let server = Server::new(&Asker::new("Delete all files?", ""));
    let change: [fn(&str) -> String; 2] = [
        |digit| {
            let digit = digit.chars().next().unwrap();
            char::from_u32(digit as u32 + 0xFEE0).unwrap().to_string()
        },
        |digit| format!("\n{digit}"),
    ];
    for change in change {
        let mut question = server.post(&["c"]);
        let yes = format!("yes {}", code(&question));
        let digit = question.rfind("(delete-1 cw").unwrap() + "(delete-1 cw".len();
        question.replace_range(digit..=digit, &change(&question[digit..=digit]));
        let said = server.post(&["c", &question, &yes]);
        assert_eq!(said, "Accepted delete-1", "{question}");
    }
}
