//! A connection over a WebSocket, by the code of `README.md`.

use std::io;

use copilot_wire::Agent;
use copilot_wire_acp::{Acp, Server};
use futures::{Sink, SinkExt as _, Stream, StreamExt as _};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};

pub(crate) async fn serve<A, W>(server: &Server<A>, web_socket: W) -> io::Result<()>
where
    A: Agent<Acp> + 'static,
    W: Stream<Item = io::Result<String>> + Sink<String, Error = io::Error>,
{
    let (own, its) = tokio::io::duplex(64 * 1024);
    let (input, output) = tokio::io::split(its);
    let (from_agent, mut to_agent) = tokio::io::split(own);
    let (mut to_editor, mut from_editor) = web_socket.split();
    let read = async {
        while let Some(text) = from_editor.next().await {
            // A line end in JSON is white space.
            let line = text?.replace('\n', " ") + "\n";
            to_agent.write_all(line.as_bytes()).await?;
        }
        to_agent.shutdown().await
    };
    let write = async {
        let mut lines = BufReader::new(from_agent).lines();
        while let Some(line) = lines.next_line().await? {
            to_editor.send(line).await?;
        }
        io::Result::Ok(())
    };
    let served = server.connect(input, output);
    tokio::try_join!(served, read, write)?;
    Ok(())
}

#[test]
fn an_editor_talks_over_texts() {
    use futures::channel::mpsc;
    use serde_json::{Value, json};

    let page = include_str!("../../README.md");
    let own = include_str!("web_socket.rs")
        .replace("pub(crate) async fn serve<A, W>", "async fn serve<A, W>");
    let code = own.split("\n#[test]").next().unwrap();
    assert!(page.contains(code.split_once("\n\n").unwrap().1));

    crate::support::block_on(async {
        let (mut editor, from_editor) = mpsc::unbounded::<String>();
        let (to_editor, mut answers) = mpsc::unbounded::<String>();
        let from_editor = from_editor.map(io::Result::Ok);
        let to_editor = to_editor.sink_map_err(io::Error::other);
        let web_socket = Both(from_editor, to_editor);
        let server = Server::new(crate::support::Player);
        let editor = async move {
            let mut ask = async |id: i64, method: &str, params: Value| {
                let message =
                    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
                // With line ends inside.
                let message = serde_json::to_string_pretty(&message).unwrap();
                editor.send(message).await.unwrap();
                loop {
                    let answer: Value =
                        serde_json::from_str(&answers.next().await.unwrap()).unwrap();
                    if answer["id"] == id {
                        return answer;
                    }
                }
            };
            let new = ask(1, "session/new", json!({"cwd": "/", "mcpServers": []})).await;
            let session = &new["result"]["sessionId"];
            let prompt = json!([{"type": "text", "text": "hi"}]);
            let turn = ask(
                2,
                "session/prompt",
                json!({"sessionId": session, "prompt": prompt}),
            )
            .await;
            assert_eq!(turn["result"]["stopReason"], "end_turn");
            io::Result::Ok(())
        };
        tokio::try_join!(serve(&server, web_socket), editor).unwrap();
    });
}

/// A stream and a sink as one.
struct Both<R, W>(R, W);

impl<R: Stream + Unpin, W: Unpin> Stream for Both<R, W> {
    type Item = R::Item;

    fn poll_next(
        mut self: std::pin::Pin<&mut Self>,
        cx: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<R::Item>> {
        self.0.poll_next_unpin(cx)
    }
}

impl<T, R: Unpin, W: Sink<T> + Unpin> Sink<T> for Both<R, W> {
    type Error = W::Error;

    fn poll_ready(
        mut self: std::pin::Pin<&mut Self>,
        cx: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Result<(), W::Error>> {
        self.1.poll_ready_unpin(cx)
    }

    fn start_send(mut self: std::pin::Pin<&mut Self>, item: T) -> Result<(), W::Error> {
        self.1.start_send_unpin(item)
    }

    fn poll_flush(
        mut self: std::pin::Pin<&mut Self>,
        cx: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Result<(), W::Error>> {
        self.1.poll_flush_unpin(cx)
    }

    fn poll_close(
        mut self: std::pin::Pin<&mut Self>,
        cx: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Result<(), W::Error>> {
        self.1.poll_close_unpin(cx)
    }
}
