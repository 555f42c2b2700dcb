//! The line that a question is, and the answers to it.

use std::sync::{Arc, Mutex};

use copilot_wire::json::Wire as _;
use copilot_wire::openai::{Model, OpenAi};
use copilot_wire::protocol::{Confirmation, SendError, plain_text};
use copilot_wire::{Reply, Router, agent_fn};
use proptest::prelude::*;

use super::{Asker, Server, code, exchange};

const TITLE: &str = "Delete all files?";
const MESSAGE: &str = "rm -rf \"$HOME/my_thesis\" && echo 'ok' > log.txt\nThis can't be undone.";

#[test]
fn a_question_is_one_line_without_markup_at_the_end() {
    let server = Server::new(&Asker {
        says: "I looked at 12 files.".into(),
        ..Asker::new(TITLE, MESSAGE)
    });
    let answer = server.post(&["delete"]);
    let (before, line) = answer.rsplit_once("\n\n").unwrap();
    assert_eq!(before, "I looked at 12 files.");
    let expected = "Question: Delete all files? rm -rf ”＄HOME/my＿thesis” ＆＆ echo ’ok’ ＞ log．txt ⏎ \
                    This can’t be undone. To agree, reply: yes ";
    assert!(line.starts_with(expected), "{line}");
    let end = line[expected.len() + 6..]
        .strip_prefix(". To refuse, reply: no. (delete-1 cw")
        .unwrap();
    assert_eq!(end.len(), 3 + 4 + 12 + 1);
    assert!(end.ends_with(')') && end[..19].bytes().all(|byte| byte.is_ascii_alphanumeric()));
}

/// Asks a question of a chat completion.
fn confirm(id: &str, title: &str, message: &str) -> Result<(), SendError> {
    let confirmation = Confirmation::new(id, title, message);
    let result = Arc::new(Mutex::new(None));
    let shared = Arc::clone(&result);
    let agent = agent_fn(move |_, reply: Reply<OpenAi>| {
        *shared.lock().unwrap() = Some(reply.confirm(confirmation.clone()));
        std::future::ready(Ok(()))
    });
    let router = Router::new().mount(Model::new("m"), agent).unwrap();
    let body = r#"{"model":"m","messages":[{"role":"user","content":"hi"}]}"#;
    let request = http::Request::post("/v1/chat/completions");
    exchange::whole(exchange::send(&router, request, body).into_body());
    let result = result.lock().unwrap().take();
    result.unwrap()
}

#[test]
fn a_question_has_limits() {
    let words = |count| "a ".repeat(count);
    // With "Q? ", and without the last space.
    assert_eq!(confirm("id", "Q?", &words(3_999)), Ok(()));
    // Normalization makes 15 letters of this one; "questionq" has nine and "letters and mor" 13: together 32,767.
    let many = "\u{fdfa} ".repeat(2_183);
    let exact = many.clone() + "letters and mor";
    assert_eq!(confirm("id", "Q?", &exact), Ok(()));
    assert_eq!(confirm(&"i".repeat(64), "Q?", ""), Ok(()));
    for (id, title, message, expected) in [
        (
            "id",
            "Qu?",
            words(3_999),
            "a question is longer than 8000 characters",
        ),
        (
            "id",
            "Q?",
            many + "letters and more",
            "a question has more than 32767 letters and digits after normalization (NFKC)",
        ),
        (
            &*"i".repeat(65),
            "Q?",
            String::new(),
            "the id of a question is longer than 64 bytes",
        ),
    ] {
        let expected = SendError::Invalid(expected.to_owned());
        assert_eq!(confirm(id, title, &message), Err(expected));
    }
}

#[test]
fn the_user_agrees_with_the_code_and_refuses_without() {
    let cases = [
        ("yes {}", "Accepted delete-1"),
        ("Yes {}.", "Accepted delete-1"),
        ("{}", "Accepted delete-1"),
        ("YES{}", "Accepted delete-1"),
        ("“yes {}”", "Accepted delete-1"),
        ("no", "Refused delete-1"),
        ("No.", "Refused delete-1"),
        ("cancel", "Refused delete-1"),
        ("no {}", "Refused delete-1"),
        ("yes", "WrongCode delete-1"),
        ("ok", "WrongCode delete-1"),
        ("yes {}0", "Other delete-1"),
        ("yes, {}", "Accepted delete-1"),
        ("y {}", "Accepted delete-1"),
        ("ok {}!", "Accepted delete-1"),
        ("**yes {}**", "Accepted delete-1"),
        ("ｙｅｓ　{}", "Accepted delete-1"),
        ("OK!", "WrongCode delete-1"),
        ("12", "Other delete-1"),
        ("yes please", "Other delete-1"),
        ("not now", "Other delete-1"),
        ("why {}?", "Other delete-1"),
        ("", "Other delete-1"),
        ("yes {} -5", "Other delete-1 -5"),
        (
            "yes {} but only the logs",
            "Other delete-1 but only the logs",
        ),
        (
            "yes {}, but only the logs",
            "Other delete-1 , but only the logs",
        ),
        ("{} please", "Other delete-1"),
        ("no {} please", "Other delete-1"),
        ("don't {}", "Other delete-1"),
        ("0000 {} 1111", "Other delete-1"),
        ("what is it?", "Other delete-1"),
    ];
    let server = Server::new(&Asker::new(TITLE, MESSAGE));
    for (number, (answer, expected)) in cases.into_iter().enumerate() {
        let prompt = format!("delete {number}");
        let question = server.post(&[&prompt]);
        let answer = answer.replace("{}", &code(&question));
        assert_eq!(
            server.post(&[&prompt, &question, &answer]),
            expected,
            "{answer}"
        );
    }
    let question = server.post(&["delete"]);
    let digits = code(&question);
    let spaced = format!("yes {} {}", &digits[..2], &digits[2..]);
    let answer = server.post(&["delete", &question, &spaced]);
    assert_eq!(answer, "Accepted delete-1");
    let question = server.post(&["delete"]);
    let short = format!("yes {}", &code(&question)[..5]);
    assert_eq!(
        server.post(&["delete", &question, &short]),
        "WrongCode delete-1"
    );
    let (wrong, _) = (code(&question).parse::<u32>().unwrap() + 1).overflowing_rem(1_000_000);
    let answer = server.post(&["delete", &question, &format!("yes {wrong:06}")]);
    assert_eq!(answer, "WrongCode delete-1");
    // A wrong code does not use the question up.
    let right = format!("yes {}", code(&question));
    assert_eq!(
        server.post(&["delete", &question, &right]),
        "Accepted delete-1"
    );
}

#[test]
fn a_question_that_nobody_would_read_is_not_asked() {
    for (length, is_asked) in [
        (7_000, true),
        (7_982, true),
        (7_983, false),
        (1_000_000, false),
    ] {
        let words = "word ".repeat(length / 5) + &"x".repeat(length % 5);
        let server = Server::new(&Asker::new(TITLE, &words));
        let (answer, error) = answer_or_error(&server);
        assert_eq!(answer.contains("To agree"), is_asked, "{length}: {error}");
    }
    // Characters that are shown by their code points count as such.
    let server = Server::new(&Asker::new(TITLE, &"\u{200B}a".repeat(1_000)));
    assert!(!answer_or_error(&server).0.contains("To agree"));
    let agent = Asker {
        id: "x".repeat(65),
        ..Asker::new(TITLE, MESSAGE)
    };
    assert!(!answer_or_error(&Server::new(&agent)).0.contains("To agree"));
}

/// Returns the answer, or the error of a turn that failed.
fn answer_or_error(server: &Server) -> (String, String) {
    let body = r#"{"model":"agent","messages":[{"role":"user","content":"delete"}]}"#;
    let head = http::Request::post("/v1/chat/completions");
    let response = exchange::send(&server.router, head, body);
    let body = exchange::whole(response.into_body());
    let value: serde_json::Value = serde_json::from_str(&body).unwrap();
    let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    (
        text(&value["choices"][0]["message"]["content"]),
        text(&value["error"]["message"]),
    )
}

#[test]
fn an_agent_reads_no_code_in_the_history() {
    use copilot_wire::openai::ChatRequest;
    use copilot_wire::protocol::Conversation;
    let server = Server::new(&Asker::new(TITLE, MESSAGE));
    let question = server.post(&["delete"]);
    let code = code(&question);
    for (answer, expected) in [
        (format!("yes {code}"), "yes"),
        (format!("Yes, {code}!"), "yes"),
        (format!("yes {code} -5"), "yes -5"),
        (format!("no {code}"), "no"),
        ("no".to_owned(), "no"),
        ("yes 12".to_owned(), "yes 12"),
    ] {
        let messages = serde_json::json!([
            {"role": "user", "content": "delete"},
            {"role": "assistant", "content": question},
            {"role": "user", "content": answer},
            {"role": "assistant", "content": "Done."},
            {"role": "user", "content": "thanks"},
        ]);
        let body = serde_json::json!({"model": "agent", "messages": messages});
        let request = ChatRequest::from_json(body.to_string().as_bytes()).unwrap();
        let texts: Vec<String> = request
            .messages()
            .map(|message| message.text.into())
            .collect();
        assert_eq!(texts[2], expected);
        assert!(texts[1].ends_with("This can’t be undone."), "{}", texts[1]);
        let raw = request.raw_history().count();
        assert_eq!(raw, request.history().count());
        let model = ChatRequest::from_conversation(&request).to_json();
        let model = String::from_utf8_lossy(&model);
        assert!(!model.contains(&code) && !model.contains("cw"), "{model}");
    }
}

#[test]
fn every_character_is_seen_for_what_it_is() {
    let cases = [
        ("rm -rf ~/thesis", "rm -rf ～/thesis"),
        ("say 'ok' & \"go\"", "say ’ok’ ＆ ”go”"),
        ("two\r\nlines\n\n \rmore", "two ⏎ lines ⏎ more"),
        ("a\u{200B}b\u{202E}c", "a（U＋200B）b（U＋202E）c"),
        ("a\u{200B}\u{200B}\u{200B}\u{200B}b", "a（U＋200B x4）b"),
        ("e\u{301}\u{302}\u{303}", "e\u{301}\u{302}（U＋0303）"),
        ("e\u{301}\u{301}\u{301}", "e\u{301}\u{301}（U＋0301）"),
        (
            "e\u{301}\u{301}\u{301}\u{301}\u{301}",
            "e\u{301}\u{301}（x5）",
        ),
        (
            "◁think▷ 「a」 «b» 【1】",
            "（U＋25C1）think（U＋25B7） （a） ”b” （1）",
        ),
        (
            "\u{3164}\u{A0}\u{2003}x\ty\u{FE0F}",
            "（U＋3164） x y（U＋FE0F）",
        ),
        (
            "<b>`*_$\\:[x](y)!#|{}",
            "＜b＞｀＊＿＄＼：［x］（y）！＃｜｛｝",
        ),
        ("日本語 😀 ½ €", "日本語 😀 ½ €"),
        ("葛\u{E0100}", "葛（U＋E0100）"),
        ("www.a.org. ../x //b 1.", "www．a．org. ．．/x ／／b 1."),
        // Neither ends a link that was left open, nor a key: `[a](b (U+200B)`, `++a++`.
        ("(a)\u{FFFC} ++b++", "（a）（U＋FFFC） ＋＋b＋＋"),
        ("", ""),
    ];
    for (text, expected) in cases {
        let shown = plain_text(text);
        assert_eq!(shown, expected, "{text:?}");
        // What is shown is shown so again.
        assert_eq!(plain_text(&shown), shown);
    }
}

#[test]
fn a_long_word_is_broken() {
    let shown = plain_text(&"x".repeat(100));
    let words: Vec<&str> = shown.split(" ↩ ").collect();
    assert_eq!(words, ["x".repeat(40), "x".repeat(40), "x".repeat(20)]);
    assert!(plain_text(&"\u{200B}\u{200C}".repeat(30)).contains(" ↩ "));
}
/// Ids with other characters than a line may have stand in it encoded.
#[test]
fn every_id_comes_back() {
    for id in [
        "1",
        "Delete",
        "delete-1.b",
        "buy-AAPL_10",
        "BUY-aapl_10",
        "a__b",
        "_a",
        "a`b",
        "0x",
        "two\r\nlines",
        "é x",
        "a--b",
        "-",
        "日本語の質問",
        "cwcwcwcwcwcw",
        "acw0123456789abcdefghjkm",
    ] {
        let server = Server::new(&Asker {
            id: id.into(),
            ..Asker::new(TITLE, MESSAGE)
        });
        let question = server.post(&["delete"]);
        let (_, line) = question.rsplit_once(" (").unwrap();
        assert_eq!(
            line.starts_with(&format!("{} cw", id.replace('_', "＿"))),
            [
                "1",
                "Delete",
                "delete-1.b",
                "buy-AAPL_10",
                "BUY-aapl_10",
                "a__b",
                "cwcwcwcwcwcw",
                "acw0123456789abcdefghjkm"
            ]
            .contains(&id),
            "{line}"
        );
        let yes = format!("yes {}", code(&question));
        let answer = server.post(&["delete", &question, &yes]);
        assert_eq!(answer, format!("Accepted {id}"));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    /// Every Unicode category in title, message and id: the line has only what is allowed, and its answer counts.
    #[test]
    fn any_text_becomes_one_harmless_line(
        title in any_text(), message in any_text(), id in ".{0,10}", says in any_text(),
    ) {
        let agent = Asker { title, message, id: id.clone(), says };
        let server = Server::new(&agent);
        let answer = server.post(&["delete"]);
        let line = answer.rsplit_once("\n\n").map_or(&*answer, |(_, line)| line);
        let end = line.strip_prefix("Question: ").unwrap();
        let (text, _) = end.rsplit_once(" To agree, reply: yes ").unwrap();
        for character in text.chars() {
            let allowed = character.is_ascii_alphanumeric() || " .,;/+-?()".contains(character);
            prop_assert!(allowed || !character.is_ascii(), "{character:?} in {text:?}");
            prop_assert!(!character.is_control(), "{character:?}");
        }
        let agreed = server.post(&["delete", &answer, &format!("yes {}", code(&answer))]);
        // Of what may stand above only plain text lets a yes count.
        let expected = [format!("Accepted {id}"), format!("Obscured {id}")];
        prop_assert!(expected.iter().any(|expected| agreed == expected.trim_end()), "{agreed}");
        // Alone it counts, whatever its texts are.
        let alone = Server::new(&Asker { says: String::new(), ..agent });
        let answer = alone.post(&["delete"]);
        let agreed = alone.post(&["delete", &answer, &format!("yes {}", code(&answer))]);
        prop_assert!(agreed == format!("Accepted {id}").trim_end(), "{agreed}");
    }
}

fn any_text() -> impl Strategy<Value = String> {
    prop::collection::vec(
        prop_oneof![
            any::<char>(),
            any::<char>(),
            prop::char::range('\u{0}', '\u{7f}'),
            prop::char::range('\u{2000}', '\u{206f}'),
            prop::char::range('\u{fe00}', '\u{feff}'),
            prop::char::range('\u{e0000}', '\u{e0fff}'),
        ],
        0..40,
    )
    .prop_map(|characters| characters.into_iter().collect())
}
