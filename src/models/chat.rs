//! Spans for the calls of models.

use std::future::Future;

#[cfg(feature = "tracing")]
use tracing::field::Empty;

use super::Upstream;
#[cfg(feature = "tracing")]
use super::contents;
use crate::protocol::AgentError;
#[cfg(feature = "tracing")]
use crate::protocol::spans;

/// Opens the span of a call, with additional fields.
#[cfg(feature = "tracing")]
macro_rules! chat_span {
    ($upstream:ident, $prompt:expr, $($fields:tt)*) => {{
        let model = $upstream::model($prompt).as_str();
        tracing::info_span!(
            target: spans::TARGET,
            "chat",
            otel.name = format!("chat {model}"),
            otel.kind = "client",
            otel.status_code = Empty,
            gen_ai.operation.name = "chat",
            gen_ai.provider.name = $upstream::PROVIDER,
            gen_ai.request.model = model,
            gen_ai.request.stream = true,
            gen_ai.response.model = Empty,
            gen_ai.response.finish_reasons = Empty,
            gen_ai.usage.input_tokens = Empty,
            gen_ai.usage.output_tokens = Empty,
            gen_ai.usage.cache_read.input_tokens = Empty,
            gen_ai.usage.cache_creation.input_tokens = Empty,
            gen_ai.usage.reasoning.output_tokens = Empty,
            error.type = Empty,
            $($fields)*
        )
    }};
}

/// Runs a call of a model: the request, and the relay of its answer, in a span.
///
/// With the feature `tracing` the span is `chat MODEL`, with the fields of OpenTelemetry's conventions: the model of
/// `prompt`, the model that answered, the tokens, the finish reason, and `error.type` if the call fails. All except the
/// first are recorded by the [`Relay`](super::Relay) that `call` uses. The span has no contents; see
/// [`chat_with_contents`]. Without the feature the future is only awaited.
///
/// ```
/// # use bytes::Bytes;
/// # use copilot_wire::models::{Prompt as _, Relay, Upstream, chat};
/// # use copilot_wire::protocol::{AgentError, Protocol};
/// # use copilot_wire::Reply;
/// async fn ask<U: Upstream, P: Protocol>(
///     mut prompt: U::Request,
///     post: impl AsyncFn(Bytes) -> Result<Vec<u8>, AgentError>,
///     reply: &Reply<P>,
/// ) -> Result<(), AgentError> {
///     let body = prompt.body(true);
///     chat::<U, _, _>(&mut prompt, async {
///         let mut relay = Relay::<U>::new();
///         relay.pass(&post(body).await?, reply).await?;
///         relay.finish()?;
///         Ok(())
///     })
///     .await
/// }
/// ```
///
/// # Errors
///
/// The error of the call.
///
/// # Cancel safety
///
/// Dropping the future drops the call and ends its span.
pub fn chat<U, T, F>(
    prompt: &mut U::Request,
    call: F,
) -> impl Future<Output = Result<T, AgentError>> + use<U, T, F>
where
    U: Upstream,
    F: Future<Output = Result<T, AgentError>>,
{
    #[cfg(feature = "tracing")]
    {
        let span = chat_span!(U, prompt,);
        spans::run(span, call, AgentError::class)
    }
    #[cfg(not(feature = "tracing"))]
    {
        let _ = prompt;
        call
    }
}

/// Runs a call of a model, like [`chat`], and also records its contents: the instructions, the conversation, and the
/// answer. Contents are the words of users and documents, so record them only if the operator of the server has enabled
/// it. Of files only names and types are recorded.
///
/// # Errors
///
/// The error of the call.
///
/// # Cancel safety
///
/// Dropping the future drops the call and ends its span.
pub fn chat_with_contents<U, T, F>(
    prompt: &mut U::Request,
    call: F,
) -> impl Future<Output = Result<T, AgentError>> + use<U, T, F>
where
    U: Upstream,
    F: Future<Output = Result<T, AgentError>>,
{
    #[cfg(feature = "tracing")]
    {
        let span = chat_span!(
            U,
            prompt,
            gen_ai.system_instructions = Empty,
            gen_ai.input.messages = Empty,
            gen_ai.output.messages = Empty,
        );
        if !span.is_disabled() {
            contents::record_prompt(&span, prompt);
        }
        spans::run(span, call, AgentError::class)
    }
    #[cfg(not(feature = "tracing"))]
    {
        let _ = prompt;
        call
    }
}
