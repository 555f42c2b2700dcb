//! Nothing that was changed verifies, and nothing panics.

use copilot_wire::github::verify::{PublicKey, Signature, SignatureHeaders};
use proptest::prelude::*;

use super::*;

fn cases(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

/// Every bit of the body, of the signature text and of the key.
#[test]
fn no_flipped_bit_verifies() {
    let signer = RequestSigner::from_seed(b"flips");
    let (identifier, signature) = (signer.identifier(), signer.signature(BODY));
    let keys = signer.key_set();
    let flips = |bytes: &[u8]| -> Vec<Vec<u8>> {
        let flip = |at: usize| {
            let mut flipped = bytes.to_vec();
            flipped[at / 8] ^= 1 << (at % 8);
            flipped
        };
        (0..bytes.len() * 8).map(flip).collect()
    };
    let claim = SignatureHeaders::new(
        identifier.clone(),
        Signature::from_base64(signature.as_bytes()).unwrap(),
    );
    let headers = signer.sign(BODY);
    assert_eq!(SignatureHeaders::from_headers(&headers).unwrap(), claim);

    for body in flips(BODY) {
        assert_eq!(
            kind(&body, &headers, &keys),
            Some(Kind::SignatureMismatch),
            "{body:?}"
        );
    }
    for text in flips(signature.as_bytes()) {
        let Ok(value) = HeaderValue::from_bytes(&text) else {
            continue;
        };
        let mut headers = signer.sign_as(HeaderPair::Newer, BODY);
        headers.insert(HeaderPair::Newer.signature(), value);
        assert!(verify(BODY, &headers, &keys).is_err(), "{text:?}");
    }
    for pem in flips(signer.pem().as_bytes()) {
        let Ok(pem) = String::from_utf8(pem) else {
            continue;
        };
        let keys = [PublicKey::from_pem(identifier.clone(), &pem, true)]
            .into_iter()
            .collect();
        assert!(verify(BODY, &headers, &keys).is_err(), "{pem:?}");
    }
}

proptest! {
    #![proptest_config(cases(48))]

    #[test]
    fn what_is_signed_verifies_and_nothing_else(
        seed in any::<[u8; 4]>(),
        body in proptest::collection::vec(any::<u8>(), 1..200),
        other in proptest::collection::vec(any::<u8>(), 1..200),
    ) {
        let signer = RequestSigner::from_seed(&seed);
        let (headers, keys) = (signer.sign(&body), signer.key_set());
        prop_assert_eq!(kind(&body, &headers, &keys), None);
        if other != body {
            prop_assert_eq!(kind(&other, &headers, &keys), Some(Kind::SignatureMismatch));
        }
    }

    #[test]
    fn no_replaced_byte_verifies(
        body in proptest::collection::vec(any::<u8>(), 1..200),
        at in any::<proptest::sample::Index>(),
        with in any::<u8>(),
    ) {
        let signer = RequestSigner::from_seed(b"replaced");
        let replaced = |bytes: &[u8]| {
            let mut bytes = bytes.to_vec();
            let at = at.index(bytes.len());
            bytes[at] = with;
            bytes
        };
        let (signature, pem) = (signer.signature(&body), signer.pem());

        let changed = replaced(&body);
        let refused = kind(&changed, &signer.sign(&body), &signer.key_set());
        prop_assert_eq!(refused.is_none(), changed == body);

        let changed = replaced(signature.as_bytes());
        if let Ok(value) = HeaderValue::from_bytes(&changed) {
            let mut headers = signer.sign_as(HeaderPair::Newer, &body);
            headers.insert(HeaderPair::Newer.signature(), value);
            let refused = kind(&body, &headers, &signer.key_set());
            prop_assert_eq!(refused.is_none(), changed == signature.as_bytes());
        }

        let changed = replaced(pem.as_bytes());
        if let Ok(changed) = String::from_utf8(changed) {
            let key = PublicKey::from_pem(signer.identifier().clone(), &changed, true);
            let refused = kind(&body, &signer.sign(&body), &[key].into_iter().collect());
            prop_assert_eq!(refused.is_none(), changed == pem);
        }
    }
}

proptest! {
    #![proptest_config(cases(2000))]

    /// One signature has one text, and reading never panics.
    #[test]
    fn a_text_that_is_read_is_canonical(
        der in proptest::collection::vec(any::<u8>(), 0..80),
        text in ".{0,100}",
    ) {
        let text_of_der = BASE64_STANDARD.encode(&der);
        for text in [text.as_bytes(), text_of_der.as_bytes(), &der] {
            if Signature::from_base64(text).is_ok() {
                let decoded = BASE64_STANDARD.decode(text).unwrap();
                let encoded = BASE64_STANDARD.encode(decoded);
                prop_assert_eq!(encoded.as_bytes(), text);
            }
        }
    }

    #[test]
    fn nothing_panics(
        identifier in proptest::collection::vec(any::<u8>(), 0..80),
        signature in proptest::collection::vec(any::<u8>(), 0..120),
        document in ".{0,200}",
        lines in "[A-Za-z0-9+/=\\\\n\r\n]{0,140}",
    ) {
        let mut headers = HeaderMap::new();
        let pair = HeaderPair::Newer;
        for (name, bytes) in [(pair.identifier(), identifier), (pair.signature(), signature)] {
            headers.extend(HeaderValue::from_bytes(&bytes).ok().map(|value| (name, value)));
        }
        prop_assert!(verify(BODY, &headers, &KeySet::default()).is_err());
        let _ = KeySet::from_json(document.as_bytes());
        let _ = KeySet::from_json(format!(r#"{{"public_keys":[{document}]}}"#).as_bytes());
        let pem = format!("-----BEGIN PUBLIC KEY-----\n{lines}\n-----END PUBLIC KEY-----\n");
        for pem in [&pem, &lines, &document] {
            let _ = PublicKey::from_pem(KeyId::new("k").unwrap(), pem, false);
        }
    }
}
