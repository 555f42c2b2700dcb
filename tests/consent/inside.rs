//! The modules of the library that have tests of their own. The library runs none: see `[lib]` in its manifest.

#![allow(dead_code, unreachable_pub)]

#[path = "../../src/protocol/consent/ledger.rs"]
mod ledger;
#[path = "../../src/protocol/consent/proof.rs"]
mod proof;
#[path = "../../src/protocol/consent/text.rs"]
mod text;

const FIRST: &str = "Question: ";
