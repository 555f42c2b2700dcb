//! An agent behind two chat pages of another origin.

mod harbour;

use harbour::Harbour;

use copilot_wire::protocol::Tool;
use copilot_wire::router::{Cors, MountError};
use copilot_wire::{Router, ag_ui, ui_stream};
use http::HeaderValue;

/// The origins of the pages: where `npm start` serves them.
pub const ORIGINS: [&str; 2] = ["http://localhost:3000", "http://127.0.0.1:3000"];

/// Creates the router: `POST /api/chat` for the page on the AI SDK, `POST /agui` for the page on the
/// AG-UI client.
///
/// Both pages have components for tables and charts, so these are not sent as Markdown as well, and
/// both show questions with two buttons.
///
/// # Errors
///
/// [`MountError`] when two mounts have the same path.
pub fn router() -> Result<Router, MountError> {
    let clock = Tool::new(harbour::CLOCK, "Returns the time zone of the browser.");
    let ai_sdk = ui_stream::Mount::new().markdown(false).approvals(true);
    let ag_ui = ag_ui::Mount::new().markdown(false).interrupts(true);
    let [name, address] = ORIGINS.map(HeaderValue::from_static);
    Router::new()
        .hosts(["localhost", "127.0.0.1", "[::1]"])
        // The one line that lets the pages in. Pages that this server serves itself need none.
        .cors(Cors::default().allow(name).allow(address))
        .mount(ai_sdk.tool(clock), Harbour)?
        .mount(ag_ui, Harbour)
}
