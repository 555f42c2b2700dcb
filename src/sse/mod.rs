//! Server-sent events: encoder and incremental decoder.
