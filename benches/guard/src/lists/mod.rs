//! Lists that a peer sizes: those of requests of each front end, of streams of each model, and of the parts of an
//! answer.
//!
//! Twice as many elements may take twice the work. `tests/lists` counts the bytes that are allocated, compared and
//! moved, and the guard the instructions, which are those of any search.

mod openbb;
mod parts;
mod requests;
mod streams;

use std::fmt::Display;
use std::rc::Rc;

use crate::{Path, Work};

/// The lengths of which the growth is measured: from the first to the second, and twice as much to the third.
pub const COUNTS: [usize; 3] = [256, 512, 1024];

/// The most that twice the elements may take.
pub const MOST: f64 = 2.3;

/// Makes the work for a list of a length.
pub type Prepare = Rc<dyn Fn(usize) -> Work>;

/// For each dialect, the conversion of a request into one to a model.
type Asks = &'static [(&'static str, fn(String) -> Work)];

/// A list, and what is done with one of so many elements.
pub struct List {
    pub name: String,
    /// Makes what does the work for a list of this length once.
    pub prepare: Prepare,
    /// For a request, makes what asks a model of each dialect.
    asks: Vec<(&'static str, Prepare)>,
}

impl List {
    pub fn new(name: impl Display, prepare: impl Fn(usize) -> Work + 'static) -> Self {
        Self {
            name: name.to_string(),
            prepare: Rc::new(prepare),
            asks: Vec::new(),
        }
    }
}

/// Returns elements, each made of its position, as the inside of an array or object.
pub fn each(count: usize, element: impl Fn(usize) -> String) -> String {
    let all: Vec<_> = (0..count).map(element).collect();
    all.join(",")
}

/// The lists of one front end, or of the streams of one model.
struct Lists {
    of: &'static str,
    /// Makes what does the work for an input, a request or a stream.
    work: fn(String) -> Work,
    asks: Asks,
    all: Vec<List>,
}

impl Lists {
    fn new(of: &'static str, work: fn(String) -> Work) -> Self {
        Self {
            of,
            work,
            asks: &[],
            all: Vec::new(),
        }
    }

    fn add(&mut self, name: impl Display, input: impl Fn(usize) -> String + 'static) {
        let input = Rc::new(input);
        let prepare = |work: fn(String) -> Work| -> Rc<dyn Fn(usize) -> Work> {
            let input = Rc::clone(&input);
            Rc::new(move |count| work(input(count)))
        };
        self.all.push(List {
            name: format!("{}-{name}", self.of),
            prepare: prepare(self.work),
            asks: self
                .asks
                .iter()
                .map(|(model, ask)| (*model, prepare(*ask)))
                .collect(),
        });
    }

    /// Adds a list whose elements stand in a frame, in place of `LIST`.
    fn of(
        &mut self,
        name: &'static str,
        frame: impl Into<String>,
        element: impl Fn(usize) -> String + 'static,
    ) {
        let frame = frame.into();
        self.add(name, move |count| {
            frame.replace("LIST", &each(count, &element))
        });
    }
}

/// Returns all lists.
pub fn lists() -> Vec<List> {
    let all = [
        requests::lists(),
        streams::lists(),
        parts::lists(),
        openbb::lists(),
    ];
    all.into_iter().flatten().collect()
}

/// A conversation of 2,000 calls with their results, from each front end to a model of each dialect.
pub(crate) fn paths() -> Vec<Path> {
    const CALLS: usize = 2_000;
    let mut paths = Vec::new();
    for list in requests::lists() {
        let Some(front_end) = list.name.strip_suffix("-turns") else {
            continue;
        };
        for (model, ask) in &list.asks {
            let ask = Rc::clone(ask);
            let name = format!("calls-{front_end}-{model}");
            paths.push(Path::new(name, "call", CALLS, move || ask(CALLS)));
        }
    }
    paths
}
