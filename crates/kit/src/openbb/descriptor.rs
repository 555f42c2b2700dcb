//! Rules for the descriptor.

use bytes::Bytes;
use http::{Method, StatusCode, Uri};
use serde_json::Value;

use super::cors;
use crate::check::members::{elements, text};
use crate::check::{Exam, Exchange, rules};

rules! {
    THERE = Error "openbb/descriptor",
        "`GET /agents.json`, or the older `/copilots.json`, is a JSON object of agents",
        "the Workspace does not add the agent",
        "answer with `{\"my-agent\":{\"name\":…,\"description\":…,\"endpoints\":{\"query\":…},\"features\":{…}}}`";
    OLD_NAME = Warning "openbb/descriptor-name",
        "the descriptor is at `/agents.json`",
        "`/copilots.json` is the name from before May 2025; the Workspace tries it second",
        "serve the same document at both";
    ENTRY = Error "openbb/descriptor-entry",
        "every agent has a name, a description, and `endpoints.query` as a URL or path",
        "the Workspace validates the document as a whole: one invalid entry makes all agents unavailable",
        "send non-empty texts; omit `image` instead of sending `null`";
    FEATURES = Error "openbb/descriptor-features",
        "a feature is a boolean, or a control with a `label`",
        "the Workspace validates the document as a whole: one invalid feature makes all agents unavailable",
        "send `true`, `false`, or an object with `label`, `type` and, for a select, `options`";
    STREAMING = Error "openbb/descriptor-streaming",
        "`features.streaming` is `true`, or `hasStreaming` is",
        "the Workspace requires streaming",
        "add `\"streaming\": true` to the features";
    DEPRECATED = Warning "openbb/descriptor-flags",
        "`hasFunctionCalling` and the other old flags are not in `agents.json`",
        "if present, they override the features for widgets",
        "use `features`";
    UNIQUE = Error "openbb/descriptor-unique",
        "agents have different names",
        "the Workspace rejects the second; names that differ only in case are the same",
        "choose a unique name for each";
    FEEDBACK = Error "openbb/feedback",
        "an agent that advertises feedback accepts it",
        "the user gets an error on a vote; both `features.feedback` and `endpoints.feedback` are needed",
        "answer the POST with 2xx";
}

/// The body of a feedback request.
const THUMB: &[u8] = include_bytes!("../../fixtures/openbb/feedback_request.json");

/// The features that are switches and have no control.
const SWITCHES: [&str; 9] = [
    "streaming",
    "widget-dashboard-select",
    "widget-dashboard-search",
    "widget-global-search",
    "file-upload",
    "generative-ui",
    "mcp-tools",
    "agent-orchestration",
    "feedback",
];

/// Checks the descriptor and returns the location of its first agent: a path, or an absolute URL.
pub(super) async fn check(exam: &mut Exam<'_>) -> Option<String> {
    // The order of the Workspace: the older name only if the newer one has no document.
    let newer = get(exam, "/agents.json").await?;
    let current = newer.head.status.is_success();
    let answer = match current {
        true => newer,
        false => {
            exam.plan(1);
            get(exam, "/copilots.json").await?
        }
    };
    let at = &*answer.name;
    let document = answer.json();
    let agents = document.as_object().filter(|agents| !agents.is_empty());
    let there = answer.head.status == StatusCode::OK && agents.is_some();
    exam.judge().expect_answer(&THERE, there, &answer);
    let agents = agents.filter(|_| there)?;
    cors::answer(exam, &answer);
    let judge = exam.judge();
    judge.expect(&OLD_NAME, current, at, "404 at /agents.json");
    let mut names = Vec::new();
    for (id, agent) in agents {
        let entry = format!("{id:?}: {agent}");
        judge.expect(&ENTRY, is_whole(agent), at, &entry);
        let features = agent.get("features").and_then(Value::as_object);
        let mut features = features.into_iter().flatten();
        let faulty = features.find(|(name, feature)| !is_feature(name, feature));
        let fault = faulty.map(|(name, feature)| format!("{name:?}: {feature}"));
        judge.expect(&FEATURES, fault.is_none(), at, fault.unwrap_or_default());
        let on = Some(&Value::Bool(true));
        // If present, the old flag overrides the feature.
        let flag = agent.get("hasStreaming");
        let streams = flag.or_else(|| agent.pointer("/features/streaming")) == on;
        judge.expect(&STREAMING, streams, at, &entry);
        let flags = ["hasStreaming", "hasFunctionCalling", "hasDocuments"];
        let clean = !current || !flags.iter().any(|flag| agent.get(flag).is_some());
        judge.expect(&DEPRECATED, clean, at, &entry);
        let name = agent.get("name").and_then(Value::as_str);
        let name = name.map(str::to_lowercase);
        judge.expect(&UNIQUE, !names.contains(&name), at, &entry);
        names.push(name);
    }
    for agent in agents.values() {
        feedback(exam, agent).await;
    }
    let first = agents.values().next()?;
    place(first.pointer("/endpoints/query")?.as_str()?)
}

async fn get(exam: &mut Exam<'_>, path: &str) -> Option<Exchange> {
    let request = exam.request(Method::GET, path, Bytes::new());
    exam.ask(path, request).await
}

/// Sends feedback to the location that the agent advertises.
async fn feedback(exam: &mut Exam<'_>, agent: &Value) {
    if agent.pointer("/features/feedback") != Some(&Value::Bool(true)) {
        return;
    }
    let name = "feedback";
    let named = agent.pointer("/endpoints/feedback").and_then(Value::as_str);
    let Some(place) = named.and_then(place) else {
        let judge = exam.judge();
        return judge.expect(&FEEDBACK, false, name, agent.to_string());
    };
    exam.plan(1);
    let request = exam.post(&place, THUMB);
    if let Some(answer) = exam.ask(name, request).await {
        let taken = answer.head.status.is_success();
        exam.judge().expect_answer(&FEEDBACK, taken, &answer);
        cors::answer(exam, &answer);
    }
}

fn is_whole(agent: &Value) -> bool {
    let said = |path: &str| !text(agent, path).trim().is_empty();
    let image = agent.get("image").is_none_or(Value::is_string);
    let query = place(text(agent, "/endpoints/query")).is_some();
    said("/name") && said("/description") && image && query
}

fn is_feature(name: &str, feature: &Value) -> bool {
    if SWITCHES.contains(&name) || feature.is_boolean() {
        return feature.is_boolean();
    }
    let text = |member: &str| feature.get(member).and_then(Value::as_str);
    let default = feature.get("default");
    let control = match text("type") {
        // The type is not a string.
        None if feature.get("type").is_some() => false,
        None | Some("toggle") => default.is_none_or(Value::is_boolean),
        Some("text") => default.is_none_or(Value::is_string),
        Some("select") => elements(feature, "/options").len() > 0,
        Some(_) => false,
    };
    control && text("label").is_some_and(|label| !label.trim().is_empty())
}

/// Returns the location of an entry as the Workspace resolves it: a URL, or a path relative to the URL of the server.
/// `None` if it is invalid.
fn place(named: &str) -> Option<String> {
    let uri: Uri = named.parse().ok()?;
    let right = match uri.scheme_str() {
        Some("http" | "https") => true,
        Some(_) => false,
        // Two slashes begin an address without a scheme: another host.
        None => uri.path().starts_with('/') && !uri.path().starts_with("//"),
    };
    right.then(|| uri.to_string())
}
