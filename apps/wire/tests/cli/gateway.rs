//! The gateway behind nginx.

use std::net::{Ipv4Addr, SocketAddr};
use std::thread;
use std::time::Duration;

use axum_server::Settings;
use copilot_wire::router::Keys;
use server_tests::Nginx;
use tokio::net::TcpListener;

use crate::program::run;

const PROTOCOLS: [&str; 8] = [
    "ag-ui",
    "anthropic",
    "github",
    "meilisearch",
    "openai",
    "openbb",
    "responses",
    "ui-stream",
];

/// Rules that warn: the key takes the place of GitHub's signature, and times depend on what else the
/// machine does.
const KNOWN: [&str; 3] = ["github/unsigned", "http/late-head", "http/collected"];

/// Serves the gateway until the process ends.
fn serve() -> SocketAddr {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let listener = runtime.block_on(TcpListener::bind((Ipv4Addr::LOCALHOST, 0)));
    let listener = listener.unwrap();
    let address = listener.local_addr().unwrap();
    let mut settings = Settings::new(Keys::new([("ali", "sesame")]));
    settings.per_minute = u32::MAX;
    settings.pace = Some(Duration::ZERO);
    thread::spawn(move || {
        let app = axum_server::app(settings).unwrap();
        let served = axum_server::serve(listener, app, std::future::pending());
        runtime.block_on(served).unwrap();
    });
    address
}

/// Below a path that nginx strips or not, with a slash at the end of the URL or without.
#[test]
fn every_protocol_is_clean_behind_nginx() {
    let upstream = serve();
    let nginx = |slash| {
        let to = format!("proxy_pass http://{upstream}{slash}; client_max_body_size 32m;");
        Nginx::start(&format!("location /agents/ {{ {to} }}")).unwrap()
    };
    let (Some(strips), Some(passes)) = (nginx("/"), nginx("")) else {
        println!("skipped: nginx is not installed");
        return;
    };
    for (nginx, end) in [(&strips, ""), (&passes, "/")] {
        // Not all at once: a command that gets no answer in time takes the URL for an endpoint.
        thread::scope(|scope| {
            for protocol in PROTOCOLS {
                let url = format!("http://{}/agents{end}", nginx.address);
                scope.spawn(move || try_out(&url, protocol));
            }
        });
    }
}

fn try_out(url: &str, protocol: &str) {
    // Models have a base URL each.
    let url = match protocol {
        "anthropic" | "openai" | "responses" => &format!("{}/counter", url.trim_end_matches('/')),
        _ => url,
    };
    let key = ["-p", protocol, "-H", "authorization: Bearer sesame"];
    let seen = run(&[&["check", url], &key[..]].concat(), "");
    assert_eq!(seen.status, 0, "{url} {protocol}: {}{}", seen.out, seen.err);
    assert!(seen.out.contains("0 errors"), "{protocol}: {}", seen.out);
    let warnings = seen.out.lines().filter(|line| line.starts_with("warning"));
    for warning in warnings {
        let known = KNOWN.iter().any(|rule| warning.contains(rule));
        assert!(known, "{protocol}: {}", seen.out);
    }
    // Of several OpenBB agents one is meant.
    let url = match protocol {
        "openbb" => &format!("{}/counter/query", url.trim_end_matches('/')),
        _ => url,
    };
    let asked = ["-m", "Hello there", "--model", "counter"];
    let seen = run(&[&["chat", url], &key[..], &asked].concat(), "");
    assert_eq!(seen.status, 0, "{url} {protocol}: {}{}", seen.out, seen.err);
}
