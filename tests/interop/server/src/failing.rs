//! Models for all dialects whose turns fail, and a guard that refuses.

use copilot_wire::protocol::{AgentError, Protocol, Refusal};
use copilot_wire::{Agent, Reply, Request, Router, async_trait};
use http::StatusCode;
use http::request::Parts;

use crate::Failure;

const NAMES: [&str; 4] = ["early", "late", "panic", "too-long"];

/// All of them. A request with the key `refuse-401` is refused with status 401.
pub(crate) fn mount(mut router: Router) -> Result<Router, Failure> {
    for name in NAMES {
        router = router.mount_model(name, Fails(name))?;
    }
    Ok(router.guard(async |parts: Parts| match refused(&parts) {
        Some(status) => Err(Refusal::new(status, "The guard says no.")),
        None => Ok(parts),
    }))
}

fn refused(parts: &Parts) -> Option<StatusCode> {
    let keys = ["authorization", "x-api-key"];
    let key = keys.iter().find_map(|name| parts.headers.get(*name))?;
    let (_, status) = key.to_str().ok()?.split_once("refuse-")?;
    status.parse().ok()
}

struct Fails(&'static str);

#[async_trait]
impl<P: Protocol> Agent<P> for Fails {
    async fn answer(&self, _: Request<P>, reply: Reply<P>) -> Result<(), AgentError> {
        match self.0 {
            "late" => reply.text("Half an answer. ").await?,
            // A bug, on purpose.
            "panic" => std::panic::resume_unwind(Box::new(())),
            "too-long" => return Err(AgentError::too_long()),
            _ => {}
        }
        Err(AgentError::new("The model is away."))
    }
}
