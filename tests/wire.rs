//! `#[derive(Wire)]` and `#[derive(FrameEvent)]` as others use them.
#![allow(clippy::unwrap_used, reason = "tests")]

use copilot_wire::json::{Json, List, Members, Wire};
use copilot_wire::protocol::{Content, Decode, EventError, Events, FrameDecoder, FrameEvent};
use copilot_wire::sse;

/// Everything that a module may name as the generated code names its own.
mod namesakes {
    #![allow(dead_code, reason = "declared to be in the way")]

    use copilot_wire::json::{self, Wire};
    use copilot_wire::protocol::FrameEvent;

    #[allow(unused_imports, reason = "to be in the way")]
    use self::Kind::{None, Ok, Some};

    pub(crate) type Result<T> = core::result::Result<T, Kind>;
    pub(crate) type Option<T> = core::option::Option<(T, T)>;
    pub(crate) struct String;
    pub(crate) struct Json;
    pub(crate) struct JsonError;
    pub(crate) struct ValueWriter;
    pub(crate) mod p {}

    #[derive(Clone, Debug, Default, PartialEq, Wire)]
    #[wire(fixed(type = "reader"), new = "Creates a reader.")]
    pub(crate) struct Reader {
        #[wire(new, set = "Sets the kind.")]
        pub(crate) kind: core::option::Option<Kind>,
        pub(crate) members: core::option::Option<Members>,
        pub(crate) unknown: json::Members,
    }

    impl Reader {
        pub(crate) const NAMES: usize = 1;
    }

    #[derive(Clone, Debug, Default, PartialEq, Wire)]
    pub(crate) struct Members {
        pub(crate) unknown: json::Members,
    }

    #[derive(Clone, Debug, PartialEq, Wire)]
    pub(crate) enum Kind {
        Some,
        None,
        #[wire(other)]
        Ok(std::string::String),
    }

    #[derive(Clone, Debug, PartialEq, Wire)]
    #[wire(tag = "type")]
    pub(crate) enum Object {
        Reader(Box<Reader>),
        #[wire(member = "text")]
        PlainText(std::string::String),
        #[wire(name = "note", member = "text")]
        Comment(std::string::String),
        LineBreak,
        #[wire(other)]
        Other(json::Json),
    }

    #[derive(Clone, Debug, PartialEq, FrameEvent)]
    #[event(named, tag = "kind", rename_all = "camelCase", whole)]
    #[event(ignored = "-", limit = 64, truncated = "cut")]
    pub(crate) enum Event {
        #[event(first)]
        RunBegins,
        #[event(text = "pieceText.text", text_in = Piece::Text)]
        Piece {
            out: u32,
            object: bool,
            piece_text: Piece,
        },
        #[event(member = "note", text = "note")]
        Note(std::string::String),
        #[event(name = "fin", last)]
        End,
        #[event(data = "[DONE]", last)]
        Done,
        #[event(other)]
        Other(json::Json),
    }

    #[derive(Clone, Debug, PartialEq, Wire)]
    #[wire(tag = "type")]
    pub(crate) enum Piece {
        #[wire(member = "text")]
        Text(std::string::String),
        #[wire(other)]
        Other(json::Json),
    }

    pub(crate) mod raw {
        use copilot_wire::json::{Json, List, Members, Wire};

        #[derive(Clone, Default, PartialEq, Wire)]
        pub(crate) struct Typed {
            pub(crate) r#type: String,
            #[wire(hidden)]
            pub(crate) r#in: Option<String>,
            pub(crate) unknown: Members,
        }

        #[derive(Clone, Debug, Default, PartialEq, Wire)]
        pub(crate) struct Boxed {
            #[wire(always)]
            pub(crate) title: String,
            pub(crate) one: Option<Box<super::Reader>>,
            pub(crate) names: Box<List<String>>,
            pub(crate) count: u32,
            pub(crate) unknown: Members,
        }

        #[derive(Clone, PartialEq, Wire)]
        #[wire(tag = "type")]
        pub(crate) enum Object {
            #[wire(member = "text", content)]
            Yield(String),
            #[wire(member = "key", secret)]
            Key(String),
            #[wire(other)]
            Other(Json),
        }
    }
}

use namesakes::{Event, Kind, Object, Piece, Reader, raw};

#[test]
fn every_variant_is_read_from_what_it_writes() {
    let reader = Reader::new(Kind::None);
    let cases = [
        (
            Object::Reader(reader.into()),
            r#"{"type":"reader","kind":"none"}"#,
        ),
        (
            Object::PlainText("a".into()),
            r#"{"type":"plain_text","text":"a"}"#,
        ),
        (Object::Comment("a".into()), r#"{"type":"note","text":"a"}"#),
        (Object::LineBreak, r#"{"type":"line_break"}"#),
    ];
    for (object, json) in cases {
        assert_eq!(object.to_json(), json);
        assert_eq!(Object::from_json(json).unwrap(), object);
    }
    let other = r#"{"type":"comment","text":"a"}"#;
    assert!(matches!(
        Object::from_json(other).unwrap(),
        Object::Other(_)
    ));
}

#[test]
fn names_of_the_user_are_not_those_of_the_derive() {
    let text = r#"{"type":"reader","kind":"some","members":{"a":1},"x":2}"#;
    let reader = Reader::from_json(text).unwrap();
    assert_eq!(reader.kind, Some(Kind::Some));
    assert_eq!(reader.to_json(), text);
    assert_eq!(reader.kind(Kind::None).kind, Some(Kind::None));
    let mut odd = Reader::from_json(r#"{"type":"reader","kind":3,"x":2}"#).unwrap();
    odd.drop_odd();
    assert_eq!(odd.to_json(), r#"{"type":"reader","x":2}"#);
    let mut list = List::<Reader>::parse(&r#"[{"type":"reader","kind":3},4]"#.into()).unwrap();
    list.drop_odd();
    assert_eq!(list.to_raw().text(), r#"[{"type":"reader"}]"#);
    let content = Json::parse(r#"[{"type":"reader","kind":3}]"#).unwrap();
    let mut content = Content::<Reader>::from_raw(&content).unwrap();
    content.drop_odd();
    assert_eq!(content.to_raw().text(), r#"[{"type":"reader"}]"#);
}

#[test]
fn a_box_is_as_its_value_and_a_set_member_replaces_a_retained_one() {
    let text = r#"{"title":3,"one":{"type":"reader","kind":3,"x":2}}"#;
    let mut boxed = raw::Boxed::from_json(text).unwrap();
    boxed.title = "a".into();
    boxed.drop_odd();
    let text = r#"{"title":"a","one":{"type":"reader","x":2},"count":0}"#;
    assert_eq!(boxed.to_json(), text);
    boxed.names.push("b".into());
    let mut one = boxed.one.take().unwrap();
    assert!(Wire::unknown(&mut one).unwrap().get("x").is_some());
    assert_eq!(boxed.to_json(), r#"{"title":"a","names":["b"],"count":0}"#);

    let mut odd = raw::Boxed::from_json(r#"{"title":3}"#).unwrap();
    odd.title = "a".into();
    assert_eq!(odd.to_json(), r#"{"title":"a","count":0}"#);
}

/// Names that need escapes and names that need none, each of which may be the first that is written.
#[derive(Clone, Debug, Default, PartialEq, Wire)]
struct Named {
    #[wire(name = "say \"hi\"")]
    quoted: Option<u64>,
    #[wire(name = "io.example/a-b_c$")]
    plain: Option<u64>,
    #[wire(name = "ü\u{2028}")]
    separated: Option<u64>,
    unknown: Members,
}

#[test]
fn a_name_is_written_as_json_wherever_it_stands() {
    let values = [None, Some(7)];
    for (quoted, plain, separated) in
        (0..8).map(|bits| (values[bits & 1], values[bits >> 1 & 1], values[bits >> 2]))
    {
        let named = Named {
            quoted,
            plain,
            separated,
            unknown: Members::new(),
        };
        let written = [
            (quoted, r#""say \"hi\"":7"#),
            (plain, r#""io.example/a-b_c$":7"#),
            (separated, r#""ü\u2028":7"#),
        ];
        let written = written.into_iter().filter(|(value, _)| value.is_some());
        let written: Vec<_> = written.map(|(_, member)| member).collect();
        let text = format!("{{{}}}", written.join(","));
        assert_eq!(named.to_json(), text);
        assert_eq!(Named::from_json(text).unwrap(), named);
    }
}

#[test]
fn debug_shows_the_names_as_the_language_does() {
    let typed = raw::Typed::from_json(r#"{"type":"a","in":"b"}"#).unwrap();
    let shown = format!("{typed:?}");
    assert!(shown.starts_with(r#"Typed { type: "a", in: "#), "{shown}");
    let object = format!("{:?}", raw::Object::Yield("a".into()));
    assert!(object.starts_with("Yield("), "{object}");
}

#[test]
fn debug_of_a_secret_variant_shows_only_its_name() {
    let key = raw::Object::from_json(r#"{"type":"key","key":"k-1"}"#).unwrap();
    let shown = format!("{key:?} {key:#?}");
    assert!(shown.starts_with("Key("), "{shown}");
    assert!(!shown.contains("k-1"), "{shown}");
}

#[test]
fn every_event_is_read_from_what_it_writes() {
    let piece = Event::Piece {
        out: 1,
        object: true,
        piece_text: Piece::Text("a".into()),
    };
    let piece_data =
        r#"{"kind":"piece","out":1,"object":true,"pieceText":{"type":"text","text":"a"}}"#;
    let cases = [
        (Event::RunBegins, "runBegins", r#"{"kind":"runBegins"}"#),
        (piece, "piece", piece_data),
        (
            Event::Note("a".into()),
            "note",
            r#"{"kind":"note","note":"a"}"#,
        ),
        (Event::End, "fin", r#"{"kind":"fin"}"#),
    ];
    for (event, name, data) in cases {
        let mut out = Vec::new();
        event.write(&mut out);
        let frame = format!("event: {name}\ndata: {data}\n\n");
        assert_eq!(String::from_utf8(out).unwrap(), frame);
        assert_eq!(Event::read(data).unwrap(), Some(event));
    }
    let other = Event::read(r#"{"kind":"end"}"#).unwrap().unwrap();
    let mut out = Vec::new();
    other.write(&mut out);
    assert!(matches!(other, Event::Other(_)) && out.is_empty());
    for fault in [
        r#"{"kind":"note"}"#,
        r#"{"kind":"piece","out":1}"#,
        "{}",
        "[]",
    ] {
        assert!(
            matches!(Event::read(fault), Err(EventError::Invalid(_))),
            "{fault}"
        );
    }
    assert_eq!(Event::read(" - ").unwrap(), None);
    assert_eq!(Event::read("[DONE]").unwrap(), Some(Event::Done));
    assert_eq!(
        Event::members("note"),
        Some((&["note"][..], &["kind", "note"][..]))
    );
    assert_eq!(Event::members("end"), None);
}

/// An event that has only what it must have.
struct Bare;

impl FrameEvent for Bare {
    const TRUNCATED: &'static str = "cut";

    fn read(_: &str) -> Result<Option<Self>, EventError> {
        Ok(Some(Self))
    }

    fn write_data(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"bare");
    }

    fn is_last(&self) -> bool {
        true
    }
}

#[test]
fn a_bare_event_has_no_name_no_text_and_no_members() {
    let mut out = Vec::new();
    Bare.write(&mut out);
    assert_eq!(out, b"data: bare\n\n");
    assert!(!Bare.is_first() && Bare.text().is_none());
    assert_eq!(Bare::members("bare"), None);
}

#[test]
fn an_answer_is_complete_with_its_last_event() {
    let ends = |stream: &[&str]| {
        let mut decoder = FrameDecoder::<Event>::default();
        let mut events = Events::new();
        for data in stream {
            decoder.frame(&sse::Event::new(*data), &mut events).unwrap();
        }
        decoder.end(&mut events).is_ok()
    };
    let (begins, note) = (r#"{"kind":"runBegins"}"#, r#"{"kind":"note","note":"a"}"#);
    assert!(!ends(&[begins, note]));
    assert!(ends(&[begins, r#"{"kind":"fin"}"#, note]));
    assert!(ends(&[begins, "[DONE]"]));
    assert!(!ends(&["[DONE]", begins]), "another answer has begun");
    assert_eq!(FrameDecoder::<Event>::LIMIT, 64);
}
