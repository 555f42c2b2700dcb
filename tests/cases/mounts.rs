//! The agent of a case behind a protocol, as its line `mount` says.

use std::sync::{Arc, Mutex};

use copilot_wire::Router;
use copilot_wire::protocol::Tool;
use copilot_wire::{ag_ui, ui_stream};
use copilot_wire_kit::{Toolkit, Visit};

use crate::fixed;
use crate::parts::Parts;

/// A router, and what its agent says next.
pub(crate) struct Scene {
    pub(crate) router: Router,
    pub(crate) parts: Arc<Mutex<Vec<String>>>,
}

/// Mounts the agent.
pub(crate) fn scene(protocol: &str, settings: &str) -> Scene {
    let parts = Arc::default();
    let agent = Parts(Arc::clone(&parts));
    let router = Router::new().env(fixed());
    let page = ui_stream::Mount::new();
    let tool = || Tool::new("getLocation", "Returns where the user is.");
    let router = match (protocol, settings) {
        (_, "") => usual(router, protocol, agent),
        (_, "late") => {
            usual(router, protocol, agent).first_output_timeout(std::time::Duration::ZERO)
        }
        ("ag-ui", "without markdown") => router
            .mount(ag_ui::Mount::new().markdown(false), agent)
            .unwrap(),
        ("ag-ui", "with interrupts") => router
            .mount(ag_ui::Mount::new().interrupts(true), agent)
            .unwrap(),
        ("ui-stream", "without markdown") => router.mount(page.markdown(false), agent).unwrap(),
        ("ui-stream", "without reasons") => router.mount(page.finish_reason(false), agent).unwrap(),
        ("ui-stream", "with tools") => router.mount(page.tool(tool()), agent).unwrap(),
        ("ui-stream", "with approvals") => router
            .mount(page.tool(tool()).approvals(true), agent)
            .unwrap(),
        _ => panic!("{protocol}: no mount {settings:?}"),
    };
    Scene { router, parts }
}

fn usual(router: Router, protocol: &str, agent: Parts) -> Router {
    struct Mounting<'a>(&'a str, Parts, Option<Router>);
    impl Visit for Mounting<'_> {
        fn visit<P: Toolkit>(&mut self) {
            if P::NAME == self.0 {
                let router = self.2.take().unwrap();
                self.2 = Some(router.mount(P::mount(), self.1.clone()).unwrap());
            }
        }
    }
    let mut mounting = Mounting(protocol, agent, Some(router));
    mounting.visit_all();
    mounting.2.unwrap()
}
