//! The analyst without data and without a model: it demonstrates the parts of a reply.

use copilot_wire::Reply;
use std::collections::{BTreeMap, HashSet};

use copilot_wire::json::{Json, Kind};
use copilot_wire::protocol::{
    AgentError, Citation, Confirmation, Conversation, Decision, Protocol, Role, Tool, ToolCall,
    ToolResult, Verdict, escape_markdown,
};

use crate::analyst::Analyst;
use crate::library::look_up;

impl Analyst {
    /// Asks before it "deletes", calls a tool that fits, or looks the question up in the guide.
    pub(crate) async fn talk<P: Protocol>(
        &self,
        conversation: &impl Conversation,
        answer: Option<&Decision>,
        reply: Reply<P>,
    ) -> Result<(), AgentError> {
        if let Some(answer) = decided(answer) {
            return self.decided(conversation, answer, reply).await;
        }
        let results: Vec<String> = conversation.results().map(|result| told(&result)).collect();
        if !results.is_empty() {
            return self.say(&results.join("\n\n"), &reply).await;
        }
        let prompt = conversation.prompt().unwrap_or_default();
        if wants_deletion(&prompt) {
            self.say("That cannot be undone, so I ask first.", &reply)
                .await?;
            return Ok(reply.confirm(deletion(&prompt))?);
        }
        let calls = match told_calls(conversation, &prompt) {
            Ok(calls) => calls,
            Err(problem) => return self.say(&problem, &reply).await,
        };
        if let Some(first) = calls.first() {
            reply.status(format!("Calling {}", first.name)).await?;
            return Ok(reply.calls(&calls)?);
        }
        reply.status("Looking it up in the guide").await?;
        let Some(found) = look_up(&prompt) else {
            return self.say(&introduction(conversation), &reply).await;
        };
        self.say(&found.text, &reply).await?;
        Ok(reply.cite(Citation::new(found.chapter)).await?)
    }

    /// Does what the user has decided, or asks again where the answer does not count.
    async fn decided<P: Protocol>(
        &self,
        conversation: &impl Conversation,
        answer: &Decision,
        reply: Reply<P>,
    ) -> Result<(), AgentError> {
        let said = match answer.verdict {
            Verdict::Accepted if answer.accepts(DELETE) => {
                "You agreed. I am only the built-in analyst, so nothing was deleted."
            }
            Verdict::Accepted => "I asked no such question, so nothing was done.",
            Verdict::Refused => "You said no, so everything stays as it was.",
            verdict => {
                // What was to be deleted is in the conversation only, and a client may have left it out.
                let asked = conversation
                    .messages()
                    .filter(|message| message.role == Role::User && wants_deletion(&message.text));
                let Some(asked) = asked.last() else {
                    let reason = verdict.reason().unwrap_or_default();
                    let said = format!("{reason} Please tell me again what I should do.");
                    return self.say(&said, &reply).await;
                };
                return Ok(reply.ask_again(verdict, deletion(&asked.text)).await?);
            }
        };
        self.say(said, &reply).await
    }
}

/// The id of the only question of this agent.
const DELETE: &str = "delete";

fn deletion(prompt: &str) -> Confirmation {
    Confirmation::new(DELETE, "Delete it?", cut(prompt, 200))
}

/// Returns the answer, unless it is an ordinary message.
pub(crate) fn decided(answer: Option<&Decision>) -> Option<&Decision> {
    answer.filter(|answer| answer.verdict != Verdict::Other)
}

fn told(result: &ToolResult<'_>) -> String {
    let verb = if result.failed { "failed" } else { "says" };
    let name = escape_markdown(&result.name);
    let content = escape_markdown(&cut(&result.content, 500));
    format!("**{name}** {verb}: {content}")
}

/// Returns `true` if something is to be deleted.
pub(crate) fn wants_deletion(prompt: &str) -> bool {
    words(prompt).any(|word| matches!(word.as_str(), "delete" | "remove" | "drop"))
}

/// Returns the calls that a prompt asks for: a line `call NAME {json}` for each, or a question with a
/// word of the name of a tool that gets something, such as the weather of `get_weather`.
///
/// Other tools are called by lines alone: front ends of programmers offer to run any command.
fn told_calls(conversation: &impl Conversation, prompt: &str) -> Result<Vec<ToolCall>, String> {
    let lines = prompt.lines().map(str::trim);
    let lines: Vec<&str> = lines
        .filter_map(|line| line.strip_prefix("call "))
        .collect();
    let asked: HashSet<String> = words(prompt).collect();
    let mut offered = HashSet::new();
    for tool in conversation.tools() {
        if lines.is_empty() {
            if let Some(call) = call(&tool, prompt, &asked) {
                return Ok(vec![call]);
            }
        }
        offered.insert(tool.name.into_owned());
    }
    let calls = lines.into_iter().map(|line| {
        let (name, arguments) = line.split_once(' ').unwrap_or((line, "{}"));
        if !offered.contains(name) {
            let name = escape_markdown(&cut(name, 100));
            return Err(format!("There is no tool **{name}**."));
        }
        match Json::parse(arguments.to_owned()) {
            Ok(arguments) if arguments.kind() == Kind::Object => {
                ToolCall::new(name, &arguments).map_err(|error| error.to_string())
            }
            _ => {
                let name = escape_markdown(name);
                Err(format!(
                    "The arguments of **{name}** are not a JSON object."
                ))
            }
        }
    });
    calls.collect()
}

/// Returns a call of the tool, if it reads something and the prompt has a word of its name.
fn call(tool: &Tool<'_>, prompt: &str, asked: &HashSet<String>) -> Option<ToolCall> {
    let fits = |word: String| word.len() > 3 && asked.contains(&word);
    if !tool.name.starts_with("get_") || !words(&tool.name).any(fits) {
        return None;
    }
    let arguments: BTreeMap<String, &str> =
        tool.parameters
            .as_ref()
            .map_or_else(BTreeMap::new, |schema| {
                let properties = schema.get("properties").unwrap_or_default();
                let text = |(name, property): (_, Json)| {
                    let kind = property.get("type")?;
                    (kind.string()? == "string").then(|| (name, subject(prompt)))
                };
                let texts = properties
                    .members()
                    .map(|(name, value)| (name.into_owned(), value));
                texts.filter_map(text).take(1).collect()
            });
    ToolCall::new(tool.name.clone(), &arguments).ok()
}

/// Returns the subject of a question: the words after its last "in", "at", "of" or "for".
fn subject(prompt: &str) -> &str {
    let after = [" in ", " at ", " of ", " for "]
        .iter()
        .filter_map(|word| prompt.rfind(word).map(|at| at + word.len()))
        .max();
    let subject = after.and_then(|at| prompt.get(at..)).unwrap_or(prompt);
    subject.trim_matches(|character: char| !character.is_alphanumeric())
}

/// Returns the words of a text in lower case.
pub(crate) fn words(text: &str) -> impl Iterator<Item = String> {
    text.split(|character: char| !character.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
}

fn cut(text: &str, length: usize) -> String {
    text.trim().chars().take(length).collect()
}

fn introduction(conversation: &impl Conversation) -> String {
    let prompt = conversation.prompt().unwrap_or_default();
    let before = conversation.messages().count().saturating_sub(1);
    let said = match before {
        0 => "That is the first message of our conversation.".to_owned(),
        1 => "There is one message before it.".to_owned(),
        count => format!("There are {count} messages before it."),
    };
    format!(
        "You said: “{}”. {said} I am the built-in analyst: put a widget on your dashboard or a \
         document in context, ask me about it, and I tell you what its data says. I know the guide \
         of copilot-wire too: ask me what happens when a client leaves. To have a model answer, \
         start the server with the feature `model` and with `OPENAI_BASE_URL` set.",
        escape_markdown(&cut(&prompt, 200))
    )
}
