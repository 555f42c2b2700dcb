//! Older forms of the protocol: detection of a request's form, and calls as front ends before May
//! 2025 read them.

mod era;
mod widget_data;

pub use era::Era;

pub(super) use widget_data::in_era;
