//! Mounting of agents as models.

use super::{ChatRequest, OpenAi};
use crate::models::{self, Dialect};

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
