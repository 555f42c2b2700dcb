//! Rules for questions in text: the user must be able to answer a question, and the server must find it again.

use super::exchange::{End, Exchange};
use super::judge::Judge;
use crate::effect::Effect;
use crate::kit::Kit;
use crate::rules;
use crate::setup::Setup;

rules! {
    LINE = Error "question/line",
        "a question in text is the last line of the answer, whole, and its code stands nowhere else",
        "users who see less of it, or the code elsewhere, agree to what they have not read: the answer does not count",
        "write nothing behind a question, and its title and message without line breaks";
    PROOF = Error "question/proof",
        "a question in text ends with its id and its proof, in parentheses",
        "the server does not find its question again, and no answer counts",
        "end the line with what `Question::to_text` returns";
    PLAIN = Error "question/plain",
        "title and message of a question in text have no punctuation of ASCII but `.`, `,`, `;`, `/`, `-` and `?`",
        "renderers of Markdown, HTML and formulas hide a part of it, and show the code",
        "write fullwidth forms, as `Question::to_text` does";
}

/// The start of a question, and the words before and behind its code.
const START: &str = "Question: ";
const AGREE: &str = " To agree, reply: yes ";
const REFUSE: &str = ". To refuse, reply: no. (";

/// The length of a code, the mark before a proof, and the length of a proof.
const CODE: usize = 6;
const MARK: &str = " cw";
const PROOF_LENGTH: usize = 19;

/// Judges the last question in the text of an answer, if there is one.
pub(super) fn judge(judge: &mut Judge, kit: Kit, exchange: &Exchange) {
    // A question that is incomplete at the end of a truncated body is not the writer's fault.
    if !matches!(exchange.end, End::Clean) {
        return;
    }
    let text = text(kit, &exchange.body);
    let Some(question) = Question::find(&text) else {
        return;
    };
    let at = &*exchange.name;
    judge.expect(&LINE, question.is_whole(&text), at, question.line);
    judge.expect(&PROOF, question.has_proof(), at, question.line);
    judge.expect(&PLAIN, question.is_plain(), at, question.line);
}

/// Returns the text of an answer as its front end shows it.
fn text(kit: Kit, mut body: &[u8]) -> String {
    let mut text = String::new();
    let Ok(mut front_end) = (kit.front_end)(&Setup::default()) else {
        return text;
    };
    loop {
        let before = body.len();
        match front_end.read(&mut body) {
            Ok(None) => return text,
            Ok(Some(effects)) => text.extend(effects.iter().filter_map(Effect::text)),
            // The front end skipped one event, or the rest of the stream.
            Err(_) if body.len() < before => {}
            Err(_) => return text,
        }
    }
}

/// A question in text, found by the line with its code.
struct Question<'a> {
    line: &'a str,
    /// The text before the words that tell how to agree.
    body: &'a str,
    code: &'a str,
    /// The text behind the code.
    rest: &'a str,
}

impl<'a> Question<'a> {
    /// Finds the last line that has the words before a code, and a code after them.
    fn find(text: &'a str) -> Option<Self> {
        // The code must be on the same line, so that digits of another line do not count as a code.
        text.lines().rev().find_map(|line| {
            let (body, behind) = line.rsplit_once(AGREE)?;
            let (code, rest) = behind.split_at_checked(CODE)?;
            let is_code = code.bytes().all(|digit| digit.is_ascii_digit());
            is_code.then_some(Self {
                line,
                body,
                code,
                rest,
            })
        })
    }

    fn is_whole(&self, text: &str) -> bool {
        // Separators are dropped, so that a code that is written as `48 21 93` is found too.
        let letters: String = text.chars().filter(|it| it.is_alphanumeric()).collect();
        let lines = text.trim_end().lines();
        let after = self.rest.split_once(')').map(|(_, after)| after);
        self.line.starts_with(START)
            && after.unwrap_or_default().trim().is_empty()
            && lines.last() == Some(self.line.trim_end())
            && letters.matches(self.code).count() == 1
    }

    fn has_proof(&self) -> bool {
        let inside = || self.rest.strip_prefix(REFUSE)?.split_once(')');
        inside()
            .and_then(|(inside, _)| inside.rsplit_once(MARK))
            .is_some_and(|(id, proof)| {
                let is_id = |byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'.' | b'-');
                // Proofs have no letters that look like digits.
                let is_digit = |byte: u8| is_id(byte) && !b"ilou.-".contains(&byte);
                !id.is_empty()
                    && id.bytes().all(is_id)
                    && proof.len() == PROOF_LENGTH
                    && proof.bytes().all(is_digit)
            })
    }

    fn is_plain(&self) -> bool {
        let body = self.body.strip_prefix(START).unwrap_or(self.body);
        body.chars().all(|character| {
            !character.is_control()
                && (!character.is_ascii_punctuation() || ".,;/-?".contains(character))
        })
    }
}
