//! The example agent keeps every rule of every front end.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    missing_docs
)]

use analyst::Analyst;
use copilot_wire::Router;
use copilot_wire::ag_ui::AgUi;
use copilot_wire::github::Mount;
use copilot_wire::ui_stream::UiStream;
use copilot_wire::{github::GitHub, meilisearch::Meilisearch, openai::OpenAi, openbb::OpenBb};
use copilot_wire_kit::check::{Target, check};
use copilot_wire_kit::github::RequestSigner;
use copilot_wire_kit::kit;

/// Tokio's paused clock advances at once when all tasks wait.
#[tokio::test(start_paused = true)]
async fn it_is_clean_in_the_workspace() {
    let router = analyst::routes(Analyst::new(None)).unwrap();
    let report = check(&router, Target::new(kit::<OpenBb>())).await;
    assert!(report.is_clean(), "{report}");
    assert!(report.passed.contains(&"openbb/after-function-call"));
    assert!(report.passed.contains(&"openbb/artifact"));
    assert!(report.passed.contains(&"openbb/citation-id"));
}

#[tokio::test(start_paused = true)]
async fn it_is_clean_for_github() {
    let signer = RequestSigner::from_seed(b"check");
    let agent = Analyst::new(None);
    let router = Router::new();
    let router = router
        .mount(Mount::verified(signer.key_set()), agent)
        .unwrap();
    let report = check(&router, Target::new(kit::<GitHub>()).signer(signer)).await;
    assert!(report.is_clean(), "{report}");
    assert!(report.passed.contains(&"github/forged"));
    assert!(report.passed.contains(&"github/references"));
}

#[tokio::test(start_paused = true)]
async fn it_is_clean_for_openai_clients() {
    let router = analyst::routes(Analyst::new(None)).unwrap();
    let report = check(&router, Target::new(kit::<OpenAi>())).await;
    assert!(report.is_clean(), "{report}");
    assert!(report.passed.contains(&"openai/whole"));
}

#[tokio::test(start_paused = true)]
async fn it_is_clean_for_meilisearch_clients() {
    let router = analyst::routes(Analyst::new(None)).unwrap();
    let report = check(&router, Target::new(kit::<Meilisearch>())).await;
    assert!(report.is_clean(), "{report}");
}

#[tokio::test(start_paused = true)]
async fn it_is_clean_for_pages_on_the_ai_sdk() {
    let router = analyst::routes(Analyst::new(None)).unwrap();
    let report = check(&router, Target::new(kit::<UiStream>())).await;
    assert!(report.is_clean(), "{report}");
}

#[tokio::test(start_paused = true)]
async fn it_is_clean_for_ag_ui_apps() {
    let router = analyst::routes(Analyst::new(None)).unwrap();
    let report = check(&router, Target::new(kit::<AgUi>())).await;
    assert!(report.is_clean(), "{report}");
}
