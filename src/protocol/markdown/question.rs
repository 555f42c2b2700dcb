//! A confirmation as a question in text, and the answer to it.

use super::open::OpenConstructs;
use super::plain::{line, plain};
use crate::protocol::{Confirmation, Decision};

/// The end of a question: how to answer, and the id of the question.
const QUESTION: (&str, &str) = ("\n\nReply **yes** or **no**. (question `", "`)");

/// Returns a confirmation as a question in text. The id is in it, so that [`decision`] can find it;
/// it must be the last text of the answer.
///
/// Neither the title nor the message can hide what follows it.
pub(crate) fn question(confirmation: &Confirmation) -> String {
    let (open, close) = QUESTION;
    let mut title = plain(&confirmation.title);
    if !title.is_empty() {
        title = format!("\n\n**{title}**");
    }
    let message = message(&confirmation.message);
    let id = encode(&confirmation.id);
    format!("{title}\n\n{message}{open}{id}{close}")
}

/// Closes what Markdown leaves open, or escapes it as plain text if renderers may differ about it, so
/// that all of them show all of it.
fn message(markdown: &str) -> String {
    let mut constructs = OpenConstructs::new();
    constructs.feed(markdown);
    match constructs.closers() {
        Ok(closers) if constructs.is_exact() => format!("{markdown}{closers}"),
        // As plain text the whole message is shown, whatever a renderer makes of its markup.
        _ => markdown.lines().map(line).collect::<Vec<_>>().join("\n"),
    }
}

/// Returns the user's answer to the question at the end of the assistant's message.
///
/// Returns `None` for anything but a plain yes or no.
pub(crate) fn decision(asked: &str, answer: &str) -> Option<Decision<'static>> {
    let (open, close) = QUESTION;
    // Only at the very end: text behind a question may have changed what a "yes" means.
    let asked = asked.trim_end().strip_suffix(close)?;
    // From the end: an earlier question may be in the same text.
    let (_, id) = asked.rsplit_once(open)?;
    let around = |c: char| c.is_whitespace() || matches!(c, '.' | '!' | '*' | '"' | '\'' | '`');
    let accepted = match answer.trim_matches(around).to_lowercase().as_str() {
        "yes" | "y" | "ok" | "okay" | "confirm" => true,
        "no" | "n" | "cancel" => false,
        // Everything else is for the agent to understand. A guess could confirm what the user did
        // not mean.
        _ => return None,
    };
    Some(Decision::new(decode(id)?, accepted))
}

/// Encodes an id so that it fits between two backticks on one line.
fn encode(id: &str) -> String {
    let mut out = String::with_capacity(id.len());
    for character in id.chars() {
        match character {
            // `%` too, so that decoding gives back the same id.
            '%' => out.push_str("%25"),
            '`' => out.push_str("%60"),
            '\n' => out.push_str("%0A"),
            '\r' => out.push_str("%0D"),
            other => out.push(other),
        }
    }
    out
}

/// Decodes an id; `None` if it was not written by [`encode`].
fn decode(text: &str) -> Option<String> {
    if text.contains(['`', '\n', '\r']) {
        return None;
    }
    let mut pieces = text.split('%');
    let mut out = pieces.next()?.to_owned();
    for piece in pieces {
        let (code, rest) = piece.split_at_checked(2)?;
        out.push(match code {
            "25" => '%',
            "60" => '`',
            "0A" => '\n',
            "0D" => '\r',
            _ => return None,
        });
        out.push_str(rest);
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(id: &str) -> String {
        question(&Confirmation::new(
            id,
            "Delete *it*?",
            "This cannot be undone.",
        ))
    }

    #[test]
    fn a_question_ends_with_its_id() {
        assert_eq!(
            ask("del-1"),
            "\n\n**Delete \\*it\\*?**\n\nThis cannot be undone.\n\n\
             Reply **yes** or **no**. (question `del-1`)"
        );
    }

    #[test]
    fn an_empty_title_is_no_rule() {
        let text = question(&Confirmation::new("1", " \u{7} ", "Go on?"));
        assert!(text.starts_with("\n\nGo on?\n\nReply"), "{text:?}");
    }

    #[test]
    fn a_message_cannot_hide_how_to_answer() {
        let cases = [
            ("a **b**<br>`<!--`", "a **b**<br>`<!--`"),
            ("```sh\nrm x", "```sh\nrm x\n```\n\n"),
            ("<b>x", "<b>x\n\n</dir></b>\n\n"),
            ("rm x <!-- and y\n# z", "rm x \\<!-- and y\n\\# z"),
            ("<details hidden", "\\<details hidden"),
            ("<style>p {}</style>", "\\<style\\>p {}\\</style\\>"),
        ];
        for (message, expected) in cases {
            let text = question(&Confirmation::new("1", "T", message));
            let shown = text.strip_prefix("\n\n**T**\n\n").unwrap();
            assert_eq!(
                shown.strip_suffix("\n\nReply **yes** or **no**. (question `1`)"),
                Some(expected)
            );
        }
    }

    #[test]
    fn every_id_comes_back() {
        for id in [
            "1",
            "",
            "a`b",
            "100%",
            "%60",
            "two\r\nlines",
            " é ",
            "(question `x`)",
        ] {
            let decision = decision(&ask(id), "yes").unwrap();
            assert_eq!(decision.id, id);
            assert!(decision.accepted);
        }
    }

    #[test]
    fn only_a_plain_answer_counts() {
        let cases = [
            ("yes", Some(true)),
            (" Yes. ", Some(true)),
            ("**yes**", Some(true)),
            ("OK!", Some(true)),
            ("no", Some(false)),
            ("No!", Some(false)),
            ("cancel", Some(false)),
            ("yes?", None),
            ("yes, but only the first", None),
            ("not now", None),
            ("", None),
        ];
        for (answer, expected) in cases {
            let decision = decision(&ask("1"), answer);
            assert_eq!(
                decision.map(|decision| decision.accepted),
                expected,
                "{answer:?}"
            );
        }
    }

    #[test]
    fn only_the_end_of_a_message_is_a_question() {
        assert!(decision(&format!("{}\n ", ask("1")), "yes").is_some());
        assert!(decision(&format!("{} More.", ask("1")), "yes").is_none());
        assert!(decision("Shall I? (question `1`)", "yes").is_none());
        assert!(decision("", "yes").is_none());
        let twice = ask("1") + &ask("2");
        assert_eq!(decision(&twice, "yes").unwrap().id, "2");
        let forged = ask("1").replace("`1`", "`1` or `2`");
        assert!(decision(&forged, "yes").is_none());
        let odd = ask("1").replace("`1`", "`%zz`");
        assert!(decision(&odd, "yes").is_none());
    }
}
