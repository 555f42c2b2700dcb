//! Spans and their fields, named by OpenTelemetry's conventions for generative AI, version 1.41.0.

use tracing::{Instrument as _, Span};

use super::Usage;

/// The target of all spans and events of this crate.
pub(crate) const TARGET: &str = "copilot_wire";

/// Records in a span that its operation has failed, with the class of the error.
pub(crate) fn fail(span: &Span, class: &str) {
    span.record("error.type", class);
    span.record("otel.status_code", "ERROR");
}

/// Records in a span the tokens of one call of a model, or of all calls of a turn.
pub(crate) fn usage(span: &Span, usage: Usage) {
    for (name, tokens) in [
        ("gen_ai.usage.input_tokens", usage.input_tokens),
        ("gen_ai.usage.output_tokens", usage.output_tokens),
        (
            "gen_ai.usage.cache_read.input_tokens",
            usage.cached_input_tokens,
        ),
        (
            "gen_ai.usage.cache_creation.input_tokens",
            usage.cache_write_tokens,
        ),
        (
            "gen_ai.usage.reasoning.output_tokens",
            usage.reasoning_tokens,
        ),
    ] {
        span.record(name, tokens);
    }
}

/// Runs an operation in a span. `class` returns the class of an error.
pub(crate) async fn run<T, E>(
    span: Span,
    operation: impl Future<Output = Result<T, E>>,
    class: impl FnOnce(&E) -> &'static str,
) -> Result<T, E> {
    let result = operation.instrument(span.clone()).await;
    if let Err(error) = &result {
        fail(&span, class(error));
    }
    result
}
