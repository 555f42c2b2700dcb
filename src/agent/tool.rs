//! Spans for the tool runs of an agent.

/// Runs a tool of the agent in a span.
///
/// With the feature `tracing` the span is `execute_tool NAME`, with the fields of OpenTelemetry's conventions: the
/// name, the id of the model's call if there is one, and `error.type` `tool_error` if the run fails. It contains
/// neither arguments nor results. Without the feature the future is only awaited.
///
/// ```
/// use copilot_wire::agent::execute_tool;
///
/// # async fn f() -> Result<(), std::io::Error> {
/// let size = execute_tool("count_lines", Some("call_1"), async {
///     std::fs::read_to_string("notes.md").map(|text| text.lines().count())
/// })
/// .await?;
/// # let _ = size; Ok(()) }
/// ```
///
/// # Errors
///
/// The error of the run.
///
/// # Cancel safety
///
/// Dropping the future drops the run and ends its span. Side effects of the run up to this point remain.
pub fn execute_tool<T, E, F>(
    name: &str,
    call_id: Option<&str>,
    run: F,
) -> impl Future<Output = Result<T, E>> + use<T, E, F>
where
    F: Future<Output = Result<T, E>>,
{
    #[cfg(feature = "tracing")]
    {
        use crate::protocol::spans;
        let span = tracing::info_span!(
            target: spans::TARGET,
            "execute_tool",
            otel.name = format!("execute_tool {name}"),
            otel.status_code = tracing::field::Empty,
            gen_ai.operation.name = "execute_tool",
            gen_ai.tool.name = name,
            gen_ai.tool.call.id = call_id,
            error.type = tracing::field::Empty,
        );
        spans::run(span, run, |_| "tool_error")
    }
    #[cfg(not(feature = "tracing"))]
    {
        let _ = (name, call_id);
        run
    }
}
