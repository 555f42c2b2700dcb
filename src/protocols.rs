//! The list of this crate's protocols: beside the protocols' own folders, the place that names them.
//!
//! Tools and tests that work with any protocol take kits, and a protocol of another crate joins by
//! [`kit`]:
//!
#![cfg_attr(all(feature = "openbb", feature = "testing"), doc = "```")]
#![cfg_attr(not(all(feature = "openbb", feature = "testing")), doc = "```ignore")]
//! use copilot_wire::protocols::kits;
//! use copilot_wire::testing::kit;
//! # use copilot_wire::openbb::OpenBb as Theirs;
//!
//! let mut kits = kits();
//! kits.push(kit::<Theirs>());
//! ```

#[cfg(feature = "playground")]
use crate::router::{MountError, Router};
#[cfg(feature = "testing")]
use crate::testing::{Kit, Toolkit, kit};

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
    };
}

/// Something to do with every protocol, by its type.
#[cfg(feature = "testing")]
pub trait Visit {
    /// Visits one protocol.
    fn visit<P: Toolkit>(&mut self);
}

/// Visits every protocol.
#[cfg(feature = "testing")]
pub fn visit(visitor: &mut impl Visit) {
    macro_rules! each {
        ($module:ident::$protocol:ident) => {
            visitor.visit::<crate::$module::$protocol>();
        };
    }
    every_protocol!(each);
}

/// Returns the kits of every protocol.
#[cfg(feature = "testing")]
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

/// Returns the scripts that play every protocol's front end on the playground.
#[cfg(feature = "playground")]
#[must_use]
pub fn scripts() -> Vec<&'static str> {
    let mut scripts = Vec::new();
    macro_rules! each {
        ($module:ident::$protocol:ident) => {
            scripts.push(crate::$module::PLAYGROUND);
        };
    }
    every_protocol!(each);
    scripts
}

#[cfg(feature = "playground")]
impl Router {
    /// Serves the playground with the front ends of every protocol, as
    /// [`playground_with`](Self::playground_with) does.
    ///
    /// # Errors
    ///
    /// [`MountError`] when something else has the path `/` or `/playground.json`.
    pub fn playground(self) -> Result<Self, MountError> {
        self.playground_with(scripts())
    }
}
