//! Request signatures: nothing verifies but what was signed, and nothing panics.

use copilot_wire::github::verify::{
    HeaderPair, KeyId, KeySet, PublicKey, Signature, SignatureHeaders, verify,
};
use copilot_wire_kit::github::RequestSigner;
use http::{HeaderMap, HeaderValue};

use super::input::Input;

/// Reads the kind of input, then its arguments.
pub fn signature(data: &[u8]) {
    let mut input = Input(data);
    let choice = input.below(5);
    match choice {
        // Any headers to any body.
        0 => {
            let signer = RequestSigner::from_seed(b"fuzz");
            let mut headers = HeaderMap::new();
            for pair in [HeaderPair::Older, HeaderPair::Newer] {
                for name in [pair.identifier(), pair.signature()] {
                    if let Ok(value) = HeaderValue::from_bytes(input.bytes()) {
                        headers.append(name, value);
                    }
                }
            }
            let _ = SignatureHeaders::from_headers(&headers);
            // Nobody signed these.
            assert!(verify(input.0, &headers, &signer.key_set()).is_err());
        }
        // A signed body, and one bit of something flipped.
        1 => {
            let signer = RequestSigner::from_seed(&[input.byte()]);
            let (what, at, bit) = (input.below(4), input.byte(), input.below(8));
            let body = [b"{", input.0].concat();
            let mut headers = signer.sign(&body);
            let keys = signer.key_set();
            assert!(verify(&body, &headers, &keys).is_ok());
            let flip = |bytes: &[u8]| {
                let mut bytes = bytes.to_vec();
                let length = bytes.len();
                bytes[usize::from(at) % length] ^= 1 << bit;
                bytes
            };
            match what {
                0 => assert!(verify(&flip(&body), &headers, &keys).is_err()),
                1 => {
                    let flipped = flip(signer.signature(&body).as_bytes());
                    if let Ok(value) = HeaderValue::from_bytes(&flipped) {
                        for pair in [HeaderPair::Older, HeaderPair::Newer] {
                            headers.insert(pair.signature(), value.clone());
                        }
                        assert!(verify(&body, &headers, &keys).is_err());
                    }
                }
                2 => {
                    let pem = flip(signer.pem().as_bytes());
                    if let Ok(pem) = String::from_utf8(pem) {
                        let identifier = signer.identifier().clone();
                        let keys = [PublicKey::from_pem(identifier, &pem, true)];
                        assert!(verify(&body, &headers, &keys.into_iter().collect()).is_err());
                    }
                }
                _ => {
                    let others = RequestSigner::from_seed(b"another").key_set();
                    assert!(verify(&body, &headers, &others).is_err());
                }
            }
        }
        2 => {
            if let Ok(keys) = KeySet::from_json(input.0) {
                assert_eq!(keys.iter().count(), keys.len());
                for key in keys.iter() {
                    assert!(keys.get(key.identifier()).is_some());
                }
                assert!(keys.current_only().len() <= keys.len());
            }
        }
        3 => {
            // One signature has one text.
            let _ = Signature::from_base64(input.0);
        }
        _ => {
            let text = String::from_utf8_lossy(input.0);
            if let Ok(identifier) = KeyId::new(&text) {
                assert_eq!(identifier.as_str(), text);
            }
            let _ = PublicKey::from_pem(KeyId::from_pem(&text), &text, true).is_supported();
        }
    }
}
