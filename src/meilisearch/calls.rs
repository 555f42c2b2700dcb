//! Assembly of calls that arrive in one piece or in fragments.

use std::collections::{BTreeMap, HashMap};
use std::mem;

use crate::json::{Json, Wire};
use crate::openai::ToolCallDelta;
use crate::sse::TooLarge;

use super::{Append, Event, Message, SearchProgress, Sources, ToolCall, Unknown, tools};

/// The incomplete calls of a stream.
///
/// The server sends every notification in one piece, always at index 0: merging by index, as an
/// OpenAI client does, would merge them all into one. An entry with a name therefore starts a new
/// call; only an entry without one, as in the documentation, continues a call.
#[derive(Debug, Default)]
pub(super) struct Calls {
    /// The calls by their order.
    open: BTreeMap<u64, Open>,
    /// The order number of the call at each index.
    by_index: HashMap<u32, u64>,
    /// The number of calls so far.
    count: u64,
    /// The number of buffered bytes.
    buffered: usize,
}

#[derive(Debug)]
struct Open {
    index: u32,
    call: ToolCall,
    nesting: Nesting,
}

/// The estimated size in bytes of a call apart from its texts.
const OVERHEAD: usize = 256;

impl Calls {
    /// Adds an entry, and passes the calls that it completes to `out`.
    pub(super) fn push(
        &mut self,
        entry: Json,
        limit: usize,
        out: &mut impl Extend<Event>,
    ) -> Result<(), TooLarge> {
        let piece = ToolCallDelta::from_raw(&entry).unwrap_or_default();
        let at = self.by_index.get(&piece.index).copied();
        // The server sends every notification complete and at index 0, so only a name starts a call. An entry without a
        // name continues the call at its index; if there is no such call, the entry is an unknown event.
        let function = piece.function.as_ref();
        let arguments = function.and_then(|function| function.arguments.as_deref());
        let arguments = arguments.unwrap_or_default();
        let name = function.and_then(|function| function.name.as_deref());
        let Some(name) = name.filter(|name| !name.is_empty()) else {
            let Some(at) = at else {
                out.extend([Event::Unknown(Unknown::Frame(entry))]);
                return Ok(());
            };
            return self.resume(at, arguments, limit, out);
        };
        if let Some(at) = at {
            out.extend(self.take(at));
        }
        let mut nesting = Nesting::default();
        nesting.push(arguments);
        let call = ToolCall::new(piece.id.as_deref().unwrap_or_default(), name, arguments);
        // The usual case: one piece, which never enters the buffers.
        if nesting.closed {
            out.extend([event(call)]);
            return Ok(());
        }
        self.buffered += OVERHEAD + call.id.len() + call.name.len() + call.arguments.len();
        self.count += 1;
        self.by_index.insert(piece.index, self.count);
        let open = Open {
            index: piece.index,
            call,
            nesting,
        };
        self.open.insert(self.count, open);
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
        self.buffered += fragment.len();
        if open.nesting.closed {
            // The last bracket completes the call: its event is returned immediately, not after the next chunk.
            out.extend(self.take(at));
        }
        self.check(limit)
    }

    /// Passes the remaining calls to `out`, complete or not, at the end of the answer.
    pub(super) fn flush(&mut self, out: &mut impl Extend<Event>) {
        // The calls are passed in order of arrival, which is the order of the map's keys.
        let open = self.clear();
        out.extend(open.into_values().map(|open| event(open.call)));
    }

    /// Removes and returns all incomplete calls.
    fn clear(&mut self) -> BTreeMap<u64, Open> {
        self.buffered = 0;
        self.by_index.clear();
        mem::take(&mut self.open)
    }

    fn take(&mut self, at: u64) -> Option<Event> {
        let Open { index, call, .. } = self.open.remove(&at)?;
        self.by_index.remove(&index);
        let size = OVERHEAD + call.id.len() + call.name.len() + call.arguments.len();
        self.buffered = self.buffered.saturating_sub(size);
        Some(event(call))
    }

    fn check(&mut self, limit: usize) -> Result<(), TooLarge> {
        if self.buffered <= limit {
            return Ok(());
        }
        // The buffers are freed, because the limit bounds memory and the caller stops reading.
        self.clear();
        Err(TooLarge::new(limit))
    }
}

/// Converts a complete call to an event.
fn event(call: ToolCall) -> Event {
    // Names are compared, not ids: those of notifications are random, and other calls have no
    // results.
    let event = match call.name.as_str() {
        name if tools::is_notification(name) => read(&call),
        _ => None,
    };
    event.unwrap_or(Event::Unknown(Unknown::Call(call)))
}

fn read(call: &ToolCall) -> Option<Event> {
    let arguments = Json::parse(call.arguments.clone().into_bytes()).ok()?;
    let id = call.id.clone();
    Some(match call.name.as_str() {
        tools::PROGRESS => Event::Progress(SearchProgress {
            id,
            ..SearchProgress::read(&arguments)?
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

/// A detector of the end of a JSON object that arrives in fragments. It examines each byte once.
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
                // The order of the arms matters: escaped characters are ignored first, then quotes and the content of
                // strings are handled, then the text outside strings.
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
