//! Members of requests that say how the model shall answer.

use std::any::Any;

use copilot_wire::json::{Json, Members};
use copilot_wire::protocol::Conversation;
use copilot_wire::{ag_ui, anthropic, github, openai, responses, ui_stream};

/// The names of parameters in requests, and in Meilisearch's.
const SAMPLING: &[(&str, &str)] = &[
    ("frequency_penalty", "frequency_penalty"),
    ("frequencyPenalty", "frequency_penalty"),
    ("max_completion_tokens", "max_completion_tokens"),
    ("max_output_tokens", "max_completion_tokens"),
    ("maxOutputTokens", "max_completion_tokens"),
    ("max_tokens", "max_tokens"),
    ("maxTokens", "max_tokens"),
    ("presence_penalty", "presence_penalty"),
    ("presencePenalty", "presence_penalty"),
    ("seed", "seed"),
    ("stop", "stop"),
    ("stop_sequences", "stop"),
    ("stopSequences", "stop"),
    ("temperature", "temperature"),
    ("top_p", "top_p"),
    ("topP", "top_p"),
];

/// Those that only clients of OpenAI's protocols mean so.
const OPENAI: &[(&str, &str)] = &[
    ("logit_bias", "logit_bias"),
    ("metadata", "metadata"),
    ("reasoning_effort", "reasoning_effort"),
    ("service_tier", "service_tier"),
];

/// Returns the parameters of a request of any protocol, with Meilisearch's names.
///
/// Meilisearch 1.50 drops members that it does not know, and refuses some that a client may mean
/// otherwise: `tools`, several choices, other values of `reasoning_effort` and `service_tier`. So only
/// what it takes is passed on.
pub(crate) fn parameters<R: Conversation + 'static>(request: &R) -> Members {
    let mut out = Parameters::default();
    let format = request.answer_format();
    out.set(
        "response_format",
        format.map(|format| openai::response_format(&format)),
    );
    let request: &dyn Any = request;
    if let Some(request) = request.downcast_ref::<openai::ChatRequest>() {
        out.take(request.unknown.iter(), SAMPLING);
        out.take(request.unknown.iter(), OPENAI);
    } else if let Some(request) = request.downcast_ref::<responses::ResponsesRequest>() {
        out.take(request.unknown.iter(), SAMPLING);
        out.take(request.unknown.iter(), OPENAI);
        let reasoning = request.unknown.get("reasoning");
        out.set(
            "reasoning_effort",
            reasoning.and_then(|it| it.get("effort")),
        );
    } else if let Some(request) = request.downcast_ref::<anthropic::MessagesRequest>() {
        out.count("max_tokens", request.max_tokens);
        out.take(request.unknown.iter(), SAMPLING);
    } else if let Some(request) = request.downcast_ref::<github::ChatRequest>() {
        // Not the members themselves: the platform sends zero for what is not set.
        let sampling = request.sampling();
        out.count("max_tokens", sampling.max_tokens);
        let numbers = [
            ("frequency_penalty", sampling.frequency_penalty),
            ("presence_penalty", sampling.presence_penalty),
            ("temperature", sampling.temperature),
            ("top_p", sampling.top_p),
        ];
        for (name, number) in numbers {
            out.set(name, number.and_then(|number| Json::encode(&number).ok()));
        }
        let stop = Some(sampling.stop).filter(|stop| !stop.is_empty());
        out.set("stop", stop.and_then(|stop| Json::encode(&stop).ok()));
    } else if let Some(request) = request.downcast_ref::<ui_stream::ChatRequest>() {
        // What the page puts into the body of its requests.
        out.take(request.unknown.iter(), SAMPLING);
    } else if let Some(request) = request.downcast_ref::<ag_ui::RunAgentInput>() {
        let props: Vec<_> = request.forwarded_props.members().collect();
        out.take(props.iter().map(|(name, value)| (&**name, value)), SAMPLING);
    }
    out.0
}

#[derive(Default)]
struct Parameters(Members);

impl Parameters {
    fn take<'a>(
        &mut self,
        members: impl Iterator<Item = (&'a str, &'a Json)>,
        names: &[(&str, &str)],
    ) {
        for (name, value) in members {
            if let Some((_, ours)) = names.iter().find(|(theirs, _)| *theirs == name) {
                self.set(ours, Some(value.clone()));
            }
        }
    }

    fn count(&mut self, name: &str, count: Option<u64>) {
        self.set(name, count.and_then(|count| Json::encode(&count).ok()));
    }

    /// Sets a parameter, unless Meilisearch refuses the value, or there is one already.
    fn set(&mut self, name: &str, value: Option<Json>) {
        let Some(value) = value.filter(|value| !value.is_null()) else {
            return;
        };
        let allowed: &[&str] = match name {
            "reasoning_effort" => &["low", "medium", "high"],
            "service_tier" => &["auto", "default"],
            _ => &[],
        };
        let is_allowed = || {
            value
                .string()
                .is_some_and(|value| allowed.contains(&&*value))
        };
        if (allowed.is_empty() || is_allowed()) && self.0.get(name).is_none() {
            self.0.push(name, value);
        }
    }
}
