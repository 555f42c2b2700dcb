//! Calls for data in the forms of 2024 and early 2025.

use super::Era;
use crate::json::{Json, List, Members, Wire};
use crate::openbb::data_source::{DataSource, GetWidgetData, data_sources};
use crate::openbb::function_call::with_members;
use crate::protocol::SendError;

/// Converts the arguments of `get_widget_data` to the form of an era; `None` if they are in that
/// form.
///
/// The form is `{widget_uuid}` until October 2024, `{widget_uuids}` from November 2024,
/// `{data_sources: [{origin, id, input_args}]}` from January 2025; from May 2025 each data source
/// begins with `widget_uuid`.
pub(in crate::openbb) fn in_era(arguments: &Json, era: Era) -> Result<Option<Json>, SendError> {
    // A call that already has an older form was written so by its author and is not changed.
    if arguments.get("data_sources").is_none() {
        return Ok(None);
    }
    let mut sources = data_sources(arguments);
    let count = sources.len();
    // One invalid widget of a dashboard must not prevent the data of the others.
    sources.retain(|source| match era >= Era::E5 {
        true => !source.origin.is_empty() && !source.id.is_empty(),
        // Before January 2025 a call had only the id on the dashboard.
        false => source.widget_uuid.is_some(),
    });
    if sources.is_empty() {
        let message = "a call for data names no widget by the ids that its request's form needs";
        return Err(SendError::Invalid(message.to_owned()));
    }
    if era >= Era::V1 {
        let named = (sources.len() < count).then(|| List::from(sources).to_raw());
        let with = |named| with_members(arguments, vec![("data_sources".to_owned(), named)]);
        return Ok(named.map(with));
    }
    if era >= Era::E5 {
        let older = sources.into_iter().map(|source| DataSource {
            widget_uuid: None,
            ..source
        });
        return Ok(Some(GetWidgetData::new(older).to_raw()));
    }
    let uuids: Vec<String> = sources
        .into_iter()
        .filter_map(|source| source.widget_uuid)
        .collect();
    let json = |text: &String| crate::openbb::text::string(text);
    let mut object = Members::new();
    match uuids.as_slice() {
        _ if era >= Era::E4 => {
            let uuids: List<String> = uuids.into();
            object.push("widget_uuids", uuids.to_raw());
        }
        [uuid] => object.push("widget_uuid", json(uuid)),
        _ => return Err(SendError::Unsupported("several widgets in one call")),
    }
    Ok(Some(object.to_raw()))
}
