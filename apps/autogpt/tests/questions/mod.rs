//! Questions in text, as a user reads and answers them.

/// Returns what the user types to agree to the question that a text ends with.
pub(crate) fn yes(text: &str) -> String {
    let question = copilot_wire_kit::question(text);
    let question = question.unwrap_or_else(|| panic!("no question in {text}"));
    question.answers[0].clone()
}

/// Returns a text with fixed codes and proofs of questions in the place of the random ones.
pub(crate) fn normalized(text: &str) -> String {
    const AGREE: &str = "To agree, reply: yes ";
    const REFUSE: &str = ". To refuse, reply: no. (";
    let mut parts = text.split(AGREE);
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        out.push_str(AGREE);
        let (code, rest) = part.split_at(6);
        let question = rest.strip_prefix(REFUSE);
        let question = question.filter(|_| code.bytes().all(|byte| byte.is_ascii_digit()));
        let question = question.and_then(|rest| rest.split_once(" cw"));
        let Some((id, rest)) = question else {
            out.push_str(part);
            continue;
        };
        let (proof, rest) = rest.split_at(19);
        assert!(proof.bytes().all(|byte| byte.is_ascii_alphanumeric()));
        out.push_str(&format!("000000{REFUSE}{id} cwPROOF{rest}"));
    }
    out
}
