//! Every message but calls, and what cannot be answered.

use copilot_wire::mcp::{Mount, ResourceLink, Server};
use copilot_wire::protocol::Refusal;
use copilot_wire::{Router, router::MountError};
use http::{Method, StatusCode};
use serde_json::{Value, json};

use crate::support::{
    NEW, agent, call, empty, fixture, in_virtual_time, json_of, messages, mount, new, new_call,
    post, post_new, quiet, read, router, send,
};

/// Recorded requests, and what they are answered with: the status, and whether it is a stream.
const RECORDED: [(&str, u16, bool); 15] = [
    ("01-claude-discover", 200, false),
    ("02-claude-tools-list", 200, false),
    ("03-claude-call-progress", 200, true),
    ("04-claude-confirm-first", 200, true),
    // Its state is another server's.
    ("05-claude-confirm-retry", 400, false),
    ("06-codex-initialize", 200, false),
    ("07-codex-initialized", 202, false),
    ("08-codex-tools-list", 200, false),
    ("09-codex-call-elicitation", 200, true),
    ("10-codex-elicitation-answer", 202, false),
    ("11-codex-cancelled", 202, false),
    ("12-copilot-call", 200, true),
    ("13-sdk1-get", 405, false),
    ("14-sdk1-call-iserror", 200, true),
    ("16-aisdk-call", 200, true),
];

#[test]
fn recorded_requests_are_answered() {
    in_virtual_time(async {
        let router = quiet();
        for (name, status, is_stream) in RECORDED {
            let recorded: Value = serde_json::from_str(&fixture(&format!("{name}.json"))).unwrap();
            let request = &recorded["request"];
            let headers = request["headers"].as_array().unwrap().iter();
            let headers: Vec<(String, &str)> = headers
                .filter_map(|header| header.as_str()?.split_once(": "))
                .map(|(name, value)| (name.to_lowercase(), value))
                .filter(|(name, _)| !["host", "content-length", "content-type"].contains(&&**name))
                .collect();
            let headers: Vec<_> = headers.iter().map(|(name, it)| (&**name, *it)).collect();
            let method: Method = request["method"].as_str().unwrap().parse().unwrap();
            let body = match &request["body"] {
                Value::Null => String::new(),
                body => body.to_string(),
            };
            let response = send(&router, method, &headers, &body).await;
            assert_eq!(response.status(), status, "{name}");
            let kind = response.headers().get("content-type").cloned();
            let kind = kind.map(|kind| kind.to_str().unwrap().to_owned());
            assert_eq!(
                kind.as_deref() == Some("text/event-stream"),
                is_stream,
                "{name}"
            );
            let body = read(response.into_body()).await;
            assert!(!body.contains("null"), "{name}: {body}");
        }
    });
}

#[test]
fn the_documents_are_exact() {
    in_virtual_time(async {
        let server = Server::new("analyst", "0.1.0")
            .title("Analyst")
            .instructions("Ask in whole sentences.");
        let tool = mount()
            .title("Ask the analyst")
            .question("What you want to know")
            .read_only()
            .open_world(false)
            .always_load()
            .server(server);
        let quiet = || agent(|_, reply| async move { Ok(reply.text("Hi").await?) });
        let other = Mount::new("order", "Orders.").destructive(true);
        let router = empty().mount(tool, quiet()).unwrap();
        let router = router.mount(other, quiet()).unwrap();

        let answer = post_new(&router, &[], &new("server/discover", json!({}))).await;
        assert_eq!(
            json_of(answer).await,
            json!({"jsonrpc": "2.0", "id": "c1", "result": {
                "resultType": "complete",
                "supportedVersions": ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"],
                "capabilities": {"tools": {}},
                "instructions": "Ask in whole sentences.",
                "ttlMs": 3_600_000, "cacheScope": "public",
                "_meta": {"io.modelcontextprotocol/serverInfo":
                    {"name": "analyst", "title": "Analyst", "version": "0.1.0"}},
            }})
        );
        for (asked, agreed) in [
            ("2025-06-18", "2025-06-18"),
            ("2025-11-25", "2025-11-25"),
            ("2025-03-26", "2025-03-26"),
            ("2024-11-05", "2024-11-05"),
            ("2026-07-28", "2025-11-25"),
            ("2099-01-01", "2025-11-25"),
        ] {
            let params = json!({"protocolVersion": asked, "capabilities": {}});
            let body = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params});
            let response = post(&router, &[], &body).await;
            let session = response.headers()["mcp-session-id"].to_str().unwrap();
            let digits = session.strip_suffix("-plain");
            assert_eq!(digits.is_some(), agreed < "2025-06-18", "{session}");
            assert_eq!(digits.unwrap_or(session).len(), 32, "{session}");
            assert_eq!(
                json_of(response).await,
                json!({"jsonrpc": "2.0", "id": 0, "result": {
                    "protocolVersion": agreed,
                    "capabilities": {"tools": {}},
                    "serverInfo": {"name": "analyst", "title": "Analyst", "version": "0.1.0"},
                    "instructions": "Ask in whole sentences.",
                }})
            );
        }
        let schema = |description| {
            json!({"type": "object", "properties": {
                "question": {"type": "string", "description": description},
            }, "required": ["question"], "additionalProperties": false})
        };
        let tools = json!([
            {"name": "ask", "title": "Ask the analyst",
             "description": "Asks the analyst one question.",
             "inputSchema": schema("What you want to know"),
             "annotations": {"readOnlyHint": true, "openWorldHint": false},
             "_meta": {"anthropic/alwaysLoad": true}},
            {"name": "order", "description": "Orders.", "inputSchema": schema("The question"),
             "annotations": {"destructiveHint": true}},
        ]);
        let list = json!({"jsonrpc": "2.0", "id": 3, "method": "tools/list"});
        let listed = json_of(post(&router, &[], &list).await).await;
        assert_eq!(listed["result"], json!({"tools": tools}));
        let listed = post_new(&router, &[], &new("tools/list", json!({}))).await;
        let listed = json_of(listed).await;
        assert_eq!(listed["result"]["tools"], tools);
        assert_eq!(listed["result"]["resultType"], "complete");
        assert_eq!(listed["result"]["cacheScope"], "private");
        let ping = json!({"jsonrpc": "2.0", "id": "p", "method": "ping"});
        let pong = json_of(post(&router, &[], &ping).await).await;
        assert_eq!(pong, json!({"jsonrpc": "2.0", "id": "p", "result": {}}));
    });
}

/// These versions have no header with the version, and no links in results.
#[test]
fn clients_of_the_first_versions_are_served_in_their_version() {
    in_virtual_time(async {
        let router = router(agent(|_, reply| async move {
            reply
                .send(ResourceLink::new("https://a.example/x", "A report"))
                .await?;
            Ok(reply.text("Hi").await?)
        }));
        for (version, is_plain) in [
            ("2024-11-05", true),
            ("2025-03-26", true),
            ("2025-06-18", false),
        ] {
            // Dialogs are newer than these versions, whatever a client announces.
            let params = json!({"protocolVersion": version, "capabilities": {"elicitation": {}}});
            let body = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params});
            let response = post(&router, &[], &body).await;
            let session = response.headers()["mcp-session-id"].clone();
            let session = session.to_str().unwrap();
            assert_eq!(session.ends_with("-forms"), !is_plain, "{version}");
            assert_eq!(
                json_of(response).await["result"]["protocolVersion"],
                version
            );
            let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
            let headers = [("mcp-session-id", session)];
            assert_eq!(post(&router, &headers, &initialized).await.status(), 202);
            for more in [None, Some(("mcp-protocol-version", version))] {
                let headers: Vec<_> = headers.into_iter().chain(more).collect();
                let stream = read(post(&router, &headers, &call("hi")).await.into_body()).await;
                let result = messages(&stream).pop().unwrap();
                let content = result["result"]["content"].as_array().unwrap();
                assert_eq!(content.len(), if is_plain { 1 } else { 2 }, "{version}");
                let text = content[0]["text"].as_str().unwrap();
                assert_eq!(text.contains("https://a.example/x"), is_plain, "{text}");
            }
        }
        let batch = json!([call("hi")]).to_string();
        let response = send(&router, Method::POST, &[], &batch).await;
        let message = json_of(response).await["error"]["message"].clone();
        assert!(
            message
                .as_str()
                .unwrap()
                .contains("a batch is not supported")
        );
    });
}

/// An agent does not read it, so the caller's model must learn that it was not used.
#[test]
fn an_argument_that_the_tool_does_not_have_is_refused() {
    in_virtual_time(async {
        let router = quiet();
        for (name, value, fails) in [
            ("year", json!(2026), true),
            ("conversation", json!(7), true),
            ("year", Value::Null, false),
            ("conversation", Value::Null, false),
        ] {
            let mut call = call("hi");
            call["params"]["arguments"][name] = value;
            let answer = post(&router, &[], &call).await;
            let answer = read(answer.into_body()).await;
            let is_named = answer.contains(&format!("`{name}`")) && answer.contains("isError");
            assert_eq!(is_named, fails, "{answer}");
        }
    });
}

/// Types are case-insensitive.
#[test]
fn a_client_that_accepts_streams_gets_a_stream() {
    in_virtual_time(async {
        let router = quiet();
        for (accept, is_stream) in [
            ("application/json, text/event-stream", true),
            ("Application/JSON, Text/Event-Stream;q=0.9", true),
            ("TEXT/*", true),
            ("*/*", true),
            ("application/json", false),
            ("text/event-streams", false),
        ] {
            let response = post(&router, &[("accept", accept)], &call("hi")).await;
            let kind = response.headers()["content-type"].to_str().unwrap();
            assert_eq!(kind == "text/event-stream", is_stream, "{accept}");
        }
    });
}

/// Checks an error.
async fn fails(router: &Router, headers: &[(&str, &str)], body: &str, status: u16, code: i64) {
    let response = send(router, Method::POST, headers, body).await;
    assert_eq!(response.status(), status, "{body}");
    let error = json_of(response).await;
    assert_eq!(error["error"]["code"], code, "{body}: {error}");
    assert!(!error["error"]["message"].as_str().unwrap().is_empty());
    let id = serde_json::from_str::<Value>(body)
        .ok()
        .and_then(|body| body.get("id").cloned())
        .filter(|id| id.is_number() || id.is_string());
    assert_eq!(error.get("id").cloned(), id, "{body}");
}

#[test]
fn errors_have_the_codes_of_the_protocol() {
    in_virtual_time(async {
        let router = quiet();
        let with = |change: fn(&mut Value)| {
            let mut call = new_call("hi");
            change(&mut call);
            call.to_string()
        };
        let headers = [
            ("mcp-protocol-version", NEW),
            ("mcp-method", "tools/call"),
            ("mcp-name", "ask"),
        ];
        let whole = new_call("hi").to_string();
        let response = send(&router, Method::POST, &headers, &whole).await;
        assert_eq!(response.status(), 200);
        // Spaces around a value, and a name in base64.
        let spaced = [
            ("mcp-protocol-version", " 2026-07-28 "),
            ("mcp-method", "tools/call"),
            ("mcp-name", "=?base64?YXNr?="),
        ];
        let response = send(&router, Method::POST, &spaced, &whole).await;
        assert_eq!(response.status(), 200);

        for missing in 0..3 {
            let mut headers = headers.to_vec();
            headers.remove(missing);
            fails(&router, &headers, &whole, 400, -32020).await;
        }
        for (at, other) in [
            (0, "2025-11-25"),
            (1, "tools/list"),
            (2, "ASK"),
            (1, "TOOLS/CALL"),
        ] {
            let mut headers = headers;
            headers[at].1 = other;
            fails(&router, &headers, &whole, 400, -32020).await;
        }
        for member in ["protocolVersion", "clientCapabilities"] {
            let mut call = new_call("hi");
            let meta = call["params"]["_meta"].as_object_mut().unwrap();
            meta.remove(&format!("io.modelcontextprotocol/{member}"));
            fails(&router, &headers, &call.to_string(), 400, -32602).await;
        }
        let future = with(|call| {
            call["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] =
                "2099-01-01".into();
        });
        let mut later = headers;
        later[0].1 = "2099-01-01";
        fails(&router, &later, &future, 400, -32022).await;
        let error = json_of(send(&router, Method::POST, &later, &future).await).await;
        assert_eq!(error["error"]["data"]["requested"], "2099-01-01");
        assert_eq!(error["error"]["data"]["supported"][0], NEW);
        for method in [
            "initialize",
            "ping",
            "logging/setLevel",
            "resources/list",
            "x",
        ] {
            let body = new(method, json!({})).to_string();
            let headers = [("mcp-protocol-version", NEW), ("mcp-method", method)];
            fails(&router, &headers, &body, 404, -32601).await;
        }
        let tool = with(|call| call["params"]["name"] = "none".into());
        let mut named = headers;
        named[2].1 = "none";
        fails(&router, &named, &tool, 200, -32602).await;

        // In a session.
        let old = |change: fn(&mut Value)| {
            let mut call = call("hi");
            change(&mut call);
            call.to_string()
        };
        for (body, code) in [
            (old(|it| it["method"] = "x/y".into()), -32601),
            (old(|it| it["params"]["name"] = "x".into()), -32602),
            (old(|it| it["params"]["name"] = 1.into()), -32602),
            (old(|it| it["params"]["arguments"] = "x".into()), -32602),
            (
                old(|it| it["params"]["_meta"]["progressToken"] = 1.5.into()),
                -32602,
            ),
        ] {
            fails(&router, &[], &body, 200, code).await;
        }
        let versions = [("mcp-protocol-version", "2030-01-01")];
        fails(&router, &versions, &call("hi").to_string(), 400, -32022).await;
        for id in ["null", "true", "{}", "[]"] {
            let body = call("hi")
                .to_string()
                .replace("\"id\":1", &format!("\"id\":{id}"));
            fails(&router, &[], &body, 400, -32600).await;
        }
        let long = "x".repeat(300);
        let body = old(|_| {}).replace("\"id\":1", &format!("\"id\":\"{long}\""));
        let response = send(&router, Method::POST, &[], &body).await;
        assert_eq!(response.status(), 400);
        for (body, code) in [
            ("", -32700),
            ("{", -32700),
            ("[]", -32600),
            (
                "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]",
                -32600,
            ),
            ("1", -32600),
            ("\"x\"", -32600),
            ("{}", -32600),
        ] {
            fails(&router, &[], body, 400, code).await;
        }
    });
}

#[test]
fn ids_come_back_as_they_are() {
    in_virtual_time(async {
        let router = quiet();
        for id in [
            "0",
            "-1",
            "1.50",
            "12345678901234567890123",
            "\"\"",
            "\"a\\u2028\\\"\"",
        ] {
            let body = call("hi")
                .to_string()
                .replace("\"id\":1", &format!("\"id\":{id}"));
            let response = send(&router, Method::POST, &[], &body).await;
            let stream = read(response.into_body()).await;
            assert!(
                stream.contains(&format!("\"id\":{id},\"result\"")),
                "{stream}"
            );
        }
    });
}

#[test]
fn arguments_that_a_model_got_wrong_are_results() {
    in_virtual_time(async {
        let router = quiet();
        for arguments in [
            json!({}),
            json!({"question": 1}),
            json!({"question": " "}),
            json!(null),
        ] {
            let mut body = call("");
            body["params"]["arguments"] = arguments;
            let answer = json_of(post(&router, &[], &body).await).await;
            assert_eq!(answer["result"]["isError"], true, "{answer}");
        }
        let mut body = call("hi");
        body["params"]["arguments"]["conversation"] = "conv_1".into();
        let answer = json_of(post(&router, &[], &body).await).await;
        let text = answer["result"]["content"][0]["text"].as_str().unwrap();
        assert!(text.contains("no such conversation"), "{text}");
        let new = post_new(&router, &[], &new_call(" ")).await;
        assert_eq!(json_of(new).await["result"]["resultType"], "complete");
    });
}

#[test]
fn notifications_and_strange_answers_get_202() {
    in_virtual_time(async {
        let router = quiet();
        for body in [
            json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
            json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}),
            json!({"jsonrpc": "2.0", "method": "notifications/nobody/knows"}),
            json!({"jsonrpc": "2.0", "method": "tools/call"}),
            json!({"jsonrpc": "2.0", "id": "srv-1", "result": {"action": "accept"}}),
            json!({"jsonrpc": "2.0", "id": 5, "error": {"code": 1, "message": ""}}),
        ] {
            let response = post(&router, &[], &body).await;
            assert_eq!(response.status(), 202, "{body}");
            assert_eq!(read(response.into_body()).await, "");
        }
    });
}

#[test]
fn other_methods_are_refused() {
    in_virtual_time(async {
        let router = quiet();
        for method in [Method::GET, Method::DELETE, Method::PUT] {
            let response = send(&router, method, &[], "").await;
            assert_eq!(response.status(), 405);
            let allow = response.headers()["allow"].to_str().unwrap();
            assert!(allow.contains("POST"), "{allow}");
        }
    });
}

#[test]
fn pages_of_other_origins_are_refused() {
    in_virtual_time(async {
        let ping = json!({"jsonrpc": "2.0", "id": "p", "method": "ping"});
        for (origin, host, status) in [
            ("http://localhost:1", "localhost:1", 200),
            ("http://127.0.0.1:80", "127.0.0.1:80", 200),
            ("http://[::1]:9", "[::1]:9", 200),
            ("http://evil.example", "localhost:1", 403),
            ("http://localhost:2", "localhost:1", 403),
            // A page that lets its own name resolve to this machine.
            ("http://evil.example:1", "evil.example:1", 403),
            ("null", "localhost:1", 403),
        ] {
            let headers = [("origin", origin), ("host", host)];
            let response = post(&quiet(), &headers, &ping).await;
            assert_eq!(response.status(), status, "{origin} {host}");
        }
        let named = quiet().hosts(["example.com"]);
        let own = [("origin", "https://example.com"), ("host", "example.com")];
        assert_eq!(post(&named, &own, &ping).await.status(), 200);
        let foreign = [("host", "localhost")];
        assert_eq!(post(&named, &foreign, &ping).await.status(), 421);
        let allowed =
            copilot_wire::router::Cors::default().allow("https://a.example".parse().unwrap());
        let page = [("origin", "https://a.example"), ("host", "b.example")];
        assert_eq!(
            post(&quiet().cors(allowed), &page, &ping).await.status(),
            200
        );
    });
}

#[test]
fn a_guard_refuses_with_the_place_of_the_metadata() {
    in_virtual_time(async {
        let server = Server::new("analyst", "1")
            .protected("https://example.com/mcp", ["https://login.example.com"])
            .scopes(["ask"]);
        let router = Router::new()
            .with(|site| {
                site.guard(async |parts: http::request::Parts| {
                    match parts.headers.contains_key("authorization") {
                        true => Ok(parts),
                        false => Err(Refusal::new(StatusCode::UNAUTHORIZED, "no token")),
                    }
                });
                site.mount(
                    mount().server(server),
                    agent(|_, reply| async move { Ok(reply.text("Hi").await?) }),
                )
            })
            .unwrap();
        let response = post(&router, &[], &call("hi")).await;
        assert_eq!(response.status(), 401);
        assert_eq!(
            response.headers()["www-authenticate"],
            "Bearer resource_metadata=\"https://example.com/.well-known/oauth-protected-resource/mcp\""
        );
        assert_eq!(json_of(response).await["error"]["message"], "no token");
        let token = [("authorization", "Bearer t")];
        assert_eq!(post(&router, &token, &call("hi")).await.status(), 200);
        let path = "/.well-known/oauth-protected-resource/mcp";
        let request = http::Request::get(path).body(futures::stream::empty::<
            Result<bytes::Bytes, std::convert::Infallible>,
        >());
        let response = router.handle(request.unwrap()).await;
        assert_eq!(
            json_of(response).await,
            json!({"resource": "https://example.com/mcp",
                   "authorization_servers": ["https://login.example.com"],
                   "scopes_supported": ["ask"]})
        );
    });
}

#[test]
fn mounts_are_checked() {
    let quiet = || agent(|_, _| async { Ok(()) });
    let mounted = || Router::new().mount(mount(), quiet()).unwrap();
    let error = |mount: Mount| {
        let error = mounted().mount(mount, quiet());
        match error {
            Err(MountError::Invalid(message)) => message,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(error(mount()), "tool already mounted: ask");
    assert!(error(Mount::new("a b", "")).contains("a b"));
    assert!(error(Mount::new("", "")).contains("1 to 64"));
    let server = Mount::new("b", "").server(Server::new("s", "1"));
    assert!(error(server).contains("sets the server"));
    assert!(
        mounted()
            .mount(Mount::new("ask", "").path("/other"), quiet())
            .is_ok()
    );
}
