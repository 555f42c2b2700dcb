//! What a request keeps of the HTTP request.

use bytes::Bytes;
use copilot_wire::Request;
use copilot_wire::openbb::{OpenBb, QueryRequest};
use http::{HeaderValue, Uri};

fn request(parts: http::request::Parts) -> Request<OpenBb> {
    Request::from_parts(parts, QueryRequest::default())
}

#[test]
fn nothing_is_left_of_the_buffer_that_a_server_parsed() {
    let buffer = Bytes::from("/v1/query?a=b value secret".to_owned());
    let shared = |from, to| buffer.slice(from..to);
    let (mut parts, ()) = http::Request::new(()).into_parts();
    let mut secret = HeaderValue::from_maybe_shared(shared(20, 26)).unwrap();
    secret.set_sensitive(true);
    let value = HeaderValue::from_maybe_shared(shared(14, 19)).unwrap();
    parts.headers.append("x-one", value);
    parts.headers.append("x-one", HeaderValue::from_static(""));
    parts.headers.append("x-two", secret);
    parts.uri = Uri::from_maybe_shared(shared(0, 13)).unwrap();
    let before = parts.headers.clone();
    let request = request(parts);
    assert_eq!(request.headers(), &before);
    let headers = request.headers();
    assert!(headers["x-two"].is_sensitive() && !headers["x-one"].is_sensitive());
    assert_eq!(request.uri(), "/v1/query?a=b");
    drop(before);
    assert!(buffer.is_unique());
}

#[test]
fn every_form_of_a_target_stays_what_it_is() {
    for uri in ["*", "/", "http://host:80/a?b", "host:80"] {
        let (mut parts, ()) = http::Request::new(()).into_parts();
        parts.uri = Uri::try_from(uri).unwrap();
        assert_eq!(request(parts).uri(), uri);
    }
}
