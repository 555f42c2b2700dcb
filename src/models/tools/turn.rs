//! One turn of a model with tools.

use std::collections::HashSet;
use std::future::poll_fn;
use std::pin::pin;

use bytes::Bytes;
use futures_core::Stream;

use super::agent_tool::{Outcome, Run};
use super::consent::{self, Asking, Consent, Permission};
use super::runs::Runs;
use super::{AgentTool, Toolset};
use crate::agent::{Reply, Request, execute_tool};
use crate::json::{Json, Kind};
use crate::models::relay::close;
use crate::models::{Prompt, PromptResult, Relay, RelayError, Upstream, chat, chat_with_contents};
use crate::protocol::{
    AgentError, Call, Completion, Conversation as _, HistoryItem, Protocol, ToolCall, ToolChoice,
    ToolRun, plain_text,
};
#[cfg(feature = "tracing")]
use crate::protocol::{OneLine, spans};

/// The maximum number of calls of one answer that run.
const MOST_CALLS: usize = 128;

/// The maximum number of bytes of the questions about the calls of one answer: longer ones cannot be shown.
const LONGEST_QUESTION: usize = 4000;

impl Toolset<'_> {
    /// Answers a request with a model that may call these tools.
    ///
    /// `prompt` is the request to the model; its stream and its tools are set here. `post` sends the body of a request
    /// to the model's server and returns the bytes of the response, in pieces of any size.
    ///
    /// * Text, reasoning and usage are relayed as by a [`Relay`](crate::models::Relay), and each run of a tool is shown by
    ///   [`Reply::tool_run`].
    /// * Arguments are converted where the schema allows one meaning. Other wrong arguments, unknown tools and failures
    ///   are results for the model, which may call again.
    /// * Everything in the model's answers goes back to it unchanged, with the signatures of reasoning.
    /// * A call of a tool that the *front end* offers ends the turn, as by [`Relay::end`](crate::models::Relay::end). If the
    ///   model also calls a tool of the set, only that one runs, and the model is told to repeat the other call.
    /// * If a tool [asks](AgentTool::asks) first, no call of the answer runs, and the question ends the turn. After a
    ///   yes the model is told to repeat the call: a call of the same tools with the same arguments then runs, once.
    ///
    /// # Errors
    ///
    /// The errors of `post` and of the relay; [`AgentError`] if the model calls tools after the last round.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future drops the call of the model and all runs. Side effects of the runs up to this point remain.
    pub async fn answer<R, P, F, S, B, E>(
        &self,
        prompt: R,
        request: &Request<P>,
        reply: Reply<P>,
        post: impl FnMut(Bytes) -> F + Send,
    ) -> Result<(), AgentError>
    where
        R: Prompt,
        P: Protocol,
        F: Future<Output = Result<S, AgentError>> + Send,
        S: Stream<Item = Result<B, E>> + Send,
        B: AsRef<[u8]> + Send,
        E: Into<AgentError> + Send,
    {
        let asks = self.tools.iter().any(AgentTool::may_ask);
        let consent = Consent::new(request.decision().filter(|_| asks));
        Turn::<R::Upstream, P>::new(self, consent, prompt, request)
            .run(reply, post)
            .await
    }
}

/// The state of a turn.
pub(super) struct Turn<'t, 'a, U: Upstream, P: Protocol> {
    tools: &'t Toolset<'a>,
    prompt: U::Request,
    consent: Consent,
    /// The names of the tools that the front end offers.
    offered: HashSet<String>,
    /// The ids of all calls of the conversation.
    ids: HashSet<String>,
    /// The number of ids that were made here.
    named: u64,
    /// The output so far, if none should be above a question.
    held: Option<Vec<Held>>,
    protocol: std::marker::PhantomData<fn() -> P>,
}

/// Output that is not sent yet.
enum Held {
    Text(String),
    Reasoning(String),
    Run(ToolRun),
}

/// A call of an answer.
struct Planned<'t, 'a> {
    call: Call<'static>,
    arguments: Json,
    step: Step<'t, 'a>,
}

/// The fate of a call.
enum Step<'t, 'a> {
    Run(&'t AgentTool<'a>),
    /// It does not run, for a reason that the model and the user read.
    Failed(String),
    /// It does not run, for a reason that the model reads.
    Left(&'static str),
}

impl<'t, 'a, U: Upstream, P: Protocol> Turn<'t, 'a, U, P> {
    pub(super) fn new(
        tools: &'t Toolset<'a>,
        consent: Consent,
        mut prompt: U::Request,
        request: &Request<P>,
    ) -> Self {
        // A client that wants no calls means its own tools.
        let choice = request.answer_options().tool_choice;
        if choice == ToolChoice::None {
            prompt.choose(&ToolChoice::Auto);
        }
        prompt.offer(tools.offered(consent.note()));
        let ids = request.raw_history().filter_map(|item| match item {
            HistoryItem::Call(call) => call.id.map(Into::into),
            _ => None,
        });
        Self {
            held: consent.is_uncounted().then(Vec::new),
            ids: ids.collect(),
            named: 0,
            offered: request.tools().map(|tool| tool.name.into()).collect(),
            tools,
            prompt,
            consent,
            protocol: std::marker::PhantomData,
        }
    }

    /// Runs the turn.
    pub(super) async fn run<F, S, B, E>(
        mut self,
        reply: Reply<P>,
        mut post: impl FnMut(Bytes) -> F + Send,
    ) -> Result<(), AgentError>
    where
        F: Future<Output = Result<S, AgentError>> + Send,
        S: Stream<Item = Result<B, E>> + Send,
        B: AsRef<[u8]> + Send,
        E: Into<AgentError> + Send,
    {
        for round in 0..=self.tools.rounds {
            match round {
                _ if round == self.tools.rounds => {
                    self.prompt.choose(&ToolChoice::None);
                }
                0 => {}
                // The client's choice has had its effect.
                _ => self.prompt.choose(&ToolChoice::Auto),
            }
            let mut relay = Relay::<U>::new().profile(&self.tools.profile);
            relay.completion = Completion::new();
            let sent = post(relay.body(&mut self.prompt));
            let (completion, is_native) = self.ask(relay, sent, &reply).await?;
            let calls = completion.calls();
            if self.is_final(&calls) {
                self.release(&reply).await?;
                return Ok(close(&completion, is_native, reply)?);
            }
            if let Some(cut) = completion.cut() {
                return Err(RelayError::CutCall(cut).into());
            }
            if round == self.tools.rounds {
                break;
            }
            let mut plan = self.plan(calls);
            match self.questions(&mut plan) {
                // The model has repeated the calls, and must not do it once more.
                (_, Permission::Accepted | Permission::Refused) => {
                    self.prompt.offer(self.tools.offered(self.consent.note()));
                }
                (asking, _) if asking.is_empty() => {}
                (asking, decision) => return self.confirm(&asking, decision, reply).await,
            }
            if !completion.text().is_empty() {
                const BETWEEN: &str = "\n\n";
                match &mut self.held {
                    Some(held) => held.push(Held::Text(BETWEEN.to_owned())),
                    None => reply.text(BETWEEN).await?,
                }
            }
            let calls = self.results(plan, &reply).await?;
            self.prompt.extend(completion, calls);
        }
        Err(AgentError::new("The model has called tools without end."))
    }

    /// Asks the model, and relays its answer. Returns it, and `true` if it was relayed with everything that only its
    /// dialect has.
    async fn ask<F, S, B, E>(
        &mut self,
        mut relay: Relay<U>,
        sent: F,
        reply: &Reply<P>,
    ) -> Result<(Completion, bool), AgentError>
    where
        F: Future<Output = Result<S, AgentError>> + Send,
        S: Stream<Item = Result<B, E>> + Send,
        B: AsRef<[u8]> + Send,
        E: Into<AgentError> + Send,
    {
        let is_held = self.held.is_some();
        let call = async {
            let mut stream = pin!(sent.await?);
            while !relay.is_over() {
                let Some(bytes) = poll_fn(|cx| stream.as_mut().poll_next(cx)).await else {
                    break;
                };
                let bytes = bytes.map_err(Into::into)?;
                match is_held {
                    true => relay.read(bytes.as_ref())?,
                    false => relay.pass(bytes.as_ref(), reply).await?,
                }
            }
            let is_native = relay.is_native;
            Ok((relay.finish()?, is_native))
        };
        let (completion, is_native) = match self.tools.records_contents {
            true => chat_with_contents::<U, _, _>(&mut self.prompt, call).await,
            false => chat::<U, _, _>(&mut self.prompt, call).await,
        }?;
        if let Some(held) = &mut self.held {
            if let Some(usage) = completion.usage() {
                reply.usage(usage).await?;
            }
            held.push(Held::Reasoning(completion.reasoning().to_owned()));
            held.push(Held::Text(completion.text().to_owned()));
        }
        Ok((completion, is_native))
    }

    /// Returns `true` if the front end runs all calls of an answer, or one that is not a call of a function.
    fn is_final(&self, calls: &[ToolCall]) -> bool {
        let is_own = |call: &ToolCall| self.tools.get(&call.name).is_some();
        let is_theirs = |call: &ToolCall| !is_own(call) && self.offered.contains(&call.name);
        calls.iter().all(is_theirs) || calls.iter().any(|call| call.name.is_empty())
    }

    /// Returns what becomes of each call.
    fn plan(&mut self, calls: Vec<ToolCall>) -> Vec<Planned<'t, 'a>> {
        let calls = calls.into_iter().enumerate();
        let calls = calls.map(|(at, call)| {
            let id = self.unique(call.id);
            let is_object = call.arguments.kind() == Kind::Object;
            let mut arguments = match is_object {
                true => call.arguments,
                false => Json::object(|object| {
                    object.str("invalid_json", &call.arguments.string().unwrap_or_default());
                }),
            };
            // The model gets back what it wrote.
            let written = arguments.text().to_owned();
            let is_offered = self.offered.contains(&call.name);
            let step = match self.tools.get(&call.name) {
                _ if at >= MOST_CALLS => Step::Left("Not run: there were too many calls at once."),
                Some(_) if !is_object => {
                    Step::Failed("wrong arguments: not a JSON object".to_owned())
                }
                Some(tool) => match tool.read(&arguments) {
                    Ok(read) => {
                        arguments = read;
                        Step::Run(tool)
                    }
                    Err(message) => Step::Failed(message),
                },
                None if is_offered => {
                    Step::Left("Not run: call this tool again, without other calls.")
                }
                None => Step::Failed("no such tool".to_owned()),
            };
            Planned {
                call: Call::new(call.name, written).id(id),
                arguments,
                step,
            }
        });
        calls.collect()
    }

    /// Returns the id of a call, or another one if an earlier call has it.
    fn unique(&mut self, id: Option<String>) -> String {
        let mut id = id.unwrap_or_default();
        while id.is_empty() || !self.ids.insert(id.clone()) {
            self.named += 1;
            id = format!("call_{}", self.named);
        }
        id
    }

    /// Returns the calls that need the user's consent, and the decision on them. Refused calls do not run.
    fn questions(&mut self, plan: &mut [Planned<'t, 'a>]) -> (Vec<Asking>, Permission) {
        let (mut asking, mut steps, mut size) = (Vec::new(), Vec::new(), 0);
        for planned in plan {
            let Step::Run(tool) = planned.step else {
                continue;
            };
            match tool.question(&planned.arguments) {
                Ok(None) => {}
                Ok(Some(question)) if size + question.len() <= LONGEST_QUESTION => {
                    size += question.len();
                    asking.push(Asking {
                        name: planned.call.name.clone().into_owned(),
                        arguments: planned.arguments.clone(),
                        question,
                    });
                    steps.push(&mut planned.step);
                }
                Ok(Some(_)) => {
                    let message = "the question to the user is too long: make fewer calls at once, or shorter ones";
                    planned.step = Step::Failed(message.to_owned());
                }
                Err(message) => planned.step = Step::Failed(message),
            }
        }
        if asking.is_empty() {
            return (asking, Permission::Unasked);
        }
        let decision = self.consent.decide(&asking);
        if decision == Permission::Refused {
            for step in steps {
                *step = Step::Failed("the user refused this call".to_owned());
            }
        }
        (asking, decision)
    }

    /// Ends the turn with a question.
    async fn confirm(
        self,
        asking: &[Asking],
        decision: Permission,
        reply: Reply<P>,
    ) -> Result<(), AgentError> {
        for held in self.held.into_iter().flatten() {
            // Runs and reasoning may have anything that makes the answer to the question void.
            if let Held::Text(text) = held {
                reply.text(plain_text(&text)).await?;
            }
        }
        let question = consent::question(asking);
        let asked = match decision {
            Permission::Uncounted(verdict) => reply.ask_again(verdict, question).await,
            _ => reply.confirm(question),
        };
        Ok(asked?)
    }

    /// Runs calls, shows them, and returns their results.
    async fn results(
        &mut self,
        plan: Vec<Planned<'t, 'a>>,
        reply: &Reply<P>,
    ) -> Result<Vec<(Call<'static>, PromptResult<'static>)>, AgentError> {
        let mut runs: Vec<(usize, Run<'a>)> = Vec::new();
        let mut calls: Vec<_> = Vec::with_capacity(plan.len());
        for (at, planned) in plan.into_iter().enumerate() {
            let Planned {
                call,
                arguments,
                step,
            } = planned;
            let mut result = PromptResult::new(call.id.clone().unwrap_or_default());
            let failed = match step {
                Step::Run(tool) => match tool.start(&arguments) {
                    Ok(run) => {
                        let id = call.id.as_deref();
                        runs.push((at, Box::pin(execute_tool(tool.name(), id, run))));
                        None
                    }
                    Err(message) => Some(message),
                },
                Step::Failed(message) => Some(message),
                Step::Left(message) => {
                    (result.text, result.failed) = (message.into(), true);
                    None
                }
            };
            if let Some(message) = failed {
                let outcome = Err(AgentError::new(message));
                self.show(&call, &arguments, outcome, &mut result, reply)
                    .await?;
            }
            calls.push((call, arguments, result));
        }
        let mut runs = Runs::new(runs, self.tools.parallel);
        while let Some((at, outcome)) = runs.next().await {
            if let Some((call, arguments, result)) = calls.get_mut(at) {
                self.show(call, arguments, outcome, result, reply).await?;
            }
        }
        let calls = calls.into_iter();
        Ok(calls.map(|(call, _, result)| (call, result)).collect())
    }

    /// Shows the run of a call, and writes its outcome to its result.
    async fn show(
        &mut self,
        call: &Call<'static>,
        arguments: &Json,
        outcome: Outcome,
        result: &mut PromptResult<'static>,
        reply: &Reply<P>,
    ) -> Result<(), AgentError> {
        let name = &*call.name;
        let run = match outcome {
            Ok(contents) => {
                (result.text, result.files) = contents.text_and_files();
                let names = result.files.iter().map(|file| match file.name.as_deref() {
                    Some(name) => format!("\n(file {name})"),
                    None => "\n(a file)".to_owned(),
                });
                let shown = format!("{}{}", result.text, names.collect::<String>());
                // Data is shown as data.
                let data = Json::parse(shown.clone()).ok();
                let data = data.filter(|it| matches!(it.kind(), Kind::Object | Kind::Array));
                match data {
                    Some(data) => ToolRun::new(name, arguments, &data)?,
                    None => ToolRun::new(name, arguments, shown.trim_start())?,
                }
            }
            Err(error) => {
                #[cfg(feature = "tracing")]
                if let Some(cause) = error.cause() {
                    tracing::warn!(
                        target: spans::TARGET,
                        tool = name,
                        error = %OneLine(cause),
                        location = %error.location(),
                        "tool failed"
                    );
                }
                let message = match error.message() {
                    // It is written for the end of a turn.
                    AgentError::DEFAULT => "the tool failed",
                    message => message,
                };
                (result.text, result.failed) = (message.to_owned().into(), true);
                ToolRun::failed(name, arguments, message)?
            }
        };
        match &mut self.held {
            Some(held) => held.push(Held::Run(run)),
            None => reply.tool_run(run).await?,
        }
        Ok(())
    }

    /// Sends the output that was not sent.
    async fn release(&mut self, reply: &Reply<P>) -> Result<(), AgentError> {
        for held in self.held.take().into_iter().flatten() {
            match held {
                Held::Text(text) => reply.text(text).await?,
                Held::Reasoning(text) => reply.reasoning(text).await?,
                Held::Run(run) => reply.tool_run(run).await?,
            }
        }
        Ok(())
    }
}
