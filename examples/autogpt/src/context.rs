//! What the model is sent: prompt, time, memories, as much history as fits, and the user input.

use crate::json::Value;
use crate::list_text::ListText;
use crate::message::{Message, Role};
use crate::tokens::{MessageCost, Tokenizer};

/// The constants and choices of the context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ContextRules {
    /// The token limit of request and reply together.
    pub token_limit: usize,
    /// What is kept for the reply.
    pub reserve: usize,
    /// How many of the newest messages form the memory query.
    pub query_window: usize,
    /// How many memories are asked for.
    pub memories: usize,
    /// The most tokens for prompt, time and memories.
    pub base_cap: usize,
    /// Which memories are dropped first when there is too little space.
    pub drop_first: DropFirst,
    /// What happens to a message that does not fit.
    pub oversized: Oversized,
    /// The form of memories and of the memory query.
    pub list_text: ListText,
    /// How messages are counted.
    pub cost: MessageCost,
}

impl ContextRules {
    /// The original's constants and choices.
    #[must_use]
    pub fn original() -> Self {
        Self {
            drop_first: DropFirst::Best,
            oversized: Oversized::Stop,
            list_text: ListText::Python,
            cost: MessageCost::GPT_3_5,
            ..Self::default()
        }
    }

    /// What may be sent: the limit without the reserve.
    #[must_use]
    pub fn send_limit(&self) -> usize {
        self.token_limit.saturating_sub(self.reserve)
    }

    /// The text that memories are looked up with.
    #[must_use]
    pub fn query(&self, history: &[Message]) -> String {
        let from = history.len().saturating_sub(self.query_window);
        let newest = history.get(from..).unwrap_or_default();
        let newest: Vec<Value> = newest.iter().map(Message::to_value).collect();
        self.list_text.of(&newest.into())
    }
}

impl Default for ContextRules {
    fn default() -> Self {
        Self {
            token_limit: 4000,
            reserve: 1000,
            query_window: 5,
            memories: 10,
            base_cap: 2500,
            drop_first: DropFirst::Worst,
            oversized: Oversized::Note,
            list_text: ListText::Json,
            cost: MessageCost::GPT_4,
        }
    }
}

/// Which memories go first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DropFirst {
    /// The most relevant, as in the original.
    Best,
    /// The least relevant.
    Worst,
}

/// What happens to a message that does not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Oversized {
    /// It and everything older is left out, and input of any size is sent, as in the original.
    Stop,
    /// A note of its size takes its place, the newest is cut, and input that is too large is an
    /// error.
    Note,
}

/// What a context is made of.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Parts<'a> {
    /// The system prompt.
    pub prompt: &'a str,
    /// The date, as `Wed Apr 12 09:49:23 2023`.
    pub now: &'a str,
    /// Memories, best first.
    pub memories: &'a [String],
    /// All earlier messages.
    pub history: &'a [Message],
    /// The user input.
    pub input: &'a str,
    /// Tokens that the request needs beside its messages, for tool definitions.
    pub beside: usize,
}

impl<'a> Parts<'a> {
    /// Parts without memories, history and definitions of tools.
    #[must_use]
    pub fn new(prompt: &'a str, now: &'a str, input: &'a str) -> Self {
        Self {
            prompt,
            now,
            memories: &[],
            history: &[],
            input,
            beside: 0,
        }
    }
}

/// A request that fits.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Context {
    /// The messages in the order they are sent.
    pub messages: Vec<Message>,
    /// The cost of prompt, time and memories.
    pub base_tokens: usize,
    /// The cost of the user input.
    pub input_tokens: usize,
    /// The cost of each kept history message, oldest first.
    pub history_costs: Vec<usize>,
    /// The sum of all costs.
    pub used: usize,
    /// What is left for the reply. Only the original's choices let it fall below the reserve.
    pub max_tokens: i64,
    /// How many memories were kept.
    pub memories_kept: usize,
}

/// Why there is no context that fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ContextError {
    /// Prompt and time alone are above their cap; the original never ended here.
    #[error("the prompt is {tokens} tokens, and {limit} is the limit for it")]
    PromptTooLarge {
        /// Its cost, or what it costs at least.
        tokens: usize,
        /// What it may cost.
        limit: usize,
    },
    /// The user input leaves no space, even without any history.
    #[error("the message is {tokens} tokens, and there is space for {limit}")]
    InputTooLarge {
        /// Its cost, or what it costs at least.
        tokens: usize,
        /// What it may cost.
        limit: usize,
    },
}

impl Context {
    /// Builds the request.
    ///
    /// # Errors
    ///
    /// [`ContextError`] says what is too large.
    pub fn build(
        rules: &ContextRules,
        tokenizer: &dyn Tokenizer,
        parts: &Parts<'_>,
    ) -> Result<Self, ContextError> {
        let (base, base_tokens, memories_kept) = base(rules, tokenizer, parts)?;
        let input = Message::user(parts.input);
        let limit = rules.send_limit();
        // With the original's choices input of any size is sent, so that it has to be counted.
        let counted = rules.oversized == Oversized::Stop || !rules.cost.surely_above(&input, limit);
        let input_tokens = match counted {
            true => rules.cost.alone(tokenizer, &input),
            false => rules.cost.at_least(&input),
        };
        if rules.oversized == Oversized::Note && base_tokens + input_tokens > limit {
            return Err(ContextError::InputTooLarge {
                tokens: input_tokens,
                limit: limit.saturating_sub(base_tokens),
            });
        }
        let mut space = Space {
            rules,
            tokenizer,
            used: base_tokens + input_tokens,
        };
        let (history, history_costs) = space.fill(parts.history);
        let used = space.used;
        let mut messages = base;
        messages.extend(history);
        messages.push(input);
        Ok(Self {
            messages,
            base_tokens,
            input_tokens,
            history_costs,
            used,
            max_tokens: signed(rules.token_limit) - signed(used),
            memories_kept,
        })
    }
}

fn signed(tokens: usize) -> i64 {
    i64::try_from(tokens).unwrap_or(i64::MAX)
}

/// Prompt, time and as many memories as fit under the cap.
fn base(
    rules: &ContextRules,
    tokenizer: &dyn Tokenizer,
    parts: &Parts<'_>,
) -> Result<(Vec<Message>, usize, usize), ContextError> {
    let memories = parts.memories;
    let mut kept = memories.get(..rules.memories).unwrap_or(memories);
    loop {
        let list: Vec<Value> = kept.iter().map(|text| text.as_str().into()).collect();
        let list = rules.list_text.of(&list.into());
        let messages = vec![
            Message::system(parts.prompt),
            Message::system(format!("The current time and date is {}", parts.now)),
            Message::system(format!(
                "This reminds you of these events from your past:\n{list}\n\n"
            )),
        ];
        let least = messages.iter().map(|it| rules.cost.at_least(it)).sum();
        let tokens = match least > rules.base_cap {
            true => least,
            false => rules.cost.count(tokenizer, &messages) + parts.beside,
        };
        if tokens <= rules.base_cap {
            return Ok((messages, tokens, kept.len()));
        }
        let fewer = match rules.drop_first {
            DropFirst::Best => kept.split_first().map(|(_, rest)| rest),
            DropFirst::Worst => kept.split_last().map(|(_, rest)| rest),
        };
        kept = fewer.ok_or(ContextError::PromptTooLarge {
            tokens,
            limit: rules.base_cap,
        })?;
    }
}

/// The space under the send limit.
struct Space<'a> {
    rules: &'a ContextRules,
    tokenizer: &'a dyn Tokenizer,
    used: usize,
}

impl Space<'_> {
    /// Takes messages from the newest to the oldest as long as they fit; oldest first in the result.
    fn fill(&mut self, history: &[Message]) -> (Vec<Message>, Vec<usize>) {
        let mut kept: Vec<(Message, usize)> = Vec::new();
        for (age, message) in history.iter().rev().enumerate() {
            let fitting = match self.take(message.clone()) {
                Some(whole) => Some(whole),
                None if self.rules.oversized == Oversized::Stop => None,
                None if age == 0 => self.take_start(message),
                None => self.take(note(message)),
            };
            match fitting {
                Some(fitting) => kept.push(fitting),
                None => break,
            }
        }
        // The result of a native tool call may not stand without the call.
        while kept.last().is_some_and(|(m, _)| m.role == Role::Tool) {
            self.used -= kept.pop().map_or(0, |(_, tokens)| tokens);
        }
        kept.into_iter().rev().unzip()
    }

    fn take(&mut self, message: Message) -> Option<(Message, usize)> {
        let limit = self.rules.send_limit();
        if self.rules.cost.surely_above(&message, limit) {
            return None;
        }
        let tokens = self.rules.cost.alone(self.tokenizer, &message);
        if self.used + tokens > limit {
            return None;
        }
        self.used += tokens;
        Some((message, tokens))
    }

    /// The start of a message with a note that it was cut, in at most half of what is left.
    fn take_start(&mut self, message: &Message) -> Option<(Message, usize)> {
        let left = self.rules.send_limit().saturating_sub(self.used);
        let start = self.tokenizer.cut(&message.content, left / 2);
        let mut cut = note(message);
        cut.content = format!("{start}\n{}", cut.content);
        self.take(cut).or_else(|| self.take(note(message)))
    }
}

/// A note that takes the place of a message; a native call keeps its id and name.
fn note(message: &Message) -> Message {
    let mut note = message.clone();
    let characters = message.content.chars().count();
    note.content = format!("[Left out for its size: {characters} characters]");
    if let Some(call) = &mut note.call {
        call.arguments = "{}".to_owned();
    }
    note
}
