//! Writing JSON: byte-equal to serde_json, all or nothing, never an overflow of the stack.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};

use copilot_wire::json::{Escape, Json, Members, ObjectWriter, ValueWriter, WriteError, write};
use proptest::prelude::*;
use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;
use serde_json::{Value, json};

fn written<T: Serialize + ?Sized>(value: &T) -> Result<String, WriteError> {
    let mut out = b"before ".to_vec();
    let result = write(value, Escape::Json, &mut out);
    let text = String::from_utf8(out).unwrap();
    let after = text.strip_prefix("before ").unwrap().to_owned();
    if result.is_err() {
        assert_eq!(after, "", "an error leaves nothing");
    }
    result.map(|()| after)
}

fn check<T: Serialize + ?Sized>(value: &T) {
    match serde_json::to_string(value) {
        Ok(expected) => assert_eq!(written(value).unwrap(), expected),
        Err(_) => assert!(written(value).is_err()),
    }
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        "[a-z\"\\\\\n]{0,40}".prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 100, 8, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..8).prop_map(Value::from),
            prop::collection::vec((any::<String>(), inner), 0..8)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

#[derive(Serialize, Clone, Debug)]
struct Unit;
#[derive(Serialize, Clone, Debug)]
struct Newtype(f32);
#[derive(Serialize, Clone, Debug)]
struct Pair(i8, Option<char>);
#[derive(Serialize, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    One,
    #[serde(rename = "two \"2\"")]
    Two,
}
#[derive(Serialize, Clone, Debug)]
enum Shape {
    Unit,
    Newtype(Option<f64>),
    Tuple(u8, i128),
    Struct { a: Vec<u16>, b: Option<Box<Self>> },
    Empty {},
}
#[derive(Serialize, Clone, Debug)]
struct Everything {
    unit: Unit,
    newtype: Newtype,
    pair: Pair,
    shape: Shape,
    #[serde(skip_serializing_if = "Option::is_none")]
    skipped: Option<u32>,
    integers: BTreeMap<i16, u128>,
    bools: BTreeMap<bool, ()>,
    chars: BTreeMap<char, (i32, i64)>,
    keys: BTreeMap<Key, String>,
    #[serde(flatten)]
    rest: BTreeMap<String, f64>,
}

fn shape() -> impl Strategy<Value = Shape> {
    let leaf = prop_oneof![
        Just(Shape::Unit),
        any::<Option<f64>>().prop_map(Shape::Newtype),
        any::<(u8, i128)>().prop_map(|(a, b)| Shape::Tuple(a, b)),
        Just(Shape::Empty {}),
    ];
    leaf.prop_recursive(4, 8, 1, |inner| {
        (any::<Vec<u16>>(), inner).prop_map(|(a, b)| Shape::Struct {
            a,
            b: Some(Box::new(b)),
        })
    })
}

fn everything() -> impl Strategy<Value = Everything> {
    (
        (
            any::<f32>(),
            any::<(i8, Option<char>)>(),
            shape(),
            any::<Option<u32>>(),
        ),
        prop::collection::btree_map(any::<i16>(), any::<u128>(), 0..4),
        prop::collection::btree_map(any::<bool>(), Just(()), 0..2),
        prop::collection::btree_map(any::<char>(), any::<(i32, i64)>(), 0..4),
        prop::collection::btree_map(
            prop_oneof![Just(Key::One), Just(Key::Two)],
            any::<String>(),
            0..2,
        ),
        prop::collection::btree_map(any::<String>(), any::<f64>(), 0..4),
    )
        .prop_map(
            |((float, pair, shape, skipped), integers, bools, chars, keys, rest)| Everything {
                unit: Unit,
                newtype: Newtype(float),
                pair: Pair(pair.0, pair.1),
                shape,
                skipped,
                integers,
                bools,
                chars,
                keys,
                rest,
            },
        )
}

proptest! {
    #[test]
    fn values_equal_serde_json(value in value()) {
        check(&value);
        let text = Json::encode(&value).unwrap();
        prop_assert_eq!(text.decode::<Value>().unwrap(), serde_json::from_str::<Value>(text.text()).unwrap());
    }

    #[test]
    fn derived_types_equal_serde_json(everything in everything()) {
        check(&everything);
    }

    #[test]
    fn numbers_equal_serde_json(a: u64, b: i64, c: f64, d: f32, e: i128, bits: u64, small: u32) {
        check(&(a, b, c, d, e, f64::from_bits(bits), f32::from_bits(small), small));
        check(&(u8::MAX, i8::MIN, u16::MAX, i16::MIN, u128::MAX, f64::NAN, f32::NEG_INFINITY));
    }
}

#[test]
fn odd_keys() {
    #[derive(Serialize, PartialEq, Eq, PartialOrd, Ord)]
    struct Wrapped(u8);
    check(&BTreeMap::from([(Wrapped(1), 2)]));
    check(&BTreeMap::from([(Some("a"), 2)]));
    check(&BTreeMap::from([(None::<&str>, 2)]));
    check(&BTreeMap::from([((1, 2), 2)]));
    check(&BTreeMap::from([(vec![1], 2)]));
    check(&BTreeMap::from([((), 2)]));
    check(&BTreeMap::from([(u128::MAX, i128::MIN)]));
    struct Floats(f64);
    impl Serialize for Floats {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            serializer.collect_map([(self.0, 1)])
        }
    }
    check(&Floats(1.5));
    check(&Floats(f64::NAN));
    struct Shown;
    impl Display for Shown {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("a\"")?;
            f.write_str("\u{2028}\n")
        }
    }
    impl Serialize for Shown {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            serializer.collect_str(self)
        }
    }
    struct ShownKey;
    impl Serialize for ShownKey {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            serializer.collect_map([(Shown, Shown)])
        }
    }
    check(&ShownKey);
}

#[test]
fn bytes_are_an_array() {
    struct Raw(&'static [u8]);
    impl Serialize for Raw {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            serializer.serialize_bytes(self.0)
        }
    }
    check(&Raw(b"\x00\xff"));
    check(&Raw(b""));
}

#[test]
fn raw_values_are_written_as_they_are() {
    let raw = RawValue::from_string("{\"b\": 1e400,\n\"a\":\"\u{2028}\"}".to_owned()).unwrap();
    let expected = "[{\"b\": 1e400, \"a\":\"\u{2028}\"}]";
    assert_eq!(written(&[&raw]).unwrap(), expected);
    let json = Json::parse(raw.get().to_owned()).unwrap();
    assert_eq!(written(&[&json]).unwrap(), expected);
    let mut out = Vec::new();
    write(&Some(&json), Escape::JsonAndSeparators, &mut out).unwrap();
    assert_eq!(out, b"{\"b\": 1e400, \"a\":\"\\u2028\"}");
    // A string beside a raw value is a string again.
    assert_eq!(
        written(&(&json, "x")).unwrap(),
        format!("{},\"x\"]", &expected[..expected.len() - 1])
    );
}

/// Only a string in place of a raw value is raw, not the strings of a container in that place.
#[test]
fn strings_of_a_container_are_never_raw() {
    const RAW: &str = "$serde_json::private::RawValue";
    struct Odd<T>(T);
    impl<T: Serialize> Serialize for Odd<T> {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            let mut raw = serializer.serialize_struct(RAW, 1)?;
            raw.serialize_field(RAW, &self.0)?;
            raw.end()
        }
    }
    #[derive(Serialize)]
    enum Variant {
        Key(&'static str),
    }
    assert_eq!(written(&Odd(["\"", "]"])).unwrap(), r#"["\"","]"]"#);
    let variant = Odd(Variant::Key("\""));
    assert_eq!(written(&variant).unwrap(), r#"{"Key":"\""}"#);
}

#[test]
fn separators_are_escaped_everywhere() {
    let value = BTreeMap::from([("\u{2028}", vec!["\u{2029}", "a"])]);
    let mut out = Vec::new();
    write(&value, Escape::JsonAndSeparators, &mut out).unwrap();
    assert_eq!(out, br#"{"\u2028":["\u2029","a"]}"#);
}

#[test]
fn an_endless_value_is_an_error() {
    struct Newtype;
    impl Serialize for Newtype {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            serializer.serialize_newtype_struct("Newtype", self)
        }
    }
    let error = written(&Newtype).unwrap_err();
    assert_eq!(error.to_string(), "the value is nested too deeply");

    struct List(u32);
    impl Serialize for List {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            match self.0 {
                0 => serializer.serialize_unit(),
                depth => serializer.collect_seq([Self(depth - 1)]),
            }
        }
    }
    assert_eq!(written(&List(128)).unwrap().len(), 2 * 128 + 4);
    assert!(written(&List(129)).is_err());
    assert!(written(&List(u32::MAX)).is_err());

    struct Variant;
    impl Serialize for Variant {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            serializer.serialize_newtype_variant("Variant", 0, "v", self)
        }
    }
    assert!(written(&Variant).is_err());
    struct Chain;
    impl Serialize for Chain {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            serializer.serialize_some(self)
        }
    }
    assert!(written(&Chain).is_err());
    struct KeyChain;
    impl Serialize for KeyChain {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            serializer.collect_map([(Chain, 1)])
        }
    }
    assert!(written(&KeyChain).is_err());
}

#[test]
fn failure_and_panic_leave_nothing() {
    struct Fails;
    impl Serialize for Fails {
        fn serialize<S: Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
            Err(serde::ser::Error::custom("the secret is 42"))
        }
    }
    let error = written(&("a", vec![Fails])).unwrap_err();
    assert!(!format!("{error} {error:?}").contains("secret"));
    assert_eq!(error.message(), Some("the secret is 42"));
    assert!(size_of::<WriteError>() <= 32);

    let mut out = b"before".to_vec();
    struct Panics;
    impl Serialize for Panics {
        fn serialize<S: Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
            panic!("a value that panics")
        }
    }
    let result = catch_unwind(AssertUnwindSafe(|| {
        write(&("a", Panics), Escape::Json, &mut out)
    }));
    assert!(result.is_err());
    assert_eq!(out, b"before");
}

#[test]
fn object_writer_writes_members_in_order() {
    let raw = Json::parse("[1, 2.50]").unwrap();
    let unknown: Members = [("x\"", raw.clone()), ("y", Json::default())]
        .into_iter()
        .collect();
    let mut out = Vec::new();
    let mut writer = ObjectWriter::new(&mut out, Escape::JsonAndSeparators);
    writer
        .str("s", "\u{2028}")
        .opt_str("none", None)
        .opt_str("some", Some("t"))
        .raw("raw", &raw)
        .opt_raw("none", None)
        .bool("b", true)
        .u64("n", u64::MAX)
        .value("v", &json!({"k": null}))
        .unwrap()
        .object("o", |inner| inner.u64("i", 1).value("f", &1.0).map(drop))
        .unwrap()
        .object("e", |_| Ok(()))
        .unwrap()
        .array("a", [Some("q"), None], |item, element| {
            if let Some(item) = item {
                element.str(item);
            }
            Ok(())
        })
        .unwrap()
        .members(&unknown);
    writer.finish();
    assert_eq!(
        String::from_utf8(out).unwrap(),
        concat!(
            r#"{"s":"\u2028","some":"t","raw":[1, 2.50],"b":true,"n":18446744073709551615,"#,
            r#""v":{"k":null},"o":{"i":1,"f":1.0},"e":{},"a":["q",null],"#,
            r#""x\"":[1, 2.50],"y":null}"#,
        )
    );
}

#[test]
fn a_value_is_made_of_members() {
    let json = Json::object(|object| {
        object.str("a", "\u{2028}").bool("b", false);
    });
    assert_eq!(json.text(), r#"{"a":"\u2028","b":false}"#);
}

#[test]
fn members_are_a_list_in_order() {
    let json = |text: &str| Json::parse(text.to_owned()).unwrap();
    let shown = |members: &Members| Json::encode(members).unwrap().text().to_owned();
    let mut members = Members::new();
    assert!(members.is_empty());
    members.push("a", json("1"));
    members.push("b", json("2"));
    members.extend([("a", json("3"))]);
    assert_eq!((members.len(), members.is_empty()), (3, false));
    assert_eq!(members.get("a").map(Json::text), Some("3"));
    assert_eq!(members.get("c"), None);

    members.set("b", json("4"));
    members.set("c", json("5"));
    assert_eq!(shown(&members), r#"{"a":1,"b":4,"a":3,"c":5}"#);
    members.retain(|key| key != "a");
    assert_eq!(shown(&members), r#"{"b":4,"c":5}"#);

    let borrowed: Vec<_> = (&members).into_iter().map(|(key, _)| key).collect();
    assert_eq!(borrowed, ["b", "c"]);
    let owned: Vec<_> = members.into_iter().map(|(key, _)| key).collect();
    assert_eq!(owned, ["b", "c"]);
}

#[test]
fn an_unfinished_object_leaves_nothing() {
    let mut out = b"before".to_vec();
    ObjectWriter::new(&mut out, Escape::Json).str("a", "b");
    assert_eq!(out, b"before");

    // A member that fails is null, so that an object that is finished all the same is valid.
    let deep = BTreeMap::from([((), 1)]);
    let mut writer = ObjectWriter::new(&mut out, Escape::Json);
    assert!(writer.value("bad", &deep).is_err());
    assert!(
        writer
            .object("bad2", |inner| inner
                .str("x", "y")
                .value("z", &deep)
                .map(drop))
            .is_err()
    );
    assert!(
        writer
            .array("bad3", [1], |_, element| element.value(&deep))
            .is_err()
    );
    writer.finish();
    assert_eq!(out, br#"before{"bad":null,"bad2":null,"bad3":null}"#);
}

#[test]
fn a_place_can_hold_any_value() {
    let mut out = Vec::new();
    ValueWriter::new(&mut out, Escape::Json)
        .array(0..3, |row, element| {
            element.array(0..row, |cell, element| element.value(&cell))
        })
        .unwrap();
    assert_eq!(out, b"[[],[0],[0,1]]");
}
