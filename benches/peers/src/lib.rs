//! Our paths beside those of other crates, in one process and one run.
//!
//! A [`Row`] is one piece of work and everybody who does it, ours first. Whoever builds a row has
//! checked that all of them come to the same result.

pub mod decode;
pub mod encode;
pub mod line;
pub mod plumbing;
pub mod query;
pub mod source;

/// One piece of work.
pub struct Row {
    pub name: &'static str,
    /// What a time is given for, such as `event`.
    pub unit: &'static str,
    /// How many of them one run does.
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
    ("encode-response", encode::response_events),
    ("encode-message", encode::message_events),
    ("encode-clean", encode::clean_delta),
    ("encode-dirty", encode::dirty_delta),
    ("encode-table", encode::table),
    ("frames-token-1460", || decode::frames_tokens(1460)),
    ("frames-token-64k", || decode::frames_tokens(65536)),
    ("frames-chunk-1460", || decode::frames_chunks(1460)),
    ("frames-chunk-64k", || decode::frames_chunks(65536)),
    ("typed-token-1460", || decode::typed_tokens(1460)),
    ("typed-token-64k", || decode::typed_tokens(65536)),
    ("typed-chunk-1460", || decode::typed_chunks(1460)),
    ("typed-chunk-64k", || decode::typed_chunks(65536)),
    ("line-10mb-16", || line::pieces(10_000_000)),
    ("line-5mb-16", || line::pieces(5_000_000)),
    ("query-string", query::string),
    ("query-records", query::records),
    ("plumbing-burst", plumbing::burst),
    ("plumbing-paced", plumbing::paced),
];
