//! A conversation in a form that servers of models accept.

use std::borrow::Cow;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::mem;

use crate::json::{Json, List, push};
use crate::protocol::calls::Calls;
use crate::protocol::with_reasoning;
use crate::protocol::{
    AnswerOptions, Attachment, AttachmentContent, Call, Conversation, HistoryItem, Message, Role,
    ToolChoice, ToolResult,
};
use crate::vocabulary::base64;

/// The result of a call that has none: a model's server refuses a request with such a call.
const NO_RESULT: &str = "The call has no result.";

/// The name of a call that only its result is known of, if the result has no name.
const UNKNOWN_TOOL: &str = "unknown_tool";

/// The maximum length in bytes of a call's id that every provider accepts.
const LONGEST_ID: usize = 40;

/// An element of a conversation for a model's server.
#[derive(Debug)]
#[non_exhaustive]
pub enum PromptItem<'a> {
    /// Instructions.
    System(Cow<'a, str>),
    /// A message of the user, with its files.
    User(Cow<'a, str>, Vec<Attachment<'a>>),
    /// A message of the assistant, with its calls and the reasoning before it. If there are calls,
    /// [`Results`](Self::Results) follow.
    Assistant(Cow<'a, str>, Vec<Call<'a>>, Cow<'a, str>),
    /// The results of all calls of the preceding message; at least one.
    Results(Vec<PromptResult<'a>>),
}

/// The result of a call, with its files.
#[derive(Debug)]
#[non_exhaustive]
pub struct PromptResult<'a> {
    /// The id of the call.
    pub id: String,
    /// The result as text.
    pub text: Cow<'a, str>,
    /// `true` if the call failed.
    pub failed: bool,
    /// The files of the result.
    pub files: Vec<Attachment<'a>>,
}

impl PromptResult<'_> {
    /// Creates an empty result of the call with this id.
    pub fn new(id: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            text: Cow::Borrowed(""),
            failed: false,
            files: Vec::new(),
        }
    }

    /// Returns the text, marked as failed if the call failed, for dialects without a member for that.
    #[must_use]
    pub fn said(self) -> String {
        match self.failed {
            true => format!("The call failed: {}", self.text),
            false => self.text.into_owned(),
        }
    }
}

/// Calls `each` with a list and every element of the conversation, and returns the list. At the beginning the list has
/// room for as many elements as there are messages, and for so many more for each call with its result.
///
/// The conversation is corrected where servers of models would refuse it: each call has a unique id and is followed by
/// its result, wherever the client put it; a call or a result that is repeated is one; a result without a call gets one;
/// and documents are a message before the latest user message, with
/// [what the request's types cannot read](Conversation::odd_values).
pub fn prompt_items<'a, C: Conversation, T>(
    conversation: &'a C,
    for_each_call: usize,
    mut each: impl FnMut(&mut List<T>, PromptItem<'a>),
) -> List<T> {
    let mut prompt = Prompt::default();
    for item in with_reasoning(conversation) {
        match item {
            HistoryItem::Message(message) => prompt.message(message),
            HistoryItem::Attachment(file) => prompt.attached(file),
            HistoryItem::Call(call) => prompt.called(call),
            HistoryItem::Result(result) => prompt.answered(result),
            HistoryItem::Reasoning(text) => prompt.reasoned(text),
        }
    }
    let mut documents = String::new();
    for document in conversation.documents() {
        let title = match documents.is_empty() {
            true => "Documents in context:",
            false => "",
        };
        documents.extend([title, "\n\n# ", &document.name, "\n\n", &document.content]);
    }
    let odd = conversation.odd_values();
    if !odd.is_empty() {
        let gap = if documents.is_empty() { "" } else { "\n\n" };
        documents.extend([gap, "Parts of the request in another form:\n\n", &odd]);
    }
    // Were the list doubled when it is full, it would take up to three times the memory.
    let count = prompt.said.len() + for_each_call * prompt.made.len();
    let mut list = List::from(Vec::with_capacity(count));
    prompt.finish(documents, |item| each(&mut list, item));
    list
}

/// The elements so far, and the calls with their results.
#[derive(Default)]
struct Prompt<'a> {
    said: Vec<Said<'a>>,
    made: Vec<Made<'a>>,
    calls: Calls<'a>,
    /// The number of messages of the user.
    turns: usize,
    /// The item that a file belongs to.
    owner: Owner,
    /// The reasoning before elements, by their numbers.
    reasoning: HashMap<usize, Cow<'a, str>>,
}

/// An element of the conversation before its calls are complete.
enum Said<'a> {
    Message(PromptItem<'a>),
    /// The next calls, with their number, made together with the message before if that is one of the assistant.
    Calls(usize),
    /// Files that are not the user's.
    Files(Vec<Attachment<'a>>),
}

/// A call with its result.
struct Made<'a> {
    call: Call<'a>,
    result: Option<PromptResult<'a>>,
    turn: usize,
    kind: MadeBy,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum MadeBy {
    Agent,
    /// Made up for a result without a call.
    Result,
    /// A repetition of an earlier call of the turn, unless its result differs.
    Repetition(usize),
    /// Left out.
    None,
}

#[derive(Clone, Copy, Default)]
enum Owner {
    #[default]
    Message,
    /// The result of a call. The files before the position were sent with an earlier copy of the result.
    Result(usize, usize),
}

impl<'a> Prompt<'a> {
    fn message(&mut self, message: Message<'a>) {
        self.owner = Owner::Message;
        if message.role == Role::User {
            self.turns += 1;
            self.calls.turn();
        }
        let item = match message.role {
            Role::System => PromptItem::System(message.text),
            Role::Assistant => PromptItem::Assistant(message.text, Vec::new(), "".into()),
            // As a user message the text is read, and it is never an instruction of the system.
            _ => PromptItem::User(message.text, Vec::new()),
        };
        push(&mut self.said, Said::Message(item));
    }

    fn called(&mut self, call: Call<'a>) {
        let last = call.id.as_deref().and_then(|id| self.calls.last(id));
        let before = last.and_then(|at| Some((at, self.made.get_mut(at)?)));
        let (mut kind, mut result) = (MadeBy::Agent, None);
        match before {
            Some((_, before)) if before.kind == MadeBy::Result => {
                before.kind = MadeBy::None;
                result = before.result.take();
            }
            Some((at, before)) if before.call == call && before.turn == self.turns => {
                if before.result.is_none() {
                    return;
                }
                kind = MadeBy::Repetition(at);
            }
            _ => {}
        }
        self.push(call, kind, result);
    }

    fn reasoned(&mut self, text: Cow<'a, str>) {
        let mut at = self.said.len();
        // Calls that were made together remain together.
        if let (Some(Said::Calls(_)), Owner::Message) = (self.said.last(), self.owner) {
            at -= 1;
        }
        match self.reasoning.entry(at) {
            Entry::Occupied(earlier) => earlier.into_mut().to_mut().extend(["\n\n", &*text]),
            Entry::Vacant(none) => {
                none.insert(text);
            }
        }
    }

    fn push(&mut self, call: Call<'a>, kind: MadeBy, result: Option<PromptResult<'a>>) {
        match (self.said.last_mut(), self.owner) {
            (Some(Said::Calls(count)), Owner::Message) => *count += 1,
            _ => push(&mut self.said, Said::Calls(1)),
        }
        self.owner = Owner::Message;
        self.calls.push(&call, result.is_some());
        let turn = self.turns;
        let made = Made {
            call,
            result,
            turn,
            kind,
        };
        push(&mut self.made, made);
    }

    fn answered(&mut self, result: ToolResult<'a>) {
        let new = |text, failed| PromptResult {
            text,
            failed,
            ..PromptResult::new("")
        };
        let at = self.calls.answered(&result);
        let Some((at, made)) = at.and_then(|at| Some((at, self.made.get_mut(at)?))) else {
            // Servers refuse a result without a call.
            let name = match result.name {
                name if name.is_empty() => UNKNOWN_TOOL.into(),
                name => name,
            };
            let arguments = result
                .arguments
                .as_ref()
                .map_or("{}", Json::text)
                .to_owned();
            let mut call = Call::new(name, arguments);
            call.id = result.call_id;
            self.owner = Owner::Result(0, 0);
            self.push(
                call,
                MadeBy::Result,
                Some(new(result.content, result.failed)),
            );
            self.owner = Owner::Result(self.made.len() - 1, usize::MAX);
            return;
        };
        self.owner = Owner::Result(at, usize::MAX);
        match &mut made.result {
            None => made.result = Some(new(result.content, result.failed)),
            Some(known) if known.text == result.content => self.owner = Owner::Result(at, 0),
            Some(known) => {
                known.failed = result.failed;
                known.text.to_mut().extend(["\n\n", &*result.content]);
            }
        }
    }

    fn attached(&mut self, file: Attachment<'a>) {
        if let Owner::Result(at, known) = &mut self.owner {
            let result = self.made.get_mut(*at).and_then(|made| made.result.as_mut());
            if let Some(PromptResult { files, .. }) = result {
                match files.get(*known) == Some(&file) {
                    true => *known += 1,
                    false => files.push(file),
                }
            }
            return;
        }
        match self.said.last_mut() {
            Some(Said::Message(PromptItem::User(_, files)) | Said::Files(files)) => {
                files.push(file);
            }
            _ => self.said.push(Said::Files(vec![file])),
        }
    }

    /// Calls `each` with the elements, with the documents before the latest user message: the instructions remain
    /// first, and the question last.
    fn finish(mut self, documents: String, each: impl FnMut(PromptItem<'a>)) {
        let is_user = |said: &Said<'_>| matches!(said, Said::Message(PromptItem::User(..)));
        let latest = self.said.iter().rposition(is_user).unwrap_or_default();
        let mut documents = Some(documents).filter(|documents| !documents.is_empty());
        let is_left_out: Vec<_> = self
            .made
            .iter()
            .map(|made| self.is_left_out(made))
            .collect();
        // They take memory beside what follows.
        drop(self.calls);
        let mut made = self.made.into_iter().zip(is_left_out);
        let mut ids = Ids::default();
        let mut items = Items { last: None, each };
        // Files follow the results, which directly follow the message with the calls.
        let mut files = Vec::new();
        for (at, said) in self.said.into_iter().enumerate() {
            if !matches!(said, Said::Calls(_)) {
                user_files(&mut files)
                    .into_iter()
                    .for_each(|it| items.push(it));
            }
            if let Some(documents) = documents.take_if(|_| at == latest) {
                items.push(PromptItem::User(documents.into(), Vec::new()));
            }
            match said {
                Said::Message(mut item) => {
                    if let PromptItem::Assistant(.., own) = &mut item {
                        *own = self.reasoning.remove(&at).unwrap_or_default();
                    }
                    items.push(item);
                }
                Said::Files(own) => files = own,
                Said::Calls(count) => {
                    let mut calls = Vec::with_capacity(count);
                    let mut results = Vec::with_capacity(count);
                    for (made, is_left_out) in made.by_ref().take(count) {
                        if !is_left_out {
                            let (call, result) = ids.complete(made);
                            calls.push(call);
                            results.push(result);
                        }
                    }
                    if calls.is_empty() {
                        continue;
                    }
                    let reasoning = self.reasoning.remove(&at);
                    match &mut items.last {
                        Some(PromptItem::Assistant(_, own, before)) if own.is_empty() => {
                            *own = calls;
                            if let Some(text) = reasoning {
                                before.to_mut().push_str(&text);
                            }
                        }
                        _ => items.push(PromptItem::Assistant(
                            "".into(),
                            calls,
                            reasoning.unwrap_or_default(),
                        )),
                    }
                    items.push(PromptItem::Results(results));
                }
            }
        }
        let documents = documents.map(|documents| PromptItem::User(documents.into(), Vec::new()));
        let last = user_files(&mut files).into_iter().chain(documents);
        last.for_each(|it| items.push(it));
        items.last.into_iter().for_each(items.each);
    }

    /// Returns `true` for a repetition with the result of the call that it repeats, or without a result.
    fn is_left_out(&self, made: &Made<'_>) -> bool {
        match made.kind {
            MadeBy::Agent | MadeBy::Result => false,
            MadeBy::None => true,
            MadeBy::Repetition(at) => match (&made.result, self.made.get(at)) {
                (
                    Some(own),
                    Some(Made {
                        result: Some(result),
                        ..
                    }),
                ) => own.text == result.text,
                (result, _) => result.is_none(),
            },
        }
    }
}

/// Passes elements on, all but the last one, which may still get its calls.
struct Items<'a, F> {
    last: Option<PromptItem<'a>>,
    each: F,
}

impl<'a, F: FnMut(PromptItem<'a>)> Items<'a, F> {
    fn push(&mut self, item: PromptItem<'a>) {
        self.last.replace(item).into_iter().for_each(&mut self.each);
    }
}

/// Returns the user message with files that are not the user's: models accept files of the user only.
fn user_files<'a>(files: &mut Vec<Attachment<'a>>) -> Option<PromptItem<'a>> {
    let files = mem::take(files);
    (!files.is_empty()).then(|| PromptItem::User("".into(), files))
}

/// The ids of all calls.
#[derive(Default)]
struct Ids {
    taken: HashSet<String>,
    /// The number of calls whose ids were generated.
    unnamed: usize,
}

impl Ids {
    /// Returns a call and its result with an id that every provider accepts and that no earlier call has. Some providers
    /// reuse ids in each turn.
    fn complete<'a>(&mut self, made: Made<'a>) -> (Call<'a>, PromptResult<'a>) {
        let is_valid = |id: &&str| {
            let valid = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
            !id.is_empty() && id.len() <= LONGEST_ID && id.bytes().all(valid)
        };
        let mut call = made.call;
        let mut own = call.id.as_deref().filter(is_valid).map(str::to_owned);
        let id = loop {
            if let Some(id) = own.take().filter(|id| self.taken.insert(id.clone())) {
                break id;
            }
            self.unnamed += 1;
            own = Some(format!("unnamed_{}", self.unnamed));
        };
        call.id = Some(id.clone().into());
        let mut result = made.result.unwrap_or_else(|| PromptResult {
            text: NO_RESULT.into(),
            ..PromptResult::new("")
        });
        result.id = id;
        (call, result)
    }
}

/// Returns a file as text, for a dialect that cannot contain it: its content if it is text, else its URL or its name.
pub fn file_note(file: &Attachment<'_>) -> String {
    let name = file.name.as_deref().unwrap_or("without a name");
    let kind = match file.media_type_or_detected() {
        "" => String::new(),
        kind => format!(" ({kind})"),
    };
    if let Some(text) = file.text() {
        return format!("File {name}{kind}:\n\n{text}");
    }
    match &file.content {
        AttachmentContent::Url(url) => format!("File {name}{kind}: {url}"),
        _ => format!("[The file {name}{kind} cannot be shown to this model.]"),
    }
}

/// Returns a file as a `data:` URL, or its URL; `None` for a file that is only an id.
pub fn url_of<'a>(file: &'a Attachment<'_>) -> Option<Cow<'a, str>> {
    let data_url = |data: &str| {
        let media_type = match file.media_type_or_detected() {
            "" => "application/octet-stream",
            media_type => media_type,
        };
        Cow::Owned(format!("data:{media_type};base64,{data}"))
    };
    match &file.content {
        AttachmentContent::Url(url) => Some(Cow::Borrowed(url)),
        AttachmentContent::Base64(data) => Some(data_url(data)),
        AttachmentContent::Text(text) => Some(data_url(&base64::encode(text.as_bytes()))),
        AttachmentContent::Id(_) => None,
    }
}

/// Returns the settings of a conversation in a form that every model's server accepts: the choice of a tool that the
/// front end does not offer, such as one that a provider runs, becomes [`ToolChoice::Auto`].
pub fn prompt_options<C: Conversation>(conversation: &C) -> AnswerOptions<'_> {
    let mut options = conversation.answer_options();
    if let ToolChoice::Tool(name) = &options.tool_choice {
        if !conversation.tools().any(|tool| tool.name == *name) {
            options.tool_choice = ToolChoice::Auto;
        }
    }
    options
}

/// Reads a choice among tools, which is a word or an object with the name of a tool.
pub fn tool_choice(choice: Option<&Json>) -> ToolChoice<'_> {
    let Some(choice) = choice else {
        return ToolChoice::Auto;
    };
    match choice.string().as_deref() {
        Some("none") => return ToolChoice::None,
        Some("required") => return ToolChoice::Required,
        Some(_) => return ToolChoice::Auto,
        None => {}
    }
    let name = choice
        .get("function")
        .and_then(|function| function.get("name"))
        .or_else(|| choice.get("name"));
    match name.as_ref().and_then(Json::string) {
        Some(name) => ToolChoice::Tool(name.into_owned().into()),
        None => ToolChoice::Auto,
    }
}

/// Returns the strings of an array. Other elements are skipped.
pub fn texts<'a>(list: Option<&Json>) -> Vec<Cow<'a, str>> {
    let elements = list.into_iter().flat_map(Json::elements);
    elements
        .filter_map(|text| Some(Cow::Owned(text.string()?.into_owned())))
        .collect()
}
