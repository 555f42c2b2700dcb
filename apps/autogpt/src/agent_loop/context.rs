//! The messages of a model request: prompt, time, memories, as much history as fits, and the user
//! input.

use crate::agent_loop::message::{Message, Role};
use crate::agent_loop::tokens::{MessageCost, Tokenizer};
use crate::json::ListText;
use crate::json::Value;

/// The limits and settings for building a [`Context`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContextRules {
    /// The token limit of request and reply together.
    pub token_limit: usize,
    /// Tokens reserved for the reply.
    pub reserve: usize,
    /// The number of latest messages that form the memory query.
    pub query_window: usize,
    /// The number of memories to look up.
    pub memories: usize,
    /// The token limit for prompt, time and memories together.
    pub base_cap: usize,
    /// The memories to drop first when there are too many tokens.
    pub drop_first: DropFirst,
    /// The treatment of a message that does not fit.
    pub oversized: Oversized,
    /// The text form of memories and of the memory query.
    pub list_text: ListText,
    /// The token cost of messages.
    pub cost: MessageCost,
}

impl ContextRules {
    /// Returns the rules of the original program.
    pub fn original() -> Self {
        Self {
            drop_first: DropFirst::Best,
            oversized: Oversized::Stop,
            list_text: ListText::Python,
            cost: MessageCost::GPT_3_5,
            ..Self::default()
        }
    }

    /// Returns the token limit of a request: the whole limit without the reserve.
    pub fn send_limit(&self) -> usize {
        self.token_limit.saturating_sub(self.reserve)
    }

    /// Returns the text of a memory query.
    pub fn query(&self, history: &[Message]) -> String {
        let from = history.len().saturating_sub(self.query_window);
        let latest = history.get(from..).unwrap_or_default();
        let latest: Vec<Value> = latest.iter().map(Message::to_value).collect();
        self.list_text.of(&latest.into())
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

/// The end of the list of memories from which they are dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DropFirst {
    /// The most relevant, as in the original.
    Best,
    /// The least relevant.
    Worst,
}

/// The treatment of a history message that does not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Oversized {
    /// The message and all older ones are left out. User input is sent at any size, as in the
    /// original.
    Stop,
    /// The latest message is truncated, and an older one is replaced by a note of its size. User
    /// input that does not fit is an error.
    Note,
}

/// The parts of a request.
#[derive(Clone, Copy, Debug)]
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
    /// Tokens of the request in addition to its messages, for tool definitions.
    pub overhead: usize,
}

impl<'a> Parts<'a> {
    /// Creates parts without memories, history and tool definitions.
    pub fn new(prompt: &'a str, now: &'a str, input: &'a str) -> Self {
        Self {
            prompt,
            now,
            memories: &[],
            history: &[],
            input,
            overhead: 0,
        }
    }
}

/// A request that fits into the token limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Context {
    /// The messages in the order they are sent.
    pub messages: Vec<Message>,
    /// The cost of prompt, time and memories.
    pub base_tokens: usize,
    /// The cost of the user input.
    pub input_tokens: usize,
    /// The cost of each included history message, oldest first.
    pub history_costs: Vec<usize>,
    /// The sum of all costs.
    pub used: usize,
    /// Tokens left for the reply. With the original's rules it can be smaller than the reserve.
    pub max_tokens: i64,
}

/// An error for a request that cannot fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ContextError {
    /// Prompt and time alone exceed their limit. The original had no such error: it dropped memories in an endless
    /// loop.
    #[error("the prompt is {tokens} tokens, and {limit} is the limit for it")]
    PromptTooLarge {
        /// Its cost, or a lower bound.
        tokens: usize,
        /// The limit.
        limit: usize,
    },
    /// The user input does not fit, even without any history.
    #[error("the message is {tokens} tokens, and there is space for {limit}")]
    InputTooLarge {
        /// Its cost, or a lower bound.
        tokens: usize,
        /// The remaining space.
        limit: usize,
    },
}

impl Context {
    /// Builds a request from its parts.
    ///
    /// # Errors
    ///
    /// [`ContextError`] says what is too large.
    pub fn build(
        rules: &ContextRules,
        tokenizer: &dyn Tokenizer,
        parts: &Parts<'_>,
    ) -> Result<Self, ContextError> {
        let (base, base_tokens) = base(rules, tokenizer, parts)?;
        let input = Message::user(parts.input);
        let limit = rules.send_limit();
        // The original's rules send input of any size, so its exact cost is needed for the totals.
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
        })
    }
}

fn signed(tokens: usize) -> i64 {
    i64::try_from(tokens).unwrap_or(i64::MAX)
}

/// Builds the messages of prompt, time and as many memories as fit. Returns them with their cost.
fn base(
    rules: &ContextRules,
    tokenizer: &dyn Tokenizer,
    parts: &Parts<'_>,
) -> Result<(Vec<Message>, usize), ContextError> {
    let memories = parts.memories;
    // One memory is dropped at a time, as the cost of a list is not the sum of its items.
    let mut included = memories.get(..rules.memories).unwrap_or(memories);
    loop {
        let list: Vec<Value> = included.iter().map(|text| text.as_str().into()).collect();
        let list = rules.list_text.of(&list.into());
        let messages = vec![
            Message::system(parts.prompt),
            Message::system(format!("The current time and date is {}", parts.now)),
            Message::system(format!(
                "This reminds you of these events from your past:\n{list}\n\n"
            )),
        ];
        let least = messages.iter().map(|it| rules.cost.at_least(it)).sum();
        // With the lower bound, a prompt that is much too long is not counted.
        let tokens = match least > rules.base_cap {
            true => least,
            false => rules.cost.count(tokenizer, &messages) + parts.overhead,
        };
        if tokens <= rules.base_cap {
            return Ok((messages, tokens));
        }
        let fewer = match rules.drop_first {
            DropFirst::Best => included.split_first().map(|(_, rest)| rest),
            DropFirst::Worst => included.split_last().map(|(_, rest)| rest),
        };
        included = fewer.ok_or(ContextError::PromptTooLarge {
            tokens,
            limit: rules.base_cap,
        })?;
    }
}

/// The tokens used so far, and the limit.
struct Space<'a> {
    rules: &'a ContextRules,
    tokenizer: &'a dyn Tokenizer,
    used: usize,
}

impl Space<'_> {
    /// Takes messages from the latest to the oldest while they fit. Returns them oldest first, with
    /// their costs.
    fn fill(&mut self, history: &[Message]) -> (Vec<Message>, Vec<usize>) {
        let mut included: Vec<(Message, usize)> = Vec::new();
        for (age, message) in history.iter().rev().enumerate() {
            let fitting = match self.take(message.clone()) {
                Some(whole) => Some(whole),
                None if self.rules.oversized == Oversized::Stop => None,
                None if age == 0 => self.take_start(message),
                // Without a note, the model would assume that the older message never existed.
                None => self.take(note(message)),
            };
            match fitting {
                Some(fitting) => included.push(fitting),
                None => break,
            }
        }
        // The API rejects a tool result without its call.
        while included.last().is_some_and(|(m, _)| m.role == Role::Tool) {
            self.used -= included.pop().map_or(0, |(_, tokens)| tokens);
        }
        included.into_iter().rev().unzip()
    }

    fn take(&mut self, message: Message) -> Option<(Message, usize)> {
        let limit = self.rules.send_limit();
        // A shortcut for messages that cannot fit into an empty request, which are not counted.
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

    /// Takes the start of a message with a note that it was truncated, in at most half of the
    /// remaining space.
    fn take_start(&mut self, message: &Message) -> Option<(Message, usize)> {
        let left = self.rules.send_limit().saturating_sub(self.used);
        // Half, so that one message does not displace all older ones.
        let start = self.tokenizer.cut(&message.content, left / 2);
        let mut cut = note(message);
        cut.content = format!("{start}\n{}", cut.content);
        self.take(cut).or_else(|| self.take(note(message)))
    }
}

/// Returns a note in place of a message. A native tool call keeps its id and name, which its result
/// refers to.
fn note(message: &Message) -> Message {
    let mut note = message.clone();
    let characters = message.content.chars().count();
    note.content = format!("[Left out for its size: {characters} characters]");
    if let Some(call) = &mut note.call {
        // The arguments may be too large. The API accepts an empty object in their place.
        call.arguments = "{}".to_owned();
    }
    note
}
