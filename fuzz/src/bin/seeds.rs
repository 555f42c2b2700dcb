//! Fills `corpus/` with what the targets start from: `seeds/`, and the fixtures of the library, each
//! with the leading bytes that its target takes as decisions.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

fn main() -> io::Result<()> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let targets = copilot_wire_fuzz::TARGETS.iter().map(|(target, _)| *target);
    for target in targets.chain(["acp"]) {
        for (index, file) in files(&root.join("seeds").join(target))?.iter().enumerate() {
            plant(
                &root,
                target,
                &format!("seed-{index}"),
                &[],
                &fs::read(file)?,
            )?;
        }
    }
    for file in files(&root.join("../fixtures"))? {
        let bytes = fs::read(&file)?;
        let name = file.iter().rev().take(2).collect::<Vec<_>>();
        let name = name
            .iter()
            .rev()
            .map(|part| part.to_string_lossy())
            .collect::<Vec<_>>();
        let name = name.join("-");
        match file.extension().and_then(|extension| extension.to_str()) {
            Some("sse") => {
                plant(&root, "events", &name, b"\0", &bytes)?;
                plant(&root, "sse_decode", &name, b"\0\xff", &bytes)?;
            }
            Some("json") if name == "sse-conformance.json" => conformance(&root, &bytes)?,
            Some("json") => {
                plant(&root, "requests", &name, &[], &bytes)?;
                plant(&root, "json", &name, &[], &bytes)?;
                // A POST to the first few paths, with a content type and no other header.
                for path in [1, 6, 7, 9] {
                    plant(
                        &root,
                        "router",
                        &format!("{name}-{path}"),
                        &[0, path, 1, 0, 0],
                        &bytes,
                    )?;
                }
            }
            _ => {}
        }
    }
    Ok(())
}

fn conformance(root: &Path, bytes: &[u8]) -> io::Result<()> {
    let cases: serde_json::Value = serde_json::from_slice(bytes)?;
    let parse = cases["parse"].as_array().into_iter().flatten();
    for (index, case) in parse.enumerate() {
        if let Some(input) = case["input"].as_str() {
            let how = (index % 8) as u8;
            let name = format!("case-{index}");
            plant(root, "sse_decode", &name, &[how, 80], input.as_bytes())?;
        }
    }
    Ok(())
}

fn plant(root: &Path, target: &str, name: &str, head: &[u8], bytes: &[u8]) -> io::Result<()> {
    let folder = root.join("corpus").join(target);
    fs::create_dir_all(&folder)?;
    fs::write(folder.join(name), [head, bytes].concat())
}

fn files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(files(&path)?);
        } else {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}
