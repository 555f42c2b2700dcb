//! Reading and writing JSON against serde_json.

use std::fmt;

use bytes::Bytes;
use copilot_wire::json::{Escape, Json, Kind, Members, ObjectWriter, Reader, escape, write};
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

/// The members of an object as serde_json sees them: in order, with duplicates.
struct Ordered(Vec<(String, Box<RawValue>)>);

impl<'de> Deserialize<'de> for Ordered {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visit;
        impl<'de> Visitor<'de> for Visit {
            type Value = Ordered;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Ordered, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Ordered(members))
            }
        }
        deserializer.deserialize_map(Visit)
    }
}

/// Reads any bytes as a JSON text.
pub fn json(data: &[u8]) {
    if let Ok(text) = std::str::from_utf8(data) {
        escaping(text);
    }
    let body = Bytes::copy_from_slice(data);
    let theirs = serde_json::from_slice::<&RawValue>(data);
    let ours = match Json::parse(body.clone()) {
        Ok(json) => json,
        Err(error) => {
            assert!(theirs.is_err(), "refused: {error}");
            assert!(error.offset() <= data.len());
            return;
        }
    };
    assert_eq!(theirs.map(RawValue::get).ok(), Some(ours.text()));
    walk(&ours, 0);
    members(&body, &ours);

    if let Ok(value) = serde_json::from_str::<Value>(ours.text()) {
        assert_eq!(ours.decode::<Value>().ok().as_ref(), Some(&value));
        // The serialiser writes the bytes that serde_json writes, and takes back what it cannot.
        let mut out = b"before".to_vec();
        let written = write(&value, Escape::Json, &mut out);
        assert!(written.is_ok());
        assert_eq!(out[6..], serde_json::to_vec(&value).unwrap());
        out.clear();
        write(&value, Escape::JsonAndSeparators, &mut out).unwrap();
        let expected = serde_json::to_string(&value).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), separators(&expected));
    }
    // Written as it is, it is still itself.
    let mut out = Vec::new();
    write(&ours, Escape::Json, &mut out).unwrap();
    let again = Json::parse(out).unwrap();
    assert_eq!(again.kind(), ours.kind());
    assert_eq!(
        serde_json::from_str::<Value>(again.text()).ok(),
        serde_json::from_str::<Value>(ours.text()).ok()
    );
}

fn separators(json: &str) -> String {
    json.replace('\u{2028}', "\\u2028")
        .replace('\u{2029}', "\\u2029")
}

fn escaping(text: &str) {
    let quoted = serde_json::to_string(text).unwrap();
    let mut out = b"\"".to_vec();
    escape(text, Escape::Json, &mut out);
    out.push(b'"');
    assert_eq!(out, quoted.as_bytes());
    // The reader undoes it.
    let json = Json::parse(out).unwrap();
    assert_eq!(json.string().as_deref(), Some(text));
    let mut out = b"\"".to_vec();
    escape(text, Escape::JsonAndSeparators, &mut out);
    out.push(b'"');
    assert_eq!(out, separators(&quoted).as_bytes());
    assert_eq!(Json::parse(out).unwrap().string().as_deref(), Some(text));
}

/// Returns every value inside, as serde_json reads it.
fn walk(json: &Json, depth: u8) {
    if depth == 20 {
        return;
    }
    let text = json.text();
    match json.kind() {
        Kind::Array => {
            let theirs: Vec<Box<RawValue>> = serde_json::from_str(text).unwrap();
            let ours: Vec<Json> = json.elements().collect();
            assert_eq!(
                texts(&ours),
                theirs.iter().map(|raw| raw.get()).collect::<Vec<_>>()
            );
            ours.iter().for_each(|json| walk(json, depth + 1));
        }
        Kind::Object => {
            let ours: Vec<_> = json.members().collect();
            // serde_json refuses keys with half of a surrogate pair.
            if let Ok(Ordered(theirs)) = serde_json::from_str(text) {
                let theirs = theirs.iter().map(|(key, raw)| (key.as_str(), raw.get()));
                let ours = ours.iter().map(|(key, json)| (&**key, json.text()));
                assert!(ours.eq(theirs));
            }
            for (key, value) in &ours {
                assert!(json.get(key).is_some());
                walk(value, depth + 1);
            }
        }
        Kind::String => {
            let ours = json.string();
            match serde_json::from_str::<String>(text) {
                Ok(theirs) => assert_eq!(ours.as_deref(), Some(theirs.as_str())),
                Err(_) => assert!(ours.is_some_and(|ours| ours.contains('\u{fffd}'))),
            }
        }
        Kind::Number => {
            assert_eq!(json.as_u64(), serde_json::from_str(text).ok());
            // serde_json reads `-0` as a float.
            if text != "-0" {
                assert_eq!(json.as_i64(), serde_json::from_str(text).ok());
            }
            let _ = json.as_f64();
        }
        Kind::Bool => assert_eq!(json.as_bool(), serde_json::from_str(text).ok()),
        Kind::Null => assert_eq!(text, "null"),
    }
    assert_eq!(json.is_null(), text == "null");
}

fn texts(all: &[Json]) -> Vec<&str> {
    all.iter().map(Json::text).collect()
}

/// Checks that a reader that retains unknown members writes the same members.
fn members(body: &Bytes, json: &Json) {
    if json.kind() != Kind::Object {
        return;
    }
    let mut unknown = Members::new();
    let mut known = Vec::new();
    let mut reader = Reader::new(body).unwrap();
    let read = reader.object_keeping(&mut unknown, |reader, key| {
        match key.len() % 8 {
            0 => known.extend(reader.string()?.map(|_| ())),
            1 => known.extend(reader.u64()?.map(|_| ())),
            2 => known.extend(reader.bool()?.map(|_| ())),
            3 => known.extend(reader.f64()?.map(|_| ())),
            4 => known.extend(reader.null()?.then_some(())),
            5 => known.extend(reader.i64()?.map(|_| ())),
            _ => {}
        }
        Ok(())
    });
    read.unwrap();
    reader.end().unwrap();
    assert!(unknown.len() + known.len() <= json.members().count());

    let mut out = Vec::new();
    let mut writer = ObjectWriter::new(&mut out, Escape::Json);
    writer.members(&unknown);
    writer.finish();
    let written = Json::parse(out).unwrap();
    let keys = |members: &mut dyn Iterator<Item = String>| members.collect::<Vec<_>>();
    assert_eq!(
        keys(&mut written.members().map(|(key, _)| key.into_owned())),
        keys(&mut unknown.iter().map(|(key, _)| key.to_owned()))
    );
}
