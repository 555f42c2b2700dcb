//! What the human's answer to a proposed command means.

/// How an answer is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum AnswerRules {
    /// Space around it is ignored, `yes`, `no` and an empty line are understood, and a count with words
    /// behind it is feedback.
    #[default]
    Hardened,
    /// The line is compared as it is; `EXIT` ends the run although it is feedback.
    Original,
}

/// The meaning of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Decision {
    /// Run the command, and so many in all without asking again. 0 is just this one.
    Authorise(u64),
    /// The answer has a wrong form: ask again.
    AskAgain,
    /// End the run; the command is not run.
    Exit,
    /// Tell the model this instead of running the command.
    Feedback(String),
}

impl Decision {
    /// Reads an answer; the first rule that fits wins.
    #[must_use]
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
            _ if lower.starts_with("y -") => match count(&lower) {
                None => Self::AskAgain,
                // Such as "y -3 is too many".
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

/// Whether more than punctuation stands behind the second word.
fn has_words(line: &str) -> bool {
    let behind = line.splitn(3, ' ').nth(2).unwrap_or_default();
    // A question mark is no approval.
    let idle = |c: char| c.is_whitespace() || matches!(c, '.' | ',' | ';' | '!');
    !behind.chars().all(idle)
}

/// The absolute value of the second word, if that is an integer.
fn count(line: &str) -> Option<u64> {
    let word = line.split(' ').nth(1)?;
    let digits = word.strip_prefix('-')?;
    let integer = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    // A number beyond 64 bits is as good as the largest.
    integer.then(|| digits.parse().unwrap_or(u64::MAX))
}
