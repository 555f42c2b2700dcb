//! The address to which the OpenBB Workspace posts, as the descriptor gives it.

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::time::Duration;

use bytes::Bytes;
use copilot_wire::async_trait;
use copilot_wire_kit::check::{Endpoint, EndpointBody, EndpointError, check};
use futures::executor::block_on;
use http::{Method, Request, Response};

use crate::script::{Asked, Front, Script};

/// Notes where everything goes that fetches no document.
struct Noted {
    script: Script,
    places: Mutex<BTreeSet<String>>,
}

#[async_trait]
impl Endpoint for Noted {
    async fn call(&self, request: Request<Bytes>) -> Result<Response<EndpointBody>, EndpointError> {
        if request.method() != Method::GET {
            let place = request.uri().to_string();
            self.places.lock().unwrap().insert(place);
        }
        self.script.call(request).await
    }

    async fn sleep(&self, duration: Duration) {
        self.script.sleep(duration).await;
    }
}

/// The places that a check posts to, apart from the one that there is not.
fn places(script: Script) -> (Vec<String>, Vec<&'static str>) {
    let noted = Noted {
        places: Mutex::default(),
        script,
    };
    let report = block_on(check(&noted, noted.script.target()));
    let mut places = noted.places.into_inner().unwrap();
    assert!(places.remove("/there-is-no-such-path"));
    (places.into_iter().collect(), report.rules().collect())
}

/// Returns `true` if the descriptor is requested.
fn described(asked: &Asked<'_>) -> bool {
    asked.request.uri().path() == "/agents.json"
}

#[test]
fn a_path_is_below_the_endpoint() {
    let (places, found) = places(Script::new(Front::OpenBb, |_, answer| answer));
    assert_eq!(places, ["/feedback", "/v1/query"]);
    assert!(found.is_empty(), "{found:?}");
}

#[test]
fn a_url_leads_where_it_says() {
    let (places, found) = places(Script::new(
        Front::OpenBb,
        |asked, answer| match described(asked) {
            true => answer
                .swap("\"/v1/query", "\"https://other.example:8443/v1/query")
                .swap("\"/feedback", "\"http://third.example/feedback"),
            false => answer,
        },
    ));
    let whole = [
        "http://third.example/feedback",
        "https://other.example:8443/v1/query",
    ];
    assert_eq!(places, whole);
    assert!(found.is_empty(), "{found:?}");
}

#[test]
fn what_is_neither_is_found() {
    let scripts = [
        Script::new(Front::OpenBb, |asked, answer| match described(asked) {
            true => answer.swap("\"/v1/query", "\"//other.example/v1/query"),
            false => answer,
        }),
        Script::new(Front::OpenBb, |asked, answer| match described(asked) {
            true => answer.swap("\"/v1/query", "\"ftp://other.example/v1/query"),
            false => answer,
        }),
        Script::new(Front::OpenBb, |asked, answer| match described(asked) {
            true => answer.swap("\"/v1/query", "\"other.example"),
            false => answer,
        }),
    ];
    for script in scripts {
        let (places, found) = places(script);
        // The check goes on where agents usually are.
        assert_eq!(places, ["/feedback", "/v1/query"]);
        assert_eq!(found, ["openbb/descriptor-entry"]);
    }
}
