//! Questions in text: any words before one, any question, any answer.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use copilot_wire::protocol::{
    AgentError, Confirmation, Conversation, Decision, Protocol, Role, SendError, Verdict,
};
use copilot_wire::{Agent, Reply, Request, async_trait};
use copilot_wire_kit::Harness;
use copilot_wire_kit::anthropic::AnthropicClient;
use futures::executor::block_on;

use super::input::Input;

/// Says what the input says and asks, or tells what the user answered.
struct Asker {
    said: String,
    question: Option<Confirmation>,
    answers: Arc<Mutex<Vec<Option<Decision>>>>,
}

#[async_trait]
impl<P: Protocol> Agent<P> for Asker {
    async fn answer(&self, request: Request<P>, reply: Reply<P>) -> Result<(), AgentError> {
        let answer = request.decision().cloned();
        self.answers.lock().unwrap().push(answer);
        let prompts = request
            .messages()
            .filter(|message| message.role == Role::User);
        if prompts.count() > 1 {
            return Ok(reply.text("Well.").await?);
        }
        reply.text(&self.said).await?;
        match self
            .question
            .clone()
            .map(|question| reply.confirm(question))
        {
            // Too long.
            None | Some(Ok(()) | Err(SendError::Invalid(_))) => Ok(()),
            Some(Err(error)) => Err(error.into()),
        }
    }
}

static TURNS: AtomicU64 = AtomicU64::new(0);

/// Answers a question, or words that look like one.
pub fn consent(data: &[u8]) {
    let mut input = Input(data);
    let asks = input.flag();
    let said = input.text();
    let [title, message, id] = std::array::from_fn(|_| input.text());
    let answers = Arc::new(Mutex::new(Vec::new()));
    let asker = Asker {
        said: said.clone(),
        question: asks.then(|| Confirmation::new(&id, title, message)),
        answers: answers.clone(),
    };
    let mut harness = Harness::new(AnthropicClient::new("m"), asker);
    // A place of its own: a turn at the same one, on another thread, would use the question up.
    let prompt = format!("Delete number {}", TURNS.fetch_add(1, Ordering::Relaxed));
    let turn = block_on(harness.prompt(&prompt)).unwrap();
    // With an id that is too long there is none, unless the words before look like one.
    let asked = turn.question().cloned();
    let is_own = asks && id.len() <= 64;
    let code = asked.as_ref().map(|asked| asked.answers[0].clone());
    let answer = match input.below(3) {
        0 => code.clone().unwrap_or_else(|| "yes 482193".to_owned()),
        1 => "no".to_owned(),
        _ => input.text(),
    };
    // A front end sends no empty message.
    if answer.trim().is_empty() {
        return;
    }
    block_on(harness.prompt(&answer)).unwrap();
    let all = answers.lock().unwrap();
    let found = all[1].as_ref();
    let verdict = found.map(|found| found.verdict);
    if !is_own {
        assert!(
            !matches!(verdict, Some(Verdict::Accepted | Verdict::Refused)),
            "a question that nobody asked: {found:?}"
        );
        return;
    }
    let found = found.unwrap();
    let code = code.unwrap();
    if verdict == Some(Verdict::Accepted) {
        let digits: String = answer.chars().filter(char::is_ascii_digit).collect();
        // Other digits are read as well.
        let is_code = !answer.is_ascii() || code == format!("yes {digits}");
        assert!(is_code, "{answer} for {code}");
        assert_eq!(found.id, id);
    }
    // A code that was said before is void: that is a matter of digits.
    let may_be_told = said.chars().filter(|it| it.is_numeric()).count() > 5;
    if answer == code && !may_be_told {
        let counts = found.accepts(&id) || found.verdict == Verdict::Obscured;
        assert!(counts, "{found:?}");
    }
}
