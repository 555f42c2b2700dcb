//! Recorded answers of a real server.

use std::time::Duration;

use bytes::Bytes;
use copilot_wire::meilisearch::{ApiError, ChatRequest, Tools};
use copilot_wire::protocol::Conversation;

use super::{Script, Step};

/// Recorded answers, told frame by frame.
#[derive(Clone, Copy, Debug)]
pub struct Recordings {
    pace: Duration,
}

macro_rules! recordings {
    ($($name:literal),* $(,)?) => {
        /// Streams of a Meilisearch 1.50.0 server.
        const RECORDINGS: &[(&str, &str)] = &[$((
            $name,
            include_str!(concat!("../../../../fixtures/meilisearch/recorded/", $name, "/stream.sse")),
        )),*];
    };
}

recordings![
    "abort_mid_stream",
    "args_not_json_all_tools",
    "filter_not_filterable_all_tools",
    "finish_length",
    "history_follow_up",
    "index_without_documents",
    "llm_401",
    "llm_bad_json",
    "llm_drop_mid_text",
    "llm_empty",
    "llm_error_second_turn",
    "no_results_all_tools",
    "no_search_all_tools",
    "parallel_two_all_tools",
    "provider_ip_denied",
    "refusal",
    "search_all_tools",
    "sequential_two_all_tools",
    "unicode_text",
    "unknown_index_all_tools",
];

impl Recordings {
    /// Creates recorded answers with a pause before each frame.
    pub fn new(pace: Duration) -> Self {
        Self { pace }
    }

    /// Returns the recorded stream of this name.
    pub fn stream(name: &str) -> Option<&'static str> {
        RECORDINGS
            .iter()
            .find(|(recorded, _)| *recorded == name)
            .map(|(_, stream)| *stream)
    }

    /// Returns the frames of a recorded stream that a request asked for.
    pub fn frames(stream: &'static str, tools: Tools) -> impl Iterator<Item = Bytes> {
        let undeclared: Vec<_> = Tools::ALL
            .names()
            .filter(|name| !tools.names().any(|declared| declared == *name))
            .map(|name| format!(r#""function":{{"name":"{name}""#))
            .collect();
        stream
            .split_inclusive("\n\n")
            .filter(move |frame| !undeclared.iter().any(|name| frame.contains(name)))
            .map(|frame| Bytes::from_static(frame.as_bytes()))
    }

    /// Returns the recording for a request: the one with the model's name, or one that fits the question.
    fn choose(chat: &ChatRequest) -> &'static str {
        let prompt = chat.prompt().unwrap_or_default().to_lowercase();
        let says = |words: &[&str]| words.iter().any(|word| prompt.contains(word));
        Self::stream(&chat.model)
            .or_else(|| {
                Self::stream(if says(&["hello", "hi ", "who are you"]) {
                    "no_search_all_tools"
                } else if says(&["dream"]) {
                    "sequential_two_all_tools"
                } else if says(&["space"]) {
                    "parallel_two_all_tools"
                } else {
                    "search_all_tools"
                })
            })
            .unwrap_or_default()
    }
}

impl Script for Recordings {
    fn answer(&self, _: &str, chat: &ChatRequest) -> Result<Vec<Step>, ApiError> {
        let frames = Self::frames(Self::choose(chat), chat.tools);
        Ok(frames
            .flat_map(|frame| [Step::Pause(self.pace), Step::Send(frame)])
            .collect())
    }
}
