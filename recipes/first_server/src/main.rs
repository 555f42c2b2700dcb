//! The first server of the guide.

include!(concat!(env!("OUT_DIR"), "/server.rs"));
