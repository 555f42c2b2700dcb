//! Tools that ask the user first.
