//! What is printed of an agent's setup.

use std::time::Duration;

use autogpt::model::Endpoint;
use autogpt::setup::Setup;
use autogpt::web::SearxngSearch;

#[test]
fn no_secret_is_printed() {
    let base = "https://user:SECRET@a.example/v1?token=SECRET";
    let setup = Setup::new(|name| match name {
        "OPENAI_API_KEY" | "GOOGLE_API_KEY" | "CUSTOM_SEARCH_ENGINE_ID" => Some("SECRET".into()),
        "OPENAI_BASE_URL" => Some(base.into()),
        "SEARXNG_URL" => Some("user:SECRET@a.example".into()),
        _ => None,
    });
    let timeout = Duration::from_secs(1);
    let endpoint = Endpoint::new(base, Some("SECRET"), timeout).unwrap();
    let search = SearxngSearch::new(base, timeout).unwrap();
    for printed in [
        format!("{setup:?}"),
        format!("{endpoint:?}"),
        format!("{search:?}"),
    ] {
        assert!(!printed.contains("SECRET"), "{printed}");
        assert!(printed.contains("\"https://a.example/v1\""), "{printed}");
    }
}
