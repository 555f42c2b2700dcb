//! The documents `agents.json` and `copilots.json`.

use bytes::Bytes;

use super::check::invalid;
use super::{Descriptor, Switch};
use crate::json::{Escape, JsonError, Kind, ObjectWriter, Reader, Wire};
use crate::router::MountError;

/// Checks the descriptors of one document.
///
/// # Errors
///
/// [`MountError::Invalid`] if the Workspace would reject the document.
pub(crate) fn check_all(descriptors: &[Descriptor]) -> Result<(), MountError> {
    for (index, descriptor) in descriptors.iter().enumerate() {
        descriptor.check()?;
        for other in descriptors.iter().take(index) {
            if other.id == descriptor.id {
                return Err(invalid(format!("two agents have the id {}", other.id)));
            }
            // The Workspace compares names without case among all agents that a user added.
            if other.name.to_lowercase() == descriptor.name.to_lowercase() {
                let name = &descriptor.name;
                return Err(invalid(format!("two agents have the name {name}")));
            }
        }
    }
    Ok(())
}

/// Returns the document `agents.json`.
pub(crate) fn agents_json(descriptors: &[Descriptor]) -> Vec<u8> {
    document(descriptors)
}

/// Returns the document `copilots.json`, for front ends from before May 2025.
pub(crate) fn copilots_json(descriptors: &[Descriptor]) -> Vec<u8> {
    let old: Vec<Descriptor> = descriptors.iter().map(for_old_front_ends).collect();
    document(&old)
}

fn document(descriptors: &[Descriptor]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut document = ObjectWriter::new(&mut out, Escape::Json);
    for descriptor in descriptors {
        descriptor.write_to(document.member(&descriptor.id));
    }
    document.finish();
    out
}

/// Returns an entry for front ends from before May 2025, which read `copilots.json`: with the flags
/// that preceded `features`, with switches only, and with absolute URLs if the server knows its own
/// URL.
fn for_old_front_ends(descriptor: &Descriptor) -> Descriptor {
    let mut old = descriptor.clone();
    old.has_streaming = Some(true);
    old.has_documents = Some(descriptor.has(Switch::FileUpload.as_str()));
    let reads_widgets = Switch::WIDGETS
        .iter()
        .any(|switch| descriptor.has(switch.as_str()));
    // A front end that reads this flag lets it override the three features, so it must agree with
    // them.
    old.has_function_calling = Some(reads_widgets);
    // The schema of 2025 has booleans only, and one other value hides all agents of the server.
    let features = descriptor.features.iter();
    let switches = features.filter(|(_, value)| value.kind() == Kind::Bool);
    old.features = switches.map(|(key, value)| (key, value.clone())).collect();
    let base = descriptor.base_url.trim_end_matches('/');
    if !base.is_empty() {
        let whole = |place: &mut String| {
            if place.starts_with('/') {
                place.insert_str(0, base);
            }
        };
        whole(&mut old.image);
        if let Some(endpoints) = &mut old.endpoints {
            whole(&mut endpoints.query);
            whole(&mut endpoints.feedback);
            // The first front ends read `link` only.
            old.link.clone_from(&endpoints.query);
        }
    }
    old
}

/// Reads the entries of `agents.json` or `copilots.json` of any year, in order, for clients.
///
/// Entries that are not objects are skipped. Entries are not validated, see [`Descriptor::check`].
///
/// # Errors
///
/// If the document is not a JSON object.
pub fn agents(document: &Bytes) -> Result<Vec<Descriptor>, JsonError> {
    let mut agents = Vec::new();
    let mut reader = Reader::new(document)?;
    reader.object(|reader, key| {
        // The id is the key of the entry and no member of it.
        if let Some(mut descriptor) = Descriptor::read_from(reader)? {
            descriptor.id = key.to_owned();
            agents.push(descriptor);
        }
        Ok(())
    })?;
    reader.end()?;
    Ok(agents)
}
