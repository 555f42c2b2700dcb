//! Calls that arrive whole, and calls that arrive in fragments.

use std::collections::{BTreeMap, HashMap};
use std::mem;

use crate::json::Json;

use super::chunk::CallPiece;
use super::{Append, Call, Event, Message, Progress, Sources, Unknown, tools};

/// The calls of a stream that are not complete yet.
///
/// The server sends every notification whole, always at index 0: merging by index, as an ordinary
/// OpenAI client does, would glue them all into one. An entry with a name therefore begins a new
/// call; only entries without one, which the documentation describes, go on with an old one.
#[derive(Debug, Default)]
pub(super) struct Calls {
    /// By the order in which they began.
    open: BTreeMap<u64, Open>,
    /// Which of them an index stands for.
    places: HashMap<u64, u64>,
    /// How many began.
    begun: u64,
    /// How many bytes are held.
    held: usize,
}

#[derive(Debug)]
struct Open {
    index: u64,
    call: Call,
    nesting: Nesting,
}

/// What a call costs apart from its texts.
const OVERHEAD: usize = 256;

/// More is held than may be.
pub(super) struct TooLarge;

impl Calls {
    /// Takes an entry; gives what is complete by now.
    pub(super) fn push(
        &mut self,
        piece: CallPiece,
        limit: usize,
        out: &mut impl Extend<Event>,
    ) -> Result<(), TooLarge> {
        let at = self.places.get(&piece.index).copied();
        let Some(name) = piece.name else {
            let Some(at) = at else {
                out.extend([Event::Unknown(Unknown::Frame(piece.raw))]);
                return Ok(());
            };
            return self.resume(at, &piece.arguments, limit, out);
        };
        if let Some(at) = at {
            out.extend(self.take(at));
        }
        let mut nesting = Nesting::default();
        nesting.push(&piece.arguments);
        let call = Call::new(piece.id.unwrap_or_default(), name, piece.arguments);
        if nesting.closed {
            out.extend([event(call)]);
            return Ok(());
        }
        self.held += OVERHEAD + call.id.len() + call.name.len() + call.arguments.len();
        self.begun += 1;
        self.places.insert(piece.index, self.begun);
        let open = Open {
            index: piece.index,
            call,
            nesting,
        };
        self.open.insert(self.begun, open);
        self.check(limit)
    }

    /// Appends a fragment to a call.
    fn resume(
        &mut self,
        at: u64,
        fragment: &str,
        limit: usize,
        out: &mut impl Extend<Event>,
    ) -> Result<(), TooLarge> {
        let Some(open) = self.open.get_mut(&at) else {
            return Ok(());
        };
        open.call.arguments.push_str(fragment);
        open.nesting.push(fragment);
        self.held += fragment.len();
        if open.nesting.closed {
            out.extend(self.take(at));
        }
        self.check(limit)
    }

    /// Gives what is left, complete or not: the answer is over.
    pub(super) fn flush(&mut self, out: &mut impl Extend<Event>) {
        let open = self.clear();
        out.extend(open.into_values().map(|open| event(open.call)));
    }

    /// Forgets all; gives what was open.
    fn clear(&mut self) -> BTreeMap<u64, Open> {
        self.held = 0;
        self.places.clear();
        mem::take(&mut self.open)
    }

    fn take(&mut self, at: u64) -> Option<Event> {
        let Open { index, call, .. } = self.open.remove(&at)?;
        self.places.remove(&index);
        let size = OVERHEAD + call.id.len() + call.name.len() + call.arguments.len();
        self.held = self.held.saturating_sub(size);
        Some(event(call))
    }

    fn check(&mut self, limit: usize) -> Result<(), TooLarge> {
        if self.held <= limit {
            return Ok(());
        }
        self.clear();
        Err(TooLarge)
    }
}

/// What a complete call says.
fn event(call: Call) -> Event {
    let event = match call.name.as_str() {
        name if tools::is_notification(name) => read(&call),
        _ => None,
    };
    event.unwrap_or(Event::Unknown(Unknown::Call(call)))
}

fn read(call: &Call) -> Option<Event> {
    let arguments = Json::parse(call.arguments.clone().into_bytes()).ok()?;
    let id = call.id.clone();
    Some(match call.name.as_str() {
        tools::PROGRESS => Event::Progress(Progress {
            id,
            ..Progress::read(&arguments)?
        }),
        tools::SOURCES => Event::Sources(Sources {
            id,
            ..Sources::read(&arguments)?
        }),
        tools::APPEND => Event::Append(Append {
            id,
            message: Message::from_json(arguments)?,
        }),
        _ => return None,
    })
}

/// Watches for the end of a JSON object that arrives in pieces, looking at each byte once.
#[derive(Debug, Default)]
struct Nesting {
    depth: usize,
    in_string: bool,
    escaped: bool,
    closed: bool,
}

impl Nesting {
    fn push(&mut self, fragment: &str) {
        for byte in fragment.bytes() {
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' if self.in_string => self.escaped = true,
                b'"' => self.in_string = !self.in_string,
                _ if self.in_string => {}
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => {
                    self.depth = self.depth.saturating_sub(1);
                    self.closed = self.depth == 0;
                }
                _ => {}
            }
        }
    }
}
