//! The guide: how to write agents, and how to serve them.
//!
//! An agent, and the test of it:
//!
//! ```
//! use copilot_wire::openai::OpenAi;
//! use copilot_wire::protocol::Conversation;
//! use copilot_wire::{Reply, Request, agent_fn};
//! use copilot_wire_kit::Harness;
//! use copilot_wire_kit::openai::OpenAiClient;
//!
//! let echo = agent_fn(async |request: Request<OpenAi>, reply: Reply<OpenAi>| {
//!     Ok(reply.text(format!("You said: {}", request.prompt().unwrap_or_default())).await?)
//! });
//!
//! # futures::executor::block_on(async {
//! let mut harness = Harness::new(OpenAiClient::new("echo"), echo);
//! let turn = harness.prompt("Hello").await?;
//! assert_eq!(turn.text(), "You said: Hello");
//! # Ok::<(), copilot_wire_kit::HarnessError>(()) }).unwrap();
//! ```
//!
//! This agent answers one protocol. One that answers all is an `impl<P: Protocol> Agent<P>`, as in [Concepts](concepts).
//!
//! The chapters are in the order in which most projects need them. Every snippet is compiled, and those with
//! assertions are run.
//!
//! 1. [Concepts](concepts): agents, replies and bodies; the end of a turn, cancellation, limits.
//! 2. One chapter per front end: [OpenBB Workspace](openbb), [GitHub Copilot](github),
//!    [coding clients](coding_clients) such as Copilot, Codex and Claude Code, and the protocols that they
//!    use: [chat completions](openai), [Responses](responses), also over [WebSockets](websocket), [Messages](anthropic);
//!    [Meilisearch chat](meilisearch), [chat pages](chat_pages) on the AI SDK, [AG-UI apps](ag_ui);
//!    [MCP](mcp), for programs that call your agent as a tool; [editors].
//! 3. [Questions](questions): asking before the agent acts, and answers that cannot be forged.
//! 4. [Servers](servers): hyper, axum, actix-web, AWS Lambda, shutting down, and nginx in front.
//! 5. [Models](models): answers from a model of any dialect, the [profiles] of its server, and [tools] that the agent
//!    runs.
//! 6. [Access](access): authentication, limits, signatures, browsers, several agents on one host.
//! 7. [Testing](testing): agents and emulated front ends in process, in virtual time.
//! 8. [Your own protocol](own_protocol): a front end that this crate does not support.
//! 9. [Writing a client](clients): requests and typed events of every protocol, for programs that talk to agents and
//!    models.
//! 10. [Resumable replies](resumable): answers that survive a page reload, a network failure and a change of servers.
//! 11. [Observing](observing): reports, logs, traces and metrics; OpenTelemetry, Prometheus and Grafana.
//! 12. Coming from [openbb-ai](from_openbb_ai), or from [@copilot-extensions/preview-sdk](from_preview_sdk).

#[doc = include_str!("access.md")]
pub mod access {}
#[doc = include_str!("ag_ui.md")]
pub mod ag_ui {}
#[doc = include_str!("anthropic.md")]
pub mod anthropic {}
#[doc = include_str!("chat_pages.md")]
pub mod chat_pages {}
// Compiled with the tests of `tests/servers`, as it uses HTTP clients.
#[cfg_attr(not(doctest), doc = include_str!("clients.md"))]
pub mod clients {}
#[doc = include_str!("coding_clients.md")]
pub mod coding_clients {}
#[doc = include_str!("concepts.md")]
pub mod concepts {}
// Compiled with the tests of `tests/servers`, as it uses the package for editors.
#[cfg_attr(not(doctest), doc = include_str!("editors.md"))]
pub mod editors {}
#[doc = include_str!("from_openbb_ai.md")]
pub mod from_openbb_ai {}
#[doc = include_str!("from_preview_sdk.md")]
pub mod from_preview_sdk {}
#[doc = include_str!("github.md")]
pub mod github {}
#[doc = include_str!("mcp.md")]
pub mod mcp {}
#[doc = include_str!("meilisearch.md")]
pub mod meilisearch {}
#[doc = include_str!("models.md")]
pub mod models {}
#[doc = include_str!("observing.md")]
pub mod observing {}
#[doc = include_str!("openai.md")]
pub mod openai {}
#[doc = include_str!("openbb.md")]
pub mod openbb {}
#[doc = include_str!("profiles.md")]
pub mod profiles {}
#[doc = include_str!("questions.md")]
pub mod questions {}
#[doc = include_str!("responses.md")]
pub mod responses {}
#[doc = include_str!("resumable.md")]
pub mod resumable {}
// The frameworks in this chapter are no dependencies of this package. Its snippets are tests of
// `tests/servers`; in this package's own tests the chapter is empty.
#[cfg_attr(not(doctest), doc = include_str!("servers.md"))]
#[cfg_attr(doctest, doc = "Tested elsewhere.")]
pub mod servers {}
// Compiled with the tests of `tests/servers`, as it uses an HTTP client.
#[cfg_attr(not(doctest), doc = include_str!("tools.md"))]
pub mod tools {}
// Compiled with the tests of `tests/servers`, as it uses the server.
#[cfg_attr(not(doctest), doc = include_str!("websocket.md"))]
pub mod websocket {}
#[doc = include_str!("own_protocol.md")]
pub mod own_protocol {}
#[doc = include_str!("testing.md")]
pub mod testing {}
