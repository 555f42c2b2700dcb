//! The list of this crate's protocols: beside the protocols' own folders, the place that names them.
//!
//! Tools and tests that work with any protocol take kits, and a protocol of another crate joins by
//! [`kit`]:
//!
#![cfg_attr(feature = "openbb", doc = "```")]
#![cfg_attr(not(feature = "openbb"), doc = "```ignore")]
//! use copilot_wire::protocols::kits;
//! use copilot_wire::testing::kit;
//! # use copilot_wire::openbb::OpenBb as Theirs;
//!
//! let mut kits = kits();
//! kits.push(kit::<Theirs>());
//! ```

use crate::testing::{Kit, Toolkit, kit};

/// Calls a macro for every protocol whose feature is on.
macro_rules! every_protocol {
    ($each:ident) => {
        #[cfg(feature = "openbb")]
        $each!(crate::openbb::OpenBb);
        #[cfg(feature = "github")]
        $each!(crate::github::GitHub);
        #[cfg(feature = "openai")]
        $each!(crate::openai::OpenAi);
        #[cfg(feature = "meilisearch")]
        $each!(crate::meilisearch::Meilisearch);
    };
}

/// Something to do with every protocol, by its type.
pub trait Visit {
    /// Visits one protocol.
    fn visit<P: Toolkit>(&mut self);
}

/// Visits every protocol.
pub fn visit(visitor: &mut impl Visit) {
    macro_rules! each {
        ($protocol:path) => {
            visitor.visit::<$protocol>();
        };
    }
    every_protocol!(each);
}

/// Returns the kits of every protocol.
#[must_use]
pub fn kits() -> Vec<&'static dyn Kit> {
    struct Kits(Vec<&'static dyn Kit>);
    impl Visit for Kits {
        fn visit<P: Toolkit>(&mut self) {
            self.0.push(kit::<P>());
        }
    }
    let mut kits = Kits(Vec::new());
    visit(&mut kits);
    kits.0
}
