//! The settings of `wire serve`: options of the command line, or a file.

use std::collections::HashSet;
use std::fmt::Display;
use std::fs;
use std::net::SocketAddr;
use std::num::{NonZeroU32, NonZeroU64};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use copilot_wire::models::Profile;
use copilot_wire::router::{Cors, Keys};
use http::HeaderValue;
use reqwest::Url;
use serde::Deserialize;

use super::dialect::Dialect;
use super::model::{Limits, Model, ModelServer, Named};
use super::order::Upstreams;
use crate::verdict::Failure;

/// The options of `wire serve`.
#[derive(Args, Debug)]
pub(crate) struct Options {
    /// Read everything from this TOML file, and again on SIGHUP; see the example below
    #[arg(long, value_name = "FILE", conflicts_with_all = ["ServerSettings", "UpstreamSettings"])]
    pub(super) config: Option<PathBuf>,
    #[command(flatten)]
    server: ServerSettings,
    #[command(flatten)]
    upstream: UpstreamSettings,
    /// The name of a model at the upstream; may be given several times. In a name such as 'claude-*' the star stands for
    /// any characters, and all models that the upstream lists are meant. Front ends that name no model get the first
    /// one. By default: all models that the upstream lists
    #[arg(long = "model", value_name = "NAME", conflicts_with = "config")]
    models: Vec<String>,
}

/// The settings of the server: options, or the table `[server]`.
#[derive(Args, Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct ServerSettings {
    /// The address to listen on; other machines are served only with --keys-env [default: 127.0.0.1:7777]
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<SocketAddr>,
    /// The environment variable with the keys of the callers: `user=key,user=key`. Callers send `Authorization: Bearer
    /// KEY` or `X-API-Key: KEY`. Without this option everyone on this machine is served
    #[arg(long, value_name = "NAME")]
    keys_env: Option<String>,
    /// Let the first model also answer requests for any other name, which otherwise get 404: coding clients request
    /// models of their own choice for small tasks
    #[arg(long)]
    pub(super) catch_all: bool,
    /// Let answers continue when their client disconnects, so that the client can resume them; kept in memory
    #[arg(long)]
    pub(super) resumable: bool,
    /// An origin whose web pages may call the server, such as https://chat.example.com; may be given several times. The
    /// OpenBB Workspace is always allowed
    #[arg(long, value_name = "ORIGIN")]
    origin: Vec<String>,
    /// The maximum number of turns at a time; further requests get 503 [default: 256]
    #[arg(long, value_name = "N")]
    turns: Option<usize>,
    /// The maximum number of turns that each user may begin in a minute; further requests get 429 [default: no limit]
    #[arg(long, value_name = "N")]
    pub(super) per_minute: Option<u32>,
    /// The number of tokens that each user may spend on a day of UTC, counted in memory; further requests get 429, and an
    /// answer that has begun ends [default: no limit]
    #[arg(long, value_name = "N")]
    pub(super) tokens_per_day: Option<u64>,
}

/// The settings of a model's server: options, or members of `[[models]]`.
#[derive(Args, Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct UpstreamSettings {
    /// The name by which clients request the model.
    #[arg(skip)]
    name: Option<String>,
    /// The name of the model at the upstream, if it is different.
    #[arg(skip)]
    model: Option<String>,
    /// The base URL of the model's server, such as https://api.openai.com/v1, or the URL of its endpoint; `/v1` is
    /// added to a URL without a path
    #[arg(long, value_name = "URL", required_unless_present = "config")]
    upstream: Option<String>,
    /// The dialect of the model's server
    #[arg(long, value_enum, required_unless_present = "config")]
    dialect: Option<Dialect>,
    /// The provider or the software of the upstream, such as Mistral or vLLM, if it is not recognized by its host, or by
    /// its list of models
    #[arg(long, value_name = "NAME")]
    provider: Option<String>,
    /// Write what the upstream says about a failure into the log. It may repeat words of users
    #[arg(long)]
    #[serde(default)]
    log_upstream: bool,
    /// The share of turns that begin with this upstream, if the model has several.
    #[arg(skip)]
    weight: Option<NonZeroU32>,
    /// The upstreams that are asked in this order if one does not accept the request, in the same dialect.
    #[arg(skip)]
    #[serde(default)]
    next: Vec<Self>,
    /// The environment variable with the key for the upstream
    #[arg(long, value_name = "NAME")]
    key_env: Option<String>,
    /// Instructions that are inserted before those of the client
    #[arg(long, value_name = "TEXT")]
    instructions: Option<String>,
    /// The maximum number of times that a request is repeated if the upstream refuses it as busy (429, 503, 529) and
    /// its `retry-after` allows it; never after the first output [default: 0]
    #[arg(long, value_name = "N")]
    retries: Option<u32>,
    /// The time in seconds without a byte after which the upstream has failed [default: 300]
    #[arg(long, value_name = "SECONDS")]
    timeout: Option<NonZeroU64>,
    /// The time in seconds within which the model's first output must arrive; keep-alives are none [default: 600]
    #[arg(long, value_name = "SECONDS")]
    first_output_timeout: Option<NonZeroU64>,
    /// The time in seconds within which an answer must end [default: 3600]
    #[arg(long, value_name = "SECONDS")]
    answer_timeout: Option<NonZeroU64>,
    /// Read for errors with their line only: the fields that are not set are those of the known server.
    #[arg(skip)]
    #[serde(default, rename = "profile")]
    _profile: Profile,
}

/// A file of settings.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    server: ServerSettings,
    models: Vec<UpstreamSettings>,
}

/// The tables of profiles, with only those members that are set.
#[derive(Deserialize)]
struct Tables {
    models: Vec<ModelTables>,
}

#[derive(Deserialize)]
struct ModelTables {
    #[serde(default)]
    profile: toml::Table,
    #[serde(default)]
    next: Vec<Self>,
}

/// The models to be served, and how.
pub(super) struct Plan {
    pub(super) server: ServerSettings,
    /// The origins of web pages that may call the server.
    pub(super) cors: Cors,
    /// The users and their keys; `None` if everybody on this machine is served.
    pub(super) keys: Option<Keys>,
    /// The models. The first one answers front ends that do not name a model.
    pub(super) models: Vec<Arc<Model>>,
}

impl Options {
    /// Reads the settings. If no model is named, requests the list of models from the upstream.
    pub(super) async fn plan(&self) -> Result<Plan, Failure> {
        let Some(path) = &self.config else {
            let option = |name: &str| format!("--{name}");
            let mut plan = self.server.plan(&option)?;
            plan.models = self.upstream.models(&self.models, &option).await?;
            return Ok(plan);
        };
        let failed = |why: &dyn Display| Failure::new(format!("{}: {why}", path.display()));
        let text = fs::read_to_string(path).map_err(|error| failed(&error))?;
        let file: File = toml::from_str(&text).map_err(|error| {
            let before = error.span().and_then(|span| text.get(..span.start));
            let line = before.map_or(1, |before| before.matches('\n').count() + 1);
            failed(&format_args!("line {line}: {}", error.message()))
        })?;
        // The fields that are set, which are valid.
        let tables: Tables = toml::from_str(&text).map_err(|error| failed(&error.message()))?;
        let mut plan = file
            .server
            .plan(&|name| format!("{}: server.{name}", path.display()))?;
        for (at, (settings, table)) in file.models.iter().zip(tables.models).enumerate() {
            let place = |name: &str| format!("{}: models[{at}].{name}", path.display());
            let missing = |name| move || Failure::new(format!("{}: it is missing", place(name)));
            let name = settings.name.as_ref().ok_or_else(missing("name"))?;
            if plan.models.iter().any(|model| model.name == *name) {
                let place = place("name");
                return Err(Failure::new(format!("{place}: another model has it")));
            }
            plan.models
                .push(Arc::new(settings.chain(name, table, &place)?));
        }
        if plan.models.is_empty() {
            return Err(failed(&"models: there is none"));
        }
        Ok(plan)
    }
}

/// A function that returns a setting's name, as an option or in the file.
type Place<'a> = &'a (dyn Fn(&str) -> String + Sync);

impl ServerSettings {
    /// Returns a plan without models.
    fn plan(&self, place: Place<'_>) -> Result<Plan, Failure> {
        let keys = match &self.keys_env {
            Some(name) => {
                let keys = variable(name, &place("keys-env"))?.parse();
                let form = || {
                    format!(
                        "{}: {name} must be like user=key,user=key",
                        place("keys-env")
                    )
                };
                Some(keys.map_err(|_| Failure::new(form()))?)
            }
            None if !self.listen().ip().is_loopback() => {
                let why = "other machines are served only with keys: set keys-env";
                return Err(Failure::new(format!("{}: {why}", place("listen"))));
            }
            None => None,
        };
        let mut cors = Cors::default();
        for text in &self.origin {
            let is_origin =
                |url: &Url| url.has_host() && url.origin().ascii_serialization() == *text;
            let origin = Url::parse(text).ok().filter(is_origin);
            let origin = origin.and_then(|_| HeaderValue::from_str(text).ok());
            let why = "it must be like https://chat.example.com, without a path";
            cors = cors.allow(
                origin
                    .ok_or_else(|| Failure::new(format!("{}: {text}: {why}", place("origin"))))?,
            );
        }
        let server = self.clone();
        Ok(Plan {
            server,
            cors,
            keys,
            models: Vec::new(),
        })
    }

    pub(super) fn listen(&self) -> SocketAddr {
        let default = SocketAddr::from(([127, 0, 0, 1], 7777));
        self.listen.unwrap_or(default)
    }

    pub(super) fn turns(&self) -> usize {
        self.turns.unwrap_or(256)
    }
}

impl UpstreamSettings {
    /// Returns the models with these names. Without names, requests the list of models from the upstream.
    pub(crate) async fn models(
        &self,
        names: &[String],
        place: Place<'_>,
    ) -> Result<Vec<Arc<Model>>, Failure> {
        let mut server = self.server(place, toml::Table::new())?;
        let is_listed = names.is_empty() || names.iter().any(|name| name.contains('*'));
        let names = match is_listed {
            true => {
                let listed = server.models().await;
                let (listed, list) = listed.map_err(|why| {
                    Failure::new(format!(
                        "--upstream: no list of models, so name a model with --model: {why}"
                    ))
                })?;
                if self.provider.is_none() {
                    let known = server.known(Some(&list));
                    server.set_profile(known).map_err(Failure::new)?;
                }
                match names {
                    [] => listed,
                    names => chosen(names, &listed)?,
                }
            }
            false => names.to_vec(),
        };
        let server = Arc::new(server);
        let dialect = self.dialect(place)?;
        let model = |name: String| {
            let (server, model) = (Arc::clone(&server), name.clone());
            let upstreams = Upstreams::new([(Named { server, model }, None)]);
            let instructions = self.instructions.clone();
            Arc::new(Model::new(&name, instructions, dialect, upstreams))
        };
        // A list may have a name twice.
        let mut known = HashSet::new();
        let names = names.into_iter().filter(|name| known.insert(name.clone()));
        Ok(names.map(model).collect())
    }

    /// Creates the model of a file, with all its upstreams.
    fn chain(&self, name: &str, table: ModelTables, place: Place<'_>) -> Result<Model, Failure> {
        let failed = |place: String, why: &str| Err(Failure::new(format!("{place}: {why}")));
        let dialect = self.dialect(place)?;
        let mut upstreams = Vec::new();
        let all = std::iter::once((self, table.profile));
        let more = self.next.iter().zip(table.next);
        let all = all.chain(more.map(|(settings, table)| (settings, table.profile)));
        for (at, (settings, profile)) in all.enumerate() {
            let inner = |name: &str| match at {
                0 => place(name),
                at => place(&format!("next[{}].{name}", at - 1)),
            };
            if settings.weight.is_some() != self.weight.is_some() {
                let why = "all upstreams of a model have one, or none";
                return failed(inner("weight"), why);
            }
            if at > 0 && settings.dialect(&inner)? != dialect {
                return failed(inner("dialect"), "it must be that of the first upstream");
            }
            if at > 0 && (settings.name.is_some() || settings.instructions.is_some()) {
                return failed(
                    inner("name"),
                    "name and instructions are those of the model",
                );
            }
            if at > 0 && !settings.next.is_empty() {
                return failed(
                    inner("next"),
                    "only the first upstream has others behind it",
                );
            }
            let server = Arc::new(settings.server(&inner, profile)?);
            let model = settings.model.clone().or_else(|| self.model.clone());
            let model = model.unwrap_or_else(|| name.to_owned());
            upstreams.push((Named { server, model }, settings.weight));
        }
        let instructions = self.instructions.clone();
        Ok(Model::new(
            name,
            instructions,
            dialect,
            Upstreams::new(upstreams),
        ))
    }

    fn dialect(&self, place: Place<'_>) -> Result<Dialect, Failure> {
        let missing = || Failure::new(format!("{}: it is missing", place("dialect")));
        self.dialect.ok_or_else(missing)
    }

    /// Creates the server. Its profile is that of the known server, with the members of `profile`.
    fn server(&self, place: Place<'_>, profile: toml::Table) -> Result<ModelServer, Failure> {
        let missing = |name| move || Failure::new(format!("{}: it is missing", place(name)));
        let key = self.key_env.as_ref().map(|name| {
            let place = place("key-env");
            let key = variable(name, &place)?;
            let why = "has characters that no header can have";
            match HeaderValue::from_str(&key) {
                Ok(_) => Ok(key),
                Err(_) => Err(Failure::new(format!("{place}: {name} {why}"))),
            }
        });
        let server = ModelServer::new(
            self.dialect(place)?,
            self.upstream.as_ref().ok_or_else(missing("upstream"))?,
            key.transpose()?.as_deref(),
            self.retries.unwrap_or_default(),
            Limits {
                silence: seconds(self.timeout, 300),
                first_output: seconds(self.first_output_timeout, 600),
                answer: seconds(self.answer_timeout, 3600),
            },
            self.log_upstream,
        );
        let mut server =
            server.map_err(|why| Failure::new(format!("{}: {why}", place("upstream"))))?;
        let known = match &self.provider {
            None => server.known(None),
            Some(name) => Profile::named(name).ok_or_else(|| {
                let known: Vec<_> = Profile::names().collect();
                let place = place("provider");
                Failure::new(format!("{place}: must be one of {}", known.join(", ")))
            })?,
        };
        let known = toml::Table::try_from(known).map_err(Failure::new)?;
        let all = known.into_iter().chain(profile).collect::<toml::Table>();
        let all = all.try_into().map_err(Failure::new)?;
        let set = server.set_profile(all);
        set.map_err(|why| Failure::new(format!("{}.{why}", place("profile"))))?;
        Ok(server)
    }
}

/// Returns the names, and the listed ones that are like those with a `*`, each of which must match one.
fn chosen(names: &[String], listed: &[String]) -> Result<Vec<String>, Failure> {
    let mut chosen = Vec::new();
    for name in names {
        let like = listed.iter().filter(|listed| is_like(listed, name));
        let count = chosen.len();
        match name.contains('*') {
            true => chosen.extend(like.cloned()),
            false => chosen.push(name.clone()),
        }
        if chosen.len() == count {
            let why = "the upstream lists no such model";
            return Err(Failure::new(format!("--model: {name}: {why}")));
        }
    }
    Ok(chosen)
}

/// Returns `true` if a name is like a pattern, in which `*` stands for any characters.
fn is_like(name: &str, pattern: &str) -> bool {
    let (first, rest) = pattern.split_once('*').unwrap_or((pattern, ""));
    let (middle, last) = rest.rsplit_once('*').unwrap_or(("", rest));
    let name = name.strip_prefix(first);
    let Some(mut name) = name.and_then(|name| name.strip_suffix(last)) else {
        return false;
    };
    middle.split('*').all(|part| {
        let rest = name.split_once(part).map(|(_, rest)| rest);
        name = rest.unwrap_or_default();
        rest.is_some()
    })
}

/// Returns a time limit, at most a year: a later time may not be representable.
fn seconds(set: Option<NonZeroU64>, default: u64) -> Duration {
    let seconds = set.map_or(default, NonZeroU64::get);
    Duration::from_secs(seconds.min(365 * 24 * 3600))
}

/// Returns the value of an environment variable. Errors do not show the value.
fn variable(name: &str, place: &str) -> Result<String, Failure> {
    let value = std::env::var(name).ok().filter(|value| !value.is_empty());
    value.ok_or_else(|| Failure::new(format!("{place}: the environment has no {name}")))
}
