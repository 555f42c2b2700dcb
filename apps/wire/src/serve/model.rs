//! The agent of `wire serve`: a model at its server.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::Bytes;
use copilot_wire::anthropic::Anthropic;
use copilot_wire::json::{Json, Kind, Members};
use copilot_wire::models::{
    Dialect as _, Passthrough, Profile, Relay, RelayError, refused, retry_after, server_message,
};
use copilot_wire::openai::OpenAi;
use copilot_wire::protocol::{AgentError, ModelFault, Protocol};
use copilot_wire::responses::Responses;
use copilot_wire::{Agent, Reply, Request, async_trait};
use http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_TYPE, HeaderName};
use http::{HeaderMap, HeaderValue, StatusCode};
use reqwest::redirect::Policy;
use reqwest::{Response, Url};
use tokio::time::{Instant, sleep, timeout, timeout_at};

use super::dialect::{Dialect, Speech};
use super::log::Facts;
use super::order::Upstreams;
use crate::client::ClientError;

/// The maximum number of bytes of an error's body that are read.
const LONGEST_ERROR: usize = 64 * 1024;

/// The maximum size in bytes of a list of models.
const LONGEST_LIST: usize = 16 * 1024 * 1024;

/// The time limit for an error's body; then the part that has arrived is used.
const ERROR: Duration = Duration::from_secs(5);
/// The maximum number of pages of a list of models.
const PAGES: usize = 100;

/// The time limit for the list of models.
const LISTING: Duration = Duration::from_secs(60);

/// The time limit for a count of tokens; then the client gets an estimate.
const COUNTING: Duration = Duration::from_secs(10);

/// The time limit for the bytes after the end of an answer; then the connection is closed.
const LAST: Duration = Duration::from_secs(1);

/// The headers that continue a caller's trace in the server.
const TRACE: [&str; 2] = ["traceparent", "tracestate"];

/// A server of models.
pub(super) struct ModelServer {
    dialect: Dialect,
    client: reqwest::Client,
    /// The client for documents, with the time limit of a whole answer only.
    patient: reqwest::Client,
    endpoint: Url,
    list: Url,
    headers: HeaderMap,
    profile: Profile,
    retries: u32,
    limits: Limits,
    /// Set if the log shall have the server's sentences.
    log_messages: bool,
    key: Option<String>,
    /// Set once the server has refused to count tokens.
    never_counts: AtomicBool,
}

/// The time limits of a server.
#[derive(Clone, Copy)]
pub(super) struct Limits {
    /// The maximum time without a byte.
    pub(super) silence: Duration,
    /// The maximum time before the first output of the model, including repeated requests.
    pub(super) first_output: Duration,
    /// The maximum time for a complete answer, including repeated requests.
    pub(super) answer: Duration,
}

/// A model that answers requests of every front end.
pub(crate) struct Model {
    pub(crate) name: String,
    instructions: Option<String>,
    pub(super) upstreams: Upstreams<Named>,
    dialect: Dialect,
}

/// A server with the name of the model there.
pub(super) struct Named {
    pub(super) server: Arc<ModelServer>,
    pub(super) model: String,
}

impl ModelServer {
    /// Creates a server from its base URL or the URL of its endpoint.
    pub(super) fn new(
        dialect: Dialect,
        url: &str,
        key: Option<&str>,
        retries: u32,
        limits: Limits,
        log_messages: bool,
    ) -> Result<Self, String> {
        let (path, (header, scheme), fixed) = match dialect {
            Dialect::Chat => (OpenAi::PATH, OpenAi::KEY, OpenAi::HEADERS),
            Dialect::Responses => (Responses::PATH, Responses::KEY, Responses::HEADERS),
            Dialect::Messages => (Anthropic::PATH, Anthropic::KEY, Anthropic::HEADERS),
        };
        let base = Url::parse(url).ok().filter(Url::has_host);
        let base = base.filter(|url| matches!(url.scheme(), "http" | "https"));
        let base = base.ok_or("it must begin with http:// or https:// and have a host")?;
        let root = base.path().trim_end_matches('/');
        let root = match root.strip_suffix(path) {
            Some(root) => root,
            None if root.is_empty() => "/v1",
            None => root,
        };
        let at = |path: &str| {
            // The query is kept, because some servers read their API version from it.
            let mut url = base.clone();
            url.set_path(&format!("{root}{path}"));
            url
        };
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        for (name, value) in fixed {
            headers.insert(*name, HeaderValue::from_static(value));
        }
        if let Some(key) = key {
            let value = HeaderValue::try_from(format!("{scheme}{key}"));
            let mut value = value.map_err(|_| "the key has characters that no header can have")?;
            value.set_sensitive(true);
            headers.insert(header, value);
        }
        let client = |patience| {
            let client = client(base.scheme() == "http", patience);
            client.map_err(|error| ClientError::from(error).to_string())
        };
        Ok(Self {
            dialect,
            client: client(limits.silence)?,
            patient: client(limits.answer)?,
            endpoint: at(path),
            list: at("/models"),
            headers,
            profile: Profile::default(),
            retries,
            limits,
            log_messages,
            key: key.map(str::to_owned),
            never_counts: AtomicBool::new(false),
        })
    }

    /// Returns the profile of the server, if it is known by its host or by its list of models.
    pub(super) fn known(&self, list: Option<&Json>) -> Profile {
        let (host, port) = (self.endpoint.host_str(), self.endpoint.port());
        let port = port.map(|port| format!(":{port}")).unwrap_or_default();
        Profile::of(&format!("{}{port}", host.unwrap_or_default()), list)
    }

    /// Sets the profile, with the headers of each request.
    pub(super) fn set_profile(&mut self, profile: Profile) -> Result<(), String> {
        profile.check()?;
        for (name, value) in &profile.headers {
            let header = HeaderName::try_from(name).ok();
            let header = header.zip(HeaderValue::try_from(value).ok());
            self.headers
                .extend(header.map(|(name, value)| (Some(name), value)));
        }
        self.profile = profile;
        Ok(())
    }

    /// Requests the names of the server's models. Returns them with the first page of the list.
    pub(super) async fn models(&self) -> Result<(Vec<String>, Json), String> {
        let listed = timeout(LISTING, self.list()).await;
        listed.unwrap_or_else(|_| {
            let seconds = LISTING.as_secs();
            Err(format!("it has not listed its models within {seconds} s"))
        })
    }

    /// Requests the pages of the list, and returns each name once, and the first page.
    async fn list(&self) -> Result<(Vec<String>, Json), String> {
        let mut first = None;
        let mut names: Vec<String> = Vec::new();
        let mut known = HashSet::new();
        let mut after = None;
        for _ in 0..PAGES {
            let page = self.page(after.as_deref()).await?;
            first.get_or_insert_with(|| page.clone());
            // OpenAI's form is an object; some servers send the bare list.
            let models = match page.kind() {
                Kind::Array => page.clone(),
                _ => page.get("data").unwrap_or_default(),
            };
            let ids = models.elements();
            let ids = ids.filter_map(|model| Some(model.get("id")?.string()?.into_owned()));
            let count = names.len();
            names.extend(ids.filter(|id| known.insert(id.clone())));
            let has_more = page.get("has_more").and_then(|more| more.as_bool());
            // A page without a new name would be followed by the same pages again.
            if has_more != Some(true) || names.len() == count {
                break;
            }
            let last = page.get("last_id");
            let last = last.and_then(|id| Some(id.string()?.into_owned()));
            after = last.or_else(|| names.last().cloned());
        }
        match names.is_empty() {
            true => Err("it lists no models".to_owned()),
            false => Ok((names, first.unwrap_or_default())),
        }
    }

    /// Requests a page of the list, from the first name behind `after` on.
    async fn page(&self, after: Option<&str>) -> Result<Json, String> {
        let mut url = self.list.clone();
        if let Some(after) = after {
            let name = match self.dialect {
                Dialect::Messages => "after_id",
                Dialect::Chat | Dialect::Responses => "after",
            };
            url.query_pairs_mut().append_pair(name, after);
        }
        let request = self.client.get(url).headers(self.headers.clone());
        let answer = request.send().await;
        let answer = answer.map_err(|error| ClientError::from(error).to_string())?;
        if answer.status() != StatusCode::OK {
            return Err(format!(
                "its list of models has the status {}",
                answer.status().as_u16()
            ));
        }
        let mut body = Vec::new();
        read(answer, LONGEST_LIST, &mut body).await;
        Ok(Json::parse(body).unwrap_or_default())
    }

    /// Notes the server's sentence for the log, without the key, if the log shall have it.
    fn noted(&self, error: AgentError, facts: &Facts) -> AgentError {
        if self.log_messages {
            facts.failed(server_message(&error, self.key.as_deref()));
        }
        error
    }

    /// Returns the time limit of an answer.
    fn limit(&self, has_output: bool) -> Duration {
        match has_output {
            true => self.limits.answer,
            false => self.limits.first_output.min(self.limits.answer),
        }
    }

    /// Returns the reason for an answer that exceeded its time limit.
    fn late(&self, has_output: bool) -> String {
        let limit = self.limit(has_output);
        let done = match limit == self.limits.answer {
            true => "ended",
            false => "begun",
        };
        format!("the answer has not {done} within {} s", limit.as_secs())
    }

    /// Sends a request, repeats it if the refusal allows that, and returns the successful response.
    async fn send<U: Speech>(
        &self,
        client: &reqwest::Client,
        body: Bytes,
        headers: HeaderMap,
        facts: &Facts,
    ) -> Result<Response, AgentError> {
        let mut attempt = 0;
        loop {
            let request = client.post(self.endpoint.clone());
            let request = request.headers(headers.clone()).body(body.clone());
            let answer = request.send().await;
            let answer =
                answer.map_err(|error| fault(ModelFault::NoAnswer, ClientError::from(error)))?;
            let status = answer.status();
            facts.answered(status);
            if status == StatusCode::OK {
                return match answer.headers().get(CONTENT_ENCODING) {
                    Some(encoding) if encoding != "identity" => {
                        let why = "it has a content-encoding that was not asked for";
                        Err(fault(ModelFault::NotAnAnswer, why))
                    }
                    _ => Ok(answer),
                };
            }
            let wait = retry_after(status, answer.headers(), attempt);
            match wait.filter(|_| attempt < self.retries) {
                Some(wait) => {
                    drop(answer);
                    sleep(wait).await;
                    attempt += 1;
                }
                None => {
                    let (headers, mut body) = (answer.headers().clone(), Vec::new());
                    let reading = read(answer, LONGEST_ERROR, &mut body);
                    let _ = timeout(ERROR, reading).await;
                    return Err(refused::<U>(status, &headers, &body));
                }
            }
        }
    }
}

/// Returns `true` if a request offers tools that the server of the model runs itself.
fn runs_tools(body: Bytes) -> bool {
    let body = Json::parse(body).unwrap_or_default();
    let tools = body.get("tools").unwrap_or_default();
    let is_theirs = |tool: Json| {
        let kind = tool.get("type");
        let kind = kind.as_ref().and_then(Json::string);
        kind.is_some_and(|kind| !matches!(&*kind, "function" | "custom"))
    };
    body.get("mcp_servers").is_some() || tools.elements().any(is_theirs)
}

/// Creates the HTTP client. `patience` limits the time without a byte, not the time of an answer.
fn client(is_plain: bool, patience: Duration) -> reqwest::Result<reqwest::Client> {
    // A second installation in one process fails without effect.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut builder = reqwest::Client::builder()
        .user_agent(concat!("wire/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(patience.min(Duration::from_secs(30)))
        .read_timeout(patience)
        // Many servers close an idle connection after five seconds, and a request sent at that moment would fail.
        .pool_idle_timeout(Duration::from_secs(4))
        // A redirect would send the key to another server.
        .redirect(Policy::none());
    if is_plain {
        // Plain HTTP needs no certificates, and the system may have none.
        builder = builder.tls_certs_only([]);
    }
    builder.build()
}

/// Appends a body to `body`, approximately up to a limit in bytes.
async fn read(mut answer: Response, limit: usize, body: &mut Vec<u8>) {
    while body.len() <= limit {
        match answer.chunk().await {
            Ok(Some(bytes)) => body.extend_from_slice(&bytes),
            _ => break,
        }
    }
}

impl Model {
    /// Creates a model of upstreams of one dialect.
    pub(super) fn new(
        name: &str,
        instructions: Option<String>,
        dialect: Dialect,
        upstreams: Upstreams<Named>,
    ) -> Self {
        Self {
            name: name.to_owned(),
            instructions,
            upstreams,
            dialect,
        }
    }

    /// Returns the request to a server, and its headers.
    fn prompt<U: Speech, P: Protocol>(
        &self,
        server: &ModelServer,
        model: &str,
        request: &Request<P>,
    ) -> (U::Request, HeaderMap) {
        let mut prompt = server.profile.ask::<U, P>(request);
        model.clone_into(U::model(&mut prompt));
        if let Some(text) = &self.instructions {
            prompt = U::instruct(prompt, text);
        }
        let mut headers = server.headers.clone();
        let passed = U::PASSED.filter(|_| P::NAME == U::NAME);
        for name in TRACE.into_iter().chain(passed) {
            for value in request.headers().get_all(name) {
                headers.append(name, value.clone());
            }
        }
        (prompt, headers)
    }

    /// Asks the first server for the number of tokens of a request. `None` if it does not count.
    async fn count<U: Speech, P: Protocol>(
        &self,
        request: Request<P>,
    ) -> Result<Option<u64>, AgentError> {
        let counts = |named: &&Named| !named.server.never_counts.load(Ordering::Relaxed);
        let first = self.upstreams.first().filter(counts);
        let Some(((path, read_members), Named { server, model })) = U::COUNT.zip(first) else {
            return Ok(None);
        };
        let facts = Facts::of(request.extensions());
        facts.asked(&self.name);
        let (mut prompt, headers) = self.prompt::<U, P>(server, model, &request);
        let body = Relay::<U>::new().profile(&server.profile).body(&mut prompt);
        let body = Json::parse(body)?;
        let is_read = |(name, _): &(Cow<'_, str>, Json)| read_members.contains(&&**name);
        let members: Members = body.members().filter(is_read).collect();
        let mut url = server.endpoint.clone();
        url.set_path(&format!("{}{path}", url.path()));
        let request = server.client.post(url).headers(headers);
        let members = Json::encode(&members)?;
        let request = request.body(members.as_bytes().clone());
        let counting = async {
            let answer = request.send().await;
            let answer =
                answer.map_err(|error| fault(ModelFault::NoAnswer, ClientError::from(error)))?;
            let (status, headers) = (answer.status(), answer.headers().clone());
            facts.answered(status);
            let mut body = Vec::new();
            read(answer, LONGEST_ERROR, &mut body).await;
            let document = Json::parse(body.clone()).unwrap_or_default();
            let error = document.get("error").map(|error| error.kind());
            // With an error of its dialect the server has the path, and does not know a model or an item.
            if matches!(status.as_u16(), 405 | 501) || status == 404 && error != Some(Kind::Object)
            {
                server.never_counts.store(true, Ordering::Relaxed);
                return Ok(None);
            }
            if status != StatusCode::OK {
                return Err(server.noted(refused::<U>(status, &headers, &body), &facts));
            }
            let count = document.get("input_tokens").and_then(|it| it.as_u64());
            let missing = || fault(ModelFault::NotAnAnswer, "it has no number of tokens");
            count.map(Some).ok_or_else(missing)
        };
        let late = |_| {
            Err(fault(
                ModelFault::NoAnswer,
                "the count has not arrived in time",
            ))
        };
        timeout(COUNTING, counting).await.unwrap_or_else(late)
    }

    async fn relay<U: Speech, P: Protocol>(
        &self,
        request: Request<P>,
        reply: Reply<P>,
    ) -> Result<(), AgentError> {
        let mut passthrough = Passthrough::<U, P>::new(&request, reply);
        let facts = Facts::of(request.extensions());
        facts.asked(&self.name);
        let mut order = self.upstreams.order().peekable();
        let mut request = Some(request);
        let (at, server, begin, mut answer) = loop {
            let begin = Instant::now();
            let (Some((at, Named { server, model })), Some(of)) = (order.next(), &request) else {
                return Err(fault(ModelFault::NoAnswer, "there is no server"));
            };
            passthrough = passthrough.profile(&server.profile);
            let (mut prompt, headers) = self.prompt::<U, P>(server, model, of);
            let body = passthrough.body(&mut prompt);
            drop(prompt);
            let is_last = order.peek().is_none();
            if is_last {
                // It may have megabytes, and the answer may need minutes.
                request = None;
            }
            // A document comes in one piece, after as long as the whole answer may take.
            let is_document = passthrough.wants_document();
            let client = match is_document {
                true => &server.patient,
                false => &server.client,
            };
            let end = begin + server.limit(is_document);
            let sent = server.send::<U>(client, body.clone(), headers, &facts);
            let sent = timeout_at(end, sent).await;
            let late = |_| Err(fault(ModelFault::NoAnswer, server.late(is_document)));
            match sent.unwrap_or_else(late) {
                Ok(answer) => break (at, server, begin, answer),
                Err(error) => {
                    // Nothing was sent to the front end yet. A server that may run tools may have run them.
                    let is_transient = self.upstreams.failed(at, &error);
                    let may_repeat = error.class() == "busy" || !runs_tools(body);
                    if !is_transient || is_last || !may_repeat {
                        return Err(server.noted(error, &facts));
                    }
                }
            }
        };
        passthrough.headers(answer.headers());
        let mut broken = None;
        while !passthrough.is_over() {
            // A stream of comments or keep-alives would have no other end.
            let has_output = passthrough.has_output();
            let end = begin + server.limit(has_output);
            match timeout_at(end, answer.chunk()).await {
                Ok(Ok(Some(_))) if Instant::now() > end => broken = Some(server.late(has_output)),
                Ok(Ok(Some(bytes))) if has_output => {
                    let written = passthrough.write(&bytes).await;
                    written.map_err(|error| server.noted(error.into(), &facts))?;
                    continue;
                }
                // Before the output a write may wait for the head of the response, which waits for the output.
                Ok(Ok(Some(bytes))) => match timeout_at(end, passthrough.write(&bytes)).await {
                    Ok(written) => {
                        written.map_err(|error| server.noted(early(error), &facts))?;
                        continue;
                    }
                    Err(_) => broken = Some(server.late(has_output)),
                },
                Ok(Ok(None)) => {}
                Ok(Err(error)) => broken = Some(ClientError::from(error).to_string()),
                Err(_) => broken = Some(server.late(has_output)),
            }
            break;
        }
        if passthrough.is_over() {
            // A connection can be used again only if its response was read to the end.
            tokio::spawn(async move { drop(timeout(LAST, answer.chunk()).await) });
        }
        let has_output = passthrough.has_output();
        let ended = passthrough.end().await;
        ended.map_err(|error| match (error, broken) {
            (RelayError::Truncated, Some(why)) => fault(ModelFault::Truncated, why),
            (error, _) if has_output => server.noted(error.into(), &facts),
            (error, _) => {
                let error = early(error);
                // It is asked later next time.
                self.upstreams.failed(at, &error);
                server.noted(error, &facts)
            }
        })
    }
}

#[async_trait]
impl<P: Protocol> Agent<P> for Model {
    async fn answer(&self, request: Request<P>, reply: Reply<P>) -> Result<(), AgentError> {
        match self.dialect {
            Dialect::Chat => self.relay::<OpenAi, P>(request, reply).await,
            Dialect::Responses => self.relay::<Responses, P>(request, reply).await,
            Dialect::Messages => self.relay::<Anthropic, P>(request, reply).await,
        }
    }

    async fn count_tokens(&self, request: Request<P>) -> Result<Option<u64>, AgentError> {
        match self.dialect {
            Dialect::Chat => self.count::<OpenAi, P>(request).await,
            Dialect::Responses => self.count::<Responses, P>(request).await,
            Dialect::Messages => self.count::<Anthropic, P>(request).await,
        }
    }

    fn is_gateway(&self) -> bool {
        let name = match self.dialect {
            Dialect::Chat => OpenAi::NAME,
            Dialect::Responses => Responses::NAME,
            Dialect::Messages => Anthropic::NAME,
        };
        P::NAME == name
    }
}

/// Returns the failure of an answer before its output, which clients may repeat if the server is busy.
fn early(error: RelayError) -> AgentError {
    let error = AgentError::from(error);
    match error.class() {
        "busy" => error.retryable(),
        _ => error,
    }
}

/// A failure of a server, with its cause for the log.
#[derive(Debug)]
struct Fault {
    cause: String,
    fault: ModelFault,
}

fn fault(fault: ModelFault, cause: impl fmt::Display) -> AgentError {
    let cause = cause.to_string();
    AgentError::from(Fault { cause, fault })
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "upstream: {}", self.cause)
    }
}

impl std::error::Error for Fault {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.fault)
    }
}
