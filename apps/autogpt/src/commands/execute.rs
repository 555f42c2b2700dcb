//! The command that executes a program.

use std::io;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{Child, Command as Process};

use super::{Args, Command, CommandError, Output, Scope, Spec};
use crate::commands::workspace::Workspace;

/// The command `execute_python_file`: runs a program of the workspace in a child process.
///
/// No registry contains it by default. The program is opened inside the workspace and passed to the
/// interpreter as standard input, so no path is resolved twice and no shell is involved. The child
/// has an empty environment and the workspace as its working directory, and is killed with its
/// children after a time limit. It is **not** a sandbox: it can do whatever the user of this
/// process can do.
#[derive(Debug)]
pub struct ExecutePython {
    workspace: Arc<Workspace>,
    interpreter: String,
    time: Duration,
    output_bytes: u64,
}

impl ExecutePython {
    /// Creates the command with an interpreter, such as `/usr/bin/python3`, and a time limit.
    pub fn new(workspace: Arc<Workspace>, interpreter: &str, time: Duration) -> Self {
        Self {
            workspace,
            interpreter: interpreter.to_owned(),
            time,
            output_bytes: 64 * 1024,
        }
    }

    fn spawn(&self, program: std::fs::File) -> io::Result<Child> {
        let mut process = Process::new(&self.interpreter);
        process
            // `-` makes the interpreter read the program from standard input.
            .arg("-")
            // The environment of this process has the keys of the model and of the search.
            .env_clear()
            .current_dir(self.workspace.path())
            .stdin(Stdio::from(program))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        // A group of its own, so that children of the program can be killed without this process.
        #[cfg(unix)]
        process.process_group(0);
        process.spawn()
    }
}

#[async_trait]
impl Command for ExecutePython {
    fn spec(&self) -> Spec {
        Spec::new(
            "execute_python_file",
            "Execute Python file",
            &[("file", "file")],
        )
    }

    async fn run(&self, args: &Args<'_>, _: &Scope) -> Result<Output, CommandError> {
        let file = args.text("file")?;
        let failed = |text: &str| CommandError::Failed(text.to_owned());
        if !file.ends_with(".py") {
            return Err(failed("Invalid file type. Only .py files are allowed."));
        }
        let program = self.workspace.open_file(&file)?;
        let child = self.spawn(program);
        let mut child = child.map_err(|_| failed("the interpreter could not be started"))?;
        let group = Group::of(&child);
        let mut log = Log::default();
        let run = log.follow(&mut child, self.output_bytes);
        let ended = tokio::time::timeout(self.time, run).await;
        // Also if the program ended by itself, because it may have left running children, which can use the workspace.
        drop(group);
        let log = log.text();
        match ended {
            Ok(Ok(status)) if status.success() => Ok(Output::new(log)),
            Ok(Ok(status)) => Err(failed(&format!("the program ended with {status}\n{log}"))),
            Ok(Err(error)) => Err(failed(&format!("{error}\n{log}"))),
            Err(_) => Err(failed(&format!("the program took too long\n{log}"))),
        }
    }
}

/// The process group of the child. Dropping it kills the group.
struct Group(#[cfg_attr(not(unix), expect(dead_code, reason = "no groups there"))] Option<u32>);

impl Group {
    fn of(child: &Child) -> Self {
        Self(child.id())
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        #[cfg(unix)]
        {
            let id = self.0.and_then(|id| i32::try_from(id).ok());
            if let Some(id) = id.and_then(rustix::process::Pid::from_raw) {
                // Fails when the whole group has ended already.
                let _ = rustix::process::kill_process_group(id, rustix::process::Signal::KILL);
            }
        }
    }
}

#[derive(Default)]
struct Log {
    out: Vec<u8>,
    err: Vec<u8>,
}

impl Log {
    async fn follow(&mut self, child: &mut Child, limit: u64) -> io::Result<ExitStatus> {
        let (out, err) = (child.stdout.take(), child.stderr.take());
        let out = read(out, &mut self.out, limit);
        let err = read(err, &mut self.err, limit);
        // Both at the same time: a program that fills one pipe waits until it is read, while the other pipe stays open.
        tokio::try_join!(out, err)?;
        child.wait().await
    }

    fn text(&self) -> String {
        let out = String::from_utf8_lossy(&self.out);
        format!("{out}{}", String::from_utf8_lossy(&self.err))
    }
}

async fn read(
    pipe: Option<impl AsyncRead + Unpin>,
    into: &mut Vec<u8>,
    limit: u64,
) -> io::Result<()> {
    let Some(pipe) = pipe else { return Ok(()) };
    // One byte more tells an output of exactly the limit from a longer one.
    let mut limited = pipe.take(limit + 1);
    limited.read_to_end(into).await?;
    match into.len() as u64 > limit {
        true => Err(io::Error::other(format!(
            "the program wrote more than {limit} bytes"
        ))),
        false => Ok(()),
    }
}
