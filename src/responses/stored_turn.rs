//! Turns of stored conversations: the records of responses, and requests that continue a response.

use std::collections::{BTreeMap, HashMap};

use http::StatusCode;
use memchr::{memchr, memmem, memrchr};

use super::request::unknown_response;
use super::{Content, ContentPart, Input, Item, ResponsesRequest};
use crate::conversations::{Chain, ChainError, Recorder, Recording, TurnRecord, UserConversations};

use crate::json::{Json, List, Members, Wire, own};
use crate::protocol::Refusal;

/// The relation of a response to a stored conversation, passed to the session by a router with
/// [conversations](crate::Router::conversations).
#[derive(Clone, Default)]
#[non_exhaustive]
pub struct Storage {
    /// `true` if the response is stored.
    pub is_stored: bool,
    /// The id of the previous response, if the request named one.
    pub previous: Option<String>,
    /// The id of the conversation to which the response is added, if the request named one.
    pub conversation: Option<String>,
}

opaque_debug!(Storage);

/// Returns the id of an item of a stored response: the prefix, the digits of the response's id, a letter that tells
/// input (`i`) and output (`o`) apart, and a number.
pub(super) fn stored_item_id(prefix: &str, response: &str, side: char, number: u64) -> String {
    let digits = response.strip_prefix("resp_").unwrap_or(response);
    format!("{prefix}_{digits}{side}{number}")
}

/// Splits the part of an item's id behind its prefix: the digits of the response's id, if this server may have assigned
/// the id to an item of a stored response, and the letter of the side.
fn split_id(rest: &str) -> Option<(&str, char)> {
    let digits = rest.trim_end_matches(|digit: char| digit.is_ascii_digit());
    let side = digits
        .chars()
        .next_back()
        .filter(|_| digits.len() < rest.len())?;
    // Another server may have assigned the ids of the response and of its output.
    let response = digits.strip_suffix(side)?;
    let is_here = side == 'i' || side == 'o' && is_random(response);
    is_here.then_some((response, side))
}

fn is_random(digits: &str) -> bool {
    digits.len() == 32
        && digits
            .bytes()
            .all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'))
}

/// Returns `true` if this crate has assigned the id of an item, as far as its form tells.
pub(super) fn is_own_id(item: &str) -> bool {
    let rest = item.split_once('_').map_or("", |(_, rest)| rest);
    is_random(rest) || split_id(rest).is_some_and(|(response, _)| is_random(response))
}

/// Returns the id of the record that leads to the turn of an item: that of its response, or that of a link.
fn turn_of(item: &str) -> String {
    let rest = item.split_once('_').map(|(_, rest)| rest);
    match rest.and_then(split_id) {
        Some((response, _)) => format!("resp_{response}"),
        None => format!("item {item}"),
    }
}

/// A record of a turn, or another entry of a conversation: an object with some of the members `input`, `response` and
/// `deleted`.
pub(super) struct StoredTurn {
    /// The list of the new items of the request, or of the items that were added without a request.
    input: Json,
    /// The response object at the end of the turn.
    pub(super) response: Json,
    /// The id of an item that is deleted from the conversation.
    deleted: Option<String>,
}

/// An item that is stored.
pub(super) struct StoredItem {
    /// The id of the item, or an id derived from its position.
    pub(super) id: String,
    pub(super) item: Item,
    /// `true` if this server assigned the id, or if the item was added without a response, when its id is unique.
    is_named_here: bool,
}

impl StoredItem {
    /// Returns the item with its id.
    fn named(&self) -> Item {
        let mut item = self.item.clone();
        item.id = Some(self.id.clone());
        if item.kind.is_empty() {
            item.kind = "message".into();
        }
        item
    }

    /// Returns the item as clients list it: with the content of a message as an array of parts.
    pub(super) fn listed(&self) -> Json {
        let mut item = self.named();
        if item.is_message() {
            if let Content::Text(text) = item.content {
                let part = match item.role.as_deref() {
                    Some("assistant") => ContentPart::output_text(text),
                    _ => ContentPart::input_text(text),
                };
                item.content = vec![part].into();
            }
            item.status.get_or_insert_with(|| "completed".into());
        }
        item.to_raw()
    }
}

impl StoredTurn {
    pub(super) fn read(data: &Json) -> Self {
        let deleted = data.get("deleted");
        Self {
            input: data.get("input").unwrap_or_default(),
            response: data.get("response").unwrap_or_default(),
            deleted: deleted.and_then(|id| Some(id.string()?.into_owned())),
        }
    }

    /// Returns the items of the request.
    pub(super) fn input(&self) -> Vec<StoredItem> {
        let response = self.response.get("id");
        let response = response.as_ref().and_then(Json::string).unwrap_or_default();
        let items = self.input.elements().zip(0..);
        let items = items.filter_map(|(json, number)| Some((Item::from_raw(&json)?, number)));
        let items = items.map(|(item, number)| {
            let id = item.id.clone().filter(|id| !id.is_empty());
            StoredItem {
                is_named_here: id.is_none() || response.is_empty(),
                id: id.unwrap_or_else(|| stored_item_id(item.id_prefix(), &response, 'i', number)),
                item,
            }
        });
        items.collect()
    }

    /// Returns all items in order.
    fn items(&self) -> Vec<StoredItem> {
        let output = self.response.get("output").unwrap_or_default();
        let output = output.elements().filter_map(|json| Item::from_raw(&json));
        let output = output.map(|item| StoredItem {
            id: item.id.clone().unwrap_or_default(),
            is_named_here: true,
            item,
        });
        self.input().into_iter().chain(output).collect()
    }
}

/// Returns the items of a conversation in order, without deleted items.
pub(super) fn items_of(chain: &Chain) -> Vec<StoredItem> {
    let turns: Vec<_> = chain.turns.iter().map(StoredTurn::read).collect();
    // The entries are read from the end: a deletion applies to an earlier item, and the same item may be added again
    // later.
    let (mut deleted, mut items) = (HashMap::new(), Vec::new());
    for turn in turns.iter().rev() {
        if let Some(id) = &turn.deleted {
            *deleted.entry(id.as_str()).or_insert(0) += 1;
        }
        for item in turn.items().into_iter().rev() {
            match deleted.get_mut(&*item.id) {
                Some(left) if *left > 0 => *left -= 1,
                _ => items.push(item),
            }
        }
    }
    items.reverse();
    items
}

/// Completes a request with the stored items that it refers to.
pub(super) async fn resume(
    request: &mut ResponsesRequest,
    conversations: UserConversations,
) -> Result<(Storage, Option<Recording>), Refusal> {
    let mut storage = Storage {
        is_stored: request.is_stored() && conversations.is_store(),
        previous: request.previous_response_id.take(),
        conversation: request.take_conversation()?,
    };
    let mut turn = None;
    let before = match (&storage.previous, &storage.conversation) {
        (Some(_), Some(_)) => {
            let message = "cannot be used together with `previous_response_id`";
            return Err(Refusal::new(StatusCode::BAD_REQUEST, message).at("conversation"));
        }
        (Some(id), None) => Some(conversations.chain(id).await.map_err(refused)?),
        (None, Some(id)) => {
            // The conversation is locked before it is read, so that no entry is added in between.
            turn = Some(conversations.begin(id).ok_or_else(locked)?);
            let list = conversations.list(id).await;
            Some(list.map_err(|error| unknown_conversation(error).at("conversation"))?)
        }
        (None, None) => None,
    };
    let has_references = request.input.parts().iter().any(Item::is_reference);
    let (new, chain) = match has_references || before.is_some() {
        true => complete(&mut request.input, before, &conversations).await?,
        false => (written(&request.input), Chain::default()),
    };
    let takes = conversations.takes(&new);
    if turn.is_some() && !takes {
        return Err(too_long("the input is too long for a conversation").at("input"));
    }
    // The member `store` of the response then is `false`.
    storage.is_stored &= takes;
    let recorder = ResponseRecorder::new(new, &conversations);
    let recording = match (turn, storage.is_stored) {
        (Some(turn), has_id) => {
            let recording = Recording::new(conversations, &chain, recorder);
            Some(recording.within(turn, has_id))
        }
        (None, true) => Some(Recording::new(conversations, &chain, recorder)),
        // A later request on the same connection may still continue the response.
        (None, false) => {
            let conversations = conversations.unstored();
            conversations.map(|to| Recording::new(to, &chain, recorder))
        }
    };
    Ok((storage, recording))
}

/// Returns the refusal of a turn in a conversation that has another turn in progress. The status and the code are those
/// of the official service: the Agents SDK for Python waits and repeats the request.
fn locked() -> Refusal {
    let message = "another turn runs in this conversation: repeat the request when it has ended";
    let refusal = Refusal::new(StatusCode::BAD_REQUEST, message).at("conversation");
    refusal.code("conversation_locked")
}

/// Returns the refusal of a request that names a conversation that cannot be read.
pub(super) fn unknown_conversation(error: ChainError) -> Refusal {
    match error {
        ChainError::Unknown => Refusal::new(StatusCode::NOT_FOUND, "no such conversation")
            .code("conversation_not_found"),
        ChainError::TooLong => too_long("the conversation is too long: create another one"),
        ChainError::Store(error) => error.into(),
    }
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

/// Inserts the conversation before the input, and replaces references by stored items. Returns the new items of the
/// input, and the earlier turns.
async fn complete(
    input: &mut Input,
    before: Option<Chain>,
    conversations: &UserConversations,
) -> Result<(Json, Chain), Refusal> {
    let mut known = Known::new(conversations);
    let is_continued = before.is_some();
    let chain = match before {
        Some(chain) => chain,
        None => known.chain(input).await?,
    };
    let before = items_of(&chain);
    if input.parts().iter().any(|item| item.id.is_some()) {
        known.add(&before);
        if is_continued {
            let ids = before.iter().map(|it| (it.id.clone(), it.is_named_here));
            known.in_place = ids.collect();
        }
    }
    let items = known.resolve(std::mem::take(input)).await?;
    let before = before.into_iter().map(|stored| stored.item);
    if is_continued {
        let new = items.to_raw();
        *input = before.chain(items).collect::<Vec<_>>().into();
        return Ok((new, chain));
    }
    // A client that refers to some items sends the others again: items that are stored already are not stored twice.
    let before: Vec<_> = before.collect();
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

/// Returns `true` if `input` begins with these items: clients that refer to some items repeat the others in full.
fn repeats(input: &[Item], items: &[Item]) -> bool {
    let same = |(item, stored): (&Item, &Item)| {
        // Clients reformat arguments and omit ids.
        let is_call = stored.call_id.is_some() && stored.kind == item.kind;
        let is_same_call = is_call && stored.call_id == item.call_id;
        stored == item || is_same_call && (stored.is_call() || stored.output == item.output)
    };
    input.len() >= items.len() && input.iter().zip(items).all(same)
}

/// The stored items that a request refers to.
struct Known<'a> {
    conversations: &'a UserConversations,
    /// The items that have been read, by their ids.
    items: HashMap<String, Item>,
    /// The ids of the items that precede the input without a reference, each with its `is_named_here`.
    in_place: HashMap<String, bool>,
    /// The number of turns, and of bytes, that may still be read to find single items.
    left: (usize, usize),
}

impl<'a> Known<'a> {
    fn new(conversations: &'a UserConversations) -> Self {
        Self {
            conversations,
            items: HashMap::new(),
            in_place: HashMap::new(),
            left: (conversations.turn_limit(), conversations.byte_limit()),
        }
    }

    fn add(&mut self, items: &[StoredItem]) {
        let items = items.iter().map(|item| (item.id.clone(), item.named()));
        self.items.extend(items);
    }

    /// Returns the conversation of the last item that the input refers to; an empty conversation if the input refers to
    /// no item.
    async fn chain(&self, input: &Input) -> Result<Chain, Refusal> {
        let mut references = input.parts().iter().filter(|item| item.is_reference());
        let last = references.next_back().and_then(|item| item.id.as_deref());
        let Some(turn) = last.map(turn_of) else {
            return Ok(Chain::default());
        };
        match self.conversations.chain(&turn).await {
            Ok(chain) => Ok(chain),
            Err(ChainError::Store(error)) => Err(error.into()),
            // The referenced items may still be stored.
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
        // A short reference can refer to a long item, and can be repeated.
        let mut left = self.conversations.byte_limit();
        let mut resolved = List::new();
        for (at, item) in items.into_iter().enumerate() {
            let refuse = |message| {
                let refusal = Refusal::new(StatusCode::BAD_REQUEST, message);
                refusal.at(format!("input[{at}]"))
            };
            let in_place = item.id.as_ref().and_then(|id| self.in_place.get(id));
            if !item.is_reference() {
                // An item that the conversation already has is refused, as at the official service: the agent would
                // receive the item twice.
                if in_place == Some(&true) {
                    return Err(refuse("duplicate item: the conversation has it"));
                }
                resolved.push(item);
                continue;
            }
            if in_place.is_some() {
                continue;
            }
            let id = item.id.unwrap_or_default();
            let Some(item) = self.find(&id).await? else {
                let refusal = refuse("no such item: send the item itself");
                return Err(refusal.code("item_not_found"));
            };
            let size = item.to_raw().as_bytes().len();
            left = left.checked_sub(size).ok_or_else(too_large)?;
            resolved.push(item);
        }
        Ok(resolved)
    }

    /// Returns a stored item. Reads the turn of the item unless it was read before.
    async fn find(&mut self, id: &str) -> Result<Option<Item>, Refusal> {
        if let Some(item) = self.items.get(id) {
            return Ok(Some(item.clone()));
        }
        // Each turn is a call of the store, and a request can contain very many references.
        self.left.0 = self.left.0.checked_sub(1).ok_or_else(too_large)?;
        if let Some(data) = self.conversations.turn(&turn_of(id)).await? {
            let size = data.as_bytes().len();
            self.left.1 = self.left.1.checked_sub(size).ok_or_else(too_large)?;
            self.add(&StoredTurn::read(&data).items());
        }
        Ok(self.items.get(id).cloned())
    }
}

fn too_large() -> Refusal {
    too_long("the items that are referred to are too large").at("input")
}

fn too_long(message: &'static str) -> Refusal {
    Refusal::new(StatusCode::BAD_REQUEST, message).code(Refusal::TOO_LONG)
}

/// Records a response from the bytes of its answer.
struct ResponseRecorder {
    input: Json,
    /// The items so far, by their positions. Not every server repeats them in its last event.
    items: BTreeMap<u64, Json>,
    /// The number of bytes of items that a record can have.
    left: usize,
}

/// The maximum number of output items that have a link to their response.
const MAX_LINKS: usize = 128;

impl ResponseRecorder {
    fn new(input: Json, conversations: &UserConversations) -> Self {
        Self {
            input,
            items: BTreeMap::new(),
            left: conversations.byte_limit(),
        }
    }

    /// Collects the items that these events complete.
    fn collect(&mut self, events: &[u8]) {
        let name: &[u8] = b"response.output_item.done";
        let mut rest = events;
        while let Some(found) = memmem::find(rest, name) {
            let (before, after) = rest.split_at(found);
            let start = memrchr(b'\n', before).map_or(0, |end| end + 1);
            let end = memchr(b'\n', after).map_or(rest.len(), |end| found + end);
            let line = rest.get(start..end).unwrap_or_default();
            rest = rest.get(end..).unwrap_or_default();
            let Some(data) = line.strip_prefix(b"data: ") else {
                continue;
            };
            let Ok(event) = Json::parse(data.to_vec()) else {
                continue;
            };
            let kind = event.get("type");
            let is_done =
                kind.is_some_and(|it| it.string().as_deref() == Some("response.output_item.done"));
            let Some(item) = event.get("item").filter(|_| is_done) else {
                continue;
            };
            self.left = self.left.saturating_sub(item.as_bytes().len());
            if self.left == 0 {
                self.items.clear();
                return;
            }
            let index = event.get("output_index").and_then(|it| it.as_u64());
            let next = self
                .items
                .last_key_value()
                .map_or(0, |(last, _)| last.saturating_add(1));
            self.items.insert(index.unwrap_or(next), own(&item));
        }
    }

    /// Returns the response with all of its items; `None` if they are not known.
    fn complete(&self, response: Json) -> Option<Json> {
        let output = response.get("output").unwrap_or_default();
        if output.elements().count() >= self.items.len() {
            // A record of an answer without its items would change the conversation.
            return (self.left > 0).then_some(response);
        }
        let items: List<Json> = self.items.values().cloned().collect();
        let mut members = Members::from_raw(&response)?;
        members.set("output", items.to_raw());
        Some(members.to_raw())
    }
}

impl Recorder for ResponseRecorder {
    fn push(&mut self, bytes: &[u8]) -> Option<TurnRecord> {
        let response = match bytes.strip_suffix(b"data: [DONE]\n\n") {
            // The last event has the response.
            Some(events) => {
                self.collect(events);
                let mut lines = events.rsplit(|byte| *byte == b'\n');
                let data = lines.find_map(|line| line.strip_prefix(b"data: "))?;
                Json::parse(data.to_vec()).ok()?.get("response")?
            }
            None if bytes.starts_with(b"{") => Json::parse(bytes.to_vec()).ok()?,
            None => {
                self.collect(bytes);
                return None;
            }
        };
        let member = |name| Some(response.get(name)?.string()?.into_owned());
        if !matches!(&*member("status")?, "completed" | "incomplete") {
            return None;
        }
        let id = member("id")?;
        let response = self.complete(response)?;
        let output = response.get("output").unwrap_or_default();
        let ids = output
            .elements()
            .filter_map(|item| Some(item.get("id")?.string()?.into_owned()));
        let links = ids
            .map(|id| turn_of(&id))
            .filter(|turn| turn.starts_with("item "));
        Some(TurnRecord {
            id,
            items: links.take(MAX_LINKS).collect(),
            data: Json::object(|turn| {
                turn.raw("input", &self.input).raw("response", &response);
            }),
        })
    }
}
