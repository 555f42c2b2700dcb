//! In place of `signatures`, without its feature.

use std::convert::Infallible;
use std::error::Error;

use copilot_wire::github::Mount;

/// Returns a mount that takes requests without signatures.
///
/// # Errors
///
/// When `GITHUB_SIGNATURES` asks for them.
pub fn mount() -> Result<(Mount, Option<Infallible>), Box<dyn Error>> {
    match std::env::var("GITHUB_SIGNATURES").as_deref() {
        Err(_) | Ok("off") => Ok((Mount::unverified(), None)),
        Ok(_) => Err("GITHUB_SIGNATURES is set: build with `--features signatures`".into()),
    }
}
