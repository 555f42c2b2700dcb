//! The shared parts of a reply in this protocol.

use copilot_wire::json::Json;
use copilot_wire::openbb::{Artifact, OpenBb, QueryRequest};
use copilot_wire::protocol::{Chart, ChartKind, Part, Protocol, SendError, Table};

use crate::workspace::{self};
use crate::{env, request};

fn write(request: &QueryRequest, words: &[Part<'_>]) -> Result<String, SendError> {
    let mut session = OpenBb::session(request, &(), &env());
    let mut out = Vec::new();
    for word in words {
        session.part(*word, &mut out)?;
    }
    session.finish(&mut out);
    workspace::read(&out).unwrap();
    Ok(String::from_utf8(out).unwrap())
}

fn new() -> QueryRequest {
    request("v2_repost_as_sent_by_workspace")
}

/// The surrogates of a raw value as those of a text.
#[test]
fn an_unpaired_surrogate_in_a_cell_is_replaced() {
    let rows = r#"[{"a\udc00":"\ud83d \ud83d\ude00 \\ud83d","b":["\ude00"]}]"#;
    let rows = Json::parse(rows).unwrap();
    let expected = r#"[{"a\ufffd":"\ufffd \ud83d\ude00 \\ud83d","b":["\ufffd"]}]"#;
    let table = Table::new("T", &rows).unwrap();
    assert_eq!(table.rows.text(), expected);
    let kind = || ChartKind::Bar {
        x: "a".into(),
        y: vec!["c".into()],
    };
    assert_eq!(
        Chart::new("C", kind(), &rows).unwrap().rows.text(),
        expected
    );
    let artifact = Artifact::table(&rows).unwrap();
    assert_eq!(artifact.content.unwrap().text(), expected);
    let shown = write(&new(), &[Part::Table(&table)]).unwrap();
    assert!(
        shown.contains(r#""\ufffd \ud83d\ude00 \\ud83d""#),
        "{shown}"
    );
}
