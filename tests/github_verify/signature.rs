//! One signature has one text.

use copilot_wire::github::verify::Signature;

use super::*;

#[test]
fn only_canonical_base64_is_a_signature() {
    let signer = RequestSigner::from_seed(b"base64");
    // A text of each length of padding: the length of the DER varies with the body.
    let signed = |padding: &str| {
        (0_u32..)
            .map(|n| signer.signature(&n.to_be_bytes()))
            .find(|text| {
                text.trim_end_matches('=').len() + padding.len() == text.len()
                    && text.contains(['+', '/'])
            })
    };
    for padding in ["", "=", "=="] {
        let good = signed(padding).unwrap();
        assert!(Signature::from_base64(good.as_bytes()).is_ok());
        let (bare, middle) = (good.trim_end_matches('='), good.len() / 2);
        let mut spellings = vec![
            String::new(),
            format!(" {good}"),
            format!("{good} "),
            format!("{good}\n"),
            format!("\"{good}\""),
            format!("'{good}'"),
            format!("{good}="),
            format!("{good}===="),
            format!("{good}AAAA"),
            format!("{good}{good}"),
            good.replace('+', "-").replace('/', "_"),
            format!("{}\r\n{}", &good[..middle], &good[middle..]),
            format!("{} {}", &good[..middle], &good[middle..]),
        ];
        if !padding.is_empty() {
            spellings.push(bare.into());
            // The same bytes, but with bits behind them that mean nothing.
            let alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
            let (head, last) = bare.split_at(bare.len() - 1);
            let next = alphabet.find(last).unwrap() + 1;
            spellings.push(format!("{head}{}{padding}", &alphabet[next..=next]));
        }
        for text in spellings {
            let error = Signature::from_base64(text.as_bytes()).unwrap_err();
            assert_eq!(error.kind(), Kind::MalformedSignature, "{text:?}");
        }
    }
}

#[test]
fn only_der_is_a_signature() {
    const N: [u8; 32] = [
        0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xbc,
        0xe6, 0xfa, 0xad, 0xa7, 0x17, 0x9e, 0x84, 0xf3, 0xb9, 0xca, 0xc2, 0xfc, 0x63, 0x25, 0x51,
    ];
    let integer = |bytes: &[u8]| [&[2, u8::try_from(bytes.len()).unwrap()], bytes].concat();
    let sequence = |parts: &[&[u8]]| {
        let inner = parts.concat();
        [
            &[0x30, u8::try_from(inner.len()).unwrap()],
            inner.as_slice(),
        ]
        .concat()
    };
    let positive = |bytes: &[u8]| [&[0], bytes].concat();
    let mut below = N;
    below[31] -= 1;
    let (one, high) = (integer(&[1]), integer(&positive(&below)));

    for good in [
        sequence(&[&one, &one]),
        sequence(&[&high, &one]),
        sequence(&[&one, &high]),
    ] {
        assert!(
            Signature::from_base64(BASE64_STANDARD.encode(&good).as_bytes()).is_ok(),
            "{good:02x?}"
        );
    }
    let short = sequence(&[&one, &one]);
    let bad: Vec<Vec<u8>> = vec![
        vec![],
        vec![0x30],
        vec![0x30, 0],
        [short.as_slice(), &[0]].concat(),
        sequence(&[&one]),
        sequence(&[&one, &one, &one]),
        sequence(&[&one, &one, &[0]]),
        sequence(&[&one, &one, &[5, 0]]),
        // Not a sequence, not integers.
        [&[0x31], &short[1..]].concat(),
        sequence(&[&[4, 1, 1], &one]),
        sequence(&[&one, &[3, 1, 1]]),
        // Long-form and indefinite lengths.
        [&[0x30, 0x81], &short[1..]].concat(),
        [&[0x30, 0x82, 0], &short[1..]].concat(),
        [&[0x30, 0x80], &short[2..], &[0, 0]].concat(),
        sequence(&[&[2, 0x81, 1, 1], &one]),
        sequence(&[&one, &[2, 0x81, 1, 1]]),
        // Lengths that promise more or less.
        [&[0x30, 7], &short[2..]].concat(),
        [&[0x30, 5], &short[2..]].concat(),
        sequence(&[&one, &[2, 2, 1]]),
        sequence(&[&[2, 0], &one]),
        sequence(&[&one, &[2, 0]]),
        // Not minimal, negative.
        sequence(&[&integer(&[0, 1]), &one]),
        sequence(&[&one, &integer(&[0, 1])]),
        sequence(&[&integer(&[0, 0, 0x80]), &one]),
        sequence(&[&integer(&[0x80]), &one]),
        sequence(&[&one, &integer(&[0xff])]),
        sequence(&[&one, &integer(&below)]),
        // Outside [1, n-1].
        sequence(&[&integer(&[0]), &one]),
        sequence(&[&one, &integer(&[0])]),
        sequence(&[&integer(&positive(&N)), &one]),
        sequence(&[&one, &integer(&positive(&N))]),
        sequence(&[&integer(&positive(&[0xff; 32])), &one]),
        sequence(&[&one, &integer(&positive(&[0xff; 32]))]),
        sequence(&[&integer(&[1; 33]), &one]),
        sequence(&[&one, &integer(&[1; 40])]),
        vec![0; 64],
        vec![0x30; 72],
    ];
    for der in bad {
        let error = Signature::from_base64(BASE64_STANDARD.encode(&der).as_bytes()).unwrap_err();
        assert_eq!(error.kind(), Kind::MalformedSignature, "{der:02x?}");
    }
}
