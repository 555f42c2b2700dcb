//! Faults in questions in text.

use super::Broken;
use crate::script::Answer;
use crate::script::Front::{AgUi, OpenAi, OpenBb};

/// The same stream with a question at the end of its text `said`.
fn asks(answer: Answer, said: &str, title: &str, proof: &str) -> Answer {
    let question = format!(
        "{said}\\n\\nQuestion: {title} To agree, reply: yes 482193. To refuse, reply: no. {proof}"
    );
    answer.said(&format!("\"{said}"), &format!("\"{question}"))
}

const PROOF: &str = "(d-1 cw00rh68634v5ff7z2pdq)";

pub(crate) const FAULTS: &[Broken] = &[
    ("question/line", OpenAi, |_, answer| {
        asks(answer, "Hello", "Delete it?", &format!("{PROOF} Bye."))
    }),
    ("question/line", OpenBb, |_, answer| {
        asks(answer, "Here it is.", "Delete it?\\nNow?", PROOF)
    }),
    ("question/plain", OpenAi, |_, answer| {
        asks(answer, "Hello", "Delete `it`?", PROOF)
    }),
    ("question/plain", AgUi, |_, answer| {
        asks(answer, "Hello", "Delete <b>it</b>?", PROOF)
    }),
    ("question/proof", OpenAi, |_, answer| {
        asks(answer, "Hello", "Delete it?", "(d-1)")
    }),
];
