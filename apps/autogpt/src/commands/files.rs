//! The commands that read and write files of the workspace.

use std::sync::Arc;

use async_trait::async_trait;

use super::{Args, Command, CommandError, Output, Policy, Scope, Spec};
use crate::commands::workspace::{PathError, Workspace};
use crate::json::Value;

/// Returns the file commands of one workspace: write, read, append, delete and search.
pub fn file_commands(workspace: &Arc<Workspace>) -> Vec<Arc<dyn Command>> {
    let operations = [
        Operation::Write,
        Operation::Read,
        Operation::Append,
        Operation::Delete,
        Operation::Search,
    ];
    let command = |operation| {
        let workspace = Arc::clone(workspace);
        Arc::new(FileCommand {
            operation,
            workspace,
        }) as Arc<dyn Command>
    };
    operations.into_iter().map(command).collect()
}

#[derive(Debug)]
struct FileCommand {
    operation: Operation,
    workspace: Arc<Workspace>,
}

#[derive(Clone, Copy, Debug)]
enum Operation {
    Write,
    Read,
    Append,
    Delete,
    Search,
}

#[async_trait]
impl Command for FileCommand {
    fn spec(&self) -> Spec {
        let file = ("file", "file");
        let text = ("text", "text");
        match self.operation {
            Operation::Write => Spec::new("write_to_file", "Write to file", &[file, text]),
            Operation::Append => Spec::new("append_to_file", "Append to file", &[file, text]),
            Operation::Delete => Spec::new("delete_file", "Delete file", &[file]),
            Operation::Read => {
                Spec::new("read_file", "Read file", &[file]).with_policy(Policy::Never)
            }
            Operation::Search => {
                let folder = ("directory", "directory");
                Spec::new("search_files", "List files", &[folder]).with_policy(Policy::Never)
            }
        }
    }

    async fn run(&self, args: &Args<'_>, _: &Scope) -> Result<Output, CommandError> {
        let operation = self.operation;
        let target = args.text(match operation {
            Operation::Search => "directory",
            _ => "file",
        })?;
        let text = match operation {
            Operation::Write | Operation::Append => args.text("text")?,
            _ => String::new(),
        };
        let workspace = Arc::clone(&self.workspace);
        let task = move || operation.run(&workspace, &target, &text);
        // File operations block. On a thread of the runtime they would delay other conversations.
        let done = tokio::task::spawn_blocking(task).await;
        let value = done.map_err(|_| CommandError::Failed("the operation broke".to_owned()))??;
        Ok(Output::new(value))
    }
}

impl Operation {
    fn run(self, workspace: &Workspace, target: &str, text: &str) -> Result<Value, PathError> {
        match self {
            Self::Write => workspace.write(target, text)?,
            Self::Append => workspace.append(target, text)?,
            Self::Delete => workspace.delete(target)?,
            Self::Read => return Ok(workspace.read(target)?.into()),
            Self::Search => {
                let files = workspace.search(target)?.into_iter();
                return Ok(files.map(Value::from).collect::<Vec<_>>().into());
            }
        }
        Ok(Value::from(match self {
            Self::Write => "File written to successfully.",
            Self::Append => "Text appended successfully.",
            _ => "File deleted successfully.",
        }))
    }
}
