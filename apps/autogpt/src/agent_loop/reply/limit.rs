//! The maximum length of a reply without a command.

use super::Thoughts;
use crate::escape::shortened_to;

/// The maximum number of characters of a reply without a command, both for the user and in later requests to the model.
///
/// A longer reply is not repaired either, because the repair of a part would be another reply.
pub(crate) const LONGEST: usize = 8_000;

impl Thoughts {
    /// Shortens the thoughts of a reply without a command to the limit, which is for all parts together.
    pub(crate) fn limit(&mut self) {
        let mut space = LONGEST;
        for text in self.parts_mut() {
            *text = shortened_to(text, space);
            space = space.saturating_sub(text.chars().count());
        }
        // Each line counts with its line break.
        let lines = self.plan.iter().map_while(|line| {
            space = space.checked_sub(1 + line.chars().count())?;
            Some(())
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
    fn all_thoughts_together_have_one_limit() {
        let long = "word ".repeat(LONGEST / 5);
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
        assert_eq!(speak, "\n[Cut: 6 more characters are left out.]");
        assert_eq!(thoughts.plan, ["[Cut: 100000 lines are left out.]"]);
        let mut short = Thoughts::plain("short");
        short.plan = vec!["step".to_owned()];
        let before = short.clone();
        short.limit();
        assert_eq!(short, before);
    }
}
