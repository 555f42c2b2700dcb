//! Test keys in files.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

use copilot_wire_kit::{Keys, Kit, Signer};

use crate::verdict::{Failure, tell};

/// Creates a signer from the key in a file.
pub(crate) fn signer(kit: Kit, path: &Path) -> Result<Box<dyn Signer>, Failure> {
    let none = || Failure::new(format!("{} has no signatures", kit.name));
    Ok((kit.keys)().ok_or_else(none)?.signer(&seed(path)?))
}

/// Returns the keys of the first protocol whose requests are signed.
pub(crate) fn keys(kits: &[Kit]) -> Result<&'static dyn Keys, Failure> {
    let none = || Failure::new("no protocol has signatures");
    kits.iter().find_map(|kit| (kit.keys)()).ok_or_else(none)
}

/// Reads the seed of a key, and creates the file if it does not exist.
///
/// The file contains 64 hexadecimal digits. Everyone who can read it can sign.
pub(crate) fn seed(path: &Path) -> Result<Vec<u8>, Failure> {
    let failed = |error: io::Error| Failure::new(format!("{}: {error}", path.display()));
    let text = match fs::read_to_string(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let seed = generate()?;
            write(path, &seed).map_err(failed)?;
            tell(format_args!("made a new test key in {}", path.display()));
            seed
        }
        text => text.map_err(failed)?,
    };
    let seed = text.trim();
    let is_seed = seed.len() == 64 && seed.bytes().all(|byte| byte.is_ascii_hexdigit());
    if !is_seed {
        let path = path.display();
        return Err(Failure::new(format!(
            "{path}: not a test key of this program"
        )));
    }
    Ok(seed.as_bytes().to_owned())
}

fn generate() -> Result<String, Failure> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(Failure::new)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Creates the file, readable by its owner only.
fn write(path: &Path, seed: &str) -> io::Result<()> {
    let mut options = OpenOptions::new();
    // `create_new`, so that a file created by another process meanwhile is not overwritten.
    options.write(true).create_new(true);
    #[cfg(unix)]
    // The mode is set at creation: if it were set later, others could read the file for a moment.
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    writeln!(options.open(path)?, "{seed}")
}
