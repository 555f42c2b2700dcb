//! Verified mounts: no part of a body is parsed before its signature is verified.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use copilot_wire::github::verify::{HeaderPair, KeyError, KeyErrorKind, KeyId, KeySet, KeySource};
use copilot_wire::github::{Mount, Skill, SkillCall, SkillReply};
use copilot_wire::protocol::{AgentError, Conversation};
use copilot_wire::{Router, async_trait};
use copilot_wire_kit::github::RequestSigner;
use http::{HeaderMap, Method};

use crate::fixtures::{bytes, json};
use crate::server::{agent, send, strictly};

/// Returns a router with these keys, and the number of its agent's runs.
fn router(keys: impl KeySource + 'static) -> (Router, Arc<AtomicUsize>) {
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let parrot = agent(move |request, reply| {
        count.fetch_add(1, Ordering::Relaxed);
        async move {
            let prompt = request.prompt().unwrap_or_default();
            Ok(reply.text(&format!("You said: {prompt}")).await?)
        }
    });
    let router = Router::new().mount(Mount::verified(keys), parrot).unwrap();
    (router, asked)
}

#[test]
fn only_signed_requests_reach_the_agent() {
    let signer = RequestSigner::from_seed(b"one");
    let other = RequestSigner::from_seed(b"two");
    let (router, asked) = router(signer.key_set());
    let body = bytes("req-docs-minimal.json");
    let signed = signer.sign(&body);
    let without = |name: &str| {
        let mut headers = signer.sign_as(HeaderPair::Newer, &body);
        headers.remove(name);
        headers
    };
    let mut empty = HeaderMap::new();
    // The headers that `gh debug-cli` sends.
    empty.insert("github-public-key-signature", "".parse().unwrap());
    empty.insert("github-public-key-identifier", "".parse().unwrap());
    let cases = [
        (&signed, &body[..], 200, "You said"),
        (
            &signer.sign_as(HeaderPair::Older, &body),
            &body,
            200,
            "You said",
        ),
        (&HeaderMap::new(), &body, 401, "missing-signature"),
        (&empty, &body, 401, "missing-signature"),
        (
            &without("x-github-public-key-signature"),
            &body,
            401,
            "missing-signature",
        ),
        (
            &without("x-github-public-key-identifier"),
            &body,
            401,
            "missing-key-identifier",
        ),
        (&other.sign(&body), &body, 401, "unknown-key-identifier"),
        (&signed, b"{}", 401, "signature-mismatch"),
        // The signature is checked first: the error does not reveal anything about the body.
        (&signed, b"{", 401, "signature-mismatch"),
        (&signer.sign(b"{"), b"{", 400, "malformed_json"),
        (&signer.sign(b""), b"", 400, "empty-body"),
    ];
    let mut answered = 0;
    for (headers, body, status, text) in cases {
        let body = Bytes::copy_from_slice(body);
        let response = send(&router, Method::POST, "/github", headers, body.clone());
        assert_eq!(
            response.status.as_u16(),
            status,
            "{body:?} {}",
            response.body
        );
        assert!(response.body.contains(text), "{}", response.body);
        if status == 200 {
            strictly(&response.body);
            answered += 1;
        }
    }
    assert_eq!(asked.load(Ordering::Relaxed), answered);
    // The liveness probe needs no signature.
    let probe = send(&router, Method::GET, "/github", &HeaderMap::new(), "");
    assert_eq!(probe.body, "OK");
}

#[test]
fn the_genuine_request_is_answered() {
    let keys = KeySet::from_json(&bytes("keys.json")).unwrap();
    let (router, _) = router(keys);
    let vectors = json("signature-vectors.json");
    let genuine = vectors["vectors"]
        .as_array()
        .unwrap()
        .iter()
        .find(|vector| {
            vector["name"]
                .as_str()
                .is_some_and(|name| name.contains("genuine"))
                && vector["expect"] == "accept"
        });
    let genuine = genuine.expect("a genuine vector");
    let mut headers = HeaderMap::new();
    let text = |key: &str| genuine[key].as_str().unwrap().parse().unwrap();
    headers.insert("github-public-key-identifier", text("key_identifier"));
    headers.insert("github-public-key-signature", text("signature"));
    let body = bytes("req-web-genuine.json");
    let response = send(&router, Method::POST, "/github", &headers, body);
    assert_eq!(response.status.as_u16(), 200, "{}", response.body);
    assert!(
        response.body.contains("You said: test"),
        "{}",
        response.body
    );
}

/// A key source whose endpoint is not available.
struct Away;

#[async_trait]
impl KeySource for Away {
    async fn keys(&self, _: &KeyId) -> Result<KeySet, KeyError> {
        Err(KeyError::new(KeyErrorKind::Transport))
    }
}

#[test]
fn without_keys_the_fault_is_ours() {
    let signer = RequestSigner::from_seed(b"one");
    let (router, asked) = router(Away);
    let body = bytes("req-docs-minimal.json");
    let response = send(&router, Method::POST, "/github", &signer.sign(&body), body);
    assert_eq!(response.status.as_u16(), 503);
    assert!(
        response.body.contains("keys-unavailable"),
        "{}",
        response.body
    );
    assert_eq!(asked.load(Ordering::Relaxed), 0);
}

struct Echo;

#[async_trait]
impl Skill for Echo {
    type Arguments = serde_json::Value;

    async fn call(&self, call: SkillCall<Self::Arguments>) -> Result<SkillReply, AgentError> {
        Ok(SkillReply::json(&call.arguments)?)
    }
}

#[test]
fn skills_are_behind_the_same_gate() {
    let signer = RequestSigner::from_seed(b"one");
    let router = Router::new()
        .with(Mount::verified(signer.key_set()).path("/echo").skill(Echo))
        .unwrap();
    let body = br#"{"a":1}"#;
    let answer = send(
        &router,
        Method::POST,
        "/echo",
        &signer.sign(body),
        &body[..],
    );
    assert_eq!(
        (answer.status.as_u16(), answer.body.as_str()),
        (200, r#"{"a":1}"#)
    );
    let refused = send(&router, Method::POST, "/echo", &HeaderMap::new(), &body[..]);
    assert_eq!(refused.status.as_u16(), 401);
}
