//! Turns of stored conversations: what is recorded of a response, and requests that continue one.

use std::collections::{HashMap, HashSet};
use std::fmt;

use http::StatusCode;

use super::request::unknown_response;
use super::{Input, Item, ResponsesRequest};
use crate::conversations::{Chain, ChainError, Recorder, Recording, UserConversations};

use crate::json::{Json, List, Wire};
use crate::protocol::Refusal;

/// How a response belongs to a stored conversation: what a router with
/// [conversations](crate::Router::conversations) tells its session.
#[derive(Clone, Default)]
#[non_exhaustive]
pub struct Storage {
    /// `true` if the response is stored.
    pub is_stored: bool,
    /// The id of the response that it continues, if the request named one.
    pub previous: Option<String>,
}

/// The ids are not shown.
impl fmt::Debug for Storage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Storage")
            .field("is_stored", &self.is_stored)
            .finish_non_exhaustive()
    }
}

/// The digits of an id of this crate.
const DIGITS: usize = 32;

/// Returns the id of an item of a stored response: the prefix, the digits of the response's id, a letter that tells
/// input (`i`) and output (`o`) apart, and a number.
pub(super) fn stored_item_id(prefix: &str, response: &str, side: char, number: u64) -> String {
    let digits = response.strip_prefix("resp_").unwrap_or(response);
    format!("{prefix}_{digits}{side}{number}")
}

/// Returns the id of the stored response that an item belongs to.
fn response_of(item: &str) -> Option<String> {
    let (_, digits) = item.rsplit_once('_')?;
    Some(format!("resp_{}", digits.get(..DIGITS)?))
}

/// The record of a turn: an object with `input` and `response`.
pub(super) struct StoredTurn {
    /// The new items of the request, as a list.
    input: Json,
    /// The response object at its end.
    pub(super) response: Json,
    /// Its items.
    output: Json,
}

impl StoredTurn {
    pub(super) fn read(data: &Json) -> Self {
        let response = data.get("response").unwrap_or_default();
        Self {
            input: data.get("input").unwrap_or_default(),
            output: response.get("output").unwrap_or_default(),
            response,
        }
    }

    /// Returns all items in order.
    fn items(&self) -> impl Iterator<Item = Json> {
        self.input.elements().chain(self.output.elements())
    }

    /// Returns the items of the request, each with its id: its own, or one that is derived from its place.
    pub(super) fn input_with_ids(&self, response: &str) -> Vec<(String, Json)> {
        let items = self.input.elements().zip(0..).map(|(json, number)| {
            let mut item = Item::from_raw(&json)?;
            if let Some(id) = item.id.clone().filter(|id| !id.is_empty()) {
                return Some((id, json));
            }
            let id = stored_item_id(item.id_prefix(), response, 'i', number);
            item.id = Some(id.clone());
            if item.kind.is_empty() {
                item.kind = "message".into();
            }
            Some((id, item.to_raw()))
        });
        items.flatten().collect()
    }

    /// Adds all items to `known` by their ids.
    fn index(&self, known: &mut HashMap<String, Json>) {
        let id = |json: &Json| Some(json.get("id")?.string()?.into_owned());
        let response = id(&self.response).unwrap_or_default();
        let output = self
            .output
            .elements()
            .filter_map(|json| Some((id(&json)?, json)));
        known.extend(output);
        known.extend(self.input_with_ids(&response));
    }
}

/// Completes a request with the items that are stored.
pub(super) async fn resume(
    request: &mut ResponsesRequest,
    conversations: UserConversations,
) -> Result<(Storage, Option<Recording>), Refusal> {
    let mut storage = Storage {
        is_stored: request.is_stored(),
        previous: request.previous_response_id.take(),
    };
    let has_references = request.input.parts().iter().any(Item::is_reference);
    let (new, chain) = match has_references || storage.previous.is_some() {
        true => {
            complete(
                &mut request.input,
                storage.previous.as_deref(),
                &conversations,
            )
            .await?
        }
        false => (written(&request.input), Chain::default()),
    };
    // The answer then says so.
    storage.is_stored &= conversations.takes(&new);
    let recorder = ResponseRecorder { input: new };
    let recording = Recording::new(conversations, &chain, recorder);
    let recording = Some(recording).filter(|_| storage.is_stored);
    Ok((storage, recording))
}

/// Returns the items of an input.
fn written(input: &Input) -> Json {
    match input {
        Input::Text(text) => [Item::user(text.as_str())]
            .into_iter()
            .collect::<List<_>>()
            .to_raw(),
        input => input.to_raw(),
    }
}

/// Puts the conversation before the input, and stored items in the place of references. Returns what is new in the
/// input, and the turns before.
async fn complete(
    input: &mut Input,
    previous: Option<&str>,
    conversations: &UserConversations,
) -> Result<(Json, Chain), Refusal> {
    let mut known = Known::new(conversations);
    let chain = match previous {
        Some(id) => conversations.chain(id).await.map_err(refused)?,
        None => known.chain(input).await?,
    };
    let turns: Vec<_> = chain.turns.iter().map(StoredTurn::read).collect();
    let before: Vec<_> = turns.iter().flat_map(StoredTurn::items).collect();
    if input.parts().iter().any(Item::is_reference) {
        turns.iter().for_each(|turn| turn.index(&mut known.items));
        if previous.is_some() {
            known.in_place = known.items.keys().cloned().collect();
        }
    }
    let items = known.resolve(std::mem::take(input)).await?;
    if previous.is_some() {
        let new = items.to_raw();
        let before = before.iter().filter_map(Item::from_raw);
        *input = before.chain(items).collect::<Vec<_>>().into();
        return Ok((new, chain));
    }
    // A client that refers to items sends the others again: what is stored already is not stored twice.
    let (repeated, chain) = match repeats(&items, &before) {
        true => (before.len(), chain),
        false => (0, Chain::default()),
    };
    let new: List<_> = items.iter().skip(repeated).cloned().collect();
    *input = Input::Parts(items);
    Ok((new.to_raw(), chain))
}

fn refused(error: ChainError) -> Refusal {
    match error {
        ChainError::Unknown => unknown_response("no such response"),
        ChainError::TooLong => unknown_response("the stored conversation is too long"),
        ChainError::Store(error) => error.into(),
    }
}

/// Returns `true` if `input` begins with these items: clients that refer to items send the others again.
fn repeats(input: &[Item], items: &[Json]) -> bool {
    let same = |(item, json): (&Item, &Json)| {
        Item::from_raw(json).is_some_and(|stored| {
            // Clients write arguments again, and leave out ids.
            let is_call = stored.call_id.is_some() && stored.kind == item.kind;
            let is_same_call = is_call && stored.call_id == item.call_id;
            stored == *item || is_same_call && (stored.is_call() || stored.output == item.output)
        })
    };
    input.len() >= items.len() && input.iter().zip(items).all(same)
}

/// The stored items that a request refers to.
struct Known<'a> {
    conversations: &'a UserConversations,
    /// The items that have been read, by their ids.
    items: HashMap<String, Json>,
    /// The ids of those that stand before the input in any case.
    in_place: HashSet<String>,
    /// The number of turns that may still be read for single items, and of their bytes.
    left: (usize, usize),
}

impl<'a> Known<'a> {
    fn new(conversations: &'a UserConversations) -> Self {
        Self {
            conversations,
            items: HashMap::new(),
            in_place: HashSet::new(),
            left: (conversations.turn_limit(), conversations.byte_limit()),
        }
    }

    /// Returns the conversation of the last item that the input refers to; an empty one if it refers to none.
    async fn chain(&self, input: &Input) -> Result<Chain, Refusal> {
        let mut references = input.parts().iter().filter(|item| item.is_reference());
        let last = references.next_back().and_then(|item| item.id.as_deref());
        let Some(response) = last.and_then(response_of) else {
            return Ok(Chain::default());
        };
        match self.conversations.chain(&response).await {
            Ok(chain) => Ok(chain),
            Err(ChainError::Store(error)) => Err(error.into()),
            // The items that are referred to may be there all the same.
            Err(ChainError::Unknown | ChainError::TooLong) => Ok(Chain::default()),
        }
    }

    /// Returns the items of the input with the stored ones in place of references.
    async fn resolve(&mut self, input: Input) -> Result<List<Item>, Refusal> {
        let items = match input {
            Input::Text(text) => List::from_iter([Item::user(text)]),
            Input::Parts(items) => items,
            _ => List::new(),
        };
        // A short reference may stand for a long item, and be repeated.
        let mut left = self.conversations.byte_limit();
        let mut resolved = List::new();
        for (at, item) in items.into_iter().enumerate() {
            if !item.is_reference() {
                resolved.push(item);
                continue;
            }
            let id = item.id.unwrap_or_default();
            if self.in_place.contains(&id) {
                continue;
            }
            let stored = self.find(&id).await?;
            let size = stored.as_ref().map_or(0, |item| item.as_bytes().len());
            let Some(item) = stored.as_ref().and_then(Item::from_raw) else {
                let message = "no such item: send the item itself";
                let refusal = Refusal::new(StatusCode::BAD_REQUEST, message);
                return Err(refusal.at(format!("input[{at}]")).code("item_not_found"));
            };
            left = left.checked_sub(size).ok_or_else(too_long)?;
            resolved.push(item);
        }
        Ok(resolved)
    }

    /// Returns a stored item, after reading its turn if that was not done before.
    async fn find(&mut self, id: &str) -> Result<Option<Json>, Refusal> {
        if let Some(item) = self.items.get(id) {
            return Ok(Some(item.clone()));
        }
        let Some(response) = response_of(id) else {
            return Ok(None);
        };
        // Each is a call of the store, and a request has room for very many references.
        self.left.0 = self.left.0.checked_sub(1).ok_or_else(too_long)?;
        if let Some(data) = self.conversations.turn(&response).await? {
            let size = data.as_bytes().len();
            self.left.1 = self.left.1.checked_sub(size).ok_or_else(too_long)?;
            StoredTurn::read(&data).index(&mut self.items);
        }
        Ok(self.items.get(id).cloned())
    }
}

fn too_long() -> Refusal {
    let message = "the items that are referred to are too large";
    Refusal::new(StatusCode::BAD_REQUEST, message)
        .at("input")
        .code(Refusal::TOO_LONG)
}

/// Records a response from the bytes of its answer.
struct ResponseRecorder {
    input: Json,
}

impl Recorder for ResponseRecorder {
    fn push(&mut self, bytes: &[u8]) -> Option<(String, Json)> {
        let response = match bytes.strip_suffix(b"data: [DONE]\n\n") {
            // The last event repeats the whole response.
            Some(events) => {
                let mut lines = events.rsplit(|byte| *byte == b'\n');
                let data = lines.find_map(|line| line.strip_prefix(b"data: "))?;
                Json::parse(data.to_vec()).ok()?.get("response")?
            }
            None if bytes.starts_with(b"{") => Json::parse(bytes.to_vec()).ok()?,
            None => return None,
        };
        let member = |name| Some(response.get(name)?.string()?.into_owned());
        if !matches!(&*member("status")?, "completed" | "incomplete") {
            return None;
        }
        let id = member("id")?;
        let turn = Json::object(|turn| {
            turn.raw("input", &self.input).raw("response", &response);
        });
        Some((id, turn))
    }
}
