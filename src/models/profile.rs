//! Profiles: what a server of models does otherwise than the provider of its dialect.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::mem;

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::json::{Json, Members, Wire};
use crate::protocol::Delta;

/// The servers that are known, each with the source of its profile.
const SERVERS: &str = include_str!("profiles.json");

/// The shortest name of a tool to which a profile may limit names: the end of a shortened name is 13 characters long.
const SHORTEST_NAME: usize = 16;

/// The reasoning of a message that has none, for servers that require some beside calls. Moonshot refuses an empty text.
#[allow(dead_code, reason = "one dialect has it")]
pub(crate) const NO_REASONING: &str = " ";

/// The deviations of a server of models from the provider of its dialect, as plain data.
///
/// The default changes only names of tools that no provider accepts. [`of`](Self::of) returns the profile of a known server, and each field can be read from
/// a file of settings. A [`Relay`](super::Relay) or a [`Passthrough`](super::Passthrough) with a profile applies it to
/// the body of the request, and undoes it in the answer. The guide has a table of the
/// [known servers](crate::guide::profiles).
///
/// ```
/// use copilot_wire::models::Profile;
///
/// let mut profile = Profile::of("api.mistral.ai", None);
/// assert_eq!(profile.token_limit.as_deref(), Some("max_tokens"));
/// profile.max_tokens = Some(4096);
/// assert_eq!(profile.check(), Ok(()));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[non_exhaustive]
pub struct Profile {
    /// The place of instructions.
    #[serde(skip_serializing_if = "is_default")]
    pub system: SystemPlace,
    /// The role in place of `developer`, such as `system`.
    #[serde(skip_serializing_if = "is_default")]
    pub developer: Option<String>,
    /// The name of the limit of tokens, if the dialect has several.
    #[serde(skip_serializing_if = "is_default")]
    pub token_limit: Option<String>,
    /// The limit of tokens of a request that has none.
    #[serde(skip_serializing_if = "is_default")]
    pub max_tokens: Option<u64>,
    /// The maximum length of a tool's name, at least 16. Names that are longer, have other characters than
    /// `[A-Za-z0-9_-]`, or do not begin with a letter or `_`, are replaced, and restored in the answer. It is 64 by
    /// default, which every provider accepts, except in a request that is passed on in its dialect.
    #[serde(skip_serializing_if = "is_default")]
    pub tool_names: Option<usize>,
    /// The length of a call's id, of letters and digits, from 8 to 64. Other ids are replaced.
    #[serde(skip_serializing_if = "is_default")]
    pub call_ids: Option<usize>,
    /// The maximum number of stop sequences. The others are left out.
    #[serde(skip_serializing_if = "is_default")]
    pub stops: Option<usize>,
    /// Set if a request must not have both: `top_p` is left out.
    #[serde(skip_serializing_if = "is_default")]
    pub temperature_or_top_p: bool,
    /// The member with the effort of reasoning, for a front end of another dialect. By default it is left out, because
    /// models without reasoning refuse it.
    #[serde(skip_serializing_if = "is_default")]
    pub effort: Option<Effort>,
    /// The member of the assistant's messages with reasoning.
    #[serde(skip_serializing_if = "is_default")]
    pub reasoning: ReasoningMember,
    /// Set if the server refuses messages with calls and without reasoning: a blank is sent for it.
    #[serde(skip_serializing_if = "is_default")]
    pub needs_reasoning: bool,
    /// The marks of what a provider shall cache.
    #[serde(skip_serializing_if = "is_default")]
    pub cache: CacheMarks,
    /// The setting for several calls in one answer.
    #[serde(skip_serializing_if = "is_default")]
    pub parallel_calls: Setting,
    /// The member `strict` of tools.
    #[serde(skip_serializing_if = "is_default")]
    pub strict: Setting,
    /// The names of messages' authors.
    #[serde(skip_serializing_if = "is_default")]
    pub authors: Setting,
    /// The members of a request that are left out.
    #[serde(skip_serializing_if = "is_default")]
    pub drop: Vec<String>,
    /// The only members that a request may have; all if it is empty.
    #[serde(skip_serializing_if = "is_default")]
    pub only: Vec<String>,
    /// The members of a request with another name, and that name.
    #[serde(skip_serializing_if = "is_default")]
    pub rename: BTreeMap<String, String>,
    /// Headers of each request, which the HTTP client must send.
    #[serde(skip_serializing_if = "is_default")]
    pub headers: BTreeMap<String, String>,
    /// Set if the server has no streams: a [`Passthrough`](super::Passthrough) then asks for a document.
    #[serde(skip_serializing_if = "is_default")]
    pub no_stream: bool,
}

/// The place of instructions in a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum SystemPlace {
    /// Where the front end has put them.
    #[default]
    Anywhere,
    /// Before everything else.
    First,
    /// One text before everything else, as the templates of many open models demand.
    One,
}

/// The form of an effort of reasoning in a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Effort {
    /// The text `reasoning_effort`, in chat completions.
    ReasoningEffort,
    /// The member `effort` of the object `reasoning`, in chat completions and Responses.
    Reasoning,
    /// The member `effort` of the object `output_config`, in Messages.
    OutputConfig,
}

/// The member of a message of chat completions with its reasoning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ReasoningMember {
    /// As the front end has sent it; none for a front end of another dialect.
    #[default]
    AsSent,
    /// None.
    Dropped,
    /// `reasoning`.
    Reasoning,
    /// `reasoning_content`.
    ReasoningContent,
}

/// The marks of what a provider shall cache, `cache_control`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum CacheMarks {
    /// As the front end has sent them; none for a front end of another dialect.
    #[default]
    AsSent,
    /// None.
    Dropped,
    /// For a front end of another dialect: the instructions and the last message.
    Made,
}

/// A setting that a server may not have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Setting {
    /// As the front end has sent it.
    #[default]
    AsSent,
    /// Left out.
    Dropped,
}

/// A known server.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Server {
    #[serde(rename = "server")]
    name: String,
    hosts: Vec<String>,
    owners: Vec<String>,
    profile: Profile,
}

fn servers() -> impl Iterator<Item = Server> {
    // It is valid; a test reads it.
    let servers: Vec<Server> = serde_json::from_str(SERVERS).unwrap_or_default();
    servers.into_iter()
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl ReasoningMember {
    pub(crate) fn name(self) -> Option<&'static str> {
        match self {
            Self::AsSent | Self::Dropped => None,
            Self::Reasoning => Some("reasoning"),
            Self::ReasoningContent => Some("reasoning_content"),
        }
    }
}

impl Profile {
    /// Returns the profile of the server at `host`, such as `api.mistral.ai` or `127.0.0.1:11434`. A server that is
    /// known by its software is recognized by the owners in `models`, its list of models. The default for any other.
    pub fn of(host: &str, models: Option<&Json>) -> Self {
        let host = host.to_ascii_lowercase();
        let name = host.split(':').next().unwrap_or_default();
        let is_host = |known: &String| match known.starts_with(':') {
            true => host.ends_with(known.as_str()),
            false => name == known || name.ends_with(&format!(".{known}")),
        };
        let list = models.and_then(|models| models.get("data").or_else(|| Some(models.clone())));
        let model = list.and_then(|list| list.elements().next());
        let owner = model.and_then(|model| Some(model.get("owned_by")?.string()?.into_owned()));
        let by_owner =
            |server: &Server| owner.as_ref().is_some_and(|it| server.owners.contains(it));
        let by_host = |server: &Server| server.hosts.iter().any(is_host);
        let server = servers().find(by_owner).or_else(|| servers().find(by_host));
        server.unwrap_or_default().profile
    }

    /// Returns the profile of a known server by its name, such as `vLLM`, in any case.
    pub fn named(name: &str) -> Option<Self> {
        let server = servers().find(|server| server.name.eq_ignore_ascii_case(name));
        Some(server?.profile)
    }

    /// Returns the names of the known servers.
    pub fn names() -> impl Iterator<Item = String> {
        servers().map(|server| server.name)
    }

    /// Returns an error that names the first field whose value is not possible, or contradicts another field.
    ///
    /// # Errors
    ///
    /// A sentence such as `tool-names: must be at least 16`.
    pub fn check(&self) -> Result<(), String> {
        let is_in = |list: &[String], name: &str| list.iter().any(|it| it == name);
        if self.tool_names.is_some_and(|it| it < SHORTEST_NAME) {
            return Err(format!("tool-names: must be at least {SHORTEST_NAME}"));
        }
        if self.call_ids.is_some_and(|it| !(8..=64).contains(&it)) {
            return Err("call-ids: must be from 8 to 64".to_owned());
        }
        if self.needs_reasoning && self.reasoning.name().is_none() {
            return Err("needs-reasoning: `reasoning` must name the member".to_owned());
        }
        if self.max_tokens == Some(0) {
            return Err("max-tokens: must be at least 1".to_owned());
        }
        for name in ["input", "messages", "model", "stream"] {
            let is_target = self.rename.values().any(|to| to == name);
            if is_in(&self.drop, name) || self.rename.contains_key(name) || is_target {
                return Err(format!("drop: a request needs `{name}`"));
            }
        }
        let is_whole = is_in(&self.only, "model")
            && is_in(&self.only, "stream")
            && (is_in(&self.only, "messages") || is_in(&self.only, "input"));
        if !self.only.is_empty() && !is_whole {
            return Err(
                "only: a request needs `model`, `stream`, and `messages` or `input`".into(),
            );
        }
        let limits = ["max_tokens", "max_completion_tokens", "max_output_tokens"];
        if let Some(name) = self.token_limit.as_deref() {
            if !limits.contains(&name) {
                return Err(format!("token-limit: no dialect has `{name}`"));
            }
        }
        let mut targets = HashSet::new();
        if let Some(name) = self.rename.values().find(|name| !targets.insert(*name)) {
            return Err(format!("rename: two members would be `{name}`"));
        }
        let sent = self.rename.values().chain(&self.token_limit);
        for name in sent {
            if !self.only.is_empty() && !is_in(&self.only, name) {
                return Err(format!(
                    "only: `{name}` is missing, the name of another member"
                ));
            }
            if is_in(&self.drop, name) {
                return Err(format!("drop: `{name}` is the name of another member"));
            }
        }
        let twice = self
            .drop
            .iter()
            .find(|name| self.rename.contains_key(*name));
        if let Some(name) = twice {
            return Err(format!("rename: `{name}` is left out"));
        }
        for (name, value) in &self.headers {
            let key = [
                "api-key",
                "authorization",
                "cookie",
                "proxy-authorization",
                "x-api-key",
                "x-goog-api-key",
            ];
            let own = [
                "accept-encoding",
                "connection",
                "content-encoding",
                "content-length",
                "content-type",
                "host",
                "transfer-encoding",
            ];
            let is_valid = http::HeaderName::try_from(name).is_ok()
                && http::HeaderValue::try_from(value).is_ok();
            if !is_valid {
                return Err(format!("headers: `{name}` is not a valid header"));
            }
            if key.iter().any(|key| name.eq_ignore_ascii_case(key)) {
                return Err(format!("headers: `{name}` is the key's header"));
            }
            if own.iter().any(|own| name.eq_ignore_ascii_case(own)) {
                return Err(format!("headers: `{name}` is the client's own"));
            }
        }
        Ok(())
    }

    /// Returns an effort in the form that the profile has, if it is one of `forms`, with the name of its member.
    pub(crate) fn effort(
        &self,
        effort: Option<&str>,
        forms: &[Effort],
    ) -> Option<(&'static str, Json)> {
        // Each provider has some of the others.
        let effort = match effort? {
            known @ ("none" | "minimal" | "low" | "medium") => known,
            _ => "high",
        };
        let text = Json::encode(effort).ok()?;
        let object = |effort: &str| {
            Json::object(|object| {
                object.str("effort", effort);
            })
        };
        Some(match self.effort.filter(|form| forms.contains(form))? {
            Effort::ReasoningEffort => ("reasoning_effort", text),
            Effort::Reasoning => ("reasoning", object(effort)),
            Effort::OutputConfig => (
                "output_config",
                object(match effort {
                    "none" | "minimal" => "low",
                    effort => effort,
                }),
            ),
        })
    }

    /// Changes the members of a request. `limits` are the names of its limit of tokens.
    pub(super) fn members(&self, body: Bytes, limits: &[&'static str], names: &Names) -> Bytes {
        let body = Json::parse(body).unwrap_or_default();
        let mut all: Members = body.members().collect();
        let limit = self.token_limit.as_deref();
        let limit = limits.iter().find(|name| limit == Some(**name));
        let value = limits.iter().find_map(|name| all.get(name).cloned());
        if let Some(limit) = limit.filter(|limit| all.get(limit).is_none()) {
            all.retain(|name| !limits.contains(&name));
            all.extend(value.clone().map(|value| (*limit, value)));
        }
        if let (None, Some(default)) = (&value, self.max_tokens) {
            let limit = limit.or_else(|| limits.first()).copied();
            all.extend(limit.map(|name| (name, default.to_raw())));
        }
        for name in ["stop", "stop_sequences"] {
            let stops: Vec<_> = all.get(name).into_iter().flat_map(Json::elements).collect();
            if let Some(most) = self.stops.filter(|most| stops.len() > *most) {
                let stops: crate::json::List<Json> = stops.into_iter().take(most).collect();
                all.set(name, stops.to_raw());
            }
        }
        if self.temperature_or_top_p && all.get("temperature").is_some_and(|it| !it.is_null()) {
            all.retain(|name| name != "top_p");
        }
        if let Some(choice) = all.get("tool_choice") {
            let mut choice = names.sent(choice);
            let mut members: Members = choice.members().collect();
            if self.parallel_calls == Setting::Dropped && !members.is_empty() {
                members.retain(|name| name != "disable_parallel_tool_use");
                choice = members.to_raw();
            }
            all.set("tool_choice", choice);
        }
        let is_left = |name: &str| {
            let is_parallel = name == "parallel_tool_calls";
            let is_dropped = is_parallel && self.parallel_calls == Setting::Dropped;
            !is_dropped && !self.drop.iter().any(|it| it == name)
        };
        let all = all.into_iter().filter(|(name, _)| is_left(name));
        let all = all.map(|(name, value)| match self.rename.get(&name) {
            Some(other) => (other.clone(), value),
            None => (name, value),
        });
        let may_have = |name: &String| self.only.is_empty() || self.only.contains(name);
        let all: Members = all.filter(|(name, _)| may_have(name)).collect();
        all.to_raw().as_bytes().clone()
    }
}

/// Returns `true` if the name of a tool has at most `longest` characters, and only those that every server accepts. A name
/// that is missing is left to the server.
pub(super) fn is_name(name: &str, longest: usize) -> bool {
    let is_valid = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    let begins = |byte: u8| byte.is_ascii_alphabetic() || byte == b'_';
    let first = name.bytes().next();
    first.is_none_or(begins) && name.len() <= longest && name.bytes().all(is_valid)
}

/// The names of tools that were replaced in a request.
#[derive(Debug, Default)]
pub struct Names {
    /// The names of the front end, by those that were sent.
    own: HashMap<String, String>,
}

impl Names {
    /// Replaces a name that the server of a profile would refuse.
    pub fn send(&mut self, name: &mut String, profile: &Profile) {
        let Some(longest) = profile.tool_names.filter(|it| !is_name(name, *it)) else {
            return;
        };
        let letters = name.chars().map(|letter| match letter {
            letter @ ('a'..='z' | 'A'..='Z' | '0'..='9' | '_' | '-') => letter,
            _ => '_',
        });
        // The hash tells apart names with the same beginning, and is the same in each request.
        let beginning: String = letters.take(longest.saturating_sub(14)).collect();
        let sent = format!("_{beginning}_{}", hash(name, 12));
        self.own.insert(sent.clone(), mem::replace(name, sent));
    }

    /// Replaces an id of a call that the server of a profile would refuse.
    pub fn send_id(&self, id: &mut String, profile: &Profile) {
        let Some(length) = profile.call_ids.filter(|_| !id.is_empty()) else {
            return;
        };
        if id.len() != length || !id.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
            *id = hash(id, length);
        }
    }

    /// Returns a call with its own name, if the name was replaced.
    pub(super) fn restored<'a>(&'a self, delta: &Delta<'a>) -> Option<Delta<'a>> {
        let Delta::Call(call) = delta else {
            return None;
        };
        let mut restored = call.clone();
        restored.name = self.own.get(call.name)?;
        Some(Delta::Call(restored))
    }

    /// Returns a choice of tools with the names that were sent.
    fn sent(&self, choice: &Json) -> Json {
        let sent: HashMap<_, _> = self
            .own
            .iter()
            .map(|(sent, own)| (&**own, &**sent))
            .collect();
        let bytes = replaced(choice.as_bytes(), |text| sent.get(text).copied());
        bytes
            .and_then(|bytes| Json::parse(bytes).ok())
            .unwrap_or_else(|| choice.clone())
    }

    /// Restores the names in JSON that the server has sent.
    pub(super) fn restore(&self, json: &mut Vec<u8>) {
        if !self.own.is_empty() {
            let restored = replaced(json, |text| self.own.get(text).map(String::as_str));
            *json = restored.unwrap_or_else(|| mem::take(json));
        }
    }
}

/// Returns JSON with other strings in place of some; `None` if it is cut off.
fn replaced<'a>(json: &[u8], other: impl Fn(&str) -> Option<&'a str>) -> Option<Vec<u8>> {
    let (mut out, mut rest) = (Vec::new(), json);
    while let Some(start) = memchr::memchr(b'"', rest) {
        let text = rest.get(start + 1..)?;
        let mut end = memchr::memchr2(b'"', b'\\', text)?;
        while text.get(end) == Some(&b'\\') {
            end += 2 + memchr::memchr2(b'"', b'\\', text.get(end + 2..)?)?;
        }
        let quoted = rest.get(start..start + end + 2)?;
        let escaped = memchr::memchr(b'\\', quoted).and_then(|_| Json::parse(quoted.to_vec()).ok());
        let text = match &escaped {
            Some(json) => json.string()?,
            None => std::str::from_utf8(text.get(..end)?).ok()?.into(),
        };
        out.extend_from_slice(rest.get(..start)?);
        match other(&text).and_then(|other| Json::encode(other).ok()) {
            Some(other) => out.extend_from_slice(other.as_bytes()),
            None => out.extend_from_slice(quoted),
        }
        rest = rest.get(start + end + 2..)?;
    }
    out.extend_from_slice(rest);
    Some(out)
}

/// Returns the first digits of a text's hash.
fn hash(text: &str, digits: usize) -> String {
    let bytes = Sha256::digest(text);
    let mut hash: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    hash.truncate(digits);
    hash
}
