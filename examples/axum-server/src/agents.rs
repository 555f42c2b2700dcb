//! The three agents, each on the front ends that it is for.

use std::sync::Arc;
use std::time::Duration;

use analyst::Analyst;
use copilot_wire::openbb::{Descriptor, Switch};
use copilot_wire::protocol::{AgentError, Conversation, Protocol, User};
use copilot_wire::router::MountError;
use copilot_wire::{
    Agent, Reply, Request, Router, ag_ui, async_trait, github, mcp, meilisearch, ui_stream,
};

/// Mounts the agents.
pub(crate) fn mount(router: Router, pace: Option<Duration>) -> Result<Router, MountError> {
    let describe = |id: &str, name: &str, description: &str| {
        Descriptor::new(id, name, description).path(format!("/{id}/query"))
    };
    let analyst = Analyst::new(None);
    let analyst = Arc::new(match pace {
        Some(pace) => analyst.pace(pace),
        None => analyst,
    });
    router
        .mount(
            describe(
                "analyst",
                "Analyst",
                "Says what the data of your widgets says.",
            )
            .enable(Switch::WidgetDashboardSelect)
            .enable(Switch::WidgetDashboardSearch),
            Arc::clone(&analyst),
        )?
        .mount_model_at("/analyst/v1", "analyst", Arc::clone(&analyst))?
        // Whoever calls has a key, so GitHub's own signature is not needed.
        .mount(github::Mount::unverified(), Arc::clone(&analyst))?
        .mount(meilisearch::Mount::new(), Arc::clone(&analyst))?
        .mount(ui_stream::Mount::new(), Arc::clone(&analyst))?
        .mount(ag_ui::Mount::new(), Arc::clone(&analyst))?
        // Three tools at one address.
        .mount(
            tool(
                "analyst",
                "Asks the analyst, who explains how this server works.",
            )
            .server(mcp::Server::new("agents", env!("CARGO_PKG_VERSION"))),
            analyst,
        )?
        .mount(tool("butler", "Asks the butler who you are."), Butler)?
        .mount(tool("counter", "Counts the words of a question."), Counter)?
        .mount(describe("butler", "Butler", "Knows who you are."), Butler)?
        .mount_model_at("/butler/v1", "butler", Butler)?
        .mount(
            describe("counter", "Counter", "Counts your words."),
            Counter,
        )?
        .mount_model_at("/counter/v1", "counter", Counter)
}

/// Returns the mount of an agent that changes nothing.
fn tool(name: &str, description: &str) -> mcp::Mount {
    mcp::Mount::new(name, description).read_only()
}

/// Knows who asks: the guard has left it in the request.
struct Butler;

#[async_trait]
impl<P: Protocol> Agent<P> for Butler {
    async fn answer(&self, request: Request<P>, reply: Reply<P>) -> Result<(), AgentError> {
        let name = request
            .extensions()
            .get::<User>()
            .map_or("stranger", |user| &user.id);
        Ok(reply.text(format!("At your service, {name}.")).await?)
    }
}

/// A counter of words.
struct Counter;

#[async_trait]
impl<P: Protocol> Agent<P> for Counter {
    async fn answer(&self, request: Request<P>, reply: Reply<P>) -> Result<(), AgentError> {
        let words = request
            .prompt()
            .unwrap_or_default()
            .split_whitespace()
            .count();
        Ok(reply.text(format!("{words} words.")).await?)
    }
}
