//! Escaping: byte-equal to serde_json, with and without the Unicode line separators.

use copilot_wire::json::{Escape, Json, escape, write_raw};
use proptest::prelude::*;

fn escaped(text: &str, policy: Escape) -> String {
    let mut out = b"before".to_vec();
    escape(text, policy, &mut out);
    String::from_utf8(out)
        .unwrap()
        .strip_prefix("before")
        .unwrap()
        .to_owned()
}

fn by_serde_json(text: &str) -> String {
    let quoted = serde_json::to_string(text).unwrap();
    quoted[1..quoted.len() - 1].to_owned()
}

fn with_separators(json: &str) -> String {
    json.replace('\u{2028}', "\\u2028")
        .replace('\u{2029}', "\\u2029")
}

fn check(text: &str) {
    let expected = by_serde_json(text);
    assert_eq!(escaped(text, Escape::Json), expected);
    assert_eq!(
        escaped(text, Escape::JsonAndSeparators),
        with_separators(&expected)
    );
}

/// Text of every density of escapes: clean, sparse, dense, and of three-byte characters.
fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "[a-zA-Z0-9 ]{0,80}",
        "[\"\\\\\n\t\r\x00-\x1f]{1,5}",
        "[\u{2020}-\u{2030}\u{e2}\u{80}\u{a8}é😀\x7f]{1,5}",
        any::<String>(),
    ];
    prop::collection::vec(piece, 0..8).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2048))]

    #[test]
    fn equals_serde_json(text in text()) {
        check(&text);
    }

    #[test]
    fn raw_values_keep_their_text(text in text(), space in "[ \n\r\t]{0,3}") {
        let source = format!("{{{space}\"a\"{space}:{space}[{space}\"{}\"{space}]}}", by_serde_json(&text));
        let json = Json::parse(source.clone()).unwrap();
        let spaced = source.replace(['\n', '\r'], " ");
        let mut out = Vec::new();
        write_raw(&json, Escape::Json, &mut out);
        prop_assert_eq!(std::str::from_utf8(&out).unwrap(), &spaced);
        out.clear();
        write_raw(&json, Escape::JsonAndSeparators, &mut out);
        prop_assert_eq!(std::str::from_utf8(&out).unwrap(), with_separators(&spaced));
    }
}

#[test]
fn every_character_at_every_place() {
    for special in [
        '"', '\\', '\n', '\0', '\x1f', '\x7f', 'é', '\u{2028}', '\u{2029}', '\u{202a}',
    ] {
        for length in 0..150 {
            for at in [0, length / 3, length / 2, length] {
                let mut text = "x".repeat(length);
                text.insert(at, special);
                check(&text);
            }
        }
    }
}

#[test]
fn every_byte_below_two_hundred_fifty_six() {
    for code in 0..256 {
        check(&char::from_u32(code).unwrap().to_string());
        check(&format!(
            "{0}{0} between {0}{0} and a longer text at the end {0}",
            char::from_u32(code).unwrap()
        ));
    }
}

#[test]
fn dense_and_long_texts() {
    for length in [15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 1000, 5000] {
        check(&"\"".repeat(length));
        check(&"\u{1}".repeat(length));
        check(&"a".repeat(length));
        check(&"{\"a\":\"b\"},".repeat(length));
        check(&"\u{2028}".repeat(length));
        check(&"\u{2027}\u{2028}x".repeat(length));
    }
}

#[test]
fn reserves_no_more_than_needed() {
    let capacity = |text: &str| {
        let mut out = Vec::new();
        escape(text, Escape::Json, &mut out);
        out.capacity()
    };
    let clean = "a".repeat(1 << 17);
    assert!(capacity(&clean) < clean.len() + 1024);
    // A vector doubles when it grows; the space for six bytes in place of each one would be more.
    assert!(capacity(&format!("\"{clean}")) < 3 * clean.len());
}
