//! The list of the protocols of copilot-wire: the only place outside their folders that names them.
//!
//! Tools and tests that work with any protocol take kits; a protocol of another crate joins with
//! [`kit`]:
//!
//! ```
//! use copilot_wire_kit::{kit, kits};
//! # use copilot_wire::openbb::OpenBb as Theirs;
//!
//! let mut kits = kits();
//! kits.push(kit::<Theirs>());
//! ```

use crate::{Kit, Toolkit, kit};

/// Calls a macro for every protocol whose feature is on.
macro_rules! every_protocol {
    ($each:ident) => {
        #[cfg(feature = "openbb")]
        $each!(openbb::OpenBb);
        #[cfg(feature = "github")]
        $each!(github::GitHub);
        #[cfg(feature = "openai")]
        $each!(openai::OpenAi);
        #[cfg(feature = "responses")]
        $each!(responses::Responses);
        #[cfg(feature = "meilisearch")]
        $each!(meilisearch::Meilisearch);
        #[cfg(feature = "anthropic")]
        $each!(anthropic::Anthropic);
        #[cfg(feature = "ui_stream")]
        $each!(ui_stream::UiStream);
        #[cfg(feature = "ag_ui")]
        $each!(ag_ui::AgUi);
    };
}

/// A visitor of all protocols, by type.
pub trait Visit {
    /// Visits one protocol.
    fn visit<P: Toolkit>(&mut self);
}

/// Visits every protocol.
#[allow(unused_macros, unused_variables, reason = "without protocols")]
pub fn visit(visitor: &mut impl Visit) {
    macro_rules! each {
        ($module:ident::$protocol:ident) => {
            visitor.visit::<copilot_wire::$module::$protocol>();
        };
    }
    every_protocol!(each);
}

/// Returns the kits of every protocol.
#[must_use]
pub fn kits() -> Vec<Kit> {
    struct Kits(Vec<Kit>);
    impl Visit for Kits {
        fn visit<P: Toolkit>(&mut self) {
            self.0.push(kit::<P>());
        }
    }
    let mut kits = Kits(Vec::new());
    visit(&mut kits);
    kits.0
}
