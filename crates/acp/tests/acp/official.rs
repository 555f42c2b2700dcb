//! The client of the official SDK for Rust.

use std::sync::{Arc, Mutex};

use copilot_wire_acp::Server;
use copilot_wire_acp::sdk::schema::ProtocolVersion;
use copilot_wire_acp::sdk::v1::schema::{
    CancelNotification, ContentBlock, InitializeRequest, NewSessionRequest, PromptRequest,
    RequestPermissionOutcome, RequestPermissionRequest, RequestPermissionResponse,
    SelectedPermissionOutcome, SessionNotification, SessionUpdate, StopReason,
};
use copilot_wire_acp::sdk::{self, Client, Lines};
use futures::{SinkExt as _, StreamExt as _};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};

use crate::support::{Player, block_on};

#[test]
fn the_client_of_the_sdk_talks_to_a_server() {
    block_on(async {
        let (own, its) = tokio::io::duplex(64 * 1024);
        let (input, output) = tokio::io::split(its);
        let served = tokio::spawn(async move { Server::new(Player).connect(input, output).await });
        let (input, output) = tokio::io::split(own);
        let lines = BufReader::new(input).lines();
        let lines = futures::stream::unfold(lines, async |mut lines| {
            let line = lines.next_line().await.transpose()?;
            Some((line, lines))
        });
        let sink = futures::sink::unfold(output, async |mut output, line: String| {
            output.write_all(format!("{line}\n").as_bytes()).await?;
            Ok::<_, std::io::Error>(output)
        });
        let transport = Lines::new(
            Box::pin(sink.sink_map_err(|error| error)),
            Box::pin(lines.boxed()),
        );
        let text = Arc::new(Mutex::new(String::new()));
        let shown = Arc::clone(&text);
        let client = Client
            .v1()
            .on_receive_notification(
                async move |update: SessionNotification, _| {
                    if let SessionUpdate::AgentMessageChunk(chunk) = update.update
                        && let ContentBlock::Text(piece) = chunk.content
                    {
                        shown.lock().unwrap().push_str(&piece.text);
                    }
                    Ok(())
                },
                sdk::on_receive_notification!(),
            )
            .on_receive_request(
                async move |asked: RequestPermissionRequest, responder, _| {
                    assert_eq!(asked.options.len(), 2);
                    let yes = asked.options[0].option_id.clone();
                    let yes = SelectedPermissionOutcome::new(yes);
                    responder.respond(RequestPermissionResponse::new(
                        RequestPermissionOutcome::Selected(yes),
                    ))
                },
                sdk::on_receive_request!(),
            );
        let taken = || std::mem::take(&mut *text.lock().unwrap());
        client
            .connect_with(transport, async |connection| {
                let hello = InitializeRequest::new(ProtocolVersion::V1);
                let hello = connection.send_request(hello).block_task().await?;
                assert!(hello.agent_capabilities.load_session);
                let new = NewSessionRequest::new("/work");
                let session = connection.send_request(new).block_task().await?.session_id;
                let prompt =
                    |text: &str| PromptRequest::new(session.clone(), vec![text.to_owned().into()]);
                for (asked, said) in [("hi", "You said: hi"), ("delete", "First. deleted")] {
                    let turn = connection.send_request(prompt(asked)).block_task().await?;
                    assert_eq!(turn.stop_reason, StopReason::EndTurn);
                    assert_eq!(taken(), said);
                }
                let failed = connection.send_request(prompt("fail")).block_task().await;
                assert_eq!(failed.unwrap_err().message, "The market is closed.");
                let turn = connection.send_request(prompt("hang"));
                connection.send_notification(CancelNotification::new(session.clone()))?;
                let turn = turn.block_task().await?;
                assert_eq!(turn.stop_reason, StopReason::Cancelled);
                Ok(())
            })
            .await
            .unwrap();
        served.await.unwrap().unwrap();
    });
}
