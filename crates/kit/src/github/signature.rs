//! Rules for signature verification.

use bytes::Bytes;
use http::{Method, StatusCode};

use crate::check::{Exam, Exchange, rules};

rules! {
    SIGNER = Error "github/signer",
        "an endpoint that accepts only signed requests is checked with a key that it knows",
        "every request is refused, so nothing else can be checked",
        "use a signer for the check, and its public key in the endpoint";
    UNSIGNED = Warning "github/unsigned",
        "a request without a signature is refused",
        "anyone who knows the URL can use the agent under any name",
        "verify the signature of every request, unless the URL is not reachable by others";
    FORGED = Error "github/forged",
        "a request with a wrong signature is refused before any part of the answer",
        "anyone who knows the URL can use the agent under any name",
        "verify the raw bytes of the body with the key of the identifier, and return after the refusal";
}

/// Returns `true` if the endpoint accepts the platform's requests, judged by the first response.
pub(super) fn lets_in(exam: &mut Exam<'_>, answer: &Exchange) -> bool {
    let turned_away = [StatusCode::UNAUTHORIZED, StatusCode::FORBIDDEN];
    let lets_in = !turned_away.contains(&answer.head.status);
    exam.judge().expect_answer(&SIGNER, lets_in, answer);
    lets_in
}

/// Returns the number of requests that [`check`] makes.
pub(super) fn requests(exam: &Exam<'_>) -> usize {
    1 + forged(exam, "/", &Bytes::new()).len()
}

/// Sends requests without a signature or with a wrong one. `sample` is a valid request body.
pub(super) async fn check(exam: &mut Exam<'_>, path: &str, sample: &Bytes) {
    let unsigned = exam.request(Method::POST, path, sample.clone());
    let forged = forged(exam, path, sample);
    // With a signer, the wrong signatures show whether the endpoint verifies.
    let rule = match forged.is_empty() {
        true => &UNSIGNED,
        false => &FORGED,
    };
    let unsigned = ("a request without a signature", unsigned);
    for (name, request) in std::iter::once(unsigned).chain(forged) {
        if let Some(answer) = exam.ask(name, request).await {
            // Both are checked: an official sample writes status 401 and then the answer.
            let refused = !answer.head.status.is_success() && !streams(&answer.body);
            exam.judge().expect_answer(rule, refused, &answer);
        }
    }
}

/// Returns `true` if a body contains a part of an answer: some samples forget to return after a
/// refusal.
fn streams(body: &[u8]) -> bool {
    body.windows(5).any(|bytes| bytes == b"data:")
}

#[cfg(not(feature = "verify"))]
fn forged(_: &Exam<'_>, _: &str, _: &Bytes) -> [(&'static str, http::Request<Bytes>); 0] {
    []
}

/// Returns requests with different wrong signatures. Empty without a signer.
#[cfg(feature = "verify")]
fn forged(
    exam: &Exam<'_>,
    path: &str,
    sample: &Bytes,
) -> Vec<(&'static str, http::Request<Bytes>)> {
    use copilot_wire::github::verify::HeaderPair;
    use http::HeaderValue;

    use super::RequestSigner;

    let Some(signer) = exam.signer() else {
        return Vec::new();
    };
    let request = |body: &Bytes, signature| {
        let mut request = exam.request(Method::POST, path, body.clone());
        request.headers_mut().extend(signature);
        request
    };
    let good = || signer.sign(sample);
    let with = |name: fn(HeaderPair) -> http::HeaderName, value: &'static str| {
        let mut headers = good();
        for pair in [HeaderPair::Newer, HeaderPair::Older] {
            headers.insert(name(pair), HeaderValue::from_static(value));
        }
        headers
    };
    let stranger = RequestSigner::from_seed(b"a key that nobody published");
    // The stranger's signature under the identifier of the known key.
    let mut posing = stranger.sign(sample);
    for pair in [HeaderPair::Newer, HeaderPair::Older] {
        posing.remove(pair.identifier());
    }
    for (name, value) in &good() {
        posing.entry(name).or_insert_with(|| value.clone());
    }
    // Only white space differs: an endpoint that serializes the body again before verifying would
    // not notice.
    let tampered = Bytes::from([sample, b" ".as_slice()].concat());
    let empty = with(HeaderPair::signature, "");
    let none = with(HeaderPair::signature, "bm90IGEgc2lnbmF0dXJl");
    let unknown = stranger.sign(sample);
    vec![
        ("a signature that is empty", request(sample, empty)),
        ("a signature that is none", request(sample, none)),
        ("a key that is unknown", request(sample, unknown)),
        ("another key under the known name", request(sample, posing)),
        ("a body that was changed", request(&tampered, good())),
    ]
}
