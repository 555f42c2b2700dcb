//! One connection with an editor.

use std::collections::HashMap;
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex};

use agent_client_protocol::schema::ProtocolVersion;
use agent_client_protocol::v1::schema as v1;
use agent_client_protocol::v1::schema::{SessionId, SessionUpdate};
use agent_client_protocol::{
    Error, RawJsonRpcId, RawJsonRpcMessage, RawJsonRpcNotification, RawJsonRpcRequest,
    RawJsonRpcResponse, TransportFrame,
};
use bytes::Bytes;
use copilot_wire::conversations::RecordError;
use copilot_wire::protocol::date_time;
use copilot_wire::{Agent, Body, Request};
use futures_core::Stream as _;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::io::AsyncRead;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use crate::Acp;
use crate::editor::{Editor, Hello, lock};
use crate::event::{response_line, update_line};
use crate::lines::{LONGEST, Line, Lines};
use crate::prompt::{self, Cancelled, Prompt, invalid, plain};
use crate::record::Recorder;
use crate::server::Settings;
use crate::session::{Running, Session, State};
use crate::workspace::Workspace;

/// The maximum number of open sessions.
const MOST: usize = 1000;

/// The number of sessions in one page of the list.
const PAGE: usize = 100;

/// The maximum number of characters in a title.
const TITLE: usize = 80;

/// The id of the option that chooses a model.
const MODEL: &str = "model";

/// One connection.
pub(crate) struct Connection<A> {
    agent: Arc<A>,
    settings: Arc<Settings>,
    editor: Editor,
    out: mpsc::Sender<Bytes>,
    sessions: HashMap<Arc<str>, Arc<Session>>,
    turns: JoinSet<()>,
}

/// The reason why a connection ends: the editor does not read any more.
struct Closed;

impl<A: Agent<Acp> + 'static> Connection<A> {
    pub(crate) fn new(agent: Arc<A>, settings: Arc<Settings>, out: mpsc::Sender<Bytes>) -> Self {
        Self {
            agent,
            settings,
            editor: Editor::new(Some(out.clone())),
            out,
            sessions: HashMap::new(),
            turns: JoinSet::new(),
        }
    }

    /// Answers messages until the input ends, or the output is closed.
    pub(crate) async fn run(&mut self, input: impl AsyncRead + Unpin) -> io::Result<()> {
        let mut lines = Lines::new(input);
        loop {
            let line = tokio::select! {
                line = lines.next() => line?,
                () = self.out.closed() => return Ok(()),
                // Turns that have ended.
                Some(_) = self.turns.join_next() => continue,
            };
            let answered = match line {
                None => return Ok(()),
                Some(Line::Text(line)) => self.line(&line).await,
                Some(Line::TooLong) => {
                    let why = format!("a message has at most {LONGEST} bytes");
                    let error = Error::new(-32600, why);
                    self.respond(RawJsonRpcId::Null, Err(error)).await
                }
            };
            if answered.is_err() {
                return Ok(());
            }
        }
    }

    /// Cancels all turns, and waits until they are stored: what the user saw is a part of the session.
    pub(crate) async fn end(mut self) {
        for session in self.sessions.values() {
            session.cancel(Cancelled::Session, |_| true);
        }
        while self.turns.join_next().await.is_some() {}
    }

    async fn send(&self, line: Vec<u8>) -> Result<(), Closed> {
        self.out.send(line.into()).await.map_err(|_| Closed)
    }

    async fn respond(&self, id: RawJsonRpcId, result: Result<Value, Error>) -> Result<(), Closed> {
        self.send(response_line(id, result)).await
    }

    async fn line(&mut self, line: &[u8]) -> Result<(), Closed> {
        if line.trim_ascii().is_empty() {
            return Ok(());
        }
        let Ok(text) = std::str::from_utf8(line) else {
            let error = Error::new(-32700, "a message is UTF-8");
            return self.respond(RawJsonRpcId::Null, Err(error)).await;
        };
        match TransportFrame::parse_json(text) {
            TransportFrame::Single(RawJsonRpcMessage::Request(request)) => {
                self.request(request).await
            }
            TransportFrame::Single(RawJsonRpcMessage::Notification(notification)) => {
                self.notified(&notification);
                Ok(())
            }
            TransportFrame::Single(RawJsonRpcMessage::Response(response)) => {
                match response {
                    RawJsonRpcResponse::Result { id, result } => {
                        self.editor.respond(&id, Ok(result));
                    }
                    RawJsonRpcResponse::Error { id, error } => {
                        let error = Error::new(error.code, error.message);
                        self.editor.respond(&id, Err(error));
                    }
                }
                Ok(())
            }
            TransportFrame::Malformed { error, .. } => self.malformed(text, error).await,
            _ => Ok(()),
        }
    }

    /// Answers what is no message, with its id if that can be read.
    async fn malformed(&self, text: &str, error: Error) -> Result<(), Closed> {
        let value: Value = serde_json::from_str(text).unwrap_or_default();
        let has = |name| value.get(name).is_some();
        if !has("method") && (has("result") || has("error")) {
            // A response: nothing is answered to it.
            return Ok(());
        }
        let id = value.get("id").cloned().unwrap_or_default();
        let id = serde_json::from_value(id).unwrap_or(RawJsonRpcId::Null);
        // Without the data, which repeats the message.
        let code = i32::from(error.code);
        let message = match &value {
            Value::Array(_) => "batches are not supported".to_owned(),
            _ => error.message,
        };
        self.respond(id, Err(Error::new(code, message))).await
    }

    fn notified(&self, notification: &RawJsonRpcNotification) {
        let params = notification.params.clone().map(|it| it.into_value());
        let params = params.unwrap_or_default();
        // Others are extensions, and mean nothing here.
        match &*notification.method {
            "session/cancel" => {
                let id = params.get("sessionId").and_then(Value::as_str);
                if let Some(session) = id.and_then(|id| self.sessions.get(id)) {
                    session.cancel(Cancelled::Session, |_| true);
                }
            }
            "$/cancel_request" => {
                let id = params.get("requestId").cloned().unwrap_or_default();
                let Ok(id) = serde_json::from_value::<RawJsonRpcId>(id) else {
                    return;
                };
                let is_meant = |running: &Running| running.id == id;
                self.sessions
                    .values()
                    .any(|session| session.cancel(Cancelled::Request, is_meant));
            }
            _ => {}
        }
    }

    async fn request(&mut self, request: RawJsonRpcRequest) -> Result<(), Closed> {
        let RawJsonRpcRequest { id, method, params } = request;
        let params = params.map(|params| params.into_value());
        let params = params.unwrap_or_else(|| Value::Object(serde_json::Map::new()));
        let result = match &*method {
            "initialize" => self.initialize(params),
            "session/new" => return self.create(id, params).await,
            "session/load" => self.load(params, true).await,
            "session/resume" => self.load(params, false).await,
            "session/list" => self.list(params).await,
            "session/close" => self.close(params).await,
            "session/delete" => self.delete(params).await,
            "session/prompt" => return self.prompt(id, params).await,
            "session/set_config_option" => self.configure(params),
            // There are none.
            "session/set_mode" => Err(invalid("modeId", "unknown mode")),
            "authenticate" => Err(invalid("methodId", "no authentication is needed")),
            _ => {
                let name: String = method.chars().take(TITLE).collect();
                Err(Error::new(-32601, format!("unknown method: {name}")))
            }
        };
        self.respond(id, result).await
    }

    fn initialize(&self, params: Value) -> Result<Value, Error> {
        let request: v1::InitializeRequest = read(params)?;
        self.editor.greet(Hello {
            capabilities: request.client_capabilities,
            info: request.client_info,
        });
        let prompts = v1::PromptCapabilities::new()
            .image(true)
            .audio(true)
            .embedded_context(true);
        let sessions = v1::SessionCapabilities::new()
            .list(v1::SessionListCapabilities::new())
            .resume(v1::SessionResumeCapabilities::new())
            .close(v1::SessionCloseCapabilities::new())
            .delete(v1::SessionDeleteCapabilities::new())
            .additional_directories(v1::SessionAdditionalDirectoriesCapabilities::new());
        let capabilities = v1::AgentCapabilities::new()
            .load_session(true)
            .prompt_capabilities(prompts)
            .mcp_capabilities(v1::McpCapabilities::new().http(true).sse(true))
            .session_capabilities(sessions);
        // The only version that is not a draft, whatever the editor asked for.
        let response = v1::InitializeResponse::new(ProtocolVersion::V1)
            .agent_capabilities(capabilities)
            .agent_info(self.settings.info.clone());
        write(&response)
    }

    async fn create(&mut self, id: RawJsonRpcId, params: Value) -> Result<(), Closed> {
        let session = match self.open(params).await {
            Ok(session) => session,
            Err(error) => return self.respond(id, Err(error)).await,
        };
        let response = v1::NewSessionResponse::new(SessionId::new(Arc::clone(&session.id)))
            .config_options(self.options(&session));
        self.respond(id, write(&response)).await?;
        self.offer_commands(&session.id).await
    }

    /// Creates a session and stores it.
    async fn open(&mut self, params: Value) -> Result<Arc<Session>, Error> {
        let request: v1::NewSessionRequest = read(params)?;
        let workspace = Workspace::new(
            request.cwd,
            request.additional_directories,
            request.mcp_servers,
        )?;
        self.has_room()?;
        let id: Arc<str> = self.settings.env.uuid().into();
        let created = self.settings.sessions.create(&id, &workspace).await;
        created.map_err(store)?;
        Ok(self.add(id, workspace, State::default()))
    }

    fn has_room(&self) -> Result<(), Error> {
        match self.sessions.len() < MOST {
            true => Ok(()),
            false => Err(Error::new(
                -32603,
                format!("more than {MOST} open sessions"),
            )),
        }
    }

    fn add(&mut self, id: Arc<str>, workspace: Workspace, state: State) -> Arc<Session> {
        let model = self.settings.models.first();
        let session = Arc::new(Session {
            id: Arc::clone(&id),
            turn: Arc::default(),
            state: Mutex::new(State {
                workspace: Arc::new(workspace),
                model: model.map(|(id, _)| Arc::clone(id)),
                ..state
            }),
        });
        self.sessions.insert(id, Arc::clone(&session));
        session
    }

    /// Tells the editor the commands of the agent.
    async fn offer_commands(&self, session: &str) -> Result<(), Closed> {
        let commands = &self.settings.commands;
        if commands.is_empty() {
            return Ok(());
        }
        let update = v1::AvailableCommandsUpdate::new(commands.clone());
        let update = SessionUpdate::AvailableCommandsUpdate(update);
        self.send(update_line(session, update)).await
    }

    /// Opens a session that is stored, or was opened before.
    async fn reopen(
        &mut self,
        id: &SessionId,
        workspace: Workspace,
    ) -> Result<Arc<Session>, Error> {
        if let Some(session) = self.sessions.get(&*id.0) {
            let mut state = lock(&session.state);
            if state.running.is_some() {
                return Err(busy());
            }
            state.workspace = Arc::new(workspace);
            drop(state);
            return Ok(Arc::clone(session));
        }
        self.has_room()?;
        let loaded = self.settings.sessions.load(&id.0).await.map_err(store)?;
        let (info, turns) = loaded.ok_or_else(unknown)?;
        let state = State {
            history: turns.into_iter().map(Arc::new).collect(),
            info: info.unwrap_or_default(),
            ..State::default()
        };
        Ok(self.add(Arc::clone(&id.0), workspace, state))
    }

    /// Opens a session, and shows it from the beginning if it `is_loaded`.
    async fn load(&mut self, params: Value, is_loaded: bool) -> Result<Value, Error> {
        // The parameters and the results of both methods are the same.
        let request: v1::LoadSessionRequest = read(params)?;
        let workspace = Workspace::new(
            request.cwd,
            request.additional_directories,
            request.mcp_servers,
        )?;
        let session = self.reopen(&request.session_id, workspace).await?;
        let history = match is_loaded {
            true => lock(&session.state).history.clone(),
            false => Vec::new(),
        };
        for update in history.iter().flat_map(|record| record.replay()) {
            // If the output is closed, the connection ends with the response.
            let _ = self.send(update_line(&session.id, update)).await;
        }
        let _ = self.offer_commands(&session.id).await;
        write(&v1::LoadSessionResponse::new().config_options(self.options(&session)))
    }

    async fn list(&self, params: Value) -> Result<Value, Error> {
        let request: v1::ListSessionsRequest = read(params)?;
        let from = match request.cursor {
            None => 0,
            Some(cursor) => cursor
                .parse::<u32>()
                .map_err(|_| invalid("cursor", "not one of this agent"))?
                as usize,
        };
        let mut all = self.settings.sessions.list().await.map_err(store)?;
        if let Some(cwd) = request.cwd {
            all.retain(|session| session.cwd == cwd);
        }
        let next = from + PAGE;
        let is_more = all.len() > next;
        let page: Vec<_> = all.into_iter().skip(from).take(PAGE).collect();
        let response = v1::ListSessionsResponse::new(page);
        write(&response.next_cursor(is_more.then(|| next.to_string())))
    }

    async fn close(&mut self, params: Value) -> Result<Value, Error> {
        let request: v1::CloseSessionRequest = read(params)?;
        let session = self.sessions.remove(&*request.session_id.0);
        session.ok_or_else(unknown)?.stop().await;
        write(&v1::CloseSessionResponse::new())
    }

    async fn delete(&mut self, params: Value) -> Result<Value, Error> {
        let request: v1::DeleteSessionRequest = read(params)?;
        if let Some(session) = self.sessions.remove(&*request.session_id.0) {
            lock(&session.state).is_deleted = true;
            session.stop().await;
        }
        let deleted = self.settings.sessions.delete(&request.session_id.0).await;
        match deleted.map_err(store)? {
            true => write(&v1::DeleteSessionResponse::new()),
            false => Err(unknown()),
        }
    }

    /// Returns the options of a session: the model, if there are several.
    fn options(&self, session: &Session) -> Option<Vec<v1::SessionConfigOption>> {
        let models = &self.settings.models;
        let model = lock(&session.state).model.clone()?;
        if models.len() < 2 {
            return None;
        }
        let choice = |(id, name): &(Arc<str>, String)| {
            v1::SessionConfigSelectOption::new(Arc::clone(id), name.clone())
        };
        let choices: Vec<_> = models.iter().map(choice).collect();
        let option = v1::SessionConfigOption::select(MODEL, "Model", model, choices);
        Some(vec![
            option.category(v1::SessionConfigOptionCategory::Model),
        ])
    }

    fn configure(&self, params: Value) -> Result<Value, Error> {
        let request: v1::SetSessionConfigOptionRequest = read(params)?;
        let session = self.sessions.get(&*request.session_id.0);
        let session = session.ok_or_else(unknown)?;
        if &*request.config_id.0 != MODEL || self.options(session).is_none() {
            return Err(invalid("configId", "unknown option"));
        }
        let value = request.value.as_value_id().map(|value| &*value.0);
        let mut models = self.settings.models.iter().map(|(id, _)| id);
        let model = models.find(|model| Some(&***model) == value);
        let model = model.ok_or_else(|| invalid("value", "unknown model"))?;
        lock(&session.state).model = Some(Arc::clone(model));
        let options = self.options(session).unwrap_or_default();
        write(&v1::SetSessionConfigOptionResponse::new(options))
    }

    async fn prompt(&mut self, id: RawJsonRpcId, params: Value) -> Result<(), Closed> {
        match self.begin(&id, params) {
            Ok(turn) => {
                self.turns.spawn(turn);
                Ok(())
            }
            Err(error) => self.respond(id, Err(error)).await,
        }
    }

    /// Begins a turn, and returns the task that answers it.
    fn begin(
        &self,
        id: &RawJsonRpcId,
        params: Value,
    ) -> Result<impl Future<Output = ()> + Send + use<A>, Error> {
        let request: v1::PromptRequest = read(params)?;
        let session = self.sessions.get(&*request.session_id.0);
        let session = Arc::clone(session.ok_or_else(unknown)?);
        let running = Arc::clone(&session.turn).try_lock_owned();
        let running = running.map_err(|_| busy())?;
        let mut state = lock(&session.state);
        let env = &self.settings.env;
        let workspace = Arc::clone(&state.workspace);
        let mut prompt = Prompt::new(id.clone(), request, workspace, self.editor.clone());
        prompt.model.clone_from(&state.model);
        prompt.history.clone_from(&state.history);
        let mut recorder = Recorder::new(prompt.prompt.clone());
        let is_new = state.info.title.is_empty();
        if is_new {
            state.info.title = title(&prompt::text(&prompt.prompt));
        }
        state.info.updated = date_time(env.unix_time());
        let shown = v1::SessionInfoUpdate::new()
            .title(state.info.title.clone())
            .updated_at(state.info.updated.clone());
        let turn = Arc::clone(&prompt.turn);
        let body = Body::run(Arc::clone(&self.agent), Request::new(prompt), env);
        let canceller = body.canceller();
        state.running = Some(Running {
            id: id.clone(),
            turn,
            cancel: Arc::new(move || canceller.iter().for_each(|turn| turn.cancel())),
        });
        drop(state);
        let (out, settings, id) = (self.out.clone(), Arc::clone(&self.settings), id.clone());
        Ok(async move {
            if is_new {
                let shown = SessionUpdate::SessionInfoUpdate(shown);
                // If the output is closed, so it is for the answer.
                let _ = out.send(update_line(&session.id, shown).into()).await;
            }
            let last = pass(body, &mut recorder, &out).await;
            session.record(&settings, recorder).await;
            lock(&session.state).running = None;
            // The editor's next message may be a prompt of this session.
            drop(running);
            let last = last.unwrap_or_else(|| {
                let error = Error::new(-32603, "the answer broke off");
                response_line(id, Err(error)).into()
            });
            let _ = out.send(last).await;
        })
    }
}

/// Sends a reply except for its last frame, which is returned. `None` if the output is closed, or the reply was
/// dropped.
async fn pass(mut body: Body, recorder: &mut Recorder, out: &mpsc::Sender<Bytes>) -> Option<Bytes> {
    loop {
        let frame = poll_fn(|cx| Pin::new(&mut body).poll_next(cx))
            .await?
            .ok()?;
        if recorder.push(&frame) {
            return Some(frame);
        }
        // An editor that does not read holds the agent: it is polled only after its frame was accepted.
        out.send(frame).await.ok()?;
    }
}

/// Reads the parameters of a request.
fn read<T: DeserializeOwned>(params: Value) -> Result<T, Error> {
    serde_path_to_error::deserialize(params).map_err(|error| {
        let place = match error.path().to_string().as_str() {
            "." => "params".to_owned(),
            path => format!("params.{path}"),
        };
        invalid(&place, plain(error.inner()))
    })
}

fn write<T: Serialize>(result: &T) -> Result<Value, Error> {
    serde_json::to_value(result).map_err(|_| Error::new(-32603, "the result is not JSON"))
}

fn busy() -> Error {
    Error::new(-32600, "sessionId: a prompt of this session is running")
}

fn unknown() -> Error {
    Error::new(-32002, "sessionId: unknown session")
}

fn store(error: RecordError) -> Error {
    let message = match error {
        RecordError::Full => "the store of sessions is full",
        _ => "the store of sessions does not answer",
    };
    Error::new(-32603, message)
}

/// Returns the first line of a prompt, shortened.
fn title(prompt: &str) -> String {
    let line = prompt.lines().map(str::trim).find(|line| !line.is_empty());
    let line = line.unwrap_or("Untitled");
    match line.char_indices().nth(TITLE) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default().trim_end()),
        None => line.to_owned(),
    }
}
