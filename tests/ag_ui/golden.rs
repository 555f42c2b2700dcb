//! Streams with events that only this protocol has, to the byte.

use copilot_wire::ag_ui::{Interrupt, Mount, StateDelta, StateSnapshot};
use serde_json::json;

use crate::support::{mounted, read};

#[test]
fn a_state_and_an_interrupt() {
    let stream = mounted(Mount::new(), |reply| async move {
        reply
            .send(StateSnapshot::new(&json!({"count": 1, "none": null}))?)
            .await?;
        let patch = json!([{"op": "replace", "path": "/count", "value": 2}]);
        reply.send(StateDelta::new(&patch)?).await?;
        Ok(reply.end(Interrupt::new("q1", "choice").message("Which?"))?)
    });
    read(&stream);
    assert_eq!(stream, include_str!("../../fixtures/ag-ui/state.sse"));
}
