//! The request as a conversation.

use std::borrow::Cow;
use std::collections::{HashMap, VecDeque};
use std::mem;

use super::tool_names::ToolNames;
use super::{AttachedContext, QueryRequest, widget_tools};
use crate::json::{Json, Kind, Wire};
use crate::openbb::data_source::{DataSource, data_sources};
use crate::openbb::function_call::FunctionCall;
use crate::openbb::marker::strip_markers;
use crate::openbb::message::{Message, Role};
use crate::openbb::result::{CallOutcome, CallResult, ResultItem, media_type};
use crate::protocol::{
    self, Attachment, AttachmentContent, Contents, Conversation, Document, HistoryItem, RawMessage,
    Tool, ToolResult, odd_lines,
};
use crate::vocabulary::contents::join;

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

    /// Returns the files of the request, in either form of the wire, and those in the context.
    fn files(&self) -> impl Iterator<Item = (&str, Attachment<'_>)> + Send {
        let attached = self.documents.iter();
        let attached = attached.filter_map(|file| {
            let media_type = media_type(&file.format, &file.name);
            let found = self::file(&file.name, media_type, &file.content_b64, &file.url)?;
            Some((file.id.as_str(), found))
        });
        let uploaded = self.uploaded_files.iter();
        let uploaded = uploaded.filter_map(|file| {
            let media_type = media_type(&file.mime, &file.name);
            let found = self::file(&file.name, media_type, &file.data_base64, &file.url)?;
            Some((file.name.as_str(), found))
        });
        let entries = self.context.iter().flat_map(|context| context.entries());
        let items = entries.flat_map(|entry| {
            let files = entry.items().into_iter();
            let files = files.filter_map(|item| Some(item.attachment()?.into_owned()));
            files.map(|file| (entry.uuid.as_str(), file))
        });
        attached.chain(uploaded).chain(items)
    }
}

/// Returns a file, inline or by URL.
fn file<'a>(
    name: &'a str,
    media_type: &'a str,
    base64: &'a str,
    url: &'a str,
) -> Option<Attachment<'a>> {
    let content = match (base64, url) {
        ("", "") => return None,
        ("", url) => AttachmentContent::Url(url.into()),
        (base64, _) => AttachmentContent::Base64(base64.into()),
    };
    Some(Attachment::new(content).name(name).media_type(media_type))
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
    fn raw_history(&self) -> impl DoubleEndedIterator<Item = HistoryItem<'_>> + Send {
        let delegated = self.delegated();
        let mut names = None;
        let mut calls = Calls::default();
        let mut items = Vec::new();
        let mut before = None;
        for message in self.live_messages() {
            // A result that is repeated is one.
            if before.replace(message) == Some(message) && *message.role() == Role::Tool {
                continue;
            }
            let said = text_message(message, delegated);
            if *message.role() != Role::Tool {
                let mut odd = Contents::default();
                odd.add_odd(message, &[]);
                if !odd.is_empty() {
                    let role = said
                        .as_ref()
                        .map_or(protocol::Role::Assistant, |said| said.role);
                    items.extend(odd.into_message(role));
                }
            }
            if let Some(said) = said {
                items.push(HistoryItem::Message(said));
            } else if let Some(call) = message.call() {
                let names = names.get_or_insert_with(|| ToolNames::new(self));
                items.extend(calls.made(call, names).map(HistoryItem::Call));
            } else if *message.role() == Role::Tool {
                let names = names.get_or_insert_with(|| ToolNames::new(self));
                for (result, files) in calls.answered(message, names) {
                    items.push(HistoryItem::Result(result));
                    items.extend(files.into_iter().map(HistoryItem::Attachment));
                }
            }
        }
        if !self.query.is_empty() {
            let message = protocol::Message::new(protocol::Role::User, self.query.as_str());
            items.push(HistoryItem::Message(message));
        }
        let is_user = |item: &HistoryItem<'_>| matches!(item, HistoryItem::Message(message) if message.role == protocol::Role::User);
        if let Some(latest) = items.iter().rposition(is_user) {
            // A model gets the text of text files, which are documents.
            let files = self.files().map(|(_, file)| file);
            let files = files.filter(|file| file.text().is_none());
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
        // The Workspace puts marks of sources and artifacts into the text, and shows them as such.
        let messages = messages.map(|message| message.shown(strip_markers));
        let query = Some(&self.query).filter(|query| !query.is_empty());
        messages.chain(query.map(|query| RawMessage::new(protocol::Role::User, query)))
    }

    fn each_string(&self, each: &mut dyn FnMut(&str)) {
        Wire::each_string(self, each);
    }

    fn odd_values(&self) -> String {
        odd_lines(self, &["messages", "workspace_state"])
    }

    /// Returns the context, and the attached files that are text.
    fn documents(&self) -> impl Iterator<Item = Document<'_>> + Send {
        let text = self.context.as_ref().and_then(AttachedContext::text);
        let text = text.map(|text| Document::new("context", "context", text));
        let entries = self.context.iter().flat_map(|context| context.entries());
        let entries = entries.map(|entry| {
            let items = entry.items();
            let texts = items.iter().filter(|item| item.attachment().is_none());
            let texts = texts.filter_map(|item| item.text().map(Cow::into_owned));
            let description = Some(entry.description.clone());
            let description = description.filter(|text| !text.is_empty() && *text != entry.name);
            let content = texts.chain(description);
            let content = content.collect::<Vec<_>>().join("\n\n");
            Document::new(entry.uuid.as_str(), entry.name.as_str(), content)
        });
        let files = self.files().filter_map(|(id, file)| {
            let text = file.text()?.into_owned();
            Some(Document::new(
                id,
                file.name.clone().unwrap_or_default(),
                text,
            ))
        });
        let urls: Vec<_> = self.urls.iter().map(|url| &**url).collect();
        let urls = (!urls.is_empty()).then(|| Document::new("urls", "urls", urls.join("\n")));
        let state = self.workspace_state.as_ref();
        let state = state.map(|state| {
            Document::new(
                "workspace_state",
                "workspace_state",
                state.to_raw().text().to_owned(),
            )
        });
        text.into_iter()
            .chain(entries)
            .chain(files)
            .chain(urls)
            .chain(state)
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
                results.extend(calls.answered(message, names).map(|(result, _)| result));
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

    /// Consumes the result of the last call and returns a result for each of its tool calls, with its files.
    fn answered<'a>(
        &mut self,
        message: &'a Message,
        names: &ToolNames<'_>,
    ) -> impl Iterator<Item = (ToolResult<'a>, Vec<Attachment<'a>>)> {
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
                let made = ToolResult {
                    arguments: arguments.or_else(|| result.input_arguments.clone()),
                    failed: outcome.failed(),
                    ..ToolResult::new(name, outcome.text().into_owned())
                };
                let files = outcome.attachments().map(Attachment::into_owned);
                results.push((made, files.collect()));
            }
        }
        let odd = odd_lines(message, &[]);
        match results.last_mut() {
            _ if odd.is_empty() => {}
            Some((last, _)) => last.content = join([mem::take(&mut last.content), odd.into()]),
            None => {
                let name = function_name(message, &result);
                results.push((ToolResult::new(name, odd), Vec::new()));
            }
        }
        // Without a known call there is no call with this id in the history, and models refuse a
        // result without its call.
        if let Some(call) = &result.call {
            let made = data_sources(&call.input_arguments);
            let places = places(&made, &result.data_sources());
            for (at, (result, _)) in results.iter_mut().enumerate() {
                let index = places.get(at).map_or(at, |place| *place);
                result.call_id = Some(self.id(index).into());
            }
        }
        results.into_iter()
    }
}

/// Returns the position of each data source of a result among those of its call, which a front end may send in another
/// order.
fn places(made: &[DataSource], found: &[DataSource]) -> Vec<usize> {
    let mut places = vec![None; found.len()];
    let mut is_free = vec![true; made.len()];
    // A dashboard can have a widget twice, with other arguments; and a front end may change the arguments.
    for has_arguments in [true, false] {
        let key = |source: &DataSource| {
            let arguments = has_arguments.then(|| source.input_args.clone());
            let DataSource {
                widget_uuid,
                origin,
                id,
                ..
            } = source.clone();
            (widget_uuid, origin, id, arguments)
        };
        let mut free = HashMap::<_, VecDeque<_>>::new();
        for (at, source) in made
            .iter()
            .enumerate()
            .filter(|(at, _)| is_free.get(*at) == Some(&true))
        {
            free.entry(key(source)).or_default().push_back(at);
        }
        for (place, source) in places
            .iter_mut()
            .zip(found)
            .filter(|(place, _)| place.is_none())
        {
            *place = free.get_mut(&key(source)).and_then(VecDeque::pop_front);
            if let Some(is_free) = place.and_then(|place| is_free.get_mut(place)) {
                *is_free = false;
            }
        }
    }
    // What is left belongs to the sources that are left, in order.
    let mut left = (0..).filter(|at| is_free.get(*at) != Some(&false));
    let places = places.into_iter();
    places
        .filter_map(|place| place.or_else(|| left.next()))
        .collect()
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

fn mcp_result(result: &CallResult) -> (ToolResult<'static>, Vec<Attachment<'static>>) {
    let arguments = result.input_arguments.as_ref();
    let name = arguments.and_then(|arguments| arguments.get("tool_name"));
    let name = name.as_ref().and_then(Json::string).map(Cow::into_owned);
    let mut contents = Contents::default();
    for outcome in &result.outcomes {
        let files = outcome.attachments().map(Attachment::into_owned);
        files.for_each(|file| contents.add_file(file));
        match outcome {
            CallOutcome::Items(_) | CallOutcome::Item(_) => {
                for item in outcome.all_items() {
                    let item = match item {
                        Ok(item) if item.attachment().is_some() => continue,
                        Ok(item) => item,
                        Err(json) => {
                            contents.append(Contents::read(json));
                            continue;
                        }
                    };
                    match item.json().filter(|json| json.kind() != Kind::Number) {
                        Some(json) => contents.append(Contents::read(&json)),
                        None => contents.add_text(item.text().unwrap_or_default().into_owned()),
                    }
                }
            }
            _ => contents.add_text(outcome.text().into_owned()),
        }
    }
    let (content, files) = contents.text_and_files();
    let result = ToolResult {
        arguments: arguments.and_then(|arguments| arguments.get("parameters")),
        failed: result.failed()
            || result
                .outcomes
                .iter()
                .flat_map(CallOutcome::items)
                .any(mcp_failed),
        ..ToolResult::new(name.unwrap_or_else(|| result.function.clone()), content)
    };
    (result, files)
}

/// Returns `true` if the item is a raw MCP result with `isError: true`, which the Workspace sends
/// for a failed tool.
fn mcp_failed(item: &ResultItem) -> bool {
    let json = item.json().filter(|json| json.kind() == Kind::Object);
    json.and_then(|json| json.get("isError"))
        .and_then(|json| json.as_bool())
        == Some(true)
}
