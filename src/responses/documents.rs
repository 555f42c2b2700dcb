//! The documents and refusals of requests about what is stored.

use http::{Response, StatusCode};

use super::Responses;
use super::stored_turn::StoredItem;
use crate::agent::Body;
use crate::json::wire::object;
use crate::json::{Escape, Json, ValueWriter};
use crate::protocol::{Protocol as _, Refusal};
use crate::router::{HttpRequest, json};

pub(super) fn not_found() -> Refusal {
    Refusal::new(StatusCode::NOT_FOUND, "no such response").code("response_not_found")
}

pub(super) fn refuse(refusal: &Refusal) -> Response<Body> {
    Responses::refuse(refusal).map(Body::full)
}

/// Returns a member of the query. Not percent-decoded: the values that are known need none.
pub(super) fn query<'a>(call: &'a HttpRequest, name: &str) -> Option<&'a str> {
    let query = call.parts.uri.query().unwrap_or_default();
    let mut members = query.split('&').filter_map(|member| member.split_once('='));
    members.find_map(|(key, value)| (key == name).then_some(value))
}

/// Returns the answer to a request that has deleted something.
pub(super) fn deleted(id: &str, object: &str) -> Response<Body> {
    let deleted = Json::object(|it| {
        it.str("id", id).str("object", object).bool("deleted", true);
    });
    json(StatusCode::OK, deleted.as_bytes().clone())
}

/// Returns a page of items, the last one first unless `order` is `asc`.
pub(super) fn page(
    call: &HttpRequest,
    mut items: Vec<StoredItem>,
) -> Result<Response<Body>, Refusal> {
    if query(call, "order") != Some("asc") {
        items.reverse();
    }
    if let Some(after) = query(call, "after") {
        let at = items.iter().position(|item| item.id == after);
        let message = "no such item";
        let refusal = || Refusal::new(StatusCode::BAD_REQUEST, message).at("after");
        items.drain(..=at.ok_or_else(refusal)?);
    }
    let limit = query(call, "limit").map_or(Ok(20), str::parse::<usize>);
    let limit = limit.ok().filter(|limit| (1..=100).contains(limit));
    let limit = limit.ok_or_else(|| {
        Refusal::new(StatusCode::BAD_REQUEST, "must be from 1 to 100").at("limit")
    })?;
    let has_more = items.len() > limit;
    items.truncate(limit);
    Ok(items_page(&items, has_more))
}

pub(super) fn items_page(items: &[StoredItem], has_more: bool) -> Response<Body> {
    let mut out = Vec::new();
    let to = ValueWriter::new(&mut out, Escape::JsonAndSeparators);
    object(to, |list| {
        list.str("object", "list");
        // Raw values always serialize.
        let _ = list.array("data", items, |item, to| {
            to.raw(&item.listed());
            Ok(())
        });
        for (name, item) in [("first_id", items.first()), ("last_id", items.last())] {
            match item {
                Some(item) => list.str(name, &item.id),
                None => list.raw(name, &Json::default()),
            };
        }
        list.bool("has_more", has_more);
    });
    json(StatusCode::OK, out)
}
