//! `wire acp`: a model, or an agent elsewhere, inside an editor.

use std::collections::HashMap;
use std::process::Stdio;
use std::sync::Arc;

use clap::Args;
use copilot_wire::protocol::{
    AgentError, Confirmation, Conversation as _, Env, ModelFault, Verdict as Consent,
};
use copilot_wire::{Agent, Reply, Request, async_trait};
use copilot_wire_acp::{Acp, Program, Server};
use copilot_wire_kit::{AnyFrontEnd, Effect, Kit, Next, Setup, ToolOutcome};
use http::HeaderMap;
use http::header::CONTENT_TYPE;
use tokio::process::Command;
use tokio::sync::Mutex;

use crate::cli::any;
use crate::client::Client;
use crate::header::Headers;
use crate::serve::{Model, UpstreamSettings};
use crate::verdict::{Failure, Verdict};

/// The maximum number of turns of the agent elsewhere for one prompt.
const TURNS: usize = 50;

/// The maximum size in bytes of the text in which a source is looked for.
const LONGEST: usize = 1024 * 1024;

/// The options of `wire acp`.
#[derive(Args, Debug)]
pub(crate) struct Options {
    #[command(flatten)]
    upstream: UpstreamSettings,
    /// The name of a model at the upstream; may be given several times, for a choice in the editor. In a name such as
    /// 'claude-*' the star stands for any characters, and all models that the upstream lists are meant. By default: all
    /// models that the upstream lists
    #[arg(long = "model", value_name = "NAME")]
    models: Vec<String>,
    /// The URL of an agent, in place of a model: it is asked as its front end asks
    // With the name by which the options of `wire serve` know what replaces them.
    #[arg(
        long = "endpoint",
        id = "config",
        value_name = "URL",
        conflicts_with = "UpstreamSettings",
        requires = "protocol"
    )]
    endpoint: Option<String>,
    /// The protocol of the agent at --endpoint
    #[arg(long, short, value_parser = any, requires = "config")]
    protocol: Option<Kit>,
    #[command(flatten)]
    headers: Headers,
}

/// Serves until the editor closes standard input.
pub(crate) fn run(options: &Options) -> Result<Verdict, Failure> {
    if let (Some(url), Some(kit)) = (&options.endpoint, options.protocol) {
        let remote = Remote {
            client: Client::new(url, options.headers.map()?)?,
            kit,
            model: options.models.first().cloned(),
            sessions: Mutex::default(),
        };
        return serve(Server::new(remote));
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let place = |name: &str| format!("--{name}");
    let listed = runtime.block_on(options.upstream.models(&options.models, &place))?;
    // With a client of their own: a connection of the first one ends with this runtime.
    let names: Vec<_> = listed.iter().map(|model| model.name.clone()).collect();
    let models = runtime.block_on(options.upstream.models(&names, &place))?;
    let mut server = Server::new(Models(models.clone()));
    for model in &models {
        server = server.model(&model.name, &model.name);
    }
    serve(server)
}

/// Starts an agent, to be checked. It ends with the endpoint.
pub(crate) fn start(command: &str) -> Result<Program, Failure> {
    let mut words = command.split_whitespace();
    let program = words.next().unwrap_or_default();
    let started = Command::new(program)
        .args(words)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn();
    let mut child = started.map_err(|error| Failure::new(format!("{program}: {error}")))?;
    match (child.stdin.take(), child.stdout.take()) {
        (Some(input), Some(output)) => Ok(Program::new(input, output)),
        _ => Err(Failure::new(format!("{program}: no pipes"))),
    }
}

fn serve<A: Agent<Acp> + 'static>(server: Server<A>) -> Result<Verdict, Failure> {
    let server = server.name("wire", "wire", env!("CARGO_PKG_VERSION"));
    server.stdio()?;
    Ok(Verdict::Clean)
}

/// Models, of which the user chooses one.
struct Models(Vec<Arc<Model>>);

#[async_trait]
impl Agent<Acp> for Models {
    async fn answer(&self, request: Request<Acp>, reply: Reply<Acp>) -> Result<(), AgentError> {
        let chosen = request.model.as_deref();
        let model = self.0.iter().find(|model| Some(&*model.name) == chosen);
        let model = model.or_else(|| self.0.first());
        let model = model.ok_or_else(|| AgentError::new("There is no model."))?;
        model.answer(request, reply).await
    }
}

/// An agent elsewhere, which is asked as its front end asks.
struct Remote {
    client: Client,
    kit: Kit,
    model: Option<String>,
    /// The front end of each session, which keeps the conversation.
    sessions: Mutex<HashMap<String, Arc<Mutex<Talk>>>>,
}

/// One conversation.
struct Talk {
    front: Box<dyn AnyFrontEnd>,
    question: Option<Confirmation>,
}

impl Remote {
    async fn talk(&self, session: &str) -> Result<Arc<Mutex<Talk>>, AgentError> {
        let mut sessions = self.sessions.lock().await;
        if let Some(talk) = sessions.get(session) {
            return Ok(Arc::clone(talk));
        }
        let list = (self.kit.models)(self.client.path().unwrap_or(self.kit.path));
        let model = match (&self.model, list) {
            (None, Some(list)) => {
                let listed = self.client.models(&list).await;
                listed.and_then(|models| models.into_iter().next())
            }
            (model, _) => model.clone(),
        };
        let mut setup = Setup::default();
        setup.model = model;
        setup.conversation_id = Some(Env::default().uuid());
        let front = (self.kit.front_end)(&setup)
            .map_err(|_| AgentError::new("The front end of the agent cannot be emulated."))?;
        let question = None;
        let talk = Arc::new(Mutex::new(Talk { front, question }));
        sessions.insert(session.to_owned(), Arc::clone(&talk));
        Ok(talk)
    }

    /// Sends the next request of a conversation, and passes the answer on.
    async fn turn(&self, talk: &mut Talk, reply: &Reply<Acp>) -> Result<(), AgentError> {
        let mut request = talk.front.request();
        if let Some(path) = self.client.path() {
            *request.uri_mut() = path.parse()?;
        }
        let mut answer = self.client.send(request).await.map_err(|error| {
            let message = ModelFault::NoAnswer.to_string().replace("model", "agent");
            AgentError::from(error).user_message(message)
        })?;
        if !answer.status().is_success() || !is_stream(answer.headers(), &self.kit) {
            let status = answer.status().as_u16();
            let message = format!("The agent at the endpoint refused the request ({status}).");
            return Err(AgentError::new(message));
        }
        let (mut text, mut sources) = (String::new(), Vec::new());
        while let Some(bytes) = answer.chunk().await? {
            let mut bytes: &[u8] = &bytes;
            while let Some(effects) = talk.front.read(&mut bytes)? {
                for effect in effects {
                    match effect {
                        Effect::Citation(source) => sources.push(source),
                        effect => {
                            if text.len() < LONGEST {
                                text.push_str(effect.text().unwrap_or_default());
                            }
                            pass(effect, reply).await?;
                        }
                    }
                }
            }
        }
        // Some protocols send a source as an event, and as text for the others.
        sources.retain(|source| !text.contains(&source.title));
        for source in sources {
            reply.cite(source).await?;
        }
        Ok(())
    }
}

fn is_stream(headers: &HeaderMap, kit: &Kit) -> bool {
    let kind = headers
        .get(CONTENT_TYPE)
        .and_then(|kind| kind.to_str().ok());
    let essence = kind.unwrap_or_default().split(';').next();
    let essence = essence.unwrap_or_default().trim();
    essence.eq_ignore_ascii_case(kit.framing.content_type())
}

async fn pass(effect: Effect, reply: &Reply<Acp>) -> Result<(), AgentError> {
    match effect {
        Effect::Text(text) => reply.text(text).await?,
        Effect::Reasoning(text) => reply.reasoning(text).await?,
        Effect::Status(status) => reply.status(status).await?,
        Effect::ToolRun(run) => reply.tool_run(run).await?,
        Effect::Table(table) | Effect::Chart(table) => reply.table(table).await?,
        Effect::Usage(usage) => reply.usage(usage).await?,
        Effect::Error(notice) => reply.error(notice).await?,
        // What has no form in an editor.
        _ => {}
    }
    Ok(())
}

#[async_trait]
impl Agent<Acp> for Remote {
    async fn answer(&self, request: Request<Acp>, reply: Reply<Acp>) -> Result<(), AgentError> {
        let talk = self.talk(&request.session_id.0).await?;
        let mut talk = talk.lock().await;
        let asked = talk.question.take();
        match (request.decision(), asked) {
            (Some(answer), Some(question)) if answer.verdict != Consent::Other => {
                let accepted = answer.verdict == Consent::Accepted;
                talk.front.decide(&question, accepted);
            }
            _ => talk.front.prompt(&request.prompt().unwrap_or_default()),
        }
        for _ in 0..TURNS {
            self.turn(&mut talk, &reply).await?;
            match talk.front.next() {
                Next::Question(question) if !question.title.is_empty() => {
                    talk.question = Some(question.clone());
                    return Ok(reply.confirm(question)?);
                }
                Next::Calls(calls) => {
                    let failed = |_| ToolOutcome::failed("the tool is not available in the editor");
                    talk.front.answer(calls.iter().map(failed).collect());
                }
                Next::Broken(why) => {
                    return Err(AgentError::new(format!("The answer broke off: {why}.")));
                }
                // A question in text is a part of the answer, and the user's next prompt its answer.
                _ => return Ok(()),
            }
        }
        Err(AgentError::new("The agent calls tools again and again."))
    }
}
