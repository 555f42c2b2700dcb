//! The modules of the library that have tests of their own. The library runs none: see `[lib]` in its manifest.

#![allow(dead_code, unreachable_pub)]

#[path = "../../src/consent/ledger.rs"]
mod ledger;
#[path = "../../src/consent/proof.rs"]
mod proof;
#[path = "../../src/consent/text.rs"]
mod text;

const FIRST: &str = "Question: ";
