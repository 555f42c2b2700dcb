//! Our paths beside those of other crates, in one process and one run.
//!
//! A [`Row`] is one path in several sizes, and a [`Case`] is one of them with everybody who does it, ours first. Whoever
//! builds a case has checked that all contenders come to the same result. What they read and write is that of the
//! guard, which counts the instructions of our paths.

pub mod conversation;
pub mod decode;
pub mod documents;
pub mod encode;
pub mod line;
pub mod measure;
pub mod peer;
pub mod plumbing;
pub mod query;
pub mod relay;
pub mod report;
mod rows;
pub mod table;

pub use guard::source;
pub use rows::rows;

/// One path in several sizes.
pub struct Row {
    pub name: String,
    pub title: String,
    /// The unit of a time, such as `event`.
    pub unit: &'static str,
    /// The sizes by name. A case is built when it is measured: the large ones hold megabytes.
    pub sizes: Vec<(String, Box<dyn Fn() -> Case>)>,
    /// The ratios to contenders that we aim for.
    pub goals: Vec<(&'static str, f64)>,
}

impl Row {
    pub fn new(name: impl Into<String>, title: impl Into<String>, unit: &'static str) -> Self {
        Self {
            name: name.into(),
            title: title.into(),
            unit,
            sizes: Vec::new(),
            goals: Vec::new(),
        }
    }

    pub fn size(mut self, name: impl ToString, build: impl Fn() -> Case + 'static) -> Self {
        self.sizes.push((name.to_string(), Box::new(build)));
        self
    }

    /// Sets the ratio to a contender that we aim for.
    pub fn goal(mut self, contender: &'static str, ratio: f64) -> Self {
        self.goals.push((contender, ratio));
        self
    }
}

/// One path in one size.
pub struct Case {
    /// The number of units in one run.
    pub units: usize,
    /// Ours first.
    pub contenders: Vec<Contender>,
}

/// One way to do it.
pub struct Contender {
    pub name: &'static str,
    pub kind: Kind,
    /// Does it once. What comes back depends on all of the work.
    pub run: Box<dyn FnMut() -> usize>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Ours,
    Peer,
    /// A part of the work only, as a lower limit.
    Floor,
}

impl Contender {
    fn of(kind: Kind, name: &'static str, run: impl FnMut() -> usize + 'static) -> Self {
        Self {
            name,
            kind,
            run: Box::new(run),
        }
    }

    pub fn ours(name: &'static str, run: impl FnMut() -> usize + 'static) -> Self {
        Self::of(Kind::Ours, name, run)
    }

    pub fn peer(name: &'static str, run: impl FnMut() -> usize + 'static) -> Self {
        Self::of(Kind::Peer, name, run)
    }

    pub fn floor(name: &'static str, run: impl FnMut() -> usize + 'static) -> Self {
        Self::of(Kind::Floor, name, run)
    }
}
