//! A query of 10 MB: widget data in a tool message, as JSON text in a string or as plain records.

use std::hint::black_box;

use bytes::Bytes;
use copilot_wire::openbb::OpenBb;
use copilot_wire::protocol::Protocol;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::source;
use crate::{Contender, Row};

/// The shape of a query with owned types, as one writes it.
#[derive(Deserialize)]
struct Query<D> {
    messages: Vec<Message<D>>,
}

#[derive(Deserialize)]
struct Message<D> {
    #[expect(dead_code, reason = "part of the work")]
    role: String,
    #[expect(dead_code, reason = "part of the work")]
    content: Option<String>,
    data: Option<Vec<Data<D>>>,
}

#[derive(Deserialize)]
struct Data<D> {
    items: Vec<Item<D>>,
}

#[derive(Deserialize)]
struct Item<D> {
    content: D,
}

fn body(as_string: bool) -> Bytes {
    source::query(if as_string { 58_000 } else { 66_000 }, as_string)
}

fn typed<D: for<'a> Deserialize<'a> + 'static>(
    body: &Bytes,
    length: impl Fn(&D) -> usize + 'static,
) -> impl FnMut() -> usize + 'static {
    let body = body.clone();
    move || {
        let query: Query<D> = serde_json::from_slice(black_box(&body)).unwrap();
        let data = query
            .messages
            .iter()
            .filter_map(|message| message.data.as_ref());
        let items = data.flatten().flat_map(|data| &data.items);
        items.map(|item| length(&item.content)).sum()
    }
}

/// Nothing is copied: the data is a slice of the body, and so is every text without escapes.
fn borrowed(body: &Bytes) -> impl FnMut() -> usize + 'static {
    let body = body.clone();
    move || {
        let query: Borrowed<'_> = serde_json::from_slice(black_box(&body)).unwrap();
        let data = query
            .messages
            .iter()
            .filter_map(|message| message.data.as_ref());
        let items = data.flatten().flat_map(|data| &data.items);
        items.map(|item| item.content.get().len()).sum()
    }
}

#[derive(Deserialize)]
struct Borrowed<'a> {
    #[serde(borrow)]
    messages: Vec<BorrowedMessage<'a>>,
}

#[derive(Deserialize)]
struct BorrowedMessage<'a> {
    #[expect(dead_code, reason = "part of the work")]
    role: &'a str,
    #[serde(borrow)]
    #[expect(dead_code, reason = "part of the work")]
    content: Option<&'a RawValue>,
    #[serde(borrow)]
    data: Option<Vec<BorrowedData<'a>>>,
}

#[derive(Deserialize)]
struct BorrowedData<'a> {
    #[serde(borrow)]
    items: Vec<BorrowedItem<'a>>,
}

#[derive(Deserialize)]
struct BorrowedItem<'a> {
    #[serde(borrow)]
    content: &'a RawValue,
}

fn ours(body: &Bytes) -> impl FnMut() -> usize + 'static {
    let body = body.clone();
    let (parts, ()) = http::Request::new(()).into_parts();
    move || {
        let query = OpenBb::read(&parts, black_box(body.clone())).unwrap();
        let length = query.messages.len();
        black_box(query);
        length
    }
}

pub fn string() -> Row {
    let body = body(true);
    row(
        "a query with 10 MB of widget data in a string",
        vec![
            Contender::new("copilot-wire", ours(&body)),
            Contender::new(
                "serde_json, owned strings",
                typed::<String>(&body, String::len),
            ),
            Contender::new(
                "serde_json, data as Box<RawValue>",
                typed::<Box<RawValue>>(&body, |raw| raw.get().len()),
            ),
            Contender::new("serde_json, data as &RawValue", borrowed(&body)),
        ],
    )
}

pub fn records() -> Row {
    let body = body(false);
    row(
        "a query with 10 MB of widget data as records",
        vec![
            Contender::new("copilot-wire", ours(&body)),
            Contender::new(
                "serde_json, data as Value",
                typed::<serde_json::Value>(&body, |value| value.as_array().map_or(0, Vec::len)),
            ),
            Contender::new(
                "serde_json, data as Box<RawValue>",
                typed::<Box<RawValue>>(&body, |raw| raw.get().len()),
            ),
            Contender::new("serde_json, data as &RawValue", borrowed(&body)),
        ],
    )
}

fn row(name: &'static str, contenders: Vec<Contender>) -> Row {
    Row {
        name,
        unit: "query",
        units: 1,
        contenders,
    }
}
