//! Rules for cross-origin requests from pages of the OpenBB Workspace.

use bytes::Bytes;
use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_REQUEST_HEADERS, ACCESS_CONTROL_REQUEST_METHOD, ORIGIN,
};
use http::{HeaderName, HeaderValue, Method, Request};

use crate::check::{Exam, Exchange, Rule, rules};

rules! {
    PREFLIGHT = Error "cors/preflight",
        "a preflight of the Workspace is allowed",
        "the browser does not send the request: the user sees a network failure",
        "answer OPTIONS with 2xx, `access-control-allow-origin` and `access-control-allow-methods`";
    HEADERS = Error "cors/headers",
        "a preflight allows `content-type`, `x-trace-id` and headers that users add",
        "the browser does not send the request; users can add headers in the agent dialog",
        "repeat `access-control-request-headers` in `access-control-allow-headers`";
    ORIGIN_ALLOWED = Error "cors/origin",
        "every response to the Workspace has `access-control-allow-origin`",
        "the browser hides the response from the page: the user sees a network failure",
        "send the origin, or `*`, with the stream as well";
    REFUSALS = Error "cors/refusal",
        "error responses have `access-control-allow-origin` too",
        "the browser hides the error from the page: the user sees a network failure",
        "add the header in the outermost middleware";
    OTHER_ORIGINS = Warning "cors/other-origins",
        "the other origins of the Workspace are allowed: development, desktop and local builds",
        "the agent works in the browser and not in the desktop application",
        "allow `https://pro.openbb.dev`, `http://localhost:1420`, `http://localhost` and `http://localhost:5050`";
    PRIVATE_NETWORK = Warning "cors/private-network",
        "a preflight that asks for a private network is allowed",
        "without it Chromium does not let public pages call an agent on the user's machine; Starlette refuses it by default",
        "answer `access-control-request-private-network` with `access-control-allow-private-network: true`";
}

/// The origin of the Workspace's web app.
pub(super) const WORKSPACE: &str = "https://pro.openbb.co";

/// Other origins of the Workspace.
const OTHERS: [&str; 4] = [
    "https://pro.openbb.dev",
    "http://localhost:1420",
    "http://localhost",
    "http://localhost:5050",
];

/// The number of preflight requests.
pub(super) const REQUESTS: usize = 2 + OTHERS.len();

/// The headers that the Workspace sends, and one that a user added.
const SENT: &str = "content-type,x-api-key,x-trace-id";

/// The header that Chromium sends if a public page calls a private address.
const REQUEST_PRIVATE_NETWORK: HeaderName =
    HeaderName::from_static("access-control-request-private-network");
const ALLOW_PRIVATE_NETWORK: HeaderName =
    HeaderName::from_static("access-control-allow-private-network");

/// Checks that the response to a request of the Workspace allows its origin.
pub(super) fn answer(exam: &mut Exam<'_>, exchange: &Exchange) {
    let rule = match exchange.head.status.is_success() {
        true => &ORIGIN_ALLOWED,
        false => &REFUSALS,
    };
    expect(exam, rule, allows(exchange, WORKSPACE), exchange);
}

/// Sends preflight requests and checks the responses.
pub(super) async fn check(exam: &mut Exam<'_>, path: &str) {
    let name = "a preflight";
    let Some(answer) = exam.ask(name, preflight(exam, path, WORKSPACE)).await else {
        return;
    };
    let methods = listed(&answer, &ACCESS_CONTROL_ALLOW_METHODS);
    let posts = names(&methods, "post");
    let allowed = answer.head.status.is_success() && allows(&answer, WORKSPACE) && posts;
    expect(exam, &PREFLIGHT, allowed, &answer);
    // The other checks would fail for the same reason, which is reported once.
    if !allowed {
        return;
    }
    let headers = listed(&answer, &ACCESS_CONTROL_ALLOW_HEADERS);
    let all = SENT.split(',').all(|sent| names(&headers, sent));
    expect(exam, &HEADERS, all, &answer);

    let name = "a preflight to a private network";
    let mut request = preflight(exam, path, WORKSPACE);
    let yes = HeaderValue::from_static("true");
    request.headers_mut().insert(REQUEST_PRIVATE_NETWORK, yes);
    if let Some(answer) = exam.ask(name, request).await {
        let granted = answer.header(ALLOW_PRIVATE_NETWORK) == Some(b"true");
        let allowed = answer.head.status.is_success() && granted;
        expect(exam, &PRIVATE_NETWORK, allowed, &answer);
    }
    for origin in OTHERS {
        let name = format!("a preflight from {origin}");
        let request = preflight(exam, path, origin);
        if let Some(answer) = exam.ask(&name, request).await {
            let allowed = answer.head.status.is_success() && allows(&answer, origin);
            expect(exam, &OTHER_ORIGINS, allowed, &answer);
        }
    }
}

/// Creates the preflight request that a browser sends.
fn preflight(exam: &Exam<'_>, path: &str, origin: &'static str) -> Request<Bytes> {
    let mut request = exam.request(Method::OPTIONS, path, Bytes::new());
    let headers = request.headers_mut();
    // A preflight has no credentials, and none of the headers whose use it requests.
    headers.clear();
    let post = HeaderValue::from_static("POST");
    headers.insert(ORIGIN, HeaderValue::from_static(origin));
    headers.insert(ACCESS_CONTROL_REQUEST_METHOD, post);
    let sent = HeaderValue::from_static(SENT);
    headers.insert(ACCESS_CONTROL_REQUEST_HEADERS, sent);
    request
}

fn allows(exchange: &Exchange, origin: &str) -> bool {
    let allowed = exchange.header(ACCESS_CONTROL_ALLOW_ORIGIN);
    // The `*` is right because the Workspace sends no cookies.
    allowed.is_some_and(|allowed| allowed == b"*" || allowed == origin.as_bytes())
}

/// Returns the value of a list header, in lower case.
fn listed(exchange: &Exchange, name: &HeaderName) -> String {
    let value = exchange.header(name).unwrap_or_default();
    String::from_utf8_lossy(value).to_lowercase()
}

/// Returns `true` if a list contains a name, or `*`.
fn names(list: &str, name: &str) -> bool {
    let mut entries = list.split(',').map(str::trim);
    entries.any(|entry| entry == name || entry == "*")
}

/// Records that a rule was checked in an answer. The excerpt is the status and the CORS headers.
fn expect(exam: &mut Exam<'_>, rule: &'static Rule, holds: bool, answer: &Exchange) {
    exam.judge().expect(rule, holds, &answer.name, head(answer));
}

/// Returns the status and the CORS headers.
fn head(exchange: &Exchange) -> Vec<u8> {
    let mut head = exchange.head.status.to_string().into_bytes();
    for (name, value) in &exchange.head.headers {
        if name.as_str().starts_with("access-control-") {
            head.extend([b", ", name.as_str().as_bytes(), b": ", value.as_bytes()].concat());
        }
    }
    head
}
