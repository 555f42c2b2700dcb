//! `wire chat`: any agent, in the terminal.

mod answers;
mod lines;
mod table;
mod talk;
mod undo;
mod voice;

use std::fmt::Display;
use std::path::PathBuf;

use bytes::Bytes;
use clap::Args;
use copilot_wire::github::ChatRequest;
use copilot_wire::openbb::QueryRequest;
use copilot_wire::protocol::Env;
use copilot_wire::testing::{CopilotChat, FrontEnd, OpenAiClient, SearchChat};
use copilot_wire::{meilisearch, openai};

use crate::cli::Front;
use crate::client::Client;
use crate::header::Headers;
use crate::key;
use crate::screen::Screen;
use crate::verdict::{Failure, Verdict};
use answers::Answers;
use lines::Lines;
use talk::Talk;
use undo::Undo;
use voice::Voice;

/// The options of `wire chat`.
#[derive(Args, Debug)]
pub(crate) struct Options {
    /// The agent: a whole endpoint; or a server, or a path with a slash at its end, below which the
    /// usual path is taken
    url: String,
    /// The front end to play
    #[arg(long, short)]
    protocol: Front,
    /// Send this one message and exit
    #[arg(long, short, value_name = "TEXT")]
    message: Option<String>,
    /// Answers to calls: a JSON object of names (a tool, a function, a widget's id or name, or `*`)
    /// and what they give: a text, `{"error": "why"}`, or any data
    #[arg(long, value_name = "FILE")]
    answer: Option<PathBuf>,
    /// Begin with what this recorded request has: widgets, tools, options, messages, as far as the
    /// front end keeps them
    #[arg(long, value_name = "FILE")]
    request: Option<PathBuf>,
    /// Accept every confirmation
    #[arg(long, conflicts_with = "no")]
    yes: bool,
    /// Dismiss every confirmation
    #[arg(long)]
    no: bool,
    /// The model to ask for (openai, meilisearch)
    #[arg(long)]
    model: Option<String>,
    /// The workspace to talk in (meilisearch)
    #[arg(long, default_value = "default")]
    workspace: String,
    /// Sign requests with the test key in this file (github)
    #[arg(long, value_name = "FILE")]
    key: Option<PathBuf>,
    #[command(flatten)]
    headers: Headers,
}

/// Asked for where nothing says which model.
const MODEL: &str = "gpt-4o-mini";

/// Talks until there is nothing more to say.
pub(crate) async fn run(options: &Options, screen: &mut Screen) -> Result<Verdict, Failure> {
    let client = Client::new(&options.url, options.headers.map()?)?;
    let answers = Answers::read(options.answer.as_deref())?;
    match options.protocol {
        Front::Openbb => {
            let request = options.request(|body| QueryRequest::read(&body))?;
            let id = Env::default().uuid();
            let begin = || {
                answers
                    .dashboard(request.clone())
                    .conversation_id(id.clone())
            };
            options.talk(begin, &client, &answers, screen).await
        }
        Front::Github => {
            let request = options.request(|body| ChatRequest::parse(&body))?;
            let id = Env::default().uuid();
            let begin = || match options.request {
                Some(_) => CopilotChat::continuing(request.clone()),
                None => CopilotChat::new("agent").conversation_id(id.clone()),
            };
            options.talk(begin, &client, &answers, screen).await
        }
        Front::Openai => {
            let mut request = options.request(|body| openai::ChatRequest::read(&body))?;
            request.model = options.model(request.model, &client).await;
            let begin = || OpenAiClient::continuing(request.clone());
            options.talk(begin, &client, &answers, screen).await
        }
        Front::Meilisearch => {
            let request = options.request(|body| meilisearch::ChatRequest::read(&body))?;
            let begin = || {
                let front = match options.request {
                    Some(_) => SearchChat::continuing(&options.workspace, request.clone()),
                    None => SearchChat::new(&options.workspace),
                };
                match &options.model {
                    Some(model) => front.model(model),
                    None => front,
                }
            };
            options.talk(begin, &client, &answers, screen).await
        }
    }
}

impl Options {
    /// The recorded request, read; an empty one without a file.
    fn request<R: Default, E: Display>(
        &self,
        read: impl FnOnce(Bytes) -> Result<R, E>,
    ) -> Result<R, Failure> {
        let Some(path) = &self.request else {
            return Ok(R::default());
        };
        let wrong = |what: &dyn Display| Failure::new(format!("{}: {what}", path.display()));
        let body = std::fs::read(path).map_err(|error| wrong(&error))?;
        read(body.into()).map_err(|error| wrong(&error))
    }

    /// The model that was asked for, or the first one that the server lists.
    async fn model(&self, recorded: String, client: &Client) -> String {
        let asked = self.model.clone().or(Some(recorded));
        match asked.filter(|model| !model.is_empty()) {
            Some(model) => model,
            None => client
                .first_model()
                .await
                .unwrap_or_else(|| MODEL.to_owned()),
        }
    }

    async fn talk<F: FrontEnd>(
        &self,
        begin: impl Fn() -> F,
        client: &Client,
        answers: &Answers,
        screen: &mut Screen,
    ) -> Result<Verdict, Failure> {
        let signer = self.key.as_deref().map(key::signer).transpose()?;
        let decision = (self.yes || self.no).then_some(self.yes);
        let talk = Talk {
            front: Undo::new(begin),
            client,
            signer,
            answers,
            decision,
            lines: Lines::new(self.message.is_none()),
            voice: Voice::new(screen),
            verdict: Verdict::Clean,
        };
        match &self.message {
            Some(text) => talk.once(text).await,
            None => talk.run().await,
        }
    }
}
