//! A conversation in the form that models' servers accept.

use std::borrow::Cow;
use std::collections::HashSet;
use std::mem;

use crate::json::Json;
use crate::protocol::{
    AnswerOptions, Attachment, AttachmentContent, Call, Conversation, HistoryItem, Message, Role,
    ToolChoice, ToolResult,
};

/// The result for a call without one: a model's server refuses a request with such a call.
const NO_RESULT: &str = "The call has no result.";

/// The longest id of a call that every provider accepts, in bytes.
const LONGEST_ID: usize = 40;

/// An element of a conversation, as a model's server accepts it.
#[derive(Debug)]
#[non_exhaustive]
pub enum PromptItem<'a> {
    /// Instructions.
    System(Cow<'a, str>),
    /// A message of the user, with its files.
    User(Cow<'a, str>, Vec<Attachment<'a>>),
    /// A message of the assistant, with its calls. If there are calls, [`Results`](Self::Results) follow.
    Assistant(Cow<'a, str>, Vec<Call<'a>>),
    /// The results of all calls of the message before, at least one.
    Results(Vec<CallResult<'a>>),
}

/// The result of a call, with its files.
#[derive(Debug)]
#[non_exhaustive]
pub struct CallResult<'a> {
    /// The id of the call.
    pub id: String,
    /// The result as text.
    pub text: Cow<'a, str>,
    /// `true` if the call failed.
    pub failed: bool,
    /// The files of the result.
    pub files: Vec<Attachment<'a>>,
}

impl CallResult<'_> {
    /// Returns the text, which says that the call failed where the dialect has no other place for that.
    #[must_use]
    pub fn said(self) -> String {
        match self.failed {
            true => format!("The call failed: {}", self.text),
            false => self.text.into_owned(),
        }
    }
}

/// Returns the conversation with what models' servers refuse corrected: each call has an id of its own and a result behind
/// it, a result without a call is a message of the user, and documents are a message before the latest one.
#[must_use]
pub fn prompt_items<C: Conversation>(conversation: &C) -> Vec<PromptItem<'_>> {
    let mut prompt = Prompt::default();
    for item in conversation.history() {
        match item {
            HistoryItem::Message(message) => prompt.message(message),
            HistoryItem::Attachment(file) => prompt.attached(file),
            HistoryItem::Call(call) => prompt.called(call),
            HistoryItem::Result(result) => prompt.answered(result),
        }
    }
    prompt.complete_calls();
    let mut said = prompt.said;
    let mut documents = String::new();
    for document in conversation.documents() {
        let title = match documents.is_empty() {
            true => "Documents in context:",
            false => "",
        };
        documents.extend([title, "\n\n# ", &document.name, "\n\n", &document.content]);
    }
    // Right before the latest message of the user: the instructions stay first, and the
    // question last.
    if !documents.is_empty() {
        let latest = said
            .iter()
            .rposition(|it| matches!(it, PromptItem::User(..)));
        said.insert(
            latest.unwrap_or(0),
            PromptItem::User(documents.into(), Vec::new()),
        );
    }
    said
}

/// The elements so far. The results of calls must follow the message with the calls directly.
#[derive(Default)]
struct Prompt<'a> {
    said: Vec<PromptItem<'a>>,
    /// The calls without results so far: their ids in the conversation, and those that they were given.
    waiting: Vec<(Option<Cow<'a, str>>, String)>,
    /// The results of the calls so far.
    results: Vec<CallResult<'a>>,
    /// Files of messages other than the user's.
    files: Vec<Attachment<'a>>,
    /// The ids of all calls.
    ids: HashSet<String>,
    /// The number of calls that were given an id.
    unnamed: usize,
}

impl<'a> Prompt<'a> {
    fn message(&mut self, message: Message<'a>) {
        self.complete_calls();
        self.said.push(match message.role {
            Role::System => PromptItem::System(message.text),
            Role::Assistant => PromptItem::Assistant(message.text, Vec::new()),
            // As the user's message it is at least read, and never as an instruction of the system.
            _ => PromptItem::User(message.text, Vec::new()),
        });
    }

    fn called(&mut self, mut call: Call<'a>) {
        let id = self.id(call.id.as_deref());
        let old = call.id.replace(id.clone().into());
        if !self.results.is_empty() || !matches!(self.said.last(), Some(PromptItem::Assistant(..)))
        {
            self.complete_calls();
            self.said.push(PromptItem::Assistant("".into(), Vec::new()));
        }
        if let Some(PromptItem::Assistant(_, calls)) = self.said.last_mut() {
            calls.push(call);
        }
        self.waiting.push((old, id));
    }

    /// Returns an id that every provider accepts, and that no earlier call has: some providers number their calls anew
    /// in each turn.
    fn id(&mut self, id: Option<&str>) -> String {
        let is_valid = |id: &&str| {
            let valid = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
            !id.is_empty() && id.len() <= LONGEST_ID && id.bytes().all(valid)
        };
        let mut id = id.filter(is_valid).map(str::to_owned);
        loop {
            if let Some(id) = id.take().filter(|id| self.ids.insert(id.clone())) {
                return id;
            }
            self.unnamed += 1;
            id = Some(format!("unnamed_{}", self.unnamed));
        }
    }

    fn answered(&mut self, result: ToolResult<'a>) {
        let position = match &result.call_id {
            Some(id) => {
                let same = |(waiting, _): &(Option<_>, _)| waiting.as_ref() == Some(id);
                self.waiting.iter().position(same)
            }
            None if self.waiting.is_empty() => None,
            // Results without ids are in the order of their calls.
            None => Some(0),
        };
        if let Some(position) = position {
            self.results.push(CallResult {
                id: self.waiting.remove(position).1,
                text: result.content,
                failed: result.failed,
                files: Vec::new(),
            });
            return;
        }
        self.complete_calls();
        // A result without its call is refused, so it becomes a message of the user.
        let text = format!("Result of {}:\n\n{}", result.name, result.content);
        self.said.push(PromptItem::User(text.into(), Vec::new()));
    }

    fn attached(&mut self, file: Attachment<'a>) {
        match (self.results.last_mut(), self.said.last_mut()) {
            (Some(result), _) => result.files.push(file),
            (_, Some(PromptItem::User(_, files))) => files.push(file),
            _ => self.files.push(file),
        }
    }

    /// Adds the results of calls, and a placeholder for those without one.
    fn complete_calls(&mut self) {
        let mut results = mem::take(&mut self.results);
        let missing = mem::take(&mut self.waiting).into_iter();
        results.extend(missing.map(|(_, id)| CallResult {
            id,
            text: NO_RESULT.into(),
            failed: false,
            files: Vec::new(),
        }));
        if !results.is_empty() {
            self.said.push(PromptItem::Results(results));
        }
        let files = mem::take(&mut self.files);
        if !files.is_empty() {
            self.said.push(PromptItem::User("".into(), files));
        }
    }
}

/// Returns a file as text, for a dialect that has no place for it.
#[must_use]
pub fn file_note(file: &Attachment<'_>) -> String {
    let name = file.name.as_deref().unwrap_or("without a name");
    let kind = match file.media_type.as_deref() {
        Some(kind) => format!(" ({kind})"),
        None => String::new(),
    };
    match &file.content {
        AttachmentContent::Url(url) => format!("File {name}{kind}: {url}"),
        _ => format!("[The file {name}{kind} cannot be shown to this model.]"),
    }
}

/// Returns a file as a `data:` URL, or its URL; `None` for an id.
#[must_use]
pub fn url_of<'a>(file: &'a Attachment<'_>) -> Option<Cow<'a, str>> {
    let media_type = file.media_type.as_deref().unwrap_or_default();
    match &file.content {
        AttachmentContent::Url(url) => Some(Cow::Borrowed(url)),
        AttachmentContent::Base64(data) => Some(format!("data:{media_type};base64,{data}").into()),
        AttachmentContent::Id(_) => None,
    }
}

/// Returns the settings of a conversation that every model's server accepts: a tool that must be called is a tool that
/// the front end offers, not a tool that a provider runs.
#[must_use]
pub fn prompt_options<C: Conversation>(conversation: &C) -> AnswerOptions<'_> {
    let mut options = conversation.answer_options();
    if let ToolChoice::Tool(name) = &options.tool_choice {
        if !conversation.tools().any(|tool| tool.name == *name) {
            options.tool_choice = ToolChoice::Auto;
        }
    }
    options
}

/// Reads a choice among tools that is a word or an object with the name of a tool.
#[must_use]
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

/// Returns the texts of an array.
#[must_use]
pub fn texts<'a>(list: Option<&Json>) -> Vec<Cow<'a, str>> {
    let elements = list.into_iter().flat_map(Json::elements);
    elements
        .filter_map(|text| Some(Cow::Owned(text.string()?.into_owned())))
        .collect()
}
