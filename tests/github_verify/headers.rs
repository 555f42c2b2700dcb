//! The headers that count.

use http::HeaderName;

use super::*;

#[test]
fn one_pair_of_headers_is_used_and_never_mixed() {
    let signer = RequestSigner::from_seed(b"pairs");
    let (id, good) = (signer.identifier().as_str(), signer.signature(BODY));
    let (good, bad) = (good.as_str(), &*signer.signature(b"something else"));
    // Newer identifier and signature, older identifier and signature; no header, or a value.
    type Pair<'a> = [Option<&'a str>; 2];
    let cases: [(Pair<'_>, Pair<'_>, Option<Kind>); 16] = [
        ([Some(id), Some(good)], [None, None], None),
        ([None, None], [Some(id), Some(good)], None),
        ([Some(id), Some(good)], [Some(id), Some(good)], None),
        ([Some(id), Some(good)], [Some("other"), Some(bad)], None),
        ([Some(""), Some("")], [Some(id), Some(good)], None),
        (
            [Some(id), Some(bad)],
            [Some(id), Some(good)],
            Some(Kind::SignatureMismatch),
        ),
        (
            [Some("other"), Some(good)],
            [Some(id), Some(good)],
            Some(Kind::UnknownKeyIdentifier),
        ),
        (
            [Some(id), Some("!")],
            [Some(id), Some(good)],
            Some(Kind::MalformedSignature),
        ),
        (
            [Some(id), None],
            [None, Some(good)],
            Some(Kind::MissingSignature),
        ),
        (
            [None, Some(good)],
            [Some(id), None],
            Some(Kind::MissingKeyIdentifier),
        ),
        (
            [Some(id), Some("")],
            [Some(id), Some(good)],
            Some(Kind::MissingSignature),
        ),
        (
            [Some(""), Some(good)],
            [Some(id), Some(good)],
            Some(Kind::MissingKeyIdentifier),
        ),
        ([None, None], [Some(id), None], Some(Kind::MissingSignature)),
        (
            [None, None],
            [None, Some(good)],
            Some(Kind::MissingKeyIdentifier),
        ),
        (
            [None, None],
            [Some(""), Some("")],
            Some(Kind::MissingSignature),
        ),
        ([None, None], [None, None], Some(Kind::MissingSignature)),
    ];
    for (newer, older, expected) in cases {
        let mut headers = HeaderMap::new();
        for (pair, [identifier, signature]) in
            [(HeaderPair::Newer, newer), (HeaderPair::Older, older)]
        {
            let mut insert = |name: HeaderName, value: Option<&str>| {
                headers.extend(value.map(|value| (name, HeaderValue::from_str(value).unwrap())));
            };
            insert(pair.identifier(), identifier);
            insert(pair.signature(), signature);
        }
        assert_eq!(
            kind(BODY, &headers, &signer.key_set()),
            expected,
            "{newer:?} {older:?}"
        );
    }
}

#[test]
fn a_header_that_comes_twice_is_refused() {
    let signer = RequestSigner::from_seed(b"twice");
    for pair in [HeaderPair::Newer, HeaderPair::Older] {
        for (name, expected) in [
            (pair.identifier(), Kind::UnknownKeyIdentifier),
            (pair.signature(), Kind::MalformedSignature),
        ] {
            let mut headers = signer.sign_as(pair, BODY);
            headers.append(&name, HeaderValue::from_static(""));
            assert_eq!(kind(BODY, &headers, &signer.key_set()), None);
            let same = headers[&name].clone();
            headers.append(name, same);
            assert_eq!(kind(BODY, &headers, &signer.key_set()), Some(expected));
        }
    }
}

#[test]
fn an_identifier_is_visible_ascii() {
    let (signer, long) = (RequestSigner::from_seed(b"ids"), "k".repeat(257));
    for text in ["", " ", "a b", "a\tb", "schlüssel", "a\n", &long] {
        assert!(KeyId::new(text).is_err(), "{text:?}");
    }
    let mut headers = signer.sign_as(HeaderPair::Newer, BODY);
    for value in [
        b"caf\xc3\xa9".as_slice(),
        b"\xff",
        b" ",
        b"a b",
        long.as_bytes(),
    ] {
        headers.insert(
            HeaderPair::Newer.identifier(),
            HeaderValue::from_bytes(value).unwrap(),
        );
        assert_eq!(
            kind(BODY, &headers, &signer.key_set()),
            Some(Kind::UnknownKeyIdentifier)
        );
    }
    // Compared byte for byte.
    let upper = signer.identifier().as_str().to_uppercase();
    headers.insert(
        HeaderPair::Newer.identifier(),
        HeaderValue::try_from(upper).unwrap(),
    );
    assert_eq!(
        kind(BODY, &headers, &signer.key_set()),
        Some(Kind::UnknownKeyIdentifier)
    );
}
