//! Our paths beside those of other crates, in one process and one run.
//!
//! A [`Row`] is one piece of work and everybody who does it, ours first. Whoever builds a row has
//! checked that all of them come to the same result.

pub mod conversation;
pub mod decode;
pub mod deltas;
pub mod encode;
pub mod line;
pub mod plumbing;
pub mod query;
pub mod relay;

pub use guard::source;

use copilot_wire::anthropic::Anthropic;
use copilot_wire::openai::OpenAi;
use copilot_wire::responses::Responses;
use copilot_wire::ui_stream::UiStream;
use source::Sample;

/// One piece of work.
pub struct Row {
    pub name: &'static str,
    /// The unit of a time, such as `event`.
    pub unit: &'static str,
    /// The number of units in one run.
    pub units: usize,
    /// Ours first.
    pub contenders: Vec<Contender>,
}

/// One way to do it.
pub struct Contender {
    pub name: &'static str,
    /// Does it once. What comes back depends on all of the work.
    pub run: Box<dyn FnMut() -> usize>,
}

impl Contender {
    pub fn new(name: &'static str, run: impl FnMut() -> usize + 'static) -> Self {
        Self {
            name,
            run: Box::new(run),
        }
    }
}

/// A row by name, built when it is asked for: the large ones hold megabytes.
pub type Builder = (&'static str, fn() -> Row);

pub const ROWS: &[Builder] = &[
    ("encode-token-1", || encode::openbb_tokens(1)),
    ("encode-token-100", || encode::openbb_tokens(100)),
    ("encode-token-10000", || encode::openbb_tokens(10_000)),
    ("encode-chunk-1", || encode::openai_chunks(1)),
    ("encode-chunk-100", || encode::openai_chunks(100)),
    ("encode-chunk-10000", || encode::openai_chunks(10_000)),
    ("encode-response-1", || deltas::encode_responses(1)),
    ("encode-response-100", || deltas::encode_responses(100)),
    ("encode-response-10000", || deltas::encode_responses(10_000)),
    ("encode-message-1", || deltas::encode_messages(1)),
    ("encode-message-100", || deltas::encode_messages(100)),
    ("encode-message-10000", || deltas::encode_messages(10_000)),
    ("encode-page-1", || deltas::encode_pages(1)),
    ("encode-page-100", || deltas::encode_pages(100)),
    ("encode-page-10000", || deltas::encode_pages(10_000)),
    ("encode-app-1", || deltas::encode_apps(1)),
    ("encode-app-100", || deltas::encode_apps(100)),
    ("encode-app-10000", || deltas::encode_apps(10_000)),
    ("encode-sample-prose", || encode::sample(Sample::Prose)),
    ("encode-sample-lines", || encode::sample(Sample::Lines)),
    ("encode-sample-list", || encode::sample(Sample::List)),
    ("encode-sample-table", || encode::sample(Sample::Table)),
    ("encode-sample-code", || encode::sample(Sample::Code)),
    ("encode-sample-chinese", || encode::sample(Sample::Chinese)),
    ("encode-sample-emoji", || encode::sample(Sample::Emoji)),
    ("encode-clean-1", || encode::clean_deltas(1)),
    ("encode-clean-32", || encode::clean_deltas(32)),
    ("encode-dirty-1", || encode::dirty_deltas(1)),
    ("encode-dirty-32", || encode::dirty_deltas(32)),
    ("encode-markdown-1", || encode::markdown_deltas(1)),
    ("encode-markdown-32", || encode::markdown_deltas(32)),
    ("encode-table", encode::table),
    ("encode-table-reused", encode::table_reused),
    ("encode-answer-1", || conversation::answer(1)),
    ("encode-answer-100", || conversation::answer(100)),
    ("encode-answer-2000", || conversation::answer(2000)),
    ("encode-answer-10000", || conversation::answer(10_000)),
    ("encode-answer-at-once", conversation::answer_at_once),
    ("frames-token-16", || decode::frames_tokens(16)),
    ("frames-chunk-16", || decode::frames_chunks(16)),
    ("frames-large-16", || decode::frames_large(16)),
    ("typed-token-16", || decode::typed_tokens(16)),
    ("typed-chunk-16", || decode::typed_chunks(16)),
    ("typed-large-16", || decode::typed_large(16)),
    ("frames-token-1460", || decode::frames_tokens(1460)),
    ("frames-token-64k", || decode::frames_tokens(65536)),
    ("frames-chunk-1460", || decode::frames_chunks(1460)),
    ("frames-chunk-64k", || decode::frames_chunks(65536)),
    ("frames-token-1", || decode::frames_tokens(1)),
    ("frames-chunk-1", || decode::frames_chunks(1)),
    ("frames-large-1460", || decode::frames_large(1460)),
    ("frames-large-64k", || decode::frames_large(65536)),
    ("typed-large-1460", || decode::typed_large(1460)),
    ("typed-large-64k", || decode::typed_large(65536)),
    ("typed-token-1460", || decode::typed_tokens(1460)),
    ("typed-token-64k", || decode::typed_tokens(65536)),
    ("typed-chunk-1460", || decode::typed_chunks(1460)),
    ("typed-chunk-64k", || decode::typed_chunks(65536)),
    ("typed-response", deltas::typed_responses),
    ("typed-message", deltas::typed_messages),
    ("typed-page", deltas::typed_pages),
    ("typed-app", deltas::typed_apps),
    ("line-10mb-16", || line::pieces(10_000_000)),
    ("line-5mb-16", || line::pieces(5_000_000)),
    ("query-string", query::string),
    ("query-records", query::records),
    ("conversation", conversation::prompt),
    ("relay-chat-messages-10", || {
        relay::tokens::<OpenAi, Anthropic>(10)
    }),
    ("relay-chat-messages-300", || {
        relay::tokens::<OpenAi, Anthropic>(300)
    }),
    ("relay-chat-messages-10000", || {
        relay::tokens::<OpenAi, Anthropic>(10_000)
    }),
    ("relay-chat-responses-10", || {
        relay::tokens::<OpenAi, Responses>(10)
    }),
    ("relay-chat-responses-300", || {
        relay::tokens::<OpenAi, Responses>(300)
    }),
    ("relay-chat-responses-10000", || {
        relay::tokens::<OpenAi, Responses>(10_000)
    }),
    ("relay-chat-page-10", || {
        relay::tokens::<OpenAi, UiStream>(10)
    }),
    ("relay-chat-page-300", || {
        relay::tokens::<OpenAi, UiStream>(300)
    }),
    ("relay-chat-page-10000", || {
        relay::tokens::<OpenAi, UiStream>(10_000)
    }),
    ("relay-messages-chat-10", || {
        relay::tokens::<Anthropic, OpenAi>(10)
    }),
    ("relay-messages-chat-300", || {
        relay::tokens::<Anthropic, OpenAi>(300)
    }),
    ("relay-messages-chat-10000", || {
        relay::tokens::<Anthropic, OpenAi>(10_000)
    }),
    ("relay-messages-page-10", || {
        relay::tokens::<Anthropic, UiStream>(10)
    }),
    ("relay-messages-page-300", || {
        relay::tokens::<Anthropic, UiStream>(300)
    }),
    ("relay-messages-page-10000", || {
        relay::tokens::<Anthropic, UiStream>(10_000)
    }),
    ("relay-responses-chat-10", || {
        relay::tokens::<Responses, OpenAi>(10)
    }),
    ("relay-responses-chat-300", || {
        relay::tokens::<Responses, OpenAi>(300)
    }),
    ("relay-responses-chat-10000", || {
        relay::tokens::<Responses, OpenAi>(10_000)
    }),
    ("relay-responses-messages-10", || {
        relay::tokens::<Responses, Anthropic>(10)
    }),
    ("relay-responses-messages-300", || {
        relay::tokens::<Responses, Anthropic>(300)
    }),
    ("relay-responses-messages-10000", || {
        relay::tokens::<Responses, Anthropic>(10_000)
    }),
    ("relay-responses-page-10", || {
        relay::tokens::<Responses, UiStream>(10)
    }),
    ("relay-responses-page-300", || {
        relay::tokens::<Responses, UiStream>(300)
    }),
    ("relay-responses-page-10000", || {
        relay::tokens::<Responses, UiStream>(10_000)
    }),
    ("plumbing-burst", plumbing::burst),
    ("plumbing-paced", plumbing::paced),
];
