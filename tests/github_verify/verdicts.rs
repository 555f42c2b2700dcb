//! Every verdict, and what it tells.

use std::error::Error as _;

use copilot_wire::github::verify::{KeyError, KeyErrorKind, SignatureHeaders, VerifyError};
use http::StatusCode;
use serde_json::Value;

use super::*;

#[test]
fn every_vector_has_its_verdict() {
    let (vectors, keys) = (json("signature-vectors.json"), keys());
    let vectors = vectors["vectors"].as_array().unwrap();
    assert_eq!(vectors.len(), 23);
    for vector in vectors {
        let text = |name: &str| vector[name].as_str().unwrap();
        let body = BASE64_STANDARD.decode(text("body_base64")).unwrap();
        for pair in [HeaderPair::Newer, HeaderPair::Older] {
            let headers = headers(pair, text("key_identifier"), text("signature"));
            let verdict = kind(&body, &headers, &keys).map(Kind::as_str);
            assert_eq!(verdict, vector["reject_kind"].as_str(), "{}", text("name"));
            assert_eq!(
                verdict.is_none(),
                text("expect") == "accept",
                "{}",
                text("name")
            );
        }
    }
}

#[test]
fn the_genuine_request_verifies() {
    let vectors = json("signature-vectors.json");
    let genuine = vectors["vectors"].as_array().unwrap().iter();
    let genuine = genuine
        .clone()
        .find(|vector| vector["name"] == "valid-genuine-github")
        .unwrap();
    let text = |name: &str| genuine[name].as_str().unwrap();
    let headers = headers(HeaderPair::Older, text("key_identifier"), text("signature"));

    let body = fixture("req-web-genuine.json");
    assert_eq!(verify(&body, &headers, &keys()).unwrap().into_inner(), body);
    // The same JSON in other bytes is another body.
    let reprinted =
        serde_json::to_vec_pretty(&serde_json::from_slice::<Value>(&body).unwrap()).unwrap();
    assert_eq!(
        kind(&reprinted, &headers, &keys()),
        Some(Kind::SignatureMismatch)
    );
}

#[test]
fn errors_contain_their_kind_only() {
    let signer = RequestSigner::from_seed(b"secrets");
    let (identifier, signature) = (signer.identifier(), signer.signature(BODY));
    let cause = KeyError::new(KeyErrorKind::Transport).cause("authorization: token ghu_secret");
    let errors = [
        VerifyError::from(cause),
        verify(b"{}", &signer.sign(BODY), &signer.key_set()).unwrap_err(),
        verify(BODY, &signer.sign(BODY), &KeySet::default()).unwrap_err(),
        verify(
            BODY,
            &headers(HeaderPair::Newer, identifier.as_str(), &signature[1..]),
            &keys(),
        )
        .unwrap_err(),
    ];
    let parts = SignatureHeaders::from_headers(&signer.sign(BODY)).unwrap();
    let texts = errors
        .iter()
        .flat_map(|error| {
            [
                format!("{error}"),
                format!("{error:?}"),
                format!("{error:#?}"),
            ]
        })
        .chain([format!("{parts:?} {:?} {signer:?}", signer.key_set())]);
    for text in texts {
        for secret in [
            "ghu_secret",
            "authorization",
            identifier.as_str(),
            &signature[4..12],
            "MFkw",
            "messages",
        ] {
            assert!(!text.contains(secret), "{text}");
        }
    }
    // Whoever wants the cause has to ask for it.
    let source = errors[0].source().unwrap();
    assert_eq!(source.to_string(), "key endpoint is not reachable");
    assert_eq!(
        source.source().unwrap().to_string(),
        "authorization: token ghu_secret"
    );
    assert!(size_of::<VerifyError>() <= 32);
}

#[test]
fn statuses() {
    for (kind, status) in [
        (Kind::EmptyBody, StatusCode::BAD_REQUEST),
        (Kind::MissingSignature, StatusCode::UNAUTHORIZED),
        (Kind::MissingKeyIdentifier, StatusCode::UNAUTHORIZED),
        (Kind::UnknownKeyIdentifier, StatusCode::UNAUTHORIZED),
        (Kind::MalformedSignature, StatusCode::UNAUTHORIZED),
        (Kind::UnsupportedKey, StatusCode::UNAUTHORIZED),
        (Kind::SignatureMismatch, StatusCode::UNAUTHORIZED),
        (Kind::KeysUnavailable, StatusCode::SERVICE_UNAVAILABLE),
    ] {
        assert_eq!(VerifyError::from(kind).status(), status);
        assert!(VerifyError::from(kind).source().is_none());
    }
}
