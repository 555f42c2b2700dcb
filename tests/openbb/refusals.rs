//! Refusals: bodies that are not JSON, and bodies without messages.

use copilot_wire::json::Wire as _;
use copilot_wire::openbb::{OpenBb, Role};
use copilot_wire::protocol::{Conversation, Protocol as _};

use crate::{fixture, read};

#[test]
fn status_and_place() {
    let deep = |depth: usize| format!(r#"{{"messages":{}"#, "[".repeat(depth));
    let whole = String::from_utf8(fixture("req_v2_full.json").to_vec()).unwrap();
    let cases: Vec<(Vec<u8>, u16, &str)> = vec![
        (b"".to_vec(), 400, ""),
        (b"   ".to_vec(), 400, ""),
        (b"{".to_vec(), 400, ""),
        (br#"{"messages":[{"role":"human","content":"hi"}]"#.to_vec(), 400, ""),
        (br#"{"messages":[{"role":"human","content":"#.to_vec(), 400, "messages[0].content"),
        (br#"{"messages":[{"role":human}]}"#.to_vec(), 400, "messages[0].role"),
        (br#"{"messages":[{"role":"human"}]} trailing"#.to_vec(), 400, ""),
        (b"not json".to_vec(), 400, ""),
        (b"\xff\xfe".to_vec(), 400, ""),
        (b"{\"messages\":[{\"role\":\"human\",\"content\":\"\xff\"}]}".to_vec(), 400, ""),
        (br#"{"messages":[{"role":"human","content":"hi"}],"widgets":{"primary":[{"params":[}]}}"#.to_vec(),
            400, "widgets.primary[0].params[0]"),
        (deep(10_000).into_bytes(), 400, "messages[0]"),
        (whole.as_bytes()[..whole.len() / 2].to_vec(), 400, "widgets.primary"),
        (b"null".to_vec(), 422, ""),
        (b"[]".to_vec(), 422, ""),
        (format!("{}{}", "[".repeat(10_000), "]".repeat(10_000)).into_bytes(), 422, ""),
        (b"{}".to_vec(), 422, "messages"),
        (br#"{"messages":[]}"#.to_vec(), 422, "messages"),
        (br#"{"messages":null}"#.to_vec(), 422, "messages"),
        (br#"{"messages":"hi"}"#.to_vec(), 422, "messages"),
        (br#"{"query":"","messages":[]}"#.to_vec(), 422, "messages"),
    ];
    let (parts, ()) = http::Request::new(()).into_parts();
    for (body, status, path) in cases {
        let shown = String::from_utf8_lossy(&body)
            .chars()
            .take(90)
            .collect::<String>();
        let refusal = OpenBb::read(&parts, body.into()).unwrap_err();
        assert_eq!(refusal.status().as_u16(), status, "{shown}");
        assert!(
            refusal.path().starts_with(path),
            "{shown}: {}",
            refusal.path()
        );
        let body: serde_json::Value = serde_json::from_slice(&refusal.to_json()).unwrap();
        assert!(body["error"]["message"].is_string());
        if !path.is_empty() {
            assert!(body["error"]["path"].as_str().unwrap().starts_with(path));
        }
    }
}

#[test]
fn what_is_odd_is_accepted() {
    let deep = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
    let request = read(format!(
        r#"{{"messages":[{{"role":"human","content":"hi"}},{{"role":"narrator","content":"Meanwhile"}}],"x":{deep}}}"#
    ));
    assert_eq!(
        request.messages.last().unwrap().role,
        Role::Other("narrator".into())
    );
    assert_eq!(request.prompt().unwrap(), "hi");
    assert_eq!(request.unknown.get("x").unwrap().text(), deep);
    assert!(request.to_json().ends_with(format!("{deep}}}").as_bytes()));
    // A request of January 2024 may have no messages.
    assert_eq!(
        read(r#"{"query":"Hi","context":""}"#).prompt().unwrap(),
        "Hi"
    );
}
