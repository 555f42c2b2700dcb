//! Reading JSON: the scanner against serde_json, raw values, the pull reader, error paths.

use bytes::Bytes;
use copilot_wire::json::{Json, JsonError, Kind, Members, Reader, is_pointer};
use proptest::prelude::*;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

fn parse(text: &str) -> Result<Json, JsonError> {
    Json::parse(text.to_owned())
}

/// serde_json's verdict on the same bytes; a raw value is skipped there without a depth limit.
fn serde_accepts(bytes: &[u8]) -> bool {
    let raw = serde_json::from_slice::<&RawValue>(bytes).is_ok();
    assert_eq!(
        raw,
        std::str::from_utf8(bytes)
            .is_ok_and(|text| { serde_json::from_str::<IgnoredAny>(text).is_ok() })
    );
    raw
}

/// JSON text with odd but legal spacing, escapes and numbers.
fn json_text() -> impl Strategy<Value = String> {
    let string = prop_oneof![
        "[a-z ]{0,12}",
        "[a-z]{20,200}",
        r#"(\\["\\/bfnrt]|\\u[0-9a-fA-F]{4}|[ -!#-\[\]-~é\x{2028}😀]){0,150}"#,
        // JSON inside a string.
        r#"(\{\\"[a-z]{1,4}\\":\\"[a-z\\\\]{2}\\"\},?){0,20}"#.prop_filter(
            "no odd run of backslashes at random",
            |text| parse(&format!("\"{text}\"")).is_ok()
        ),
    ]
    .prop_map(|inside| format!("\"{inside}\""));
    let number = r"-?(0|[1-9][0-9]{0,30})(\.[0-9]{1,20})?([eE][+-]?[0-9]{1,4})?";
    let space = r"[ \t\r\n]{0,3}";
    let leaf = prop_oneof![
        3 => string.clone(),
        3 => number,
        1 => Just("true".to_owned()),
        1 => Just("false".to_owned()),
        1 => Just("null".to_owned()),
    ];
    leaf.prop_recursive(6, 60, 6, move |inner| {
        let element = (space, inner, space).prop_map(|(a, value, b)| a + &value + &b);
        let member = (space, string.clone(), space, element.clone())
            .prop_map(|(a, key, b, value)| a + &key + &b + ":" + &value);
        prop_oneof![
            prop::collection::vec(element, 0..6).prop_map(|all| format!("[{}]", all.join(","))),
            prop::collection::vec(member, 0..6).prop_map(|all| format!("{{{}}}", all.join(","))),
            space.prop_map(|space| format!("[{space}]")),
            space.prop_map(|space| format!("{{{space}}}")),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn accepts_what_serde_json_accepts(text in json_text()) {
        prop_assert!(serde_accepts(text.as_bytes()), "the generator made {text}");
        let json = parse(&text).unwrap();
        prop_assert_eq!(json.text(), text.trim_matches([' ', '\t', '\r', '\n']));
    }

    #[test]
    fn agrees_with_serde_json_on_mutations(
        text in json_text(),
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..5u8), 1..4),
    ) {
        const TELLING: &[u8] = b"\"\\{}[],:0123456789.eE+-tfnu \n\x00\x1f\x7f";
        let mut bytes = text.into_bytes();
        for (at, byte, edit) in edits {
            let telling = TELLING[usize::from(byte) % TELLING.len()];
            if bytes.is_empty() {
                break;
            }
            let at = at.index(bytes.len());
            match edit {
                0 => bytes[at] = byte,
                1 => bytes[at] = telling,
                2 => bytes.insert(at, telling),
                3 => drop(bytes.remove(at)),
                _ => bytes.truncate(at),
            }
        }
        let ours = Json::parse(bytes.clone());
        prop_assert_eq!(ours.is_ok(), serde_accepts(&bytes), "{:?}", String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn every_truncation_is_an_error_with_a_place(text in json_text()) {
        let text = text.trim();
        if text.starts_with(['{', '[', '"']) {
            for end in (0..text.len()).filter(|&end| text.is_char_boundary(end)) {
                let error = parse(&text[..end]).unwrap_err();
                prop_assert!(error.is_truncated());
                prop_assert!(error.offset() <= end);
            }
        }
    }

    #[test]
    fn strings_are_those_of_serde_json(text in json_text()) {
        let json = parse(&text).unwrap();
        if let (Some(ours), Ok(theirs)) = (json.string(), serde_json::from_str::<String>(&text)) {
            prop_assert_eq!(&ours, &theirs);
        }
        if let Ok(theirs) = serde_json::from_str::<serde_json::Value>(&text) {
            prop_assert_eq!(json.decode::<serde_json::Value>().unwrap(), theirs);
        }
    }

    #[test]
    fn walking_finds_what_serde_json_finds(text in json_text()) {
        let json = parse(&text).unwrap();
        let count = json.members().count() + json.elements().count();
        if let Ok(value) = serde_json::from_str::<serde_json::Value>(&text) {
            for (index, element) in json.elements().enumerate() {
                prop_assert_eq!(&element.decode::<serde_json::Value>().unwrap(), &value[index]);
            }
            for (key, _) in json.members() {
                let last = json.get(&key).unwrap();
                prop_assert_eq!(&last.decode::<serde_json::Value>().unwrap(), &value[&*key]);
            }
            prop_assert!(count >= value.as_array().map_or(0, Vec::len));
            prop_assert!(count >= value.as_object().map_or(0, |object| object.len()));
        }
    }

    #[test]
    fn nothing_panics(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let bytes = Bytes::from(bytes);
        let _ = Json::parse(bytes.clone());
        if let Ok(mut reader) = Reader::new(&bytes) {
            let mut unread = Members::new();
            let _ = reader.object_keeping(&mut unread, |reader, _| {
                reader.string()?;
                reader.f64()?;
                reader.array(|_, _| Ok(()))
            });
        }
    }
}

#[test]
fn every_offset_of_an_escape_in_a_block() {
    // Runs of backslashes of every length at every place around the border of a block.
    for before in 0..140 {
        for run in 1..6 {
            let text = format!("\"{}{}n\"", "x".repeat(before), "\\".repeat(run));
            assert_eq!(
                parse(&text).is_ok(),
                serde_accepts(text.as_bytes()),
                "{text}"
            );
            let text = format!("\"{}{}\"\"", "x".repeat(before), "\\".repeat(run));
            assert_eq!(
                parse(&text).is_ok(),
                serde_accepts(text.as_bytes()),
                "{text}"
            );
            let text = format!(
                "\"{}{}q{}\"",
                "x".repeat(before),
                "\\".repeat(run),
                "y".repeat(70)
            );
            assert_eq!(
                parse(&text).is_ok(),
                serde_accepts(text.as_bytes()),
                "{text}"
            );
        }
        for bad in ["\u{1}", "\n", "\\u12", "\\u12g4", "\\x", "\\"] {
            let text = format!("\"{}{bad}{}\"", "x".repeat(before), "y".repeat(70));
            assert!(!serde_accepts(text.as_bytes()));
            assert!(parse(&text).is_err(), "{text}");
        }
    }
}

#[test]
fn every_escape_at_every_place_is_decoded() {
    for before in 0..200 {
        for escape in [
            "\\n",
            "\\\\",
            "\\\\\\\"",
            "\\u00e9",
            "\\u2028",
            "\\ud83d\\ude00\\/",
            "é\\\\n",
        ] {
            let text = format!(
                "\"{}{escape}{}\"",
                "x".repeat(before),
                "y".repeat(200 - before)
            );
            let expected: String = serde_json::from_str(&text).unwrap();
            assert_eq!(parse(&text).unwrap().string().unwrap(), expected);
            let text = format!("\"{}{}\"", "x".repeat(before), escape.repeat(60));
            let expected: String = serde_json::from_str(&text).unwrap();
            assert_eq!(parse(&text).unwrap().string().unwrap(), expected);
        }
    }
}

#[test]
fn a_block_of_one_character_is_read_as_any_other() {
    for before in [0, 32, 40] {
        let before = "x".repeat(before);
        for length in [64, 128, 130] {
            for character in ["\"", "\n", "\u{1f}"] {
                let text = format!("\"{before}{}\"", character.repeat(length));
                assert!(parse(&text).is_err(), "{text:?}");
            }
            let text = format!("\"{before}{}\"", "\\".repeat(length));
            let body = Bytes::from(text);
            let read = Reader::new(&body).unwrap().string().unwrap().unwrap();
            assert_eq!(read, format!("{before}{}", "\\".repeat(length / 2)));
        }
        // An escape after the string is not a part of it.
        let text = format!("\"{before}\" ? \"\\q{}\"", "x".repeat(64));
        let body = Bytes::from(text);
        let mut reader = Reader::new(&body).unwrap();
        assert_eq!(reader.string().unwrap().unwrap(), before);
        assert_eq!(reader.end().unwrap_err().offset(), before.len() + 3);
    }
}

#[test]
fn every_byte_flip_agrees_with_serde_json() {
    let text = r#"{"messages":[{"role":"human","content":"{\"a\": [1, 2.5e-3], \"b\": \"\\u00e9\\n\"}"}],"x":[true,false,null,-0.0,{}]}"#;
    for at in 0..text.len() {
        for bit in 0..8 {
            let mut bytes = text.as_bytes().to_vec();
            bytes[at] ^= 1 << bit;
            assert_eq!(Json::parse(bytes.clone()).is_ok(), serde_accepts(&bytes));
        }
    }
}

#[test]
fn numbers_are_kept_as_they_are() {
    for text in [
        "1e400",
        "-0",
        "123456789012345678901234567890",
        "1.10",
        "1E+2",
        "0.1e-7",
    ] {
        assert_eq!(parse(text).unwrap().text(), text);
    }
    for text in [
        "01", "-", "1.", ".5", "1e", "1e+", "+1", "0x1", "1_000", "-01", "NaN",
    ] {
        assert!(parse(text).is_err(), "{text}");
    }
    let error = parse("[-012]").unwrap_err();
    assert_eq!(
        (error.expected(), error.offset()),
        ("no digit after a leading zero", 3)
    );
}

#[test]
fn any_character_may_follow_a_digit() {
    for digits in 1..=17 {
        for other in ('\0'..='\u{ff}').chain(['\u{2028}', '😀']) {
            let text = format!("[0.{}{other}]", "9".repeat(digits));
            let accepted = parse(&text).is_ok();
            assert_eq!(accepted, serde_accepts(text.as_bytes()), "{text:?}");
        }
    }
}

#[test]
fn every_bracket_needs_its_own() {
    // A list at the levels that are multiples of three, else an object.
    let brackets = |level: usize| match level % 3 {
        0 => ("[", "]"),
        _ => (r#"{"a":"#, "}"),
    };
    for depth in [1, 3, 63, 64, 65, 66, 127, 128, 129, 200] {
        let open: String = (1..=depth).map(|level| brackets(level).0).collect();
        let close: String = (1..=depth).rev().map(|level| brackets(level).1).collect();
        assert!(parse(&format!("{open}1{close}")).is_ok(), "{depth}");
        for at in 0..depth {
            let other = if &close[at..=at] == "]" { "}" } else { "]" };
            let (before, after) = (&close[..at], &close[at + 1..]);
            let error = parse(&format!("{open}1{before}{other}{after}")).unwrap_err();
            assert_eq!(error.offset(), open.len() + 1 + at, "{depth}");
        }
    }
}

#[test]
fn depth_needs_no_stack() {
    for depth in [10_000, 1_000_000] {
        let text = "[".repeat(depth) + &"]".repeat(depth);
        assert_eq!(parse(&text).unwrap().kind(), Kind::Array);
        let text = r#"{"a":["#.repeat(depth) + &"]}".repeat(depth);
        assert!(parse(&text).is_ok());
        assert!(parse(&text[..text.len() - 1]).unwrap_err().is_truncated());
        let error = parse(&("[".repeat(depth) + "}")).unwrap_err();
        assert_eq!((error.expected(), error.is_truncated()), ("a value", false));
    }
}

#[test]
fn values_are_slices_of_the_body() {
    let body = Bytes::from_static(br#" {"a": [1, 2] } "#);
    let json = Json::parse(body.clone()).unwrap();
    let array = json.get("a").unwrap();
    assert_eq!(array.text(), "[1, 2]");
    let offset = array.as_bytes().as_ptr() as usize - body.as_ptr() as usize;
    assert_eq!(offset, 7);
}

#[test]
fn debug_shows_no_content() {
    let json = parse(r#"{"api_key": "sk-secret"}"#).unwrap();
    assert_eq!(format!("{json:?}"), "Json(Object, 24 bytes)");
    let members: Members = [("api_keys", json.clone())].into_iter().collect();
    assert_eq!(
        format!("{members:?}"),
        r#"{"api_keys": Json(Object, 24 bytes)}"#
    );
    assert!(!format!("{:?}", json.reader()).contains("secret"));
    assert!(!format!("{:?}", json.members().next()).contains("secret"));
    let error = json.decode::<u32>().unwrap_err();
    assert!(!format!("{error} {error:?}").contains("secret"));
}

#[test]
fn another_type_is_an_error_at_its_byte() {
    for (text, offset) in [("[1]", 1), ("[\n\n\n\"a\",\n 1\n]", 10)] {
        let error = parse(text).unwrap().decode::<Vec<String>>().unwrap_err();
        assert_eq!(error.offset(), offset);
    }
}

#[test]
fn a_reader_takes_the_numbers_of_a_type_and_leaves_the_others() {
    let body = Bytes::from_static(b"[-9, 9223372036854775808, 1.0, \"1\"]");
    let mut read = Vec::new();
    let result = Reader::new(&body).unwrap().array(|reader, _| {
        read.push(reader.i64()?);
        Ok(())
    });
    assert!(result.is_ok());
    assert_eq!(read, [Some(-9), None, None, None]);
}

#[test]
fn typed_access() {
    assert_eq!(parse("true").unwrap().as_bool(), Some(true));
    assert_eq!(parse("\"true\"").unwrap().as_bool(), None);
    assert_eq!(
        parse("18446744073709551615").unwrap().as_u64(),
        Some(u64::MAX)
    );
    assert_eq!(parse("18446744073709551616").unwrap().as_u64(), None);
    assert_eq!(parse("1.0").unwrap().as_u64(), None);
    assert_eq!(parse("-9").unwrap().as_i64(), Some(-9));
    assert_eq!(parse("-9").unwrap().as_u64(), None);
    assert_eq!(parse("1.5e2").unwrap().as_f64(), Some(150.0));
    assert_eq!(parse("1e400").unwrap().as_f64(), None);
    assert!(parse(" null ").unwrap().is_null());
    assert!(Json::default().is_null());
    assert_eq!(parse("[1]").unwrap().members().count(), 0);
    assert_eq!(parse("{}").unwrap().elements().count(), 0);
    assert_eq!(parse("3").unwrap().string(), None);
}

#[test]
fn the_last_of_duplicate_members_wins() {
    let json = parse(r#"{"a":1,"b":2,"\u0061":3}"#).unwrap();
    assert_eq!(json.get("a").unwrap().text(), "3");
    assert_eq!(json.members().count(), 3);
}

#[test]
fn half_a_surrogate_pair_becomes_a_replacement_character() {
    for (text, expected) in [
        (r#""\ud800""#, "\u{fffd}"),
        (r#""\udc00x""#, "\u{fffd}x"),
        (r#""\ud800\ud83d\ude00""#, "\u{fffd}😀"),
        (r#""\uD83D\uDE00""#, "😀"),
        (r#""\ud83d\u0041""#, "\u{fffd}A"),
        (r#""\ud83d\n""#, "\u{fffd}\n"),
        (r#""\\ud800""#, "\\ud800"),
        (r#""\\\ud800""#, "\\\u{fffd}"),
    ] {
        let json = parse(text).unwrap();
        assert_eq!(json.string().unwrap(), expected);
        assert_eq!(json.decode::<String>().unwrap(), expected);
        assert_eq!(json.text(), text);
        let object = parse(&format!("{{{text}: 1}}")).unwrap();
        assert_eq!(object.members().next().unwrap().0, expected);
        assert_eq!(object.get(expected).unwrap().text(), "1");
    }
}

#[test]
fn errors_carry_the_path() {
    let body = Bytes::from_static(br#"{"messages":[{},{},{},{"role": nul}]}"#);
    let error = Reader::new(&body)
        .unwrap()
        .object(|reader, _| reader.array(|reader, _| reader.object(|_, _| Ok(()))))
        .unwrap_err();
    assert_eq!(error.path(), "messages[3].role");
    assert_eq!(error.offset(), 34);
    assert_eq!(
        error.to_string(),
        "expected `true`, `false` or `null` at messages[3].role (byte 34)"
    );

    let error = parse("{\"a\":1").unwrap_err();
    assert_eq!(
        error.to_string(),
        "expected `,` or `}` before the end of the text at byte 6"
    );
    assert!(size_of::<JsonError>() <= 32);
}

#[test]
fn paths_show_odd_keys_safely() {
    let error = || parse("").unwrap_err();
    assert_eq!(error().at_key("a b").path(), r#"["a b"]"#);
    assert_eq!(error().at_key("").path(), r#"[""]"#);
    assert_eq!(error().at_key("a_b-é1").path(), "a_b-é1");
    assert_eq!(
        error().at_key("x").at_key("a\n\"").at_key("z").path(),
        r#"z["a\n\""].x"#
    );
    assert_eq!(error().at_index(2).at_key("y").path(), "y[2]");
    let long = error().at_key(&"k".repeat(1000)).path().to_owned();
    assert_eq!(long, "k".repeat(32) + "…");
}

#[test]
fn only_the_outer_end_of_a_long_path_is_shown() {
    let of = |keys: &[&str]| {
        let inner = parse("").unwrap_err();
        keys.iter().fold(inner, |error, key| error.at_key(key))
    };
    let key = "k".repeat(31);
    let mut keys = vec![&*key; 7];
    let last = "k".repeat(32);
    keys.push(&last);
    let longest = of(&keys);
    assert_eq!(
        (longest.path().len(), longest.path().contains('…')),
        (256, false)
    );
    let cut = &longest.path()[..254];
    assert_eq!(longest.clone().at_key("z").path(), format!("z.{cut}…"));
    // Between two characters.
    let deep = of(&["éé"; 1000]);
    assert_eq!(deep.path(), "éé.".repeat(51) + "…");
}

#[test]
fn a_model_keeps_what_it_does_not_read() {
    let body = Bytes::from_static(
        br#"{"role":"ai","n":1,"\u0078":[1, 2],"role":7,"n":null,"n":2.5,"flag":true}"#,
    );
    let (mut role, mut number, mut flag, mut unknown) = (None, None, None, Members::new());
    let mut reader = Reader::new(&body).unwrap();
    reader
        .object_keeping(&mut unknown, |reader, key| {
            match key {
                "role" => role = reader.string()?.or_else(|| role.take()),
                "n" => number = reader.u64()?.or(number),
                "flag" => flag = reader.bool()?,
                _ => {}
            }
            Ok(())
        })
        .unwrap();
    reader.end().unwrap();
    assert_eq!(
        (role.as_deref(), number, flag),
        (Some("ai"), Some(1), Some(true))
    );
    let kept: Vec<_> = unknown
        .iter()
        .map(|(key, value)| (key, value.text()))
        .collect();
    assert_eq!(
        kept,
        [("x", "[1, 2]"), ("role", "7"), ("n", "null"), ("n", "2.5")]
    );
}

#[test]
fn a_pointer_has_segments_and_escapes() {
    for text in ["", "/", "/a/b", "/~0~1", "//"] {
        assert!(is_pointer(text), "{text}");
    }
    for text in ["a", "a/b", "/~", "/~2", "/~0~"] {
        assert!(!is_pointer(text), "{text}");
    }
}

#[test]
fn the_root_is_strict() {
    for (text, expected) in [
        ("", "an object"),
        ("[]", "an object"),
        ("{} x", "the end of the text"),
        ("{,}", "a key"),
        ("{\"a\":1,}", "a key"),
        ("{\"a\":}", "a value"),
        ("{\"a\" 1}", "`:`"),
        ("{\"a\":1 \"b\":2}", "`,` or `}`"),
    ] {
        let body = Bytes::from_static(text.as_bytes());
        let mut reader = Reader::new(&body).unwrap();
        let result = reader.object(|_, _| Ok(())).and_then(|()| reader.end());
        assert_eq!(result.unwrap_err().expected(), expected, "{text}");
    }
    for text in ["[1,]", "[,]", "[1 2]", "[", "[1"] {
        let body = Bytes::from_static(text.as_bytes());
        assert!(
            Reader::new(&body).unwrap().array(|_, _| Ok(())).is_err(),
            "{text}"
        );
    }
    assert_eq!(
        Reader::new(&Bytes::from_static(b"\"\xff\""))
            .unwrap_err()
            .offset(),
        1
    );
}

#[test]
fn serialises_and_deserialises_with_serde_json() {
    #[derive(serde::Serialize, serde::Deserialize)]
    struct Row {
        raw: Json,
        more: Vec<Json>,
    }
    let text = r#"{"raw":{"b":1e400, "a":1.0},"more":[12345678901234567890123,"\ud800"]}"#;
    let row: Row = serde_json::from_str(text).unwrap();
    assert_eq!(row.raw.text(), r#"{"b":1e400, "a":1.0}"#);
    assert_eq!(serde_json::to_string(&row).unwrap(), text);
    let value = serde_json::to_value(parse("[1,\"x\"]").unwrap()).unwrap();
    assert_eq!(value, serde_json::json!([1, "x"]));
    assert_eq!(
        serde_json::from_value::<Json>(value).unwrap().text(),
        "[1,\"x\"]"
    );
}

#[test]
fn types_are_send_and_sync() {
    fn check<T: Send + Sync>() {}
    check::<Json>();
    check::<Members>();
    check::<JsonError>();
    check::<Reader<'_>>();
}
