//! Questions in text that carry a proof of their origin.
//!
//! If a front end has no dialog, a question is text after other text, which a model may have written. No scan of that
//! text can find out what each renderer hides. So a yes counts only if it repeats a code that is in the question and
//! nowhere else, and only if every string above the question has nothing but letters, digits and the punctuation of
//! sentences, with which no renderer can be made to hide anything. After any other text the question is asked again,
//! without text above it. Only this server can make such a question, for this place of this conversation.
//!
//! | part | is |
//! |---|---|
//! | text | one line without markup, the last text of the answer; see [`text::plain_text`] |
//! | code | six digits from the system's randomness |
//! | proof | a message authentication code over place, id, code, minute, title and message |
//! | place | mount, user, conversation and the user's own words before the question; see [`PlaceId`] |
//! | answer | `yes` and the code, or `no`, as a whole; see [`Typed`] |
//! | text above | every string of the raw messages: plain, or the answer is [`Verdict::Obscured`]; see [`above`] |
//! | use | once, within an hour; see [`Ledger`] |

mod above;
mod decision;
mod ledger;
mod proof;
mod text;

pub use decision::{Decision, Verdict};
pub(crate) use ledger::Asked;
pub(crate) use proof::PlaceId;
pub use text::plain_text;

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use decision::Typed;
use ledger::Ledger;
use proof::{FIRST, Found, Key, Parsed, Question};

use crate::vocabulary::{Confirmation, RawMessage, SendError};

/// The maximum number of characters of title and message together, as they are shown.
const LONGEST: usize = 8_000;

/// The maximum number of bytes of an id.
const LONGEST_ID: usize = 64;

/// The maximum number of minutes that the clock of another server may be ahead.
const AHEAD: u64 = 2;

/// The keys with which a server signs its questions, and the questions that it has asked. Clones share both.
#[derive(Clone)]
pub(crate) struct Consent(Arc<Shared>);

struct Shared {
    /// The server's own key; `None` if the system has no randomness.
    key: Option<Key>,
    /// The key of all servers that share a store, once it is known.
    common: OnceLock<Key>,
    ledger: Ledger,
}

impl Consent {
    /// Returns the shared `Consent` of all turns in this process that run without a router, such as those of tests,
    /// each with a clock of its own. Its key is random.
    pub(crate) fn of_process() -> Self {
        static PROCESS: OnceLock<Consent> = OnceLock::new();
        let new = || Self::with(random(), Ledger::of_many_clocks());
        PROCESS.get_or_init(new).clone()
    }

    /// Creates a `Consent` with a key that several servers share.
    pub(crate) fn new(key: [u8; 32]) -> Self {
        let consent = Self::with_key(Some(key));
        // So no other common key is looked up.
        let _ = consent.0.common.set(key);
        consent
    }

    fn with_key(key: Option<Key>) -> Self {
        Self::with(key, Ledger::default())
    }

    fn with(key: Option<Key>, ledger: Ledger) -> Self {
        Self(Arc::new(Shared {
            key,
            common: OnceLock::new(),
            ledger,
        }))
    }

    /// Returns the `Consent` of the router that replaces the router of this one: `next` if it has another key of its
    /// own, otherwise this one, whose ledger knows which questions were answered.
    pub(crate) fn replaced_by(&self, next: Self) -> Self {
        match next.0.common.get() {
            Some(_) if next.0.key != self.0.key => next,
            _ => self.clone(),
        }
    }

    /// Sets the key of all servers that share a store. This server still accepts questions that it signed with its own
    /// key.
    #[cfg(feature = "resumable")]
    pub(crate) fn share(&self, key: [u8; 32]) {
        let _ = self.0.common.set(key);
    }

    /// Returns `true` if the key of all servers is known.
    #[cfg(feature = "resumable")]
    pub(crate) fn has_common_key(&self) -> bool {
        self.0.common.get().is_some()
    }

    /// Creates a question at a place, and returns its text. The question is open from now on.
    ///
    /// # Errors
    ///
    /// [`SendError::Invalid`] when the question or its id is too long, or if there is no randomness.
    pub(crate) fn ask(
        &self,
        place: PlaceId,
        confirmation: &Confirmation,
        minute: u64,
    ) -> Result<String, SendError> {
        let texts = [&confirmation.title, &confirmation.message];
        let texts = texts.map(|text| plain_text(text));
        let texts: Vec<&str> = texts
            .iter()
            .map(String::as_str)
            .filter(|it| !it.is_empty())
            .collect();
        let text = texts.join(" ");
        // The body begins with the first word of the line, so no other text can be inserted before the title.
        let body = text::canonical(&format!("{FIRST}{text}"));
        let invalid = |reason: String| Err(SendError::Invalid(reason));
        if text.chars().count() > LONGEST {
            return invalid(format!("a question is longer than {LONGEST} characters"));
        }
        // Normalization turns some characters into as many as 18.
        let most = proof::LONGEST_BODY;
        if body.chars().count() > most {
            return invalid(format!(
                "a question has more than {most} letters and digits after normalization (NFKC)"
            ));
        }
        if confirmation.id.len() > LONGEST_ID {
            return invalid(format!(
                "the id of a question is longer than {LONGEST_ID} bytes"
            ));
        }
        let id = proof::encode_id(&confirmation.id);
        let key = self.0.common.get().or(self.0.key.as_ref());
        let code = code(&[&body, &text::canonical(&id)]);
        let (Some(key), Some(code)) = (key, code) else {
            return invalid("there is no randomness for the code of a question".to_owned());
        };
        let question = Question {
            place: &place,
            id: &id,
            code: &code,
            minute,
            body: &body,
        };
        let tag = question.tag(key);
        self.0.ledger.open(place, Asked { minute, tag });
        Ok(question.line(&text, key))
    }

    /// Checks the user's answer, and marks the question as used. Returns the answer and, if it counts, the question.
    /// `None` if there is no question.
    pub(crate) fn check<'a, M>(
        &self,
        exchange: &Exchange<
            '_,
            impl Fn() -> PlaceId,
            impl Fn() -> M,
            impl Fn(&mut dyn FnMut(&str)),
        >,
        minute: u64,
    ) -> Option<(Decision, Option<Asked>)>
    where
        M: Iterator<Item = RawMessage<'a>>,
    {
        let typed = Typed::read(exchange.answer);
        let parsed = Parsed::new(exchange.asked);
        let id = |found: &Found| proof::decode_id(&found.id).unwrap_or_default();
        let Some(parsed) = parsed else {
            // A code without a question: the client has changed or dropped the text of the question.
            let has_code = matches!(&typed, Typed::Yes { code } if code.len() == proof::DIGITS);
            return has_code.then(|| {
                (
                    Decision::new("", again(exchange.asked, Verdict::NoProof)),
                    None,
                )
            });
        };
        let place = (exchange.place)();
        let keys = [self.0.key.as_ref(), self.0.common.get()];
        let is_own = |found: &Found| {
            keys.into_iter()
                .flatten()
                .any(|key| found.verified(&place, key))
        };
        let Some(found) = parsed.candidates().find(is_own) else {
            let claimed = parsed.candidates().last();
            let claimed = claimed.map(|found| id(&found)).unwrap_or_default();
            let verdict = match typed {
                Typed::Other => Verdict::Other,
                _ => again(exchange.asked, Verdict::NoProof),
            };
            return Some((Decision::new(claimed, verdict), None));
        };
        let void = |verdict| Some((Decision::new(id(&found), verdict), None));
        let (verdict, code, remark) = match typed {
            Typed::Other => return void(Verdict::Other),
            Typed::Yes { code } => (Verdict::Accepted, Some(code), None),
            Typed::Remarked { code, remark } => (Verdict::Other, Some(code), Some(remark)),
            Typed::No => (Verdict::Refused, None, None),
            Typed::NoTo { code } => (Verdict::Refused, Some(code), None),
        };
        if found.age(minute + AHEAD) > ledger::MINUTES + AHEAD {
            return void(Verdict::Stale);
        }
        // If the code is in another text too, the user may have read it there without seeing the question.
        let around = found.range(exchange.asked).and_then(|range| {
            Some(above::Asked {
                text: exchange.asked.get(range)?,
                code: &found.code,
                answer: exchange.answer,
            })
        });
        let Some(around) = around.filter(|around| {
            !around.is_told((exchange.messages)(), |each| (exchange.strings)(each))
        }) else {
            return void(again(exchange.asked, Verdict::NoProof));
        };
        if code.is_some_and(|code| code != found.code) {
            return void(Verdict::WrongCode);
        }
        // A refusal has no effect, so it need not be checked for text that hides the question.
        let is_obscured = verdict != Verdict::Refused && !around.is_seen(|| (exchange.messages)());
        let asked = Asked {
            minute: found.asked(minute + AHEAD),
            tag: found.tag,
        };
        if !self.0.ledger.spend(place, asked, minute) {
            return void(Verdict::Used);
        }
        if is_obscured {
            return void(again(exchange.asked, Verdict::Obscured));
        }
        let mut answer = Decision::new(id(&found), verdict);
        answer.remark = remark;
        Some((answer, Some(asked)))
    }
}

/// The place of a turn in its conversation, at which the agent may ask a question.
pub(crate) struct Asking {
    pub(crate) consent: Consent,
    /// The path of the mount, with its parameters.
    pub(crate) path: Arc<str>,
    pub(crate) user: Option<Arc<str>>,
    /// The id of the conversation, if the body of the request contains it.
    pub(crate) conversation: Option<String>,
    /// The user's last message.
    pub(crate) message: String,
}

impl Asking {
    /// Returns the id of the place after a user message.
    pub(crate) fn place(&self, message: &str) -> PlaceId {
        let user = self.user.as_deref().unwrap_or_default();
        let conversation = self.conversation.as_deref().unwrap_or_default();
        PlaceId::new(&self.path, user, conversation, message)
    }

    /// Marks the questions that are open at this place as used, because a new turn begins here. Returns them.
    pub(crate) fn close(&self, minute: impl FnOnce() -> u64) -> Vec<Asked> {
        let ledger = &self.consent.0.ledger;
        match ledger.has_open() {
            true => ledger.close(self.place(&self.message), minute()),
            false => Vec::new(),
        }
    }

    /// Returns the text of a question.
    ///
    /// # Errors
    ///
    /// [`SendError::Invalid`] when the question or its id is too long, or if there is no randomness.
    pub(crate) fn ask(
        &self,
        confirmation: &Confirmation,
        minute: u64,
    ) -> Result<String, SendError> {
        let place = self.place(&self.message);
        self.consent.ask(place, confirmation, minute)
    }
}

/// The end of a conversation: an assistant message with a question, and the user's answer.
pub(crate) struct Exchange<'a, P, M, S> {
    /// Returns the place at which a question in the message was asked.
    pub(crate) place: P,
    /// Returns the messages; the user's last one is the answer.
    pub(crate) messages: M,
    /// Visits every string of the request.
    pub(crate) strings: S,
    pub(crate) asked: &'a str,
    pub(crate) answer: &'a str,
}

/// Returns [`Verdict::Changed`] if `asked` repeats the reason of `verdict`, which means that the question was asked
/// again for this reason. Otherwise returns `verdict`.
fn again(asked: &str, verdict: Verdict) -> Verdict {
    // The reason stands before the question, or the text has no question.
    let asked = text::canonical(proof::tail(asked));
    let reason = verdict.reason().map(text::canonical);
    let again = reason.is_some_and(|reason| asked.contains(&reason));
    match again {
        true => Verdict::Changed,
        false => verdict,
    }
}

/// Returns the id and the code of the question at the end of an assistant message, for clients that answer for their
/// users: `yes` and the code agrees, `no` refuses. `None` if there is no question.
///
/// A client cannot verify the question: only the server that asked it can.
pub fn find_question(message: &str) -> Option<(String, String)> {
    let found = Parsed::new(message)?.candidates().last()?;
    Some((proof::decode_id(&found.id)?, found.code))
}

/// Returns a message as an agent reads it, with its question but without code and proof, and the removed code. `None`
/// if the message has no question.
pub(crate) fn without_code<'a>(message: &Cow<'a, str>) -> Option<(Cow<'a, str>, String)> {
    proof::without_code(message)
}

/// Returns an answer as an agent reads it, without its code. `None` if it is no answer with the code `asked`.
pub(crate) fn answer_without_code(answer: &str, asked: &str) -> Option<String> {
    match Typed::read(answer) {
        Typed::Yes { code } if code == asked => Some("yes".to_owned()),
        Typed::Remarked { code, remark } if code == asked => Some(format!("yes {remark}")),
        Typed::NoTo { code } if code == asked => Some("no".to_owned()),
        _ => None,
    }
}

/// Returns a code of six random digits that none of the texts contains. `None` if the system has no randomness.
fn code(texts: &[&str]) -> Option<String> {
    loop {
        // 2^64 is not a multiple of a million: low codes are more frequent by less than one in 10^13.
        let number = u64::from_be_bytes(random()?) % 1_000_000;
        let code = format!("{number:06}");
        if texts.iter().all(|text| text::count(text, &code) == 0) {
            return Some(code);
        }
    }
}

/// Returns random bytes from the system. `None` if the system has no randomness.
fn random<const N: usize>() -> Option<[u8; N]> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).ok()?;
    Some(bytes)
}

/// Creates a `Consent` with a random key.
impl Default for Consent {
    fn default() -> Self {
        Self::with_key(random())
    }
}
