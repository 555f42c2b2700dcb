//! A router below a path.

use copilot_wire::Router;
use copilot_wire::openbb::Descriptor;
use copilot_wire::router::MountError;

use crate::support::*;

#[test]
fn documents_advertise_the_base_path_and_requests_are_found_with_it_and_without() {
    for base in ["/agents", "/agents/", "agents", "/gateway/agents/"] {
        let router = Router::new()
            .base_path(base)
            .mount(
                descriptor("one")
                    .feedback("/v1/feedback")
                    .image("/one.png")
                    .base_url("https://example.com"),
                Echo,
            )
            .and_then(|router| router.mount(copilot_wire::openai::Model::new("one"), Echo))
            .unwrap();
        let base = format!("/{}", base.trim_matches('/'));
        for prefix in ["", &base] {
            let agents = document(&router, &format!("{prefix}/agents.json"));
            let one = &agents["one"];
            let query = one["endpoints"]["query"].as_str().unwrap();
            assert_eq!(query, format!("{base}/one/query"));
            assert_eq!(one["endpoints"]["feedback"], format!("{base}/v1/feedback"));
            assert_eq!(one["image"], format!("{base}/one.png"));
            let old = document(&router, &format!("{prefix}/copilots.json"));
            let whole = format!("https://example.com{base}/one/query");
            assert_eq!(old["one"]["endpoints"]["query"], whole);
            // Below the host, below the URL of the server, and as a proxy leaves it that strips.
            for path in [
                query,
                &format!("{base}{query}"),
                "/one/query",
                "/one/query/",
            ] {
                let (status, reply) = ask(&router, post(path), human("hello"));
                assert!(
                    status == 200 && reply.contains("hello"),
                    "{path}: {status} {reply}"
                );
            }
            let (status, _) = get(&router, &format!("{prefix}/v1/models"));
            assert_eq!(status, 200);
        }
        let (status, _) = get(&router, "/agentsmith/agents.json");
        assert_eq!(status, 404);
    }
}

#[test]
fn a_base_path_hides_no_route_of_its_name() {
    let router = Router::new()
        .base_path("/v1")
        .mount(Descriptor::new("one", "One", "Repeats"), Echo)
        .unwrap();
    for path in ["/v1/query", "/v1/v1/query"] {
        assert_eq!(ask(&router, post(path), human("hello")).0, 200, "{path}");
    }
}

#[test]
fn a_whole_url_does_not_move_the_agent() {
    let elsewhere = "https://example.com/deep/below/query";
    let one = Descriptor::new("one", "One", "Repeats").url(elsewhere);
    let two = Descriptor::new("two", "Two", "Repeats")
        .url(elsewhere)
        .path("/two");
    let router = Router::new().base_path("/agents").mount(one, Echo).unwrap();
    let router = router.mount(two, Echo).unwrap();
    let agents = document(&router, "/agents.json");
    for (id, path) in [("one", "/v1/query"), ("two", "/two")] {
        assert_eq!(agents[id]["endpoints"]["query"], elsewhere);
        assert_eq!(ask(&router, post(path), human("hello")).0, 200, "{path}");
    }
    assert_eq!(
        ask(&router, post("/deep/below/query"), human("hello")).0,
        404
    );
    // A URL is no path.
    let path = Descriptor::new("one", "One", "Repeats").path(elsewhere);
    let error = Router::new().mount(path, Echo).unwrap_err();
    assert!(matches!(error, MountError::Path(_)), "{error}");
}
