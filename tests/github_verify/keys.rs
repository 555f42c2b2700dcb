//! Key documents and signers.

use copilot_wire::github::verify::PublicKey;
use serde_json::Value;

use super::*;

#[test]
fn a_key_that_is_no_p256_key_is_unsupported_and_does_not_affect_others() {
    let signer = RequestSigner::from_seed(b"neighbours");
    let pem = signer.pem();
    let mut broken: Vec<Value> = json("unsupported-keys.json")["keys"]
        .as_array()
        .unwrap()
        .clone();
    assert_eq!(broken.len(), 6);
    broken.extend(
        [
            "".into(),
            "-----BEGIN PUBLIC KEY-----\n-----END PUBLIC KEY-----\n".into(),
            "nonsense".into(),
            pem.replace("PUBLIC", "PRIVATE"),
            pem.replace("-----END PUBLIC KEY-----\n", ""),
            pem.replacen("MFkw", "MFkx", 1),
            format!("{pem}{pem}"),
            format!(" {pem}"),
            format!("{pem} "),
            pem.replace('\n', " "),
            pem.replace("==\n", "\n"),
        ]
        .map(|key: String| serde_json::json!({ "key": key })),
    );
    // A prefix that promises an uncompressed point, and something else behind it.
    let der: String = pem.lines().filter(|line| !line.starts_with('-')).collect();
    let der = BASE64_STANDARD.decode(der).unwrap();
    let (prefix, point) = der.split_at(26);
    let compressed = [&[2 + (point[64] & 1)], &point[1..33]].concat();
    let hybrid = [&[6 + (point[64] & 1)], &point[1..]].concat();
    let longer = [point, &[0]].concat();
    for point in [
        &[],
        [0].as_slice(),
        &compressed,
        &hybrid,
        &longer,
        &point[..64],
        &[4; 65],
    ] {
        let text = BASE64_STANDARD.encode([prefix, point].concat());
        let key = format!("-----BEGIN PUBLIC KEY-----\n{text}\n-----END PUBLIC KEY-----\n");
        broken.push(serde_json::json!({ "key": key }));
    }
    broken.extend([
        serde_json::json!({}),
        serde_json::json!({"key": null}),
        serde_json::json!({"key": 5}),
    ]);

    let mut entries = Vec::new();
    for (at, entry) in broken.iter().enumerate() {
        let mut entry = entry.clone();
        entry["key_identifier"] = format!("broken-{at}").into();
        entries.push(entry);
    }
    // No identifier, no entry; odd members of a good entry are no matter.
    entries.extend([
        serde_json::json!(null),
        serde_json::json!([]),
        serde_json::json!("key"),
        serde_json::json!({"key": pem}),
        serde_json::json!({"key_identifier": 5, "key": pem}),
        serde_json::json!({"key_identifier": "", "key": pem}),
        serde_json::json!({
            "key_identifier": signer.identifier().as_str(),
            "key": pem,
            "is_current": "yes",
            "more": {},
        }),
    ]);
    let document = serde_json::json!({"public_keys": entries, "more": true}).to_string();
    // A lone surrogate is an error to a JSON reader, but only in its own entry.
    let document = document.replacen(
        "[{",
        r#"[{"key_identifier":"\ud800"},{"key_identifier":"s","key":"\ud800"},{"#,
        1,
    );
    let keys = KeySet::from_json(document.as_bytes()).unwrap();

    assert_eq!(keys.len(), 1 + broken.len() + 1);
    assert_eq!(keys.iter().filter(|key| key.is_supported()).count(), 1);
    assert_eq!(kind(BODY, &signer.sign(BODY), &keys), None);
    assert!(!keys.get(signer.identifier()).unwrap().is_current());
    for (at, entry) in broken.iter().enumerate() {
        let headers = headers(
            HeaderPair::Newer,
            &format!("broken-{at}"),
            &signer.signature(BODY),
        );
        assert_eq!(
            kind(BODY, &headers, &keys),
            Some(Kind::UnsupportedKey),
            "{entry}"
        );
    }
}

#[test]
fn other_line_ends_of_a_key_are_read() {
    let signer = RequestSigner::from_seed(b"lines");
    for pem in [
        signer.pem().replace('\n', "\r\n"),
        signer.pem().replace('\n', "\\n"),
        signer.pem().trim_end().into(),
    ] {
        let key = PublicKey::from_pem(signer.identifier().clone(), &pem, true);
        assert_eq!(
            kind(BODY, &signer.sign(BODY), &[key].into_iter().collect()),
            None,
            "{pem:?}"
        );
    }
}

#[test]
fn a_document_without_keys_is_an_error() {
    for text in [
        "",
        "null",
        "[]",
        "{}",
        r#"{"keys":[]}"#,
        r#"{"public_keys":null}"#,
        r#"{"public_keys":{}}"#,
        "{\"public_keys\":[]",
    ] {
        assert!(KeySet::from_json(text.as_bytes()).is_err(), "{text}");
    }
    let empty = KeySet::from_json(br#"{"public_keys":[]}"#).unwrap();
    assert!(empty.is_empty());
    let headers = RequestSigner::from_seed(b"nobody").sign(BODY);
    assert_eq!(
        kind(BODY, &headers, &empty),
        Some(Kind::UnknownKeyIdentifier)
    );
}

#[test]
fn identifiers_are_the_sums_of_the_published_keys() {
    for key in json("keys.json")["public_keys"].as_array().unwrap() {
        assert_eq!(
            KeyId::from_pem(key["key"].as_str().unwrap()).as_str(),
            key["key_identifier"]
        );
    }
    let signer = RequestSigner::generate().unwrap();
    assert_eq!(&KeyId::from_pem(signer.pem()), signer.identifier());
    assert_eq!(signer.identifier().as_str().len(), 64);
}

#[test]
fn signers_sign_alike_for_one_seed_only() {
    let [one, same, other] = ["a", "a", "b"].map(|seed| RequestSigner::from_seed(seed.as_bytes()));
    assert_eq!(one.sign(BODY), same.sign(BODY));
    assert_eq!(one.pem(), same.pem());
    assert_ne!(one.identifier(), other.identifier());
    assert_ne!(
        RequestSigner::generate().unwrap().pem(),
        RequestSigner::generate().unwrap().pem()
    );
    assert_eq!(one.sign(BODY).len(), 4);
    assert_eq!(one.sign_as(HeaderPair::Older, BODY).len(), 2);
    // The name of one key and the signature of another.
    let headers = headers(
        HeaderPair::Newer,
        one.identifier().as_str(),
        &other.signature(BODY),
    );
    let both = KeySet::from_iter([one.public_key(), other.public_key()]);
    assert_eq!(kind(BODY, &headers, &both), Some(Kind::SignatureMismatch));
}

#[test]
fn only_current_keys_if_so_wished() {
    let (old, new) = (
        RequestSigner::from_seed(b"old"),
        RequestSigner::from_seed(b"new"),
    );
    let keys =
        KeySet::from_json(&RequestSigner::key_document([(&old, false), (&new, true)])).unwrap();
    assert_eq!(kind(BODY, &old.sign(BODY), &keys), None);
    assert_eq!(kind(BODY, &new.sign(BODY), &keys), None);
    assert_eq!(
        kind(BODY, &old.sign(BODY), &keys.current_only()),
        Some(Kind::UnknownKeyIdentifier)
    );
    assert_eq!(kind(BODY, &new.sign(BODY), &keys.current_only()), None);
}
