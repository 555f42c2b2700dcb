//! Faults in questions in text.

use super::{Broken, said};
use crate::script::Fault;
use crate::script::Front::{AgUi, OpenAi, OpenBb};

/// The same stream with a question at the end of its text `text`.
fn asks(text: &str, title: &str, proof: &str) -> Fault {
    let question = format!(
        "{text}\\n\\nQuestion: {title} To agree, reply: yes 482193. To refuse, reply: no. {proof}"
    );
    said(&format!("\"{text}"), &format!("\"{question}"))
}

const PROOF: &str = "(d-1 cw00rh68634v5ff7z2pdq)";

faults! {
    "question/line" OpenAi asks("Hello", "Delete it?", &format!("{PROOF} Bye."));
    "question/line" OpenBb asks("Here it is.", "Delete it?\\nNow?", PROOF);
    "question/plain" OpenAi asks("Hello", "Delete `it`?", PROOF);
    "question/plain" AgUi asks("Hello", "Delete <b>it</b>?", PROOF);
    "question/proof" OpenAi asks("Hello", "Delete it?", "(d-1)");
}
