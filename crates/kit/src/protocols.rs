//! The list of the protocols of copilot-wire: the only place outside their folders that names them.
//!
//! Tools and tests that work with any protocol take kits. [`kit`] creates the kit of a protocol of another crate:
//!
//! ```
//! use copilot_wire_kit::{kit, kits};
//! # use copilot_wire::openbb::OpenBb as Theirs;
//!
//! let mut kits = kits();
//! kits.push(kit::<Theirs>());
//! ```

use crate::{Kit, Toolkit, kit};

/// A visitor of all protocols, by type.
pub trait Visit {
    /// Visits one protocol.
    fn visit<P: Toolkit>(&mut self);

    /// Visits every protocol whose feature is on.
    fn visit_all(&mut self) {
        #[cfg(feature = "openbb")]
        self.visit::<copilot_wire::openbb::OpenBb>();
        #[cfg(feature = "github")]
        self.visit::<copilot_wire::github::GitHub>();
        #[cfg(feature = "openai")]
        self.visit::<copilot_wire::openai::OpenAi>();
        #[cfg(feature = "responses")]
        self.visit::<copilot_wire::responses::Responses>();
        #[cfg(feature = "meilisearch")]
        self.visit::<copilot_wire::meilisearch::Meilisearch>();
        #[cfg(feature = "anthropic")]
        self.visit::<copilot_wire::anthropic::Anthropic>();
        #[cfg(feature = "ui_stream")]
        self.visit::<copilot_wire::ui_stream::UiStream>();
        #[cfg(feature = "ag_ui")]
        self.visit::<copilot_wire::ag_ui::AgUi>();
        #[cfg(feature = "mcp")]
        self.visit::<copilot_wire::mcp::Mcp>();
    }
}

/// Returns the kits of every protocol.
pub fn kits() -> Vec<Kit> {
    struct Kits(Vec<Kit>);
    impl Visit for Kits {
        fn visit<P: Toolkit>(&mut self) {
            self.0.push(kit::<P>());
        }
    }
    let mut kits = Kits(Vec::new());
    kits.visit_all();
    kits.0
}
