//! Programs in a child process. `sh` stands for the interpreter: it too reads a program from its
//! input, and is everywhere.

#![cfg(unix)]

use std::sync::Arc;
use std::time::Duration;

use autogpt::commands::workspace::Workspace;
use autogpt::commands::{Args, Command, CommandError, ExecutePython, Output, Scope, Wording};
use autogpt::json::{Object, Value};
use autogpt::memory::{ByteCounts, LocalMemory};

async fn execute(program: &str, time: Duration) -> Result<Output, String> {
    let folder = tempfile::tempdir().unwrap();
    let workspace = Arc::new(Workspace::open(folder.path()).unwrap());
    // `sh -` reads its program from its input as `python3 -` does.
    let command = ExecutePython::new(Arc::clone(&workspace), "/bin/sh", time);
    workspace.write("a.py", program).unwrap();
    run(&command, "a.py").await
}

async fn run(command: &ExecutePython, file: &str) -> Result<Output, String> {
    let args = Value::Object(Object::from_iter([("file".to_owned(), file.into())]));
    let memory = LocalMemory::volatile(Arc::new(ByteCounts));
    let scope = Scope::new(Arc::new(memory));
    let output = command.run(&Args::new(&args), &scope).await;
    output.map_err(|error: CommandError| error.text(Wording::Clear))
}

const LONG: Duration = Duration::from_secs(30);

#[tokio::test]
async fn a_program_runs_with_an_empty_environment() {
    let output = execute("echo out; echo err >&2; echo \"[$HOME]\"", LONG).await;
    assert_eq!(output.unwrap().value, Value::from("out\n[]\nerr\n"));
    let error = execute("echo no; exit 3", LONG).await.unwrap_err();
    assert!(
        error.contains("exit status: 3") && error.contains("no"),
        "{error}"
    );
}

#[tokio::test]
async fn time_and_output_are_limited() {
    let error = execute(
        "echo begun; sleep 1000 & sleep 1000",
        Duration::from_millis(300),
    )
    .await;
    assert!(error.unwrap_err().contains("took too long"));
    let error = execute("while :; do echo xxxxxxxxxxxxxxxx; done", LONG).await;
    assert!(error.unwrap_err().contains("wrote more than"));
}

#[tokio::test]
async fn only_programs_of_the_workspace_run() {
    let folder = tempfile::tempdir().unwrap();
    let workspace = Arc::new(Workspace::open(folder.path()).unwrap());
    let command = ExecutePython::new(Arc::clone(&workspace), "/bin/sh", LONG);
    for (file, reason) in [
        ("a.sh", "Only .py files"),
        ("../a.py", "outside of the workspace"),
        ("/a.py", "outside of the workspace"),
        ("a.py", "no such file"),
        ("-c.py", "no such file"),
        ("$(touch x).py", "no such file"),
    ] {
        let error = run(&command, file).await.unwrap_err();
        assert!(error.contains(reason), "{file}: {error}");
    }
    assert_eq!(workspace.search("").unwrap(), [""; 0]);
}
