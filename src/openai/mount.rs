//! Mounting of agents as models.

use std::sync::Arc;

use super::{ChatRequest, OpenAi};
use crate::agent::Agent;
use crate::models::{self, Dialect};
use crate::router::{Mount, MountError, Site};

/// A model for OpenAI clients: the name under which an agent is mounted.
///
/// The agent answers at `POST /v1/chat/completions`, and the model is listed at `GET /v1/models`.
///
/// ```
/// use copilot_wire::openai::Model;
///
/// let model = Model::new("analyst-1").owned_by("Example Ltd").created(1_764_000_000);
/// assert_eq!(model.id(), "analyst-1");
/// ```
pub type Model = models::Model<OpenAi>;

impl Dialect for OpenAi {
    const PATH: &'static str = "/chat/completions";

    fn model(request: &mut ChatRequest) -> &mut String {
        &mut request.model
    }
}

/// Mounts an agent as a model with this name.
macro_rules! mount_name {
    ($name:ty) => {
        impl Mount for $name {
            type Protocol = OpenAi;

            fn mount(
                self,
                agent: Arc<dyn Agent<OpenAi>>,
                site: &mut Site<'_>,
            ) -> Result<(), MountError> {
                Model::from(self).mount(agent, site)
            }
        }
    };
}

mount_name!(&str);
mount_name!(String);
