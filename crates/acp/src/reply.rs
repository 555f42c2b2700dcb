//! Writing one reply.

use std::sync::Arc;

use agent_client_protocol::v1::schema::{
    ContentBlock, ContentChunk, CreateElicitationRequest, ElicitationFormMode, ElicitationSchema,
    ElicitationSessionScope, EnumOption, MessageId, PermissionOption, PermissionOptionKind,
    PromptResponse, RequestPermissionRequest, SessionId, SessionNotification, SessionUpdate,
    StopReason, StringPropertySchema, TextContent, ToolCall, ToolCallContent, ToolCallStatus,
    ToolCallUpdate, ToolCallUpdateFields, ToolKind, Usage as Tokens,
};
use agent_client_protocol::{Error, RawJsonRpcError, RawJsonRpcId, RawJsonRpcResponse};
use copilot_wire::json::Json;
use copilot_wire::protocol::{
    self, Block, Blocks, Cut, End, Env, FrameEvent as _, Level, Part, SendError, Status, ToolRun,
    Usage, Writer, escape_markdown, plain_text,
};
use serde_json::Value;

use crate::event::{Event, Question};
use crate::prompt::{Cancelled, NO, Prompt, Turn, YES};

/// The name of the field of a form.
pub(crate) const ANSWER: &str = "answer";

/// The beginning of the ids of questions among the ids of tool calls.
pub(crate) const QUESTION: &str = "question-";

/// The text of a question that was not answered.
const UNANSWERED: &str = "The question was not answered, so nothing was done.";

/// The updates of one reply.
pub struct Updates {
    env: Env,
    id: RawJsonRpcId,
    session: SessionId,
    turn: Arc<Turn>,
    has_forms: bool,
    /// The message of the open block.
    message: MessageId,
    /// The step that runs.
    step: Option<ToolCallUpdate>,
    /// The question that was asked last; its fields are those of its tool call.
    question: Option<Option<ToolCallUpdate>>,
    stop: StopReason,
    usage: Option<Usage>,
}

pub(crate) fn session(prompt: &Prompt, env: &Env) -> protocol::Session<Updates> {
    let capabilities = prompt.turn.editor.capabilities();
    let has_forms = capabilities
        .elicitation
        .is_some_and(|it| it.supports_form());
    protocol::Session::new(Updates {
        env: env.clone(),
        id: prompt.id.clone(),
        session: prompt.session_id.clone(),
        turn: Arc::clone(&prompt.turn),
        has_forms,
        message: MessageId::new(""),
        step: None,
        question: None,
        stop: StopReason::EndTurn,
        usage: None,
    })
}

type To<'a> = Writer<'a, Updates>;

impl Updates {
    fn event(&self, update: SessionUpdate) -> Event {
        Event::update(SessionNotification::new(self.session.clone(), update))
    }

    fn send(&self, update: SessionUpdate, to: &mut To<'_>) {
        to.event(self, self.event(update));
    }

    /// Completes the running step and the answered question.
    fn settle(&mut self, is_failed: bool, to: &mut To<'_>) {
        if let Some(Some(mut question)) = self.question.take() {
            question.fields.status = Some(match self.turn.accepted() {
                Some(true) => ToolCallStatus::Completed,
                _ => ToolCallStatus::Failed,
            });
            self.send(SessionUpdate::ToolCallUpdate(question), to);
        }
        if let Some(said) = self.turn.take_said() {
            let said = ContentChunk::new(block(said)).message_id(MessageId::new(self.env.uuid()));
            self.send(SessionUpdate::UserMessageChunk(said), to);
        }
        if let Some(mut step) = self.step.take() {
            if is_failed {
                step.fields.status = Some(ToolCallStatus::Failed);
            }
            self.send(SessionUpdate::ToolCallUpdate(step), to);
        }
    }

    /// Ends what is open, before an event that is no piece of a block.
    fn interrupt(&mut self, to: &mut To<'_>) {
        to.close(self);
        self.settle(false, to);
    }

    fn permission(&self, id: String, question: &str, message: &str) -> Question {
        let fields = ToolCallUpdateFields::new()
            .title(question.to_owned())
            .kind(ToolKind::Other)
            .status(ToolCallStatus::Pending)
            .content(vec![block(message.to_owned()).into()]);
        // Nothing that is remembered: each question is answered by itself.
        let options = vec![
            PermissionOption::new(YES, "Yes", PermissionOptionKind::AllowOnce),
            PermissionOption::new(NO, "No", PermissionOptionKind::RejectOnce),
        ];
        Question::Permission(RequestPermissionRequest::new(
            self.session.clone(),
            ToolCallUpdate::new(id, fields),
            options,
        ))
    }

    fn form(&self, question: String, answers: &[String]) -> Question {
        let option = |answer: &String| EnumOption::new(answer.clone(), answer.clone());
        let mut options = vec![EnumOption::new(YES, "Yes")];
        // An answer of the agent's own is never the yes.
        let own = answers
            .iter()
            .filter(|answer| *answer != YES && *answer != NO);
        options.extend(own.map(option));
        options.push(EnumOption::new(NO, "No"));
        let field = StringPropertySchema::new()
            .title("Answer".to_owned())
            .one_of(options);
        let schema = ElicitationSchema::new().property(ANSWER, field, true);
        let scope = ElicitationSessionScope::new(self.session.clone());
        let mode = ElicitationFormMode::new(scope, schema);
        Question::Elicitation(CreateElicitationRequest::new(mode, question))
    }

    fn stop(&self, stop: StopReason, to: &mut To<'_>) {
        let usage = self.usage.map(|usage| {
            Tokens::new(
                usage.total_tokens(),
                usage.input_tokens,
                usage.output_tokens,
            )
            .thought_tokens(some(usage.reasoning_tokens))
            .cached_read_tokens(some(usage.cached_input_tokens))
            .cached_write_tokens(some(usage.cache_write_tokens))
        });
        let response = PromptResponse::new(stop).usage(usage);
        let result = serde_json::to_value(response).unwrap_or_default();
        let id = self.id.clone();
        to.event(self, Event::End(RawJsonRpcResponse::new(id, Ok(result))));
    }

    fn refuse(&self, error: Error, to: &mut To<'_>) {
        let error = Box::new(RawJsonRpcError::from(error));
        let id = self.id.clone();
        to.event(self, Event::End(RawJsonRpcResponse::new(id, Err(error))));
    }
}

fn some(tokens: u64) -> Option<u64> {
    Some(tokens).filter(|tokens| *tokens > 0)
}

fn block(text: String) -> ContentBlock {
    ContentBlock::Text(TextContent::new(text))
}

fn value(json: &Json) -> Value {
    serde_json::from_str(json.text()).unwrap_or_default()
}

/// Returns the kind of a tool, by the first word of its name that says one.
fn kind(name: &str) -> ToolKind {
    let words = name.split(|letter: char| !letter.is_ascii_alphanumeric());
    let kinds = words.filter_map(|word| {
        Some(match word.to_ascii_lowercase().as_str() {
            "read" | "get" | "load" | "open" | "view" | "list" => ToolKind::Read,
            "edit" | "write" | "create" | "update" | "patch" | "replace" => ToolKind::Edit,
            "delete" | "remove" => ToolKind::Delete,
            "move" | "rename" => ToolKind::Move,
            "search" | "find" | "grep" | "query" | "lookup" => ToolKind::Search,
            "run" | "execute" | "exec" | "shell" | "bash" => ToolKind::Execute,
            "think" | "plan" => ToolKind::Think,
            "fetch" | "download" | "browse" => ToolKind::Fetch,
            _ => return None,
        })
    });
    kinds.into_iter().next().unwrap_or(ToolKind::Other)
}

impl Blocks for Updates {
    type Output = SessionUpdate;
    type Ending = StopReason;
    type Event = Event;

    fn write(&self, event: &Event, out: &mut Vec<u8>) {
        event.write_data(out);
        out.push(b'\n');
    }

    fn open(&mut self, _: Block, to: &mut To<'_>) {
        self.settle(false, to);
        self.message = MessageId::new(self.env.uuid());
    }

    fn piece(&self, block: Block, text: String) -> Option<Event> {
        let chunk = ContentChunk::new(ContentBlock::Text(TextContent::new(text)));
        let chunk = chunk.message_id(self.message.clone());
        Some(self.event(match block {
            Block::Reasoning => SessionUpdate::AgentThoughtChunk(chunk),
            _ => SessionUpdate::AgentMessageChunk(chunk),
        }))
    }

    fn output(&mut self, output: &SessionUpdate, to: &mut To<'_>) -> Result<(), SendError> {
        self.interrupt(to);
        self.send(output.clone(), to);
        Ok(())
    }

    fn ending(&mut self, ending: &StopReason, _: &mut To<'_>) -> Result<(), SendError> {
        self.stop = *ending;
        Ok(())
    }

    fn part(&mut self, part: Part<'_>, to: &mut To<'_>) -> Result<(), SendError> {
        match part {
            Part::Status(status) => self.status(status, to),
            Part::ToolRun(run) => self.tool_run(run, to),
            Part::Usage(usage) => self.usage = Some(*usage),
            Part::Confirm(question) => return self.confirm(question, to),
            Part::Cut(Cut::Length) => self.stop = StopReason::MaxTokens,
            Part::Cut(Cut::Filter) => self.stop = StopReason::Refusal,
            part => return to.part(self, part),
        }
        Ok(())
    }

    fn end(&mut self, end: End<'_>, to: &mut To<'_>) -> Result<(), SendError> {
        // What a cancelled agent fails with is of no interest.
        let is_cancelled = matches!(end, End::Cancelled) || self.turn.cancelled().is_some();
        match end {
            _ if is_cancelled => self.cancelled(to),
            End::Failed(failure) => {
                to.close(self);
                self.settle(true, to);
                to.fail();
                self.refuse(Error::new(-32603, failure.message), to);
            }
            _ => {
                let is_unanswered = self.question.is_some() && self.turn.accepted().is_none();
                self.interrupt(to);
                if is_unanswered {
                    to.text(self, UNANSWERED);
                }
                self.stop(self.stop, to);
            }
        }
        Ok(())
    }

    /// Writes nothing: a program that is silent is still connected.
    fn keep_alive(&mut self, _: &mut To<'_>) -> bool {
        true
    }
}

impl Updates {
    fn status(&mut self, status: &Status, to: &mut To<'_>) {
        self.interrupt(to);
        let id = self.env.uuid();
        let details = status.details.iter().map(|(name, value)| {
            let (name, value) = (escape_markdown(name), escape_markdown(value));
            ToolCallContent::from(block(format!("**{name}:** {value}")))
        });
        let call = ToolCall::new(id.clone(), status.message.clone())
            .kind(ToolKind::Think)
            .content(details.collect());
        let is_error = status.level == Level::Error;
        if is_error {
            return self.send(
                SessionUpdate::ToolCall(call.status(ToolCallStatus::Failed)),
                to,
            );
        }
        let call = call.status(ToolCallStatus::InProgress);
        self.send(SessionUpdate::ToolCall(call), to);
        let fields = ToolCallUpdateFields::new().status(ToolCallStatus::Completed);
        self.step = Some(ToolCallUpdate::new(id, fields));
    }

    fn tool_run(&mut self, run: &ToolRun, to: &mut To<'_>) {
        self.interrupt(to);
        let call = ToolCall::new(self.env.uuid(), run.name.clone())
            .name(run.name.clone())
            .kind(kind(&run.name))
            .raw_input(value(&run.arguments));
        let call = match &run.outcome {
            Ok(result) => {
                let output = value(result);
                let text = match &output {
                    Value::String(text) => text.clone(),
                    _ => format!("```json\n{}\n```", result.text()),
                };
                call.status(ToolCallStatus::Completed)
                    .content(vec![block(text).into()])
                    .raw_output(output)
            }
            Err(message) => call
                .status(ToolCallStatus::Failed)
                .content(vec![block(message.clone()).into()])
                .raw_output(Value::from(message.clone())),
        };
        self.send(SessionUpdate::ToolCall(call), to);
    }

    fn confirm(
        &mut self,
        question: &protocol::Question<'_>,
        to: &mut To<'_>,
    ) -> Result<(), SendError> {
        // Control characters and markup would change what the user sees and confirms.
        let texts = [&*question.title, &*question.message].map(plain_text);
        let whole = texts.iter().filter(|text| !text.is_empty());
        let whole = whole.map(|text| &**text).collect::<Vec<_>>().join(" ");
        to.sources(self)?;
        self.interrupt(to);
        let is_form = self.has_forms && !question.answers.is_empty();
        let Some(message) = self.turn.ask(&question.id, question.data.clone(), is_form) else {
            return to.part(self, Part::Confirm(question));
        };
        let asked = match is_form {
            true => self.form(whole, &question.answers),
            false => {
                let [_, message] = &texts;
                self.permission(format!("{QUESTION}{}", self.env.uuid()), &whole, message)
            }
        };
        self.question = Some(match &asked {
            Question::Permission(permission) => Some(permission.tool_call.clone()),
            _ => None,
        });
        to.event(self, Event::Question(message, Box::new(asked)));
        Ok(())
    }

    fn cancelled(&mut self, to: &mut To<'_>) {
        to.close(self);
        self.settle(true, to);
        match self.turn.cancelled() {
            Some(Cancelled::Request) => self.refuse(Error::request_cancelled(), to),
            _ => self.stop(StopReason::Cancelled, to),
        }
    }
}

impl std::fmt::Debug for Updates {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Updates")
            .field("session", &self.session)
            .finish_non_exhaustive()
    }
}
