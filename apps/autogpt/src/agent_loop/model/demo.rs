//! The scripted model, for a first try without a key.

use async_trait::async_trait;

use super::{Model, ModelError, ModelReply, ModelRequest};
use crate::agent_loop::message::{Message, Role};
use crate::json::{Object, Value, parse};

/// A scripted model that needs no key: it lists the files of the workspace, writes a report about
/// them, reads it and finishes.
///
/// The report is made from the results of its commands, so it is about the real files.
#[derive(Clone, Copy, Debug, Default)]
pub struct DemoModel;

/// The name of the report.
const REPORT: &str = "report.md";

#[async_trait]
impl Model for DemoModel {
    async fn chat(&self, request: &ModelRequest) -> Result<ModelReply, ModelError> {
        Ok(ModelReply::text(&next_reply(&request.messages)))
    }
}

fn next_reply(messages: &[Message]) -> String {
    // The latest result decides the next command.
    let results = messages.iter().rev().filter(|m| m.role != Role::Assistant);
    for message in results {
        let text = &message.content;
        if let Some(files) = result_of(text, "search_files") {
            return write_report(&report(files));
        }
        if result_of(text, "write_to_file").is_some() {
            return reply(
                "The report is written. I read it back to make sure.",
                "read the report\nfinish",
                "read_file",
                &[("file", REPORT)],
            );
        }
        if let Some(report) = result_of(text, "read_file") {
            let lines = report.lines().count();
            return reply(
                "The report is there and complete.",
                "finish",
                "task_complete",
                &[("reason", &format!("{REPORT} has {lines} lines."))],
            );
        }
    }
    reply(
        "First I need to know which files there are.",
        "list the files\nwrite a report\nread it back\nfinish",
        "search_files",
        &[("directory", "/")],
    )
}

fn result_of<'m>(message: &'m str, command: &str) -> Option<&'m str> {
    let returned = format!("Command {command} returned: ");
    let (_, result) = message.split_once(&returned)?;
    Some(result)
}

fn write_report(text: &str) -> String {
    reply(
        "I know the files now, so I can write the report.",
        "write the report\nread it back\nfinish",
        "write_to_file",
        &[("file", REPORT), ("text", text)],
    )
}

fn report(files: &str) -> String {
    let list = files.lines().next().unwrap_or_default();
    let files = match parse(list) {
        Ok(Value::List(files)) => files,
        _ => Vec::new(),
    };
    let mut report = format!("# Files in the workspace\n\n{} in all.\n\n", files.len());
    for file in files.iter().filter_map(Value::as_text) {
        report.push_str(&format!("- {file}\n"));
    }
    report
}

fn reply(thought: &str, plan: &str, command: &str, args: &[(&str, &str)]) -> String {
    let object = |members: &[(&str, Value)]| {
        let members = members.iter().cloned();
        Value::Object(Object::from_iter(
            members.map(|(name, value)| (name.to_owned(), value)),
        ))
    };
    let args: Vec<(&str, Value)> = args.iter().map(|&(n, v)| (n, v.into())).collect();
    object(&[
        (
            "thoughts",
            object(&[
                ("text", thought.into()),
                ("plan", plan.into()),
                ("speak", thought.into()),
            ]),
        ),
        (
            "command",
            object(&[("name", command.into()), ("args", object(&args))]),
        ),
    ])
    .to_string()
}
