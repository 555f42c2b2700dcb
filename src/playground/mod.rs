//! The playground: a page that emulates every front end, for people who write agents.
//!
//! The page is one document, assembled when the playground is mounted, and loads no other file. The output of an agent
//! is inserted only as text. The content security policy is a second barrier: it allows only the page's own script and
//! only connections to this server, and no frame can run or load anything.

use serde::Serialize;

use crate::json::{self, Escape};

/// The part of the page before the nonce.
const HEAD: &str = concat!(
    "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n",
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n",
    "<title>copilot-wire playground</title>\n<link rel=\"icon\" href=\"data:,\">\n<style>\n",
    include_str!("css/base.css"),
    include_str!("css/chat.css"),
    include_str!("css/log.css"),
    "</style>\n</head>\n<body>\n",
    include_str!("page.html"),
    "<script type=\"module\" nonce=\"",
);

/// The script of the page. Its files share one scope.
const SCRIPT: &str = concat!(
    "\">\n",
    include_str!("js/dom.js"),
    include_str!("js/sse.js"),
    include_str!("js/lines.js"),
    include_str!("js/exchange.js"),
    include_str!("js/json.js"),
    include_str!("js/inline.js"),
    include_str!("js/markdown.js"),
    include_str!("js/frame.js"),
    include_str!("js/table.js"),
    include_str!("js/chart.js"),
    include_str!("js/rows.js"),
    include_str!("js/log.js"),
    include_str!("js/chat.js"),
    include_str!("js/call.js"),
    include_str!("js/fields.js"),
    include_str!("js/front.js"),
    include_str!("js/model.js"),
);

/// The script that starts the page, after the scripts of the front ends.
const TAIL: &str = concat!(include_str!("js/page.js"), "</script>\n</body>\n</html>\n");

/// Returns the page with the scripts of front ends, as the parts before and after the nonce. Each of these scripts has
/// a separate scope.
pub(crate) fn page(fronts: impl IntoIterator<Item = &'static str>) -> [String; 2] {
    let fronts = fronts.into_iter().flat_map(|front| ["{\n", front, "}\n"]);
    let script = [SCRIPT].into_iter().chain(fronts).chain([TAIL]).collect();
    [HEAD.to_owned(), script]
}

/// Returns the content security policy of the page.
///
/// Inline styles are allowed because frames inherit the policy and an agent's HTML may have styles, which cannot load
/// anything. `frame-src` prevents frames from navigating.
pub(crate) fn policy(nonce: &str) -> String {
    format!(
        "default-src 'none'; script-src 'nonce-{nonce}'; style-src 'unsafe-inline'; \
         connect-src 'self'; img-src data:; font-src data:; frame-src 'none'; base-uri 'none'; \
         form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; \
         trusted-types frame"
    )
}

/// The first document that the page requests: the agents with their paths, and `true` if this server signs requests.
#[derive(Debug, Serialize)]
pub(crate) struct Fronts {
    pub(crate) fronts: Vec<Front>,
    pub(crate) signing: bool,
}

/// An agent with its path.
#[derive(Debug, Serialize)]
pub(crate) struct Front {
    pub(crate) protocol: &'static str,
    pub(crate) path: String,
}

impl Fronts {
    pub(crate) fn to_json(&self) -> Vec<u8> {
        let mut out = Vec::new();
        // Serializing strings and a flag cannot fail.
        let _ = json::write(self, Escape::Json, &mut out);
        out
    }
}
