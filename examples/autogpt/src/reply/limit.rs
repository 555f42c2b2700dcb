//! The limit of a reply that cannot be used.

use super::Thoughts;

/// The number of characters that are shown of a reply without a command, and that the model gets back of it.
///
/// A longer one is not repaired either: what a model makes of a part of a reply is not what was meant.
pub(crate) const LONGEST: usize = 8_000;

/// Returns the start of a text, with a note of how much is left out.
pub(crate) fn cut(text: &str, most: usize) -> String {
    let Some((end, _)) = text.char_indices().nth(most) else {
        return text.to_owned();
    };
    let (start, rest) = text.split_at(end);
    let left = rest.chars().count();
    format!(
        "{start}\n[Cut: {left} of {} characters are left out.]",
        most + left
    )
}

impl Thoughts {
    /// Cuts the thoughts of a reply without a command: all parts together have the limit.
    pub(crate) fn limit(&mut self) {
        let mut space = LONGEST;
        for text in self.parts_mut() {
            let length = text.chars().count();
            if length > space {
                *text = cut(text, space);
            }
            space = space.saturating_sub(length);
        }
        let lines = self.plan.iter().take_while(|line| {
            let length = line.chars().count() + 1;
            let fits = length <= space;
            space = space.saturating_sub(length);
            fits
        });
        let shown = lines.count();
        let left = self.plan.len() - shown;
        if left > 0 {
            self.plan.truncate(shown);
            self.plan.push(format!("[Cut: {left} lines are left out.]"));
        }
    }

    fn parts_mut(&mut self) -> impl Iterator<Item = &mut String> {
        let parts = [
            &mut self.text,
            &mut self.speak,
            &mut self.reasoning,
            &mut self.criticism,
        ];
        parts.into_iter().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_between_characters_and_says_so() {
        assert_eq!(cut("", 2), "");
        assert_eq!(cut("äö", 2), "äö");
        assert_eq!(cut("äöüß", 2), "äö\n[Cut: 2 of 4 characters are left out.]");
    }

    #[test]
    fn all_thoughts_together_have_one_limit() {
        let long = "x".repeat(LONGEST);
        let mut thoughts = Thoughts {
            text: Some(long.clone()),
            reasoning: Some(long.clone()),
            plan: vec!["step".to_owned(); 100_000],
            criticism: None,
            speak: Some("spoken".to_owned()),
        };
        thoughts.limit();
        assert_eq!(thoughts.text, Some(long));
        let speak = thoughts.speak.unwrap();
        assert_eq!(speak, "\n[Cut: 6 of 6 characters are left out.]");
        assert_eq!(thoughts.plan, ["[Cut: 100000 lines are left out.]"]);
        let mut short = Thoughts::plain("short");
        short.plan = vec!["step".to_owned()];
        let before = short.clone();
        short.limit();
        assert_eq!(short, before);
    }
}
