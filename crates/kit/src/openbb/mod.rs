//! The OpenBB Workspace in tests: an emulated front end, and the protocol's part of the conformance kit and the
//! command line.
//!
//! ```
//! use copilot_wire::openbb::OpenBb;
//! use copilot_wire_kit::{check::recorded, kit};
//!
//! let stream = b"event: copilotMessageChunk\ndata: {'delta': 'x'}\n\n";
//! let report = recorded(kit::<OpenBb>(), stream);
//! assert!(report.rules().eq(["openbb/json", "openbb/empty"]));
//! assert_eq!(report.findings[0].offset, Some(0));
//! ```

mod calls;
mod cors;
mod dashboard;
mod descriptor;
mod front_end;
mod native;
mod requests;
mod rules;
mod show;

pub use front_end::Workspace;

use http::header::ORIGIN;
use http::{HeaderMap, HeaderValue};

use crate::check::Rule;
use crate::{BoxError, Sample, Setup, ToolOutcome, Toolkit, in_modules};
use copilot_wire::openbb::{Descriptor, OpenBb, QueryRequest};
use copilot_wire::router;

impl Toolkit for OpenBb {
    const TITLE: &'static str = "The OpenBB Workspace";

    const SAMPLE: Sample = Sample::new(
        r#"{"messages":[{"role":"human","content":"hi"}]}"#,
        &[
            "/v1/query",
            "/v1/query/",
            "/agents.json",
            "/copilots.json",
            "/v1/feedback",
        ],
        &["x-trace-id"],
    );

    const RULES: &'static [&'static [&'static Rule]] =
        &[cors::RULES, descriptor::RULES, rules::RULES, calls::RULES];

    in_modules!();

    type FrontEnd = Workspace;

    fn front_end(setup: &Setup<'_>) -> Result<Workspace, BoxError> {
        let request = setup.read::<Self>()?.unwrap_or_default();
        let front = dashboard(request, setup);
        Ok(match &setup.conversation_id {
            Some(id) => front.conversation_id(id),
            None => front,
        })
    }

    fn mount() -> impl router::Mount<Protocol = Self> {
        Descriptor::new("echo", "Echo", "Echoes")
    }

    fn headers() -> HeaderMap {
        let trace = "7d1c3f52-6f0f-4b7e-9a55-0d8f2f6f7a11";
        let mut headers = HeaderMap::new();
        headers.insert(ORIGIN, HeaderValue::from_static(cors::WORKSPACE));
        headers.insert("x-trace-id", HeaderValue::from_static(trace));
        headers
    }
}

/// Adds the available data for the widgets of a request to the dashboard.
fn dashboard(mut request: QueryRequest, setup: &Setup<'_>) -> Workspace {
    // A widget matches by its id, its id at its backend, or its name.
    let widgets: Vec<_> = request
        .widgets()
        .map(|(tier, widget)| {
            let id = widget.id().unwrap_or_default();
            let names = [&*id, &*widget.widget_id, &*widget.name];
            let data = setup.data.and_then(|find| find(&names));
            (tier, widget.clone(), data)
        })
        .collect();
    // Without data, the widgets stay in the form of the request.
    if widgets.iter().all(|(_, _, data)| data.is_none()) {
        return Workspace::continuing(request);
    }
    request.widgets = None;
    let mut front = Workspace::continuing(request);
    for (tier, widget, data) in widgets {
        let none = || ToolOutcome::failed("there is no data for this widget");
        front = front.widget(tier, widget, data.unwrap_or_else(none));
    }
    front
}
