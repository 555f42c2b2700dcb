//! The list of this crate's protocols: no other module outside the protocols' folders names them.

#[cfg(all(feature = "anthropic", feature = "openai", feature = "responses"))]
use std::sync::Arc;

#[cfg(all(feature = "anthropic", feature = "openai", feature = "responses"))]
use crate::agent::Agent;
#[cfg(all(feature = "anthropic", feature = "openai", feature = "responses"))]
use crate::models::{Dialect, Model};
#[cfg(any(
    feature = "playground",
    all(feature = "anthropic", feature = "openai", feature = "responses"),
))]
use crate::router::{MountError, Router};

/// Returns the scripts that emulate every protocol's front end on the playground.
#[cfg(feature = "playground")]
pub fn scripts() -> Vec<&'static str> {
    let scripts: &[&str] = &[
        #[cfg(feature = "openbb")]
        crate::openbb::PLAYGROUND,
        #[cfg(feature = "github")]
        crate::github::PLAYGROUND,
        #[cfg(feature = "openai")]
        crate::openai::PLAYGROUND,
        #[cfg(feature = "responses")]
        crate::responses::PLAYGROUND,
        #[cfg(feature = "meilisearch")]
        crate::meilisearch::PLAYGROUND,
        #[cfg(feature = "anthropic")]
        crate::anthropic::PLAYGROUND,
        #[cfg(feature = "ui_stream")]
        crate::ui_stream::PLAYGROUND,
        #[cfg(feature = "ag_ui")]
        crate::ag_ui::PLAYGROUND,
        #[cfg(feature = "mcp")]
        crate::mcp::PLAYGROUND,
    ];
    scripts.to_vec()
}

#[cfg(feature = "playground")]
impl Router {
    /// Serves the playground with the front ends of every protocol, as
    /// [`playground_with`](Self::playground_with) does.
    ///
    /// # Errors
    ///
    /// [`MountError`] if the path `/` or `/playground.json` is already mounted.
    pub fn playground(self) -> Result<Self, MountError> {
        self.playground_with(scripts())
    }
}

#[cfg(all(feature = "anthropic", feature = "openai", feature = "responses"))]
impl Router {
    /// Mounts an agent under one name in the three protocols of language models: chat completions, Responses and
    /// Messages. Copilot, VS Code, Codex, Claude Code and the clients of OpenAI and Anthropic each use one of them.
    ///
    /// ```
    /// # use copilot_wire::protocol::{AgentError, Protocol};
    /// # use copilot_wire::{Agent, Reply, Request, Router, async_trait};
    /// # struct Analyst;
    /// # #[async_trait]
    /// # impl<P: Protocol> Agent<P> for Analyst {
    /// #     async fn answer(&self, _: Request<P>, reply: Reply<P>) -> Result<(), AgentError> {
    /// #         Ok(reply.text("Up 3 %.").await?)
    /// #     }
    /// # }
    /// // POST /v1/chat/completions, /v1/responses and /v1/messages; GET /v1/models.
    /// let router = Router::new().mount_model("analyst", Analyst)?;
    /// # drop(router);
    /// # Ok::<(), copilot_wire::router::MountError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of [`mount`](Self::mount).
    pub fn mount_model<A>(self, name: &str, agent: A) -> Result<Self, MountError>
    where
        A: Agent<crate::openai::OpenAi>
            + Agent<crate::responses::Responses>
            + Agent<crate::anthropic::Anthropic>
            + 'static,
    {
        self.mount_model_at("/v1", name, agent)
    }

    /// Mounts an agent as [`mount_model`](Self::mount_model) does, below the path `base`, such as `/bull/v1`. Models at
    /// different base paths have separate lists and may have the same name, and their turns have different
    /// [paths](crate::protocol::Turn::path).
    ///
    /// # Errors
    ///
    /// The errors of [`mount`](Self::mount).
    pub fn mount_model_at<A>(self, base: &str, name: &str, agent: A) -> Result<Self, MountError>
    where
        A: Agent<crate::openai::OpenAi>
            + Agent<crate::responses::Responses>
            + Agent<crate::anthropic::Anthropic>
            + 'static,
    {
        let agent = Arc::new(agent);
        self.with(|site| {
            site.mount(model::<crate::openai::OpenAi>(base, name), agent.clone())?;
            site.mount(
                model::<crate::responses::Responses>(base, name),
                agent.clone(),
            )?;
            site.mount(model::<crate::anthropic::Anthropic>(base, name), agent)
        })
    }

    /// Mounts an agent as [`mount_model`](Self::mount_model) does, for requests with this name and with every name that
    /// is not mounted, see [`Model::catch_all`](crate::models::Model::catch_all): coding clients request models of
    /// their own choice for small tasks and for their subagents.
    ///
    /// # Errors
    ///
    /// The errors of [`mount`](Self::mount).
    pub fn mount_catch_all<A>(self, name: &str, agent: A) -> Result<Self, MountError>
    where
        A: Agent<crate::openai::OpenAi>
            + Agent<crate::responses::Responses>
            + Agent<crate::anthropic::Anthropic>
            + 'static,
    {
        let agent = Arc::new(agent);
        let openai = crate::openai::Model::new(name).catch_all();
        let responses = crate::responses::Model::new(name).catch_all();
        let anthropic = crate::anthropic::Model::new(name).catch_all();
        self.mount(openai, Arc::clone(&agent))?
            .mount(responses, Arc::clone(&agent))?
            .mount(anthropic, agent)
    }
}

/// Creates a model below the path of a base URL.
#[cfg(all(feature = "anthropic", feature = "openai", feature = "responses"))]
fn model<P: Dialect>(base: &str, name: &str) -> Model<P> {
    let base = base.strip_suffix('/').unwrap_or(base);
    Model::new(name).path(format!("{base}{}", P::PATH))
}
