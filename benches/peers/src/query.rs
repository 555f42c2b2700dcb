//! A query of 10 MB: widget data in a tool message, as JSON text in a string or as plain records.

use std::hint::black_box;

use bytes::Bytes;
use copilot_wire::openbb::OpenBb;
use copilot_wire::protocol::Protocol;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::source;
use crate::{Case, Contender};

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

pub const BORROWED: &str = "serde_json, data as &RawValue";

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

pub fn case(rows: usize, as_string: bool) -> Case {
    let body = source::query(rows, as_string);
    let owned = match as_string {
        true => Contender::peer(
            "serde_json, owned strings",
            typed::<String>(&body, String::len),
        ),
        false => Contender::peer(
            "serde_json, data as Value",
            typed::<serde_json::Value>(&body, |value| value.as_array().map_or(0, Vec::len)),
        ),
    };
    let mut contenders = vec![
        Contender::ours("copilot-wire", ours(&body)),
        owned,
        Contender::peer(
            "serde_json, data as Box<RawValue>",
            typed::<Box<RawValue>>(&body, |raw| raw.get().len()),
        ),
        Contender::peer(BORROWED, borrowed(&body)),
    ];
    // All find the one message with data.
    for contender in &mut contenders {
        assert_ne!((contender.run)(), 0, "{}", contender.name);
    }
    Case {
        units: 1,
        contenders,
    }
}
