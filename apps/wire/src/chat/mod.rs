//! `wire chat`: any agent, in the terminal.

mod answers;
mod lines;
mod table;
mod talk;
mod undo;
mod voice;

use std::fmt::Display;
use std::path::Path;

use bytes::Bytes;
use copilot_wire::json::Json;
use copilot_wire::protocol::Env;
use copilot_wire_kit::{Kit, Setup};
use http::HeaderMap;

use crate::cli::Chat as Options;
use crate::client::Client;
use crate::key;
use crate::screen::Screen;
use crate::verdict::{Failure, Verdict};
use answers::Answers;
use lines::Lines;
use talk::Talk;
use undo::Undo;
use voice::Voice;

/// Runs a conversation until the input ends.
pub(crate) async fn run(options: &Options, screen: &mut Screen) -> Result<Verdict, Failure> {
    let mut client = Client::new(&options.url, options.headers.map()?)?;
    if client.path().is_some() {
        // A failed connection is reported when the first message is sent.
        let _ = client.resolve(&HeaderMap::new()).await;
    }
    let answers = Answers::read(options.answer.as_deref())?;
    let kit = options.protocol;
    let request = options.request()?;
    let find = |names: &[&str]| answers.find(names.iter().copied());
    let mut setup = Setup::default();
    setup.model = options.model(kit, request.as_ref(), &client).await;
    setup.workspace = Some(options.workspace.clone());
    // A new id for each run: with a fixed id, agents that store conversations would mix up the runs.
    setup.conversation_id = Some(Env::default().uuid());
    setup.data = Some(&find);
    setup.request = request;
    let begin = || (kit.front_end)(&setup).map_err(|error| options.unreadable(&error));
    let signer = match &options.key {
        Some(path) => Some(key::signer(kit, path)?),
        None => None,
    };
    let talk = Talk {
        front: Undo::new(&begin)?,
        client: &client,
        framing: kit.framing,
        signer,
        answers: &answers,
        decision: (options.yes || options.no).then_some(options.yes),
        lines: Lines::new(options.message.is_none()),
        voice: Voice::new(screen),
        verdict: Verdict::Clean,
        left: 0,
    };
    match &options.message {
        Some(text) => talk.once(text).await,
        None => talk.run().await,
    }
}

impl Options {
    /// Returns the recorded request, if there is one.
    fn request(&self) -> Result<Option<Bytes>, Failure> {
        let read = |path| std::fs::read(path).map_err(|error| self.unreadable(&error));
        Ok(self
            .request
            .as_ref()
            .map(read)
            .transpose()?
            .map(Bytes::from))
    }

    /// Reports that the recorded request cannot be read.
    fn unreadable(&self, what: &dyn Display) -> Failure {
        let path = self.request.as_deref().unwrap_or_else(|| Path::new("-"));
        Failure::new(format!("{}: {what}", path.display()))
    }

    /// Returns the model named by the options or by the recorded request, or else the first model that the server
    /// lists.
    async fn model(&self, kit: Kit, request: Option<&Bytes>, client: &Client) -> Option<String> {
        let recorded = || {
            let request = Json::parse(request?.clone()).ok()?;
            Some(request.get("model")?.string()?.into_owned())
        };
        let asked = self.model.clone().or_else(recorded);
        match asked.filter(|model| !model.is_empty()) {
            Some(model) => Some(model),
            None => {
                let list = (kit.models)(client.path().unwrap_or(kit.path))?;
                client.models(&list).await?.into_iter().next()
            }
        }
    }
}
