//! The store against a real Redis, which these tests start.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod contract;
mod cost;
mod data;
mod expiry;
mod outages;
mod producers;
mod redis;
mod secrets;
mod shared;
mod starts;
mod support;
