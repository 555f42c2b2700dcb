//! The spans of a run: calls of the model, and commands.

use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use autogpt::agent_loop::prompt::Profile;
use autogpt::agent_loop::runner::{Turn, TurnEnd};
use autogpt::memory::store::Conversation;
use autogpt::setup::Setup;
use tracing_subscriber::fmt::format::FmtSpan;

use crate::server::{Server, answer, chat};

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Log {
    /// Returns the lines of the spans that have ended, of one operation.
    fn spans(&self, operation: &str) -> Vec<String> {
        let text = String::from_utf8(self.0.lock().unwrap().clone()).unwrap();
        let name = format!("gen_ai.operation.name=\"{operation}\"");
        let spans = text.lines().filter(|line| line.contains(&name));
        spans.map(str::to_owned).collect()
    }
}

/// Runs an agent with these answers of the model until its first question or end.
async fn run(answers: Vec<String>) -> (TurnEnd, Log) {
    let log = Log::default();
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_span_events(FmtSpan::CLOSE)
        .with_ansi(false)
        .with_writer(move || writer.clone())
        .finish();
    let _guard = tracing::subscriber::set_default(subscriber);
    let server = Server::new(answers).await;
    let folder = tempfile::tempdir().unwrap();
    let mut setup = Setup::new(|_| None);
    setup.workspace = folder.path().join("work");
    setup.base = Some(format!("{}/v1", server.base));
    setup.key = Some("secret".to_owned());
    let mut agent = setup.build(Profile::new("Bo", "", &["tea"])).unwrap();
    agent.wait = Duration::ZERO;
    let answer = autogpt::agent_loop::run::Answer::Text(String::new());
    let turn = Turn::new(Conversation::anonymous("c"), "1", answer);
    (agent.turn(turn, &mut Vec::new()).await.unwrap(), log)
}

#[tokio::test]
async fn calls_of_the_model_and_commands_are_spans() {
    let (end, log) = run(vec![
        chat(r#"{"command":{"name":"search_files","args":{"directory":"/"}}}"#),
        chat(r#"{"command":{"name":"read_file","args":{"file":"tea.md"}}}"#),
        chat(r#"{"command":{"name":"task_complete","args":{}}}"#),
    ])
    .await;
    assert!(matches!(end, TurnEnd::Finish(_)), "{end:?}");
    let calls = log.spans("chat");
    assert_eq!(calls.len(), 3, "{calls:?}");
    for field in [
        r#"otel.name="chat gpt-4o-mini""#,
        r#"gen_ai.response.model="tea-1""#,
        "gen_ai.usage.input_tokens=5",
        "gen_ai.usage.output_tokens=2",
    ] {
        assert!(
            calls.iter().all(|call| call.contains(field)),
            "{field}: {calls:?}"
        );
    }
    let commands = log.spans("execute_tool");
    assert_eq!(commands.len(), 2, "{commands:?}");
    assert!(commands[0].contains(r#"otel.name="execute_tool search_files""#));
    assert!(!commands[0].contains("error.type"), "{commands:?}");
    // The file is missing.
    assert!(commands[1].contains(r#"otel.name="execute_tool read_file""#));
    assert!(
        commands[1].contains(r#"error.type="tool_error""#),
        "{commands:?}"
    );
}

#[tokio::test]
async fn a_call_that_fails_has_the_class_of_its_error() {
    let busy = answer("429 Too Many Requests", "application/json", "{}");
    let (_, log) = run(vec![busy]).await;
    let calls = log.spans("chat");
    // With the repetitions.
    assert_eq!(calls.len(), 4, "{calls:?}");
    for call in calls {
        assert!(call.contains(r#"error.type="busy""#), "{call}");
        assert!(!call.contains("secret"), "{call}");
    }
}
