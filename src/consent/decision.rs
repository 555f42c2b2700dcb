//! The user's answer to a question.

use super::proof::DIGITS;
use super::text::normalized;
use crate::json::Json;

/// The user's answer to the question that ended the previous turn.
///
/// `Debug` shows neither the data nor the remark.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Decision {
    /// The id of the question; empty if no question was found. With the verdicts [`NoProof`](Verdict::NoProof),
    /// [`Changed`](Verdict::Changed) and [`Other`](Verdict::Other) it may be an id that only the client claims.
    pub id: String,
    /// The verdict.
    pub verdict: Verdict,
    /// The data of the question, if the front end has a dialog that returns it. The client can change it: trust it no
    /// more than any other input of the user.
    pub data: Option<Json>,
    /// The words after the right code, such as `-5` in `yes 482193 -5`. The verdict is [`Verdict::Other`] then, and the
    /// question is used up. An agent that has no use for these words must not act.
    pub remark: Option<String>,
}

impl Decision {
    /// Creates an answer.
    pub fn new(id: impl Into<String>, verdict: Verdict) -> Self {
        Self {
            id: id.into(),
            verdict,
            data: None,
            remark: None,
        }
    }

    /// Creates an answer from a dialog of the front end.
    pub fn in_dialog(id: impl Into<String>, accepted: bool) -> Self {
        Self::new(
            id,
            match accepted {
                true => Verdict::Accepted,
                false => Verdict::Refused,
            },
        )
    }

    /// Sets the data that the front end returned with the answer.
    #[must_use]
    pub fn data(mut self, data: Option<Json>) -> Self {
        self.data = data;
        self
    }

    /// Returns `true` if the user agreed to the question with this id, and this server asked that question at this
    /// place of the conversation.
    #[must_use]
    pub fn accepts(&self, id: &str) -> bool {
        self.verdict == Verdict::Accepted && self.id == id
    }
}

impl std::fmt::Debug for Decision {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Decision")
            .field("id", &self.id)
            .field("verdict", &self.verdict)
            .finish_non_exhaustive()
    }
}

/// The verdict on an answer: what the user did, or why the answer does not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Verdict {
    /// The user agreed.
    Accepted,
    /// The user refused.
    Refused,
    /// The user agreed, but without the code of the question or with a wrong one.
    WrongCode,
    /// The question was asked more than an hour ago.
    Stale,
    /// The question was answered before, or the turn in which it was asked was repeated.
    Used,
    /// The user agreed, but the text above the question has characters that can make a front end hide a part of the
    /// question.
    Obscured,
    /// This server did not ask the question, asked it at another place, or the question was changed.
    NoProof,
    /// The question was asked again after [`NoProof`](Self::NoProof) or [`Obscured`](Self::Obscured), with the same
    /// result: the client changes texts, and asking once more does not help.
    Changed,
    /// The store that servers share for used questions is not available now.
    Unchecked,
    /// The user wrote something other than an answer, see the [prompt](crate::protocol::Conversation::prompt).
    Other,
}

impl Verdict {
    /// Returns the reason why an answer does not count, as a sentence for the user. `None` for
    /// [`Accepted`](Self::Accepted), [`Refused`](Self::Refused) and [`Other`](Self::Other).
    #[must_use]
    pub fn reason(self) -> Option<&'static str> {
        Some(match self {
            Self::Accepted | Self::Refused | Self::Other => return None,
            Self::WrongCode => {
                "Your answer does not have the code of the question, so nothing was done."
            }
            Self::Stale => "The question is more than an hour old, so nothing was done.",
            Self::Used => "That question is no longer open, so nothing more was done.",
            Self::Obscured => {
                "Other text stood above the question and may have hidden a part of it, so nothing was done."
            }
            Self::NoProof => {
                "I cannot find my own question above your answer, so nothing was done."
            }
            Self::Changed => {
                "I still cannot find my own question above your answer: this app changes my text, so I \
                 cannot ask for your consent here. Nothing was done."
            }
            Self::Unchecked => "I cannot check your answer now, so nothing was done.",
        })
    }
}

/// An answer in text, as the user typed it.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Typed {
    /// A yes. `code` is empty if the answer has none.
    Yes {
        code: String,
    },
    /// A yes with a code, and words after the code.
    Remarked {
        code: String,
        remark: String,
    },
    No,
    /// A no with a code.
    NoTo {
        code: String,
    },
    Other,
}

impl Typed {
    /// Parses an answer in text. The whole text must be an answer; case and punctuation are ignored.
    pub(super) fn read(answer: &str) -> Self {
        // A longer text is no answer.
        let text: String = normalized(answer).take(1024).collect();
        let words = words(&text);
        let is = |at: usize, any: &[&str]| {
            words
                .get(at)
                .is_some_and(|(word, _)| any.contains(&&**word))
        };
        if is(0, &["no", "n", "cancel"]) && words.len() == 1 {
            return Self::No;
        }
        let agrees = is(0, &["yes", "y", "ok"]);
        let refuses = is(0, &["no"]);
        let digits = words
            .get(usize::from(agrees || refuses)..)
            .unwrap_or_default();
        let mut code = String::new();
        let mut end = 0;
        let mut used = 0;
        // The user may have typed the code in groups of digits.
        for (word, after) in digits.iter().take_while(|(word, _)| is_number(word)) {
            if code.len() + word.len() > DIGITS {
                break;
            }
            code.push_str(word);
            end = *after;
            used += 1;
        }
        let whole = used == digits.len();
        match code.len() == DIGITS {
            true if refuses && whole => Self::NoTo { code },
            true if !refuses && whole => Self::Yes { code },
            true if agrees => Self::Remarked {
                remark: text.get(end..).unwrap_or_default().trim().to_owned(),
                code,
            },
            // A yes without a code, or with a code of the wrong length.
            false if agrees && whole => Self::Yes { code },
            _ => Self::Other,
        }
    }
}

/// Returns the words of a text in lower case, each with its end position. A yes and a code without a space between them
/// are two words.
fn words(text: &str) -> Vec<(String, usize)> {
    let mut words = Vec::new();
    let mut start = None;
    let mut ends = text.char_indices().chain([(text.len(), ' ')]);
    for (at, character) in ends.by_ref() {
        match (start, character.is_alphanumeric()) {
            (None, true) => start = Some(at),
            (Some(from), false) => {
                words.push((text.get(from..at).unwrap_or_default().to_lowercase(), at));
                start = None;
            }
            _ => {}
        }
    }
    if let Some((first, end)) = words.first().cloned() {
        let digits = first.trim_start_matches(|letter: char| letter.is_alphabetic());
        let yes = first.get(..first.len() - digits.len()).unwrap_or_default();
        if !yes.is_empty() && is_number(digits) {
            words.splice(..1, [(yes.to_owned(), end), (digits.to_owned(), end)]);
        }
    }
    words
}

fn is_number(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit())
}
