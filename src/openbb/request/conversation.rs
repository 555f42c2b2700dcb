//! The request as a conversation.

use std::borrow::Cow;

use super::tool_names::ToolNames;
use super::{Context, Message, QueryRequest, Role, widget_tools};
use crate::json::{Json, Kind, Wire};
use crate::openbb::legacy::data_sources;
use crate::openbb::result::{CallResult, Item, Outcome};
use crate::openbb::{FunctionCall, base64};
use crate::protocol::{
    self, Attachment, AttachmentContent, Conversation, Document, HistoryItem, RawMessage, Tool,
    ToolResult,
};

/// The function that runs a tool of an MCP server.
const EXECUTE_AGENT_TOOL: &str = "execute_agent_tool";

impl QueryRequest {
    /// Returns the messages that are in effect, without those that a summary replaces.
    fn live_messages(&self) -> impl Iterator<Item = &Message> + Clone + Send {
        let summary = self.messages.iter().rev().find(|message| {
            message.role == Role::Summary && !message.covered_through_message_id.is_empty()
        });
        let covered = summary.and_then(|summary| {
            let through = &summary.covered_through_message_id;
            self.messages
                .iter()
                .position(|message| message.message_id == *through)
        });
        let skip = covered.map_or(0, |index| index + 1);
        // The summary may stand before or after the messages that it replaces. One that stands
        // before would be skipped with them.
        let early = summary.filter(|summary| {
            self.messages
                .iter()
                .take(skip)
                .any(|message| std::ptr::eq(message, *summary))
        });
        early.into_iter().chain(self.messages.iter().skip(skip))
    }

    /// Returns the message with which another agent delegates a task, if the request is a
    /// delegation.
    fn delegated(&self) -> Option<&Message> {
        self.delegation().and_then(|_| self.messages.last())
    }

    /// Returns the files, in either form of the wire.
    fn files(&self) -> impl Iterator<Item = File<'_>> + Send {
        let attached = self.documents.iter().map(|file| File {
            id: &file.id,
            name: &file.name,
            kind: media_type(&file.format, &file.name),
            base64: &file.content_b64,
            url: &file.url,
        });
        let uploaded = self.uploaded_files.iter().map(|file| File {
            id: &file.name,
            name: &file.name,
            kind: media_type(&file.mime, &file.name),
            base64: &file.data_base64,
            url: &file.url,
        });
        attached.chain(uploaded)
    }
}

/// A file of a request.
struct File<'a> {
    id: &'a str,
    name: &'a str,
    /// The media type, and `true` if the content is text.
    kind: (&'a str, bool),
    base64: &'a str,
    url: &'a str,
}

impl<'a> File<'a> {
    /// Returns a file that is not text, or given by URL.
    fn attachment(self) -> Option<Attachment<'a>> {
        let content = match (self.base64, self.url) {
            ("", "") => return None,
            ("", url) => AttachmentContent::Url(url.into()),
            // A model gets the text of text files, not base64.
            _ if self.kind.1 => return None,
            (base64, _) => AttachmentContent::Base64(base64.into()),
        };
        let file = Attachment::new(content).name(self.name);
        Some(file.media_type(self.kind.0))
    }

    /// Returns an inline file that is text.
    fn document(self) -> Option<Document<'a>> {
        if self.base64.is_empty() || !self.kind.1 {
            return None;
        }
        let text = String::from_utf8(base64::decode(self.base64)?).ok()?;
        Some(Document::new(self.id, self.name, text))
    }
}

/// Returns a message with its text; `None` for a call, a result, and a message without text.
fn text_message<'a>(
    message: &'a Message,
    delegated: Option<&Message>,
) -> Option<protocol::Message<'a>> {
    let role = match message.role() {
        // Messages are compared by address, not by value, because an earlier message can have the same text.
        Role::Ai if delegated.is_some_and(|last| std::ptr::eq(last, message)) => {
            protocol::Role::User
        }
        Role::Ai if message.call().is_some() => return None,
        Role::Ai => protocol::Role::Assistant,
        Role::Human => protocol::Role::User,
        Role::Summary => protocol::Role::System,
        Role::Tool => return None,
        Role::Other(_) => protocol::Role::Other,
    };
    Some(protocol::Message::new(role, message.text()?))
}

impl Conversation for QueryRequest {
    /// Returns the history. A summary is a system message; a task that another agent delegates is a
    /// user message. A call for widget data is one call for each widget. Files follow the latest
    /// user message.
    fn raw_history(&self) -> impl Iterator<Item = HistoryItem<'_>> + Send {
        let delegated = self.delegated();
        let mut names = None;
        let mut calls = Calls::default();
        let mut items = Vec::new();
        for message in self.live_messages() {
            if let Some(message) = text_message(message, delegated) {
                items.push(HistoryItem::Message(message));
            } else if let Some(call) = message.call() {
                let names = names.get_or_insert_with(|| ToolNames::new(self));
                items.extend(calls.made(call, names).map(HistoryItem::Call));
            } else if *message.role() == Role::Tool {
                let names = names.get_or_insert_with(|| ToolNames::new(self));
                items.extend(calls.answered(message, names).map(HistoryItem::Result));
            }
        }
        if !self.query.is_empty() {
            let message = protocol::Message::new(protocol::Role::User, self.query.as_str());
            items.push(HistoryItem::Message(message));
        }
        let is_user = |item: &HistoryItem<'_>| matches!(item, HistoryItem::Message(message) if message.role == protocol::Role::User);
        if let Some(latest) = items.iter().rposition(is_user) {
            let files = self.files().filter_map(File::attachment);
            let files = files.map(HistoryItem::Attachment);
            // Requests do not say which message a file was attached to; the Workspace sends it with each. It is
            // attached to the latest question.
            drop(items.splice(latest + 1..latest + 1, files));
        }
        items.into_iter()
    }

    fn raw_messages(&self) -> impl Iterator<Item = RawMessage<'_>> + Send {
        let delegated = self.delegated();
        let messages = RawMessage::list(&self.messages, move |message| {
            match (text_message(message, delegated), message.role()) {
                (Some(text), _) => text.role,
                (None, Role::Human) => protocol::Role::Other,
                (None, _) => protocol::Role::Tool,
            }
        });
        let query = Some(&self.query).filter(|query| !query.is_empty());
        messages.chain(query.map(|query| RawMessage::new(protocol::Role::User, query)))
    }

    fn each_string(&self, each: &mut dyn FnMut(&str)) {
        Wire::each_string(self, each);
    }

    /// Returns the context, and the attached files that are text.
    fn documents(&self) -> impl Iterator<Item = Document<'_>> + Send {
        let text = self.context.as_ref().and_then(Context::text);
        let text = text.map(|text| Document::new("context", "context", text));
        let entries = self.context.iter().flat_map(|context| context.entries());
        let entries = entries.map(|entry| {
            let items = entry.items();
            let texts = items.iter().filter_map(|item| {
                let text = item.text().map(Cow::into_owned);
                text.or_else(|| item.reference().map(str::to_owned))
            });
            let content = texts.collect::<Vec<_>>().join("\n\n");
            Document::new(entry.uuid.as_str(), entry.name.as_str(), content)
        });
        let files = self.files().filter_map(File::document);
        text.into_iter().chain(entries).chain(files)
    }

    /// Returns the MCP tools, and every widget of the dashboard as a tool named `openbb_widget_`
    /// and its id.
    fn tools(&self) -> impl Iterator<Item = Tool<'_>> + Send {
        let mcp = self.tools.iter().map(|tool| Tool {
            parameters: tool.input_schema.clone(),
            ..Tool::new(tool.name.as_str(), tool.description.as_str())
        });
        let widgets = widget_tools(self)
            .map(|(name, _, widget)| Tool::new(name, widget.summary()).parameters(widget.schema()));
        mcp.chain(widgets)
    }

    /// Returns one result for each widget of a data call, or the texts of an MCP tool. Each has the
    /// name under which the tool was offered.
    fn results(&self) -> impl Iterator<Item = ToolResult<'_>> + Send {
        let human = |message: &Message| message.role == Role::Human;
        let latest = self.messages.iter().rposition(human);
        // Results before the latest message of the user are history: they were answered.
        let since = self.messages.iter().skip(latest.map_or(0, |at| at + 1));
        let mut names = None;
        let mut calls = Calls::default();
        let mut results = Vec::new();
        for message in since {
            if *message.role() == Role::Tool {
                let names = names.get_or_insert_with(|| ToolNames::new(self));
                results.extend(calls.answered(message, names));
            } else {
                // `made` is not used, because only the call right before a result is needed here, without ids.
                calls.last = message.call();
            }
        }
        results.into_iter()
    }
}

/// The calls of a conversation. A call's result is the message right after it.
#[derive(Default)]
struct Calls {
    /// The call in the previous message.
    last: Option<FunctionCall>,
    /// The number of calls so far.
    count: usize,
}

impl Calls {
    fn id(&self, index: usize) -> String {
        format!("call_{}_{index}", self.count)
    }

    /// Records a call and returns the tool calls that it stands for.
    fn made<'a>(
        &mut self,
        call: FunctionCall,
        names: &ToolNames<'_>,
    ) -> impl Iterator<Item = protocol::Call<'a>> {
        // The wire has no ids for calls. Counting from the start of the chat gives the same ids for
        // the same messages in every request.
        self.count += 1;
        let arguments = &call.input_arguments;
        let sources = data_sources(arguments);
        let mut calls = Vec::new();
        if call.function == EXECUTE_AGENT_TOOL {
            let name = arguments.get("tool_name");
            let name = name.as_ref().and_then(Json::string).map(Cow::into_owned);
            let parameters = arguments.get("parameters").unwrap_or_default();
            calls.push((name, parameters));
        } else if sources.is_empty() {
            // Any other function of the Workspace is one call under its own name.
            calls.push((None, arguments.clone()));
        } else {
            let sources = sources.into_iter();
            calls.extend(sources.map(|source| (names.of(&source), source.input_args)));
        }
        let calls = calls
            .into_iter()
            .enumerate()
            .map(|(index, (name, arguments))| {
                let name = name.unwrap_or_else(|| call.function.clone());
                protocol::Call::new(name, arguments.text().to_owned()).id(self.id(index))
            });
        let calls: Vec<_> = calls.collect();
        self.last = Some(call);
        calls.into_iter()
    }

    /// Consumes the result of the last call and returns a result for each of its tool calls.
    fn answered<'a>(
        &mut self,
        message: &'a Message,
        names: &ToolNames<'_>,
    ) -> impl Iterator<Item = ToolResult<'a>> {
        let result = CallResult::new(message, self.last.take());
        let mut results = Vec::new();
        if result.function == EXECUTE_AGENT_TOOL {
            results.push(mcp_result(&result));
        } else {
            let function = function_name(message, &result);
            for (source, outcome) in result.by_source() {
                let name = source.as_ref().and_then(|source| names.of(source));
                let name = name.map_or_else(|| function.clone(), Cow::Owned);
                let arguments = source.map(|source| source.input_args);
                results.push(ToolResult {
                    arguments: arguments.or_else(|| result.input_arguments.clone()),
                    failed: outcome.failed(),
                    ..ToolResult::new(name, outcome.text().into_owned())
                });
            }
        }
        // Without a known call there is no call with this id in the history, and models refuse a
        // result without its call.
        if result.call.is_some() {
            for (index, result) in results.iter_mut().enumerate() {
                result.call_id = Some(self.id(index).into());
            }
        }
        results.into_iter()
    }
}

/// The length in characters up to which the name of a call is copied; providers allow 64.
const LONGEST_NAME: usize = 256;

/// Returns the name of the called function: borrowed from the message, else copied from the call
/// and truncated. The name is cloned for every outcome, so a long owned one would multiply memory.
fn function_name<'a>(message: &'a Message, result: &CallResult) -> Cow<'a, str> {
    if message.function.is_empty() {
        result.function.chars().take(LONGEST_NAME).collect()
    } else {
        Cow::Borrowed(&message.function)
    }
}

fn mcp_result(result: &CallResult) -> ToolResult<'static> {
    let arguments = result.input_arguments.as_ref();
    let name = arguments.and_then(|arguments| arguments.get("tool_name"));
    let name = name.as_ref().and_then(Json::string).map(Cow::into_owned);
    let texts = result.outcomes.iter().map(|outcome| match outcome {
        Outcome::Items(_) | Outcome::Item(_) => outcome.tool_texts().join("\n\n"),
        _ => outcome.text().into_owned(),
    });
    let content = texts.collect::<Vec<_>>().join("\n\n");
    ToolResult {
        arguments: arguments.and_then(|arguments| arguments.get("parameters")),
        failed: result.failed()
            || result
                .outcomes
                .iter()
                .flat_map(Outcome::items)
                .any(mcp_failed),
        ..ToolResult::new(name.unwrap_or_else(|| result.function.clone()), content)
    }
}

/// Returns `true` if the item is a raw MCP result with `isError: true`, which the Workspace sends
/// for a failed tool.
fn mcp_failed(item: &Item) -> bool {
    let json = item.json().filter(|json| json.kind() == Kind::Object);
    json.and_then(|json| json.get("isError"))
        .and_then(|json| json.as_bool())
        == Some(true)
}

/// Returns the media type of a file, and `true` if its content is text.
fn media_type<'a>(format: &'a str, name: &'a str) -> (&'a str, bool) {
    let extension = name.rsplit('.').next().unwrap_or_default();
    // The member `format` is missing in requests of third parties.
    let format = if format.is_empty() { extension } else { format };
    match format {
        "txt" => ("text/plain", true),
        "md" => ("text/markdown", true),
        "html" => ("text/html", true),
        "csv" => ("text/csv", true),
        "json" => ("application/json", true),
        "pdf" => ("application/pdf", false),
        "docx" => (
            "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
            false,
        ),
        format if format.starts_with("text/") => (format, true),
        format if format.contains('/') => (format, format == "application/json"),
        _ => ("", false),
    }
}
