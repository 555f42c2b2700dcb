//! Sub-agents: plain chats as in the original, or runs of the same machine.

use super::settle::limited;
use super::state::{Chat, Phase, SubAgent, Thread};
use super::thread::{InputContext, Position, ThreadInput};
use super::{End, Reason};
use crate::agent_loop::message::Message;
use crate::agent_loop::prompt::Profile;
use crate::agent_loop::reply::Command;
use crate::agent_loop::settings::SubAgents;
use crate::commands::{Args, CommandError, Policy, Spec};
use crate::json::ListText;
use crate::json::{Object, Value};

/// Returns the specifications of the sub-agent commands.
pub(super) fn specs() -> [Spec; 4] {
    let start = [
        ("name", "name"),
        ("task", "short_task_desc"),
        ("prompt", "prompt"),
    ];
    [
        Spec::new("start_agent", "Start agent", &start),
        Spec::new("message_agent", "Message agent", &[("message", "message")]).with_key(),
        Spec::new("list_agents", "List agents", &[]).with_policy(Policy::Never),
        Spec::new("delete_agent", "Delete agent", &[])
            .with_key()
            .with_policy(Policy::Never),
    ]
}

/// The result of a sub-agent command: a text, or `None` while the sub-agent works on it.
type Result = std::result::Result<Option<String>, CommandError>;

impl Thread {
    /// Runs a sub-agent command. Returns `false` for other commands.
    pub(super) fn agent_command(
        &mut self,
        command: &Command,
        cx: &mut InputContext<'_>,
        position: &Position<'_>,
    ) -> bool {
        let args = Args::new(&command.args);
        let result = match command.name.as_str() {
            "start_agent" => self.start_agent(&args, cx),
            "message_agent" => self.message_agent(&args, cx),
            "list_agents" => Ok(Some(self.list_agents(cx))),
            "delete_agent" => self.delete_agent(&args),
            _ => return false,
        };
        let wording = cx.machine.wording;
        match result {
            Ok(Some(text)) => self.returned(&command.name, true, &text, cx, position),
            Ok(None) => {}
            Err(error) => {
                let text = format!("Error: {}", error.text(wording));
                self.returned(&command.name, false, &text, cx, position);
            }
        }
        true
    }

    fn start_agent(&mut self, args: &Args<'_>, cx: &InputContext<'_>) -> Result {
        let name = args.text("name")?;
        let task = args.text("task")?;
        let prompt = args.text("prompt")?;
        let settings = &cx.machine.settings;
        let key = self.agents.next;
        let command = "start_agent".to_owned();
        let mut agent = SubAgent {
            key,
            name: name.clone(),
            task: task.clone(),
            messages: Vec::new(),
            thread: None,
        };
        match settings.agents {
            SubAgents::Chats => {
                let hello = format!("You are {name}.  Respond with: \"Acknowledged\".");
                agent.messages.push(Message::user(hello));
                let stage = Chat::Hello { prompt };
                self.phase = Phase::Chatting {
                    command,
                    key,
                    stage,
                };
            }
            SubAgents::Runs => {
                let mut living = self.agents.living.iter();
                // Models forget which agents they have started, and would start the same agent repeatedly.
                if let Some(known) = living.find(|a| a.name == name && a.task == task) {
                    return Ok(Some(format!(
                        "Agent {name} already has this task and has key {}; message it instead.",
                        known.key
                    )));
                }
                let limit = settings.limits.agents;
                if limit.is_some_and(|limit| self.agents.living.len() >= limit) {
                    let reason = "there are too many agents; delete one first".to_owned();
                    return Err(CommandError::Failed(reason));
                }
                let role = format!("an agent that works for {}", self.profile.name);
                let profile = Profile::new(&name, &role, &[&task]);
                agent.thread = Some(Box::new(Self::new(profile, &prompt)));
                let first = true;
                self.phase = Phase::Child {
                    command,
                    key,
                    first,
                };
            }
        }
        // Incremented only after everything that can fail, so that a refused start uses no key.
        self.agents.next += 1;
        self.agents.living.push(agent);
        Ok(None)
    }

    fn message_agent(&mut self, args: &Args<'_>, cx: &InputContext<'_>) -> Result {
        let key = args.key("key")?;
        let message = args.text("message")?;
        // Collected before the agent is borrowed, for the error.
        let keys = self.agents.keys();
        let command = "message_agent".to_owned();
        let agent = self.agents.get_mut(key);
        let agent = agent.ok_or(CommandError::UnknownKey(key, keys))?;
        match (&mut agent.thread, cx.machine.settings.agents) {
            (Some(thread), _) => {
                thread.input = message;
                // The grant was given for the last message.
                thread.granted = 0;
                thread.calls = 0;
                thread.damaged_replies = 0;
                thread.phase = Phase::Recalling;
                let first = false;
                self.phase = Phase::Child {
                    command,
                    key,
                    first,
                };
            }
            (None, _) => {
                agent.messages.push(Message::user(message));
                let stage = Chat::Message;
                self.phase = Phase::Chatting {
                    command,
                    key,
                    stage,
                };
            }
        }
        Ok(None)
    }

    /// Returns the list of sub-agents: keys and tasks as in the original, and names by default.
    fn list_agents(&self, cx: &InputContext<'_>) -> String {
        let living = self.agents.living.iter();
        let number = |key: u64| Value::Number(key.to_string());
        match cx.machine.settings.agents {
            SubAgents::Chats => {
                let pairs = living.map(|agent| (number(agent.key), agent.task.as_str().into()));
                ListText::Python.of_pairs(&pairs.collect::<Vec<_>>())
            }
            SubAgents::Runs => {
                let agent = |agent: &SubAgent| {
                    Value::Object(Object::from_iter([
                        ("key".to_owned(), number(agent.key)),
                        ("name".to_owned(), Value::from(agent.name.as_str())),
                        ("task".to_owned(), Value::from(agent.task.as_str())),
                    ]))
                };
                ListText::Json.of(&living.map(agent).collect::<Vec<_>>().into())
            }
        }
    }

    fn delete_agent(&mut self, args: &Args<'_>) -> Result {
        let key = args.key("key")?;
        let before = self.agents.living.len();
        self.agents.living.retain(|agent| agent.key != key);
        Ok(Some(match before > self.agents.living.len() {
            true => format!("Agent {key} deleted."),
            false => format!("Agent {key} does not exist."),
        }))
    }

    /// Takes the model's reply in a plain chat.
    pub(super) fn take_chat(
        &mut self,
        text: &str,
        cx: &mut InputContext<'_>,
        position: &Position<'_>,
    ) {
        let Phase::Chatting {
            command,
            key,
            stage,
        } = self.phase.clone()
        else {
            return;
        };
        let Some(agent) = self.agents.get_mut(key) else {
            return;
        };
        agent.messages.push(Message::assistant(text));
        let result = match stage {
            Chat::Hello { prompt } => {
                agent.messages.push(Message::user(prompt));
                let stage = Chat::First;
                self.phase = Phase::Chatting {
                    command,
                    key,
                    stage,
                };
                return;
            }
            Chat::First => created(&agent.name, key, text),
            Chat::Message => text.to_owned(),
        };
        self.returned(&command, true, &limited(&result, cx), cx, position);
    }

    /// Feeds an input to a sub-agent. When the sub-agent ends, its end is the result of the command that it works for.
    pub(super) fn feed_child(
        &mut self,
        key: u64,
        input: ThreadInput,
        cx: &mut InputContext<'_>,
        position: &Position<'_>,
    ) {
        let Phase::Child { command, first, .. } = &self.phase else {
            return;
        };
        let (command, first) = (command.clone(), *first);
        let Some(agent) = self.agents.get_mut(key) else {
            return;
        };
        let name = agent.name.clone();
        let Some(child) = &mut agent.thread else {
            return;
        };
        // Events and questions of the sub-agent contain its name, to distinguish them from those of the main agent.
        cx.agent = Some(name.clone());
        child.feed(input, cx, &position.child(key, cx.machine));
        cx.agent = None;
        let limit = cx.machine.settings.limits.agent_calls;
        let calls = limit.filter(|limit| child.calls >= *limit);
        let (ok, text) = match (&child.phase, calls) {
            (Phase::Finished(End::Complete(text)), _) => (true, text.clone()),
            (Phase::Finished(_), _) => (false, "It stopped.".to_owned()),
            // Only between two steps, so that a reply that was paid for is used.
            (Phase::Recalling, Some(limit)) => {
                let reason = Reason::ModelCalls(limit);
                child.phase = Phase::Finished(End::Limit(reason.clone()));
                (false, format!("It stopped. {reason}"))
            }
            _ => return,
        };
        let text = match first {
            true => created(&name, key, &text),
            false => text,
        };
        self.returned(&command, ok, &limited(&text, cx), cx, position);
    }
}

fn created(name: &str, key: u64, text: &str) -> String {
    format!("Agent {name} created with key {key}. First response: {text}")
}
