//! An editor for tests, without a process.

use std::io;

use copilot_wire::Agent;
use serde_json::{Value, json};
use tokio::io::{
    AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, ReadHalf, WriteHalf,
};
use tokio::task::JoinHandle;

use crate::{Acp, Server};

/// The bytes that the connection holds until the editor reads them.
const BUFFER: usize = 64 * 1024;

/// An editor that plays its part of the protocol, for tests of an agent without a process.
///
/// ```
/// # use copilot_wire::protocol::{AgentError, Conversation, Protocol};
/// # use copilot_wire::{Agent, Reply, Request, async_trait};
/// # struct Echo;
/// # #[async_trait]
/// # impl<P: Protocol> Agent<P> for Echo {
/// #     async fn answer(&self, request: Request<P>, reply: Reply<P>) -> Result<(), AgentError> {
/// #         Ok(reply.text(request.prompt().unwrap_or_default()).await?)
/// #     }
/// # }
/// use copilot_wire_acp::{EmulatedEditor, Server};
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// let mut editor = EmulatedEditor::start(Server::new(Echo)).await?;
/// let session = editor.new_session().await?;
/// let turn = editor.prompt(&session, "Hello").await?;
/// assert_eq!(turn.text(), "Hello");
/// assert_eq!(turn.stop_reason(), Some("end_turn"));
/// # std::io::Result::Ok(())
/// # })?;
/// # std::io::Result::Ok(())
/// ```
#[derive(Debug)]
pub struct EmulatedEditor {
    lines: BufReader<ReadHalf<DuplexStream>>,
    to: WriteHalf<DuplexStream>,
    last: i64,
    /// The answers to the next questions: results of the requests that an agent sends.
    answers: Vec<Value>,
    served: JoinHandle<io::Result<()>>,
}

/// Everything that an editor received for one request.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct EmulatedTurn {
    /// The messages before the response.
    pub messages: Vec<Value>,
    /// The response.
    pub response: Value,
}

impl EmulatedTurn {
    /// Returns the updates of one kind, such as `tool_call`.
    pub fn updates<'a>(&'a self, kind: &'a str) -> impl Iterator<Item = &'a Value> {
        let updates = self
            .messages
            .iter()
            .filter_map(|it| it.pointer("/params/update"));
        updates.filter(move |update| update.get("sessionUpdate").is_some_and(|it| it == kind))
    }

    /// Returns the text of the answer.
    pub fn text(&self) -> String {
        let pieces = self.updates("agent_message_chunk");
        let texts = pieces.filter_map(|it| it.pointer("/content/text")?.as_str());
        texts.collect()
    }

    /// Returns the reason why the turn ended. `None` if it failed.
    pub fn stop_reason(&self) -> Option<&str> {
        self.response.pointer("/result/stopReason")?.as_str()
    }

    /// Returns the message of the error with which the request failed.
    pub fn error(&self) -> Option<&str> {
        self.response.pointer("/error/message")?.as_str()
    }
}

impl EmulatedEditor {
    /// Connects to a server, as an editor that can show forms, on the current runtime of tokio.
    ///
    /// # Errors
    ///
    /// An error of the connection.
    pub async fn start<A: Agent<Acp> + 'static>(server: Server<A>) -> io::Result<Self> {
        let mut editor = Self::connect(server);
        let capabilities = json!({"elicitation": {"form": {}}});
        let params = json!({"protocolVersion": 1, "clientCapabilities": capabilities});
        editor.call("initialize", params).await?;
        Ok(editor)
    }

    /// Connects to a server, and sends nothing.
    pub fn connect<A: Agent<Acp> + 'static>(server: Server<A>) -> Self {
        let (own, its) = tokio::io::duplex(BUFFER);
        let (input, output) = tokio::io::split(its);
        let served = tokio::spawn(async move { server.connect(input, output).await });
        let (lines, to) = tokio::io::split(own);
        Self {
            lines: BufReader::new(lines),
            to,
            last: 0,
            answers: Vec::new(),
            served,
        }
    }

    /// Adds the answer to a question that comes later, such as
    /// `{"outcome": {"outcome": "selected", "optionId": "yes"}}`. A question without an answer is cancelled.
    pub fn will_answer(&mut self, answer: Value) {
        self.answers.push(answer);
    }

    /// Sends bytes as they are.
    ///
    /// # Errors
    ///
    /// An error of the connection.
    pub async fn send_raw(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.to.write_all(bytes).await
    }

    /// Sends a message.
    ///
    /// # Errors
    ///
    /// An error of the connection.
    pub async fn send(&mut self, message: &Value) -> io::Result<()> {
        self.send_raw(format!("{message}\n").as_bytes()).await
    }

    /// Sends a notification.
    ///
    /// # Errors
    ///
    /// An error of the connection.
    pub async fn notify(&mut self, method: &str, params: Value) -> io::Result<()> {
        let message = json!({"jsonrpc": "2.0", "method": method, "params": params});
        self.send(&message).await
    }

    /// Sends a request, and returns its id.
    ///
    /// # Errors
    ///
    /// An error of the connection.
    pub async fn request(&mut self, method: &str, params: Value) -> io::Result<i64> {
        self.last += 1;
        let id = self.last;
        let message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        self.send(&message).await?;
        Ok(id)
    }

    /// Returns the next message. `None` at the end of the connection.
    ///
    /// # Errors
    ///
    /// An error of the connection, or a line that is not JSON.
    pub async fn next(&mut self) -> io::Result<Option<Value>> {
        let mut line = String::new();
        match self.lines.read_line(&mut line).await? {
            0 => Ok(None),
            _ => Ok(Some(serde_json::from_str(&line)?)),
        }
    }

    /// Reads until the response to a request, and answers the agent's own requests.
    ///
    /// # Errors
    ///
    /// An error of the connection, or its end.
    pub async fn response(&mut self, id: i64) -> io::Result<EmulatedTurn> {
        let mut messages = Vec::new();
        loop {
            let message = self.next().await?;
            let message = message.ok_or(io::ErrorKind::UnexpectedEof)?;
            let asked = message.get("method").is_some();
            if let Some(asked) = message.get("id").filter(|_| asked) {
                let answer = match self.answers.is_empty() {
                    true => json!({"outcome": {"outcome": "cancelled"}, "action": "cancel"}),
                    false => self.answers.remove(0),
                };
                let answer = json!({"jsonrpc": "2.0", "id": asked, "result": answer});
                messages.push(message);
                self.send(&answer).await?;
                continue;
            }
            if message.get("id").is_some_and(|it| *it == id) {
                return Ok(EmulatedTurn {
                    messages,
                    response: message,
                });
            }
            messages.push(message);
        }
    }

    /// Sends a request, and returns everything up to its response.
    ///
    /// # Errors
    ///
    /// An error of the connection, or its end.
    pub async fn call(&mut self, method: &str, params: Value) -> io::Result<EmulatedTurn> {
        let id = self.request(method, params).await?;
        self.response(id).await
    }

    /// Creates a session, and returns its id.
    ///
    /// # Errors
    ///
    /// An error of the connection, or an agent that creates none.
    pub async fn new_session(&mut self) -> io::Result<String> {
        let params = json!({"cwd": "/work", "mcpServers": []});
        let turn = self.call("session/new", params).await?;
        let id = turn.response.pointer("/result/sessionId");
        let id = id.and_then(Value::as_str).map(str::to_owned);
        id.ok_or_else(|| io::Error::other(turn.response.to_string()))
    }

    /// Sends a text as the user's prompt, and returns the turn.
    ///
    /// # Errors
    ///
    /// An error of the connection, or its end.
    pub async fn prompt(&mut self, session: &str, text: &str) -> io::Result<EmulatedTurn> {
        let params = json!({"sessionId": session, "prompt": [{"type": "text", "text": text}]});
        self.call("session/prompt", params).await
    }

    /// Closes the agent's input, reads what comes, and waits until the agent has ended.
    ///
    /// # Errors
    ///
    /// An error of the connection.
    pub async fn close(mut self) -> io::Result<Vec<Value>> {
        self.to.shutdown().await?;
        let mut rest = Vec::new();
        while let Some(message) = self.next().await? {
            rest.push(message);
        }
        self.served.await.map_err(io::Error::other)??;
        Ok(rest)
    }
}
