//! The routes that serve the models to every front end.

use std::collections::HashSet;
use std::error::Error;
use std::sync::{Arc, Mutex, PoisonError};

use copilot_wire::conversations::{Conversations, MemoryConversationStore};
use copilot_wire::json::Json;
use copilot_wire::openbb::{Descriptor, Switch};
use copilot_wire::protocol::{Refusal, User};
use copilot_wire::replies::{MemoryReplyStore, Replies};
use copilot_wire::{Router, ag_ui, github, mcp, meilisearch, ui_stream};
use copilot_wire_hyper::Metrics;
use http::request::Parts;

use super::budget::Budget;
use super::log::{self, Facts};
use super::model::Model;
use super::settings::Plan;

/// The hosts by which a browser on this machine reaches it.
const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// The parts of a server that do not change when the settings are read again.
pub(super) struct Server {
    /// A router without routes, from which every router is made.
    base: Router,
    pub(super) metrics: Arc<Metrics>,
    budget: Arc<Budget>,
    /// The models of the last settings.
    models: Mutex<Vec<Arc<Model>>>,
    pub(super) replies: Replies,
}

impl Server {
    /// Creates a server. With `json`, its log consists of lines of JSON.
    pub(super) fn new(json: bool) -> Self {
        let metrics = Arc::<Metrics>::default();
        let (observer, budget) = (Arc::clone(&metrics), Arc::<Budget>::default());
        let spent = Arc::clone(&budget);
        let base = Router::new()
            .conversations(Conversations::per_user(MemoryConversationStore::new()))
            .observe(move |turn| {
                let seen = Facts::of(turn.extensions).seen();
                observer.add(turn, seen.model.as_deref());
                spent.add(turn);
                log::turn(turn, &seen, json);
            })
            .guard(async |mut parts: Parts| {
                parts.extensions.insert(Facts::default());
                Ok::<_, Refusal>(parts)
            });
        let replies = Replies::per_user(MemoryReplyStore::new(), tokio::spawn);
        Self {
            base,
            metrics,
            budget,
            models: Mutex::default(),
            replies,
        }
    }

    /// Returns the metrics of the upstreams and of the budget.
    pub(super) fn more_metrics(&self) -> String {
        let mut all = self.budget.to_string();
        let models = self.models.lock().unwrap_or_else(PoisonError::into_inner);
        let mut up = "# TYPE agent_upstream_up gauge\n".to_owned();
        all.push_str("# TYPE agent_upstream_failures_total counter\n");
        for model in &*models {
            // Escaped as Prometheus wants it: JSON escapes the same characters.
            let name = Json::encode(&model.name).unwrap_or_default();
            for (at, (failures, is_up)) in model.upstreams.health().enumerate() {
                let labels = format!("{{model={},upstream=\"{at}\"}}", name.text());
                all.push_str(&format!(
                    "agent_upstream_failures_total{labels} {failures}\n"
                ));
                up.push_str(&format!("agent_upstream_up{labels} {}\n", u8::from(is_up)));
            }
        }
        all + &up
    }

    /// Returns a router with these models on every front end.
    pub(super) fn router(&self, plan: &Plan) -> Result<Router, Box<dyn Error>> {
        let mut router = self.base.clone().max_turns(plan.server.turns());
        router = router.cors(plan.cors.clone());
        router = match &plan.keys {
            Some(keys) => router.guard(keys.guard()),
            // Without keys, only callers on this machine are served, as one user. The playground cannot send keys.
            None => router
                .hosts(LOOPBACK)
                .playground()?
                .guard(async |mut parts: Parts| {
                    parts.extensions.insert(User::new("local"));
                    Ok::<_, Refusal>(parts)
                }),
        };
        if let Some(limit) = plan.server.tokens_per_day {
            let budget = Arc::clone(&self.budget);
            router = router.guard(move |parts: Parts| {
                let checked = budget.check(&parts, limit);
                async { checked.map(|()| parts) }
            });
        }
        if let Some(limit) = plan.server.per_minute {
            router = router.max_turns_per_minute(limit);
        }
        if plan.server.resumable {
            router = router.resumable(self.replies.clone());
        }
        let mut ids = HashSet::new();
        for (at, model) in plan.models.iter().enumerate() {
            let mut id = slug(&model.name);
            // Several names may have the same letters and digits.
            while !ids.insert(id.clone()) {
                id = format!("{id}-{at}");
            }
            let description = format!("Answers with the model {}.", model.name);
            let descriptor = Descriptor::new(&id, &model.name, description)
                .enable(Switch::WidgetDashboardSelect)
                .enable(Switch::WidgetDashboardSearch);
            let descriptor = match at {
                0 => descriptor,
                _ => descriptor.path(format!("/{id}/query")),
            };
            router = router.mount(descriptor, Arc::clone(model))?;
            router = match at == 0 && plan.server.catch_all {
                true => router.mount_catch_all(&model.name, Arc::clone(model))?,
                false => router.mount_model(&model.name, Arc::clone(model))?,
            };
        }
        let Some(first) = plan.models.first() else {
            self.show(plan);
            return Ok(router);
        };
        let name = &first.name;
        let tool = mcp::Mount::new(
            "ask",
            format!("Asks the model {name} one question, and returns its answer."),
        )
        .title(format!("Ask {name}"))
        .read_only()
        .server(mcp::Server::new("wire", env!("CARGO_PKG_VERSION")));
        let router = router
            // Callers have a key or are on this machine, so that GitHub's signature is not needed.
            .mount(github::Mount::unverified(), Arc::clone(first))?
            .mount(meilisearch::Mount::new(), Arc::clone(first))?
            .mount(ui_stream::Mount::new(), Arc::clone(first))?
            .mount(ag_ui::Mount::new(), Arc::clone(first))?
            .mount(tool, Arc::clone(first))?;
        self.show(plan);
        Ok(router)
    }

    /// Shows the models of a plan in the metrics.
    fn show(&self, plan: &Plan) {
        let mut shown = self.models.lock().unwrap_or_else(PoisonError::into_inner);
        shown.clone_from(&plan.models);
    }
}

/// Returns a name with only the characters that an id and a path may contain.
fn slug(name: &str) -> String {
    let letter = |letter: char| match letter.to_ascii_lowercase() {
        letter @ ('a'..='z' | '0'..='9' | '-' | '_') => letter,
        _ => '-',
    };
    name.chars().map(letter).collect()
}
