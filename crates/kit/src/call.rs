//! Calls of tools in the shared vocabulary.

use serde::Serialize;

use copilot_wire::protocol::ToolCall;

/// Converts a call. Arguments that are not JSON become a string.
pub(crate) fn tool_call<'a, C>(
    call: &'a C,
    name: &str,
    arguments: &impl Serialize,
) -> Option<ToolCall>
where
    ToolCall: TryFrom<&'a C>,
{
    let read = ToolCall::try_from(call).ok();
    read.or_else(|| ToolCall::new(name, arguments).ok())
}
