//! The check of everything that stands around a question in a request.

use super::text::{count, is_plain, is_token};
use crate::json::each_string_inside;
use crate::vocabulary::{RawMessage, Role};

/// A question as it stands in the request, and its answer.
pub(super) struct Asked<'a> {
    /// The text of the question, from its first word to the end of its proof.
    pub(super) text: &'a str,
    pub(super) code: &'a str,
    /// The user's own words.
    pub(super) answer: &'a str,
}

impl Asked<'_> {
    /// Returns the number of times that a text has the code outside of the question.
    fn told(&self, text: &str) -> usize {
        let told = count(text, self.code);
        // Another text may be a copy of the message: no model can make such a question.
        told - usize::from(told > 0 && text.contains(self.text))
    }

    /// Returns `true` if the code is in a string of the request outside of the question and of the user's answer.
    pub(super) fn is_told<'b>(
        &self,
        messages: impl Iterator<Item = RawMessage<'b>>,
        strings: impl FnOnce(&mut dyn FnMut(&str)),
    ) -> bool {
        let (mut told, mut answered) = (0, 0);
        // The client may repeat the answer elsewhere, but the assistant must not have said it.
        let copy = |text: &str| text == self.answer;
        strings(&mut |text| told += if copy(text) { 0 } else { self.told(text) });
        let mut said = 0;
        for message in messages {
            let mut own = 0;
            match message.role {
                Role::User => {
                    message.each_string(&mut |text| {
                        own += if copy(text) { 0 } else { self.told(text) }
                    });
                    // The last one is the answer.
                    answered = own;
                }
                Role::System | Role::Other => {}
                _ => message.each_string(&mut |text| {
                    said += usize::from(copy(text) && self.told(text) > 0);
                }),
            }
        }
        told > answered || said > 0
    }

    /// Returns `true` if every string of the messages between the user's last two is plain, except the question.
    pub(super) fn is_seen<'b, M>(&self, messages: impl Fn() -> M) -> bool
    where
        M: Iterator<Item = RawMessage<'b>>,
    {
        let is_user = |message: &RawMessage<'_>| message.role == Role::User;
        let users = messages().filter(is_user).count();
        // Without a message of the user it is not known what stands above.
        let mut plain = users > 0;
        let mut before = 0;
        for message in messages() {
            before += usize::from(is_user(&message));
            // The operator's messages and those of the client stand nowhere in the conversation that the user sees.
            let is_said = !matches!(message.role, Role::User | Role::System | Role::Other);
            if is_said && before + 1 == users {
                message.each_string(&mut |text| plain = plain && self.is_plain(text));
            }
        }
        plain
    }

    /// Returns `true` if a string is plain, up to the question if it has it.
    fn is_plain(&self, text: &str) -> bool {
        if let Some((above, _)) = text.split_once(self.text) {
            return is_plain(above);
        }
        if is_plain(text) || is_token(text) {
            return true;
        }
        let mut plain = true;
        each_string_inside(text, &mut |text| {
            plain = plain && (is_plain(text) || is_token(text));
        }) && plain
    }
}
