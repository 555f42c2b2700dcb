//! The user's answer to a question.

use unicode_normalization::UnicodeNormalization;

use super::proof::DIGITS;
use crate::json::Json;

/// The user's answer to the question that ended the previous turn.
///
/// `Debug` shows neither the data nor the remark.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Answer {
    /// The id of the question. It is what the client claims, unless the verdict is
    /// [`Accepted`](Verdict::Accepted), [`Refused`](Verdict::Refused) or one of those that say why a right
    /// question does not count. Empty if no question was found.
    pub id: String,
    /// The verdict.
    pub verdict: Verdict,
    /// The data of the question, if the front end has a dialog and returned it. It passed through the client:
    /// trust it no more than the user.
    pub data: Option<Json>,
    /// The words behind the right code, as in `yes 482193 -5`. The verdict is [`Verdict::Other`] then, and the
    /// question is used up: an agent that gives such words no meaning of its own must not act.
    pub remark: Option<String>,
}

impl Answer {
    /// Creates an answer.
    #[must_use]
    pub fn new(id: impl Into<String>, verdict: Verdict) -> Self {
        Self {
            id: id.into(),
            verdict,
            data: None,
            remark: None,
        }
    }

    /// Creates the answer that was given in a dialog of the front end.
    #[must_use]
    pub fn in_dialog(id: impl Into<String>, accepted: bool) -> Self {
        Self::new(
            id,
            match accepted {
                true => Verdict::Accepted,
                false => Verdict::Refused,
            },
        )
    }

    /// Sets the data that came back with the answer.
    #[must_use]
    pub fn data(mut self, data: Option<Json>) -> Self {
        self.data = data;
        self
    }

    /// Returns `true` if the user agreed, and the question was this server's own, asked at this place, with
    /// this id.
    #[must_use]
    pub fn accepts(&self, id: &str) -> bool {
        self.verdict == Verdict::Accepted && self.id == id
    }
}

impl std::fmt::Debug for Answer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Answer")
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
    /// The user agreed without the code of the question, or with another one.
    WrongCode,
    /// The question was asked more than an hour ago.
    Stale,
    /// The question was answered before, or the turn in which it was asked was repeated.
    Used,
    /// The user agreed, but other text stood above the question, with characters by which a front end can be made
    /// to hide a part of the question.
    Obscured,
    /// The question is not one of this server's, was asked at another place, or was changed.
    NoProof,
    /// The same happened to the question before, or it was obscured again: the client changes texts, and asking again is of no use.
    Changed,
    /// The store in which servers share used questions cannot be asked now.
    Unchecked,
    /// The user wrote something else, which is the [prompt](super::super::Conversation::prompt).
    Other,
}

impl Verdict {
    /// Returns the reason for which an answer does not count, as a sentence for the user; `None` for
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

/// A typed answer.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Typed {
    /// A yes; without a code if `code` is empty.
    Yes {
        code: String,
    },
    /// A yes with a code and words behind it.
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
    /// Reads a typed answer. Only the whole of it counts, whatever its case and punctuation.
    pub(super) fn read(answer: &str) -> Self {
        // A longer one says something else.
        let text: String = answer.nfkc().take(1024).collect();
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
        // A code may be typed in groups.
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
            // Without a code, or with another number of digits.
            false if agrees && whole => Self::Yes { code },
            _ => Self::Other,
        }
    }
}

/// Returns the words of a text in lower case, each with its end. A code may be glued to a yes.
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
