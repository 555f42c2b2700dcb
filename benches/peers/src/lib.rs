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
pub mod source;

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
    ("encode-token", encode::openbb_tokens),
    ("encode-chunk", encode::openai_chunks),
    ("encode-response", deltas::encode_responses),
    ("encode-message", deltas::encode_messages),
    ("encode-page", deltas::encode_pages),
    ("encode-app", deltas::encode_apps),
    ("encode-clean", encode::clean_delta),
    ("encode-dirty", encode::dirty_delta),
    ("encode-markdown", encode::markdown_delta),
    ("encode-table", encode::table),
    ("encode-table-reused", encode::table_reused),
    ("encode-answer", conversation::answer),
    ("encode-answer-at-once", conversation::answer_at_once),
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
    ("plumbing-burst", plumbing::burst),
    ("plumbing-paced", plumbing::paced),
];
