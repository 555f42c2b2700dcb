//! The record of a running turn, from which its report is made.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use http::Extensions;
#[cfg(feature = "tracing")]
use tracing::field::Empty;

#[cfg(feature = "tracing")]
use super::spans;
use super::{Env, Outcome, Turn, Usage, User};

/// The data of a running turn that its report needs.
pub(crate) struct Record {
    env: Env,
    protocol: &'static str,
    path: Option<Arc<str>>,
    agent: Option<Arc<str>>,
    conversation_id: Option<String>,
    /// The extensions of the request, which are dropped at the end of the turn.
    extensions: Extensions,
    /// The time of the request; `None` if there is no observer.
    start: Option<SystemTime>,
    #[cfg(feature = "tracing")]
    span: tracing::Span,
}

/// The counters of a turn.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Progress {
    pub(crate) first_output: Option<Duration>,
    pub(crate) bytes: u64,
    pub(crate) events: u64,
    pub(crate) usage: Option<Usage>,
    pub(crate) detached: bool,
    pub(crate) unstored: bool,
}

impl Record {
    /// Starts the record of a turn.
    pub(crate) fn new(env: &Env, protocol: &'static str) -> Self {
        Self {
            env: env.clone(),
            protocol,
            path: None,
            agent: None,
            conversation_id: None,
            extensions: Extensions::new(),
            // Without an observer the duration is not reported, so the clock is not read.
            start: env.is_observed().then(|| env.now()),
            #[cfg(feature = "tracing")]
            span: tracing::Span::none(),
        }
    }

    /// Sets the path of the route.
    pub(crate) fn path(mut self, path: Option<Arc<str>>) -> Self {
        self.path = path;
        self
    }

    /// Sets the name of the agent.
    pub(crate) fn agent(mut self, agent: Option<Arc<str>>) -> Self {
        self.agent = agent;
        self
    }

    /// Sets the extensions of the request. They are kept without an observer too: a guard may have added a permit,
    /// which is returned when it is dropped.
    pub(crate) fn extensions(mut self, extensions: &Extensions) -> Self {
        self.extensions.clone_from(extensions);
        self
    }

    /// Sets the id of the conversation, if there is an observer.
    pub(crate) fn conversation<T: Into<String>>(mut self, id: impl FnOnce() -> Option<T>) -> Self {
        // Without an observer the id is not reported, so it is not computed.
        if self.start.is_some() {
            self.conversation_id = id().map(Into::into);
        }
        self
    }

    /// Opens the span in which the agent runs, an `invoke_agent` span of OpenTelemetry's conventions. Its parent is the
    /// current span. The ids of a trace that the client began are recorded as fields.
    #[cfg(feature = "tracing")]
    pub(crate) fn open_span(mut self, headers: &http::HeaderMap) -> Self {
        let (trace_id, parent_id) = traceparent(headers).unzip();
        let agent = self.agent.as_deref();
        self.span = tracing::info_span!(
            target: spans::TARGET,
            "invoke_agent",
            otel.name = agent.map(|agent| format!("invoke_agent {agent}")),
            otel.status_code = Empty,
            gen_ai.operation.name = "invoke_agent",
            gen_ai.provider.name = "copilot-wire",
            gen_ai.agent.name = agent,
            gen_ai.conversation.id = self.conversation_id.as_deref(),
            gen_ai.response.time_to_first_chunk = Empty,
            gen_ai.usage.input_tokens = Empty,
            gen_ai.usage.output_tokens = Empty,
            gen_ai.usage.cache_read.input_tokens = Empty,
            gen_ai.usage.cache_creation.input_tokens = Empty,
            gen_ai.usage.reasoning.output_tokens = Empty,
            error.type = Empty,
            http.route = self.path.as_deref(),
            user.id = self.user(),
            copilot_wire.protocol = self.protocol,
            copilot_wire.outcome = Empty,
            trace_id,
            parent_id,
        );
        self
    }

    /// Returns the span in which the agent runs.
    #[cfg(feature = "tracing")]
    pub(crate) fn span(&self) -> &tracing::Span {
        &self.span
    }

    pub(crate) fn env(&self) -> &Env {
        &self.env
    }

    /// Returns `true` if the duration of the turn will be reported.
    pub(crate) fn is_timed(&self) -> bool {
        self.start.is_some()
    }

    /// Returns the time since the request; `None` if there is no observer.
    pub(crate) fn elapsed(&self) -> Option<Duration> {
        // Zero if the system's clock was set back since.
        self.start
            .map(|start| self.env.now().duration_since(start).unwrap_or_default())
    }

    fn user(&self) -> Option<&str> {
        self.extensions.get::<User>().map(|user| &*user.id)
    }

    /// Reports the turn.
    pub(crate) fn finish(&self, outcome: Outcome<'_>, progress: Progress) {
        let turn = Turn {
            protocol: self.protocol,
            path: self.path.as_deref().unwrap_or_default(),
            user: self.user(),
            agent: self.agent.as_deref(),
            conversation_id: self.conversation_id.as_deref(),
            outcome,
            detached: progress.detached,
            unstored: progress.unstored,
            first_output: progress.first_output,
            duration: self.elapsed().unwrap_or_default(),
            bytes: progress.bytes,
            events: progress.events,
            usage: progress.usage,
            extensions: &self.extensions,
        };
        #[cfg(feature = "tracing")]
        self.span.in_scope(|| trace(&turn, &self.span));
        self.env.report(&turn);
    }
}

/// Returns the trace id and the span id of a W3C `traceparent` header.
#[cfg(feature = "tracing")]
fn traceparent(headers: &http::HeaderMap) -> Option<(&str, &str)> {
    let mut parts = headers.get("traceparent")?.to_str().ok()?.split('-');
    let (_version, trace, span) = (parts.next()?, parts.next()?, parts.next()?);
    let is_id = |id: &str, length| id.len() == length && id.bytes().all(|b| b.is_ascii_hexdigit());
    (is_id(trace, 32) && is_id(span, 16)).then_some((trace, span))
}

/// Records the outcome of a turn in its span.
#[cfg(feature = "tracing")]
fn trace(turn: &Turn<'_>, span: &tracing::Span) {
    span.record("copilot_wire.outcome", turn.outcome.as_str());
    if let Some(time) = turn.first_output {
        span.record("gen_ai.response.time_to_first_chunk", time.as_secs_f64());
    }
    if let Some(usage) = turn.usage {
        spans::usage(span, usage);
    }
    match turn.outcome {
        Outcome::Failed { error, .. } => spans::fail(span, error.class()),
        Outcome::Panicked { .. } => spans::fail(span, "panic"),
        _ => {}
    }
    // An enabled span already has these fields.
    let (protocol, path) = span
        .is_disabled()
        .then_some((turn.protocol, turn.path))
        .unzip();
    let user = turn.user.filter(|_| span.is_disabled());
    macro_rules! event {
        ($level:ident, $($fields:tt)*) => {
            tracing::$level!(
                target: "copilot_wire",
                protocol,
                path,
                user,
                outcome = turn.outcome.as_str(),
                detached = turn.detached.then_some(true),
                unstored = turn.unstored.then_some(true),
                first_output_ms = turn.first_output.map(millis),
                duration_ms = millis(turn.duration),
                bytes = turn.bytes,
                events = turn.events,
                input_tokens = turn.usage.map(|usage| usage.input_tokens),
                output_tokens = turn.usage.map(|usage| usage.output_tokens),
                $($fields)*
            )
        };
    }
    match turn.outcome {
        Outcome::Failed { error, sent } => event!(
            error,
            error = %super::OneLine(error),
            location = %error.location(),
            sent,
            "turn failed"
        ),
        Outcome::Panicked { sent } => event!(error, sent, "agent panicked"),
        Outcome::Refused(refusal) => event!(
            info,
            status = refusal.status().as_u16(),
            reason = %super::OneLine(refusal),
            "request refused"
        ),
        Outcome::Answered | Outcome::Cancelled | Outcome::ShutDown | Outcome::ClientLeft => {
            event!(info, "turn ended");
        }
    }
}

#[cfg(feature = "tracing")]
fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
