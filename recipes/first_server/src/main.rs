//! The first server of the reference.

include!(concat!(env!("OUT_DIR"), "/server.rs"));
