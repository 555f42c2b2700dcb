//! A conversation in a form that servers of models accept.

use std::borrow::Cow;
use std::collections::HashSet;
use std::mem;

use crate::json::Json;
use crate::protocol::base64;
use crate::protocol::{
    AnswerOptions, Attachment, AttachmentContent, Call, Conversation, HistoryItem, Message, Role,
    ToolChoice, ToolResult,
};

/// The result of a call that has none: a model's server refuses a request with such a call.
const NO_RESULT: &str = "The call has no result.";

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
    /// A message of the assistant, with its calls. If there are calls, [`Results`](Self::Results) follow.
    Assistant(Cow<'a, str>, Vec<Call<'a>>),
    /// The results of all calls of the preceding message; at least one.
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
    /// Returns the text, marked as failed if the call failed, for dialects without a member for that.
    #[must_use]
    pub fn said(self) -> String {
        match self.failed {
            true => format!("The call failed: {}", self.text),
            false => self.text.into_owned(),
        }
    }
}

/// Returns the conversation, corrected where servers of models would refuse it: each call has a unique id and is
/// followed by its result, a result without a call is a user message, and documents are a message before the latest
/// user message.
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
    // Directly before the latest user message: the instructions remain first, and the question last.
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

/// The elements so far. The results of calls must directly follow the message with the calls.
#[derive(Default)]
struct Prompt<'a> {
    said: Vec<PromptItem<'a>>,
    /// The calls that have no result yet: their original ids, and the ids that were assigned to them.
    waiting: Vec<(Option<Cow<'a, str>>, String)>,
    /// The results of the calls so far.
    results: Vec<CallResult<'a>>,
    /// Files of messages other than the user's.
    files: Vec<Attachment<'a>>,
    /// The ids of all calls.
    ids: HashSet<String>,
    /// The number of calls whose ids were generated.
    unnamed: usize,
}

impl<'a> Prompt<'a> {
    fn message(&mut self, message: Message<'a>) {
        self.complete_calls();
        self.said.push(match message.role {
            Role::System => PromptItem::System(message.text),
            Role::Assistant => PromptItem::Assistant(message.text, Vec::new()),
            // As a user message the text is read, and it is never an instruction of the system.
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

    /// Returns an id that every provider accepts and that no earlier call has. Some providers reuse ids in each turn.
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
            // Results without ids have the order of their calls.
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
        // Servers refuse a result without a call, so it becomes a user message.
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

    /// Adds the results of the calls, and placeholders for calls without a result.
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

/// Returns a file as text, for a dialect that cannot contain it: its content if it is text, else its URL or its name.
#[must_use]
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
#[must_use]
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

/// Reads a choice among tools, which is a word or an object with the name of a tool.
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

/// Returns the strings of an array. Other elements are skipped.
#[must_use]
pub fn texts<'a>(list: Option<&Json>) -> Vec<Cow<'a, str>> {
    let elements = list.into_iter().flat_map(Json::elements);
    elements
        .filter_map(|text| Some(Cow::Owned(text.string()?.into_owned())))
        .collect()
}
