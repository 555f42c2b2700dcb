//! The user's consent to calls.

use std::fmt::Write as _;

use sha2::{Digest, Sha256};

use crate::json::{Json, Kind, List, Wire};
use crate::protocol::{Confirmation, Decision, Verdict};

/// The start of the ids of questions.
const PREFIX: &str = "run-";

/// The user's answer to the question of the previous turn. It holds for the calls of that question, which its id
/// contains as a hash, and for one run of them.
pub(super) struct Consent {
    answer: Option<Decision>,
}

/// A call that needs the user's consent.
pub(super) struct Asking {
    pub(super) name: String,
    pub(super) arguments: Json,
    pub(super) question: String,
}

/// The permission for calls.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Permission {
    Accepted,
    Refused,
    /// There was no question about these calls.
    Unasked,
    /// The answer does not count.
    Uncounted(Verdict),
}

impl Consent {
    pub(super) fn new(answer: Option<&Decision>) -> Self {
        let is_ours = |answer: &&Decision| answer.id.starts_with(PREFIX);
        Self {
            answer: answer.filter(is_ours).cloned(),
        }
    }

    /// Returns a sentence for the model: the calls of the question are not in the conversation, so it must repeat them.
    pub(super) fn note(&self) -> Option<&'static str> {
        Some(match self.answer.as_ref()?.verdict {
            Verdict::Accepted => {
                "The user has agreed to the call that you asked about. Make the same call again, with the same arguments."
            }
            Verdict::Refused => {
                "The user has refused the call that you asked about. Do not make it again."
            }
            Verdict::Other => return None,
            _ => {
                "The answer of the user does not count yet. Make the same call again, so that the user is asked again."
            }
        })
    }

    /// Returns `true` if the last answer does not count, so that nothing should be above the next question.
    pub(super) fn is_uncounted(&self) -> bool {
        let verdict = self.answer.as_ref().map(|answer| answer.verdict);
        verdict.is_some_and(|verdict| verdict.reason().is_some())
    }

    /// Returns the decision on calls, and uses it up.
    pub(super) fn decide(&mut self, calls: &[Asking]) -> Permission {
        let is_asked = |answer: &mut Decision| {
            let nonce = answer.id.strip_prefix(PREFIX).and_then(|id| id.get(..8));
            nonce.is_some_and(|nonce| answer.id == id(nonce, calls))
        };
        match self.answer.take_if(is_asked).map(|answer| answer.verdict) {
            None | Some(Verdict::Other) => Permission::Unasked,
            Some(Verdict::Accepted) => Permission::Accepted,
            Some(Verdict::Refused) => Permission::Refused,
            Some(verdict) => Permission::Uncounted(verdict),
        }
    }
}

/// Returns the question about calls.
pub(super) fn question(calls: &[Asking]) -> Confirmation {
    let (title, message) = match calls {
        [call] => (call.question.clone(), format!("A yes runs {}.", call.name)),
        calls => {
            let lines = calls
                .iter()
                .map(|call| format!("{}: {}", call.name, call.question));
            let lines: Vec<_> = lines.collect();
            let title = format!("Run {} calls?", calls.len());
            (title, lines.join("\n"))
        }
    };
    let data = calls.iter().map(|call| {
        Json::object(|member| {
            member
                .str("name", &call.name)
                .raw("arguments", &call.arguments);
        })
    });
    let data = List::from_iter(data).to_raw();
    let data = Json::object(|member| {
        member.raw("calls", &data);
    });
    // Front ends may identify questions by their ids, so the same question has another id each time.
    let mut bytes = [0; 4];
    // Without randomness the id repeats, which only front ends with dialogs can notice.
    let _ = getrandom::fill(&mut bytes);
    let nonce = hex(&bytes);
    Confirmation::new(id(&nonce, calls), title, message).data(data)
}

/// Returns the id of the question about calls, in any order of the calls and of the members of their arguments.
fn id(nonce: &str, calls: &[Asking]) -> String {
    let texts = calls.iter().map(|call| {
        let name = Json::encode(&call.name).unwrap_or_default();
        format!("[{},{}]", name.text(), canonical(&call.arguments, DEPTH))
    });
    let mut texts: Vec<_> = texts.collect();
    texts.sort_unstable();
    let hash = Sha256::digest(format!("{nonce}[{}]", texts.join(",")));
    format!(
        "{PREFIX}{nonce}-{}",
        hex(hash.get(..16).unwrap_or_default())
    )
}

/// The depth to which members are sorted. A model may nest arguments deeper than the stack allows.
const DEPTH: usize = 32;

/// Returns a value as JSON with sorted members.
fn canonical(value: &Json, depth: usize) -> String {
    let json = |text: &str| Json::encode(text).unwrap_or_default().text().to_owned();
    match value.kind() {
        Kind::Object if depth > 0 => {
            let mut members: Vec<_> = value.members().collect();
            // By the name alone: of two members of one name the order says which one counts.
            members.sort_by(|(one, _), (other, _)| one.cmp(other));
            let members = members
                .iter()
                .map(|(name, member)| format!("{}:{}", json(name), canonical(member, depth - 1)));
            format!("{{{}}}", members.collect::<Vec<_>>().join(","))
        }
        Kind::Array if depth > 0 => {
            let elements = value.elements().map(|it| canonical(&it, depth - 1));
            format!("[{}]", elements.collect::<Vec<_>>().join(","))
        }
        Kind::String => json(&value.string().unwrap_or_default()),
        _ => value.text().to_owned(),
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut hex, byte| {
        // Writing to a string cannot fail.
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}
