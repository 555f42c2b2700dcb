//! Request bodies with a content encoding.

use copilot_wire::Router;
use http::header::CONTENT_ENCODING;
use http::{HeaderMap, StatusCode};

use crate::support::*;

/// `{"messages":[{"role":"human","content":"hello"}]}`, as Node.js and the program `zstd` encode it.
const HELLO: [(&str, &str); 4] = [
    (
        "gzip",
        "1f8b0800000000000003ab56ca4d2d2e4e4c4f2d56b28aae562acacf4955b252ca28cd4dcc53d2514acecf2b49cd2b0189a4e6e4e42bd5c6d602008340815431000000",
    ),
    (
        "deflate",
        "789cab56ca4d2d2e4e4c4f2d56b28aae562acacf4955b252ca28cd4dcc53d2514acecf2b49cd2b0189a4e6e4e42bd5c6d60200aa441109",
    ),
    (
        "br",
        "1b3000f89d07b6ad237d412c162e5bf3b5c81edbd67a936b9dbe2e962552061339114b5a72207dcfb00828cf207d597a3883784e0f",
    ),
    (
        "zstd",
        "28b52ffd24318901007b226d65737361676573223a5b7b22726f6c65223a2268756d616e222c22636f6e74656e74223a2268656c6c6f227d5d7d51897e3f",
    ),
];

/// 64 MiB of blanks in `br`.
const BLANKS_IN_BR: &str = "cbffff3ff82540e2b14020f7fe8fffff7ff04b00c4611180eefd1fffffffe0970088c30200ddfb3ffeffffc12f0110870500baf77ffcffff835f02200e0b0074effff8ffff07bf04401c1600e8defff1ffff0f7e0980382c00d0bdffcbffff3ffc1200715800a07bff07";

fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<u8> = hex
        .bytes()
        .map(|it| (it as char).to_digit(16).unwrap() as u8)
        .collect();
    digits
        .chunks(2)
        .map(|pair| pair[0] << 4 | pair[1])
        .collect()
}

fn router() -> Router {
    Router::new().mount(descriptor("one"), Echo).unwrap()
}

fn send(router: &Router, coding: &str, body: Vec<u8>) -> (StatusCode, HeaderMap, String) {
    let request = post("/one/query").header(CONTENT_ENCODING, coding);
    let response = handle(router, request, chunks(body));
    let (status, headers) = (response.status(), response.headers().clone());
    (status, headers, text(response.into_body()))
}

#[cfg(feature = "compression")]
#[test]
fn a_compressed_body_is_read() {
    for (coding, body) in HELLO {
        for name in [
            coding,
            &coding.to_uppercase(),
            &format!("identity, {coding}"),
        ] {
            let (status, _, reply) = send(&router(), name, bytes(body));
            assert!(status == 200 && reply.contains("hello"), "{name}: {reply}");
        }
    }
    // The other name of gzip, and two members.
    let (_, gzip) = HELLO[0];
    let (status, _, reply) = send(&router(), "x-gzip", bytes(gzip));
    assert_eq!(status, 200, "{reply}");
    let (status, _, reply) = send(&router(), "gzip", bytes(&gzip.repeat(2)));
    assert!(status == 400 && reply.contains("(byte 49)"), "{reply}");
}

#[cfg(feature = "compression")]
#[test]
fn a_body_that_is_cut_or_wrong_is_refused() {
    for (coding, body) in HELLO {
        let body = bytes(body);
        for length in 0..body.len() {
            let (status, _, reply) = send(&router(), coding, body[..length].to_vec());
            assert_eq!(status, 400, "{coding} {length}: {reply}");
            let why = format!("not complete and valid {coding}");
            // The text may be complete where only a checksum is missing.
            assert!(
                reply.contains(&why) || reply.contains("body ends"),
                "{coding} {length}: {reply}"
            );
        }
        for other in HELLO
            .map(|(name, _)| name)
            .into_iter()
            .filter(|it| *it != coding)
        {
            let (status, _, reply) = send(&router(), other, body.clone());
            assert_eq!(status, 400, "{coding} as {other}: {reply}");
        }
        let plain = human("hello").into_bytes();
        let (status, _, reply) = send(&router(), coding, plain);
        assert!(status == 400 && reply.contains(coding), "{coding}: {reply}");
        let behind = [&body[..], b"x"].concat();
        let (status, _, reply) = send(&router(), coding, behind);
        assert_eq!(status, 400, "{coding}: {reply}");
    }
}

/// Runs of a byte in blocks of 128 KiB (RFC 8878, section 3.1.1.2), with a window of `2^(10 + exponent)` bytes.
#[cfg(feature = "compression")]
fn blanks_in_zstd(blocks: usize, exponent: u8) -> Vec<u8> {
    let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd, 0x00, exponent << 3];
    for at in 1..=blocks {
        let header = (128u32 << 10) << 3 | 1 << 1 | u32::from(at == blocks);
        frame.extend_from_slice(&header.to_le_bytes()[..3]);
        frame.push(b' ');
    }
    frame
}

/// Stored in blocks of 64 KiB, so that the encoded body is as large as the decoded one.
#[cfg(feature = "compression")]
#[test]
fn a_small_body_that_becomes_large_ends_at_the_limit() {
    let limited = router().body_limit(1024 * 1024);
    let small = router().body_limit(1 << 30).body_budget(4 * 1024 * 1024);
    for (coding, body) in [
        ("br", bytes(BLANKS_IN_BR)),
        ("zstd", blanks_in_zstd(512, 7)),
    ] {
        let (status, _, reply) = send(&limited, coding, body.clone());
        assert_eq!(status, 413, "{coding}: {reply}");
        let (status, headers, reply) = send(&small, coding, body);
        assert_eq!(status, 503, "{coding}: {reply}");
        assert!(headers.contains_key("retry-after"), "{coding}");
        // All of the budget is free again.
        let (status, _, _) = send(&small, "identity", human("hello").into_bytes());
        assert_eq!(status, 200, "{coding}");
    }
    // The announced window alone needs memory.
    let (status, _, reply) = send(&router(), "zstd", blanks_in_zstd(1, 17));
    assert!(status == 400 && reply.contains("zstd"), "{reply}");
}

#[test]
fn an_unknown_encoding_is_refused_with_those_that_are_known() {
    let mut unknown = vec!["compress", "gzip, br", "rot13"];
    let known = match cfg!(feature = "compression") {
        true => "gzip, deflate, br, zstd",
        false => "identity",
    };
    if !cfg!(feature = "compression") {
        unknown.extend(HELLO.map(|(name, _)| name));
    }
    for coding in unknown {
        let (status, headers, reply) = send(&router(), coding, human("hello").into_bytes());
        assert_eq!(status, 415, "{coding}: {reply}");
        assert_eq!(headers["accept-encoding"], known, "{coding}");
        assert!(
            headers["access-control-expose-headers"]
                .to_str()
                .unwrap()
                .contains("accept-encoding")
        );
    }
    for coding in ["", "identity", "Identity"] {
        let (status, _, reply) = send(&router(), coding, human("hello").into_bytes());
        assert_eq!(status, 200, "{coding}: {reply}");
    }
}
