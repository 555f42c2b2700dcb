//! The request as a conversation: the part that every front end has.

use std::borrow::Cow;

use super::tool_names::ToolNames;
use super::{Context, Message, QueryRequest, Role, widget_tools};
use crate::json::{Json, Kind};
use crate::openbb::base64;
use crate::openbb::result::{CallResult, Item, Outcome};
use crate::protocol::{
    self, Conversation, Decision, Document, LONGEST_NAME, Tool, ToolResult, markdown,
};

impl QueryRequest {
    /// The messages that count: those that a summary stands for are left out.
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
        // The summary itself may stand before or behind what it covers.
        let early = summary.filter(|summary| {
            self.messages
                .iter()
                .take(skip)
                .any(|message| std::ptr::eq(message, *summary))
        });
        early.into_iter().chain(self.messages.iter().skip(skip))
    }

    /// The results since the newest message of a person, each with its message.
    fn new_results(&self) -> impl Iterator<Item = (&Message, CallResult)> {
        let human = |message: &Message| message.role == Role::Human;
        let mut since: Vec<_> = self
            .messages
            .iter()
            .rev()
            .take_while(|message| !human(message))
            .collect();
        since.reverse();
        let results = CallResult::all(since.iter().copied());
        let tools = since
            .into_iter()
            .filter(|message| *message.role() == Role::Tool);
        tools.zip(results)
    }
}

impl Conversation for QueryRequest {
    /// Humans and agents, without calls, results and markers. A summary is a message of the
    /// system; a task that another agent hands over is a message of the user.
    fn messages(&self) -> impl Iterator<Item = protocol::Message<'_>> + Send {
        let delegated = self.delegation().and_then(|_| self.messages.last());
        let query = (!self.query.is_empty())
            .then(|| protocol::Message::new(protocol::Role::User, self.query.as_str()));
        let messages = self.live_messages().filter_map(move |message| {
            let role = match message.role() {
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
        });
        messages.chain(query)
    }

    fn prompt(&self) -> Option<Cow<'_, str>> {
        if !self.query.is_empty() {
            return Some(Cow::Borrowed(&self.query));
        }
        if let Some(delegation) = self.delegation() {
            return Some(delegation.task);
        }
        let human = |message: &&Message| message.role == Role::Human;
        self.messages.iter().rev().find(human)?.text()
    }

    /// The context, and the attached files that are text.
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
        let attached = self.documents.iter().filter_map(|document| {
            let content = file_text(&document.name, &document.format, &document.content_b64)?;
            Some(Document::new(
                document.id.as_str(),
                document.name.as_str(),
                content,
            ))
        });
        let uploaded = self.uploaded_files.iter().filter_map(|file| {
            let content = file_text(&file.name, &file.mime, &file.data_base64)?;
            Some(Document::new(
                file.name.as_str(),
                file.name.as_str(),
                content,
            ))
        });
        text.into_iter()
            .chain(entries)
            .chain(attached)
            .chain(uploaded)
    }

    /// The MCP tools, and every widget of the dashboard as a tool `openbb_widget_` and its id.
    fn tools(&self) -> impl Iterator<Item = Tool<'_>> + Send {
        let mcp = self.tools.iter().map(|tool| Tool {
            parameters: tool.input_schema.clone(),
            ..Tool::new(tool.name.as_str(), tool.description.as_str())
        });
        let widgets = widget_tools(self)
            .map(|(name, _, widget)| Tool::new(name, widget.summary()).parameters(widget.schema()));
        mcp.chain(widgets)
    }

    /// Of widget data one result a widget; of an MCP tool its texts. Each under the name that the
    /// tool was offered under.
    fn results(&self) -> impl Iterator<Item = ToolResult<'_>> + Send {
        let mut all = Vec::new();
        let mut names = None;
        for (message, result) in self.new_results() {
            if result.function == "execute_agent_tool" {
                all.push(mcp_result(&result));
                continue;
            }
            let names = names.get_or_insert_with(|| ToolNames::new(self));
            let function = function_name(message, &result);
            for (source, outcome) in result.by_source() {
                let name = source.as_ref().and_then(|source| names.of(source));
                let name = name.map_or_else(|| function.clone(), Cow::Owned);
                let arguments = source.map(|source| source.input_args);
                all.push(ToolResult {
                    arguments: arguments.or_else(|| result.input_arguments.clone()),
                    failed: outcome.failed(),
                    ..ToolResult::new(name, outcome.text().into_owned())
                });
            }
        }
        all.into_iter()
    }

    fn decision(&self) -> Option<Decision<'_>> {
        let mut messages = self.messages.iter().rev();
        let answer = messages
            .next()
            .filter(|message| message.role == Role::Human)?;
        let asked = messages.next().filter(|message| message.role == Role::Ai)?;
        markdown::decision(&asked.text()?, &answer.text()?)
    }
}

/// The function that was called, in a form that can go with every outcome of a long result: a
/// borrowed one, or, when only the call says it, no more than any front end's functions have.
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

/// A failed MCP tool gives the raw MCP result, in which `isError` is true.
fn mcp_failed(item: &Item) -> bool {
    let json = item.json().filter(|json| json.kind() == Kind::Object);
    json.and_then(|json| json.get("isError"))
        .and_then(|json| json.as_bool())
        == Some(true)
}

/// The text of an inline file, when it is text.
fn file_text(name: &str, format: &str, content: &str) -> Option<String> {
    let textual = |kind: &str| {
        matches!(kind, "txt" | "md" | "html" | "csv" | "json") || kind.starts_with("text/")
    };
    let extension = name.rsplit('.').next().unwrap_or_default();
    if content.is_empty() || !(textual(format) || format.is_empty() && textual(extension)) {
        return None;
    }
    String::from_utf8(base64::decode(content)?).ok()
}
