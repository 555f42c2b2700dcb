//! The meaning of the user's answer to a proposed command.

/// The rules for reading an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AnswerRules {
    /// Surrounding space is ignored; `yes` and `no` are accepted; an empty line and a count of 0 ask again; a count
    /// followed by words is feedback.
    #[default]
    Hardened,
    /// The line is compared unchanged, and `EXIT` ends the run.
    Original,
}

/// The meaning of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Run the command, and this many commands in total without a question. 0 means only this command.
    Authorise(u64),
    /// The answer has a wrong form: ask again.
    AskAgain,
    /// End the run; the command is not run.
    Exit,
    /// Do not run the command, and send this text to the model.
    Feedback(String),
}

impl Decision {
    /// Parses an answer.
    pub fn read(answer: &str, rules: AnswerRules) -> Self {
        let line = match rules {
            AnswerRules::Original => answer,
            AnswerRules::Hardened => answer.trim(),
        };
        let lower = line.to_lowercase();
        match (lower.as_str(), rules) {
            ("y", _) | ("yes", AnswerRules::Hardened) => Self::Authorise(0),
            ("n", _) | ("no", AnswerRules::Hardened) => Self::Exit,
            ("", AnswerRules::Hardened) => Self::AskAgain,
            // Any other text that begins with a y is feedback: "yes, but first …" must not approve.
            _ if lower.starts_with("y -") => match count(&lower) {
                None => Self::AskAgain,
                // A count of 0 must not run this command.
                Some(0) if rules == AnswerRules::Hardened => Self::AskAgain,
                // For example "y -3 is too many".
                Some(_) if rules == AnswerRules::Hardened && has_words(&lower) => {
                    Self::Feedback(line.to_owned())
                }
                Some(count) => Self::Authorise(count),
            },
            _ if line == "EXIT" && rules == AnswerRules::Original => Self::Exit,
            _ => Self::Feedback(line.to_owned()),
        }
    }
}

/// Returns `true` if words follow the count.
fn has_words(line: &str) -> bool {
    let behind = line.splitn(3, ' ').nth(2).unwrap_or_default();
    // A question mark does not count as punctuation here: a question is not an approval.
    let idle = |c: char| c.is_whitespace() || matches!(c, '.' | ',' | ';' | '!');
    !behind.chars().all(idle)
}

/// Parses the absolute value of the second word, if it is an integer.
fn count(line: &str) -> Option<u64> {
    let word = line.split(' ').nth(1)?;
    let digits = word.strip_prefix('-')?;
    let integer = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    // Larger numbers saturate.
    integer.then(|| digits.parse().unwrap_or(u64::MAX))
}
