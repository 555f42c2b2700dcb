//! For every rule, an endpoint that breaks this rule only.

/// The faults of a file, a row each: the rule, the front end, and how to break the rule for it.
macro_rules! faults {
    ($($rule:literal $front:ident $fault:expr;)*) => {
        pub(crate) fn faults() -> Vec<Broken> {
            vec![$(($rule, $front, $fault)),*]
        }
    };
}

mod ag_ui;
mod anthropic;
mod chunk;
mod http;
mod openbb;
mod question;
mod ui_stream;

use crate::script::{Answer, Asked, Fault, Front, Piece};

/// A rule, a front end, and how to break the rule for it.
pub(crate) type Broken = (&'static str, Front, Fault);

pub(crate) fn all() -> impl Iterator<Item = Broken> {
    let all = [
        http::faults(),
        question::faults(),
        chunk::faults(),
        openbb::faults(),
        anthropic::faults(),
        ag_ui::faults(),
        ui_stream::faults(),
    ];
    all.into_iter().flatten()
}

fn by(fault: impl Fn(&Asked<'_>, Answer) -> Answer + Send + Sync + 'static) -> Fault {
    Box::new(fault)
}

/// The fault in answers to some requests only.
fn when(asked: impl Fn(&Asked<'_>) -> bool + Send + Sync + 'static, fault: Fault) -> Fault {
    by(move |request, answer| match asked(request) {
        true => fault(request, answer),
        false => answer,
    })
}

/// The fault in streams only.
fn streaming(fault: Fault) -> Fault {
    by(move |asked, answer| match answer.streams {
        true => fault(asked, answer),
        false => answer,
    })
}

fn has(text: &'static str) -> impl Fn(&Asked<'_>) -> bool + Send + Sync {
    move |asked| asked.has(text)
}

fn said(from: &str, to: &str) -> Fault {
    streaming(swap(from, to))
}

fn swap(from: &str, to: &str) -> Fault {
    let (from, to) = (from.to_owned(), to.to_owned());
    by(move |_, answer| answer.swap(&from, &to))
}

fn then(piece: Piece) -> Fault {
    by(move |_, answer| answer.then(piece.clone()))
}

fn status(status: u16) -> Fault {
    by(move |_, answer| answer.status(status))
}

fn body(body: &'static str) -> Fault {
    by(move |_, answer| answer.body(body))
}

fn header(name: &'static str, value: &'static str) -> Fault {
    by(move |_, answer| answer.header(name, value))
}

fn without(header: &'static str) -> Fault {
    by(move |_, answer| answer.without(header))
}
