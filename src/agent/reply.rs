//! The handle with which an agent writes its reply.

use std::future::poll_fn;
use std::sync::Arc;

use http::{HeaderName, HeaderValue};

use super::channel::Channel;
use crate::protocol::{
    Chart, Citation, Confirmation, Cut, Ending, Notice, Output, Part, Protocol, SendError, Status,
    Table, ToolCall, ToolRun, Usage, Verdict,
};

/// The reply of an agent: each method writes to the response body.
///
/// A write appends directly to the buffer that the body sends. It waits only while more than 16 KiB are unsent, and
/// writes its whole event or nothing.
///
/// A method that ends the turn consumes the reply, so nothing can be written after it:
///
/// ```compile_fail,E0382
/// # use copilot_wire::protocol::{AgentError, Confirmation, Protocol};
/// # use copilot_wire::Reply;
/// # async fn f<P: Protocol>(reply: Reply<P>) -> Result<(), AgentError> {
/// reply.confirm(Confirmation::new("1", "Delete it?", "This cannot be undone."))?;
/// reply.text("and another thing").await?;
/// # Ok(()) }
/// ```
///
/// # Cancel safety
///
/// If the future of a write is dropped before it is ready, nothing was written.
pub struct Reply<P: Protocol> {
    /// For the answer of another server in place of the reply, see [`Channel::pass`].
    pub(crate) channel: Arc<Channel<P>>,
}

impl<P: Protocol> Reply<P> {
    pub(super) fn new(channel: Arc<Channel<P>>) -> Self {
        Self { channel }
    }

    /// Sends a piece of the answer's text. Every front end renders Markdown. Empty text
    /// sends nothing.
    ///
    /// # Errors
    ///
    /// [`SendError::Closed`] when the client has disconnected.
    pub fn text<T: AsRef<str> + Send>(
        &self,
        text: T,
    ) -> impl Future<Output = Result<(), SendError>> + Send {
        // Not an `async fn`: its state machine would cost time for every token.
        poll_fn(move |cx| self.channel.poll_text(cx, &text))
    }

    /// Sends a piece of the model's reasoning. Nothing is sent to front ends that cannot show it apart from the answer.
    ///
    /// # Errors
    ///
    /// [`SendError::Closed`] when the client has disconnected.
    pub async fn reasoning<T: AsRef<str> + Send>(&self, text: T) -> Result<(), SendError> {
        match text.as_ref() {
            "" => Ok(()),
            text => self.part(Part::Reasoning(text)).await,
        }
    }

    /// Sends a step of the work.
    ///
    /// # Errors
    ///
    /// [`SendError::Closed`] when the client has disconnected.
    pub async fn status(&self, status: impl Into<Status>) -> Result<(), SendError> {
        let status = status.into();
        self.part(Part::Status(&status)).await
    }

    /// Sends a tool run of the agent: as a call with its result, or as a step of the work.
    ///
    /// # Errors
    ///
    /// [`SendError::Closed`] when the client has disconnected.
    pub async fn tool_run(&self, run: ToolRun) -> Result<(), SendError> {
        self.part(Part::ToolRun(&run)).await
    }

    /// Sends a source of the answer.
    ///
    /// # Errors
    ///
    /// [`SendError::Closed`] when the client has disconnected.
    pub async fn cite(&self, citation: Citation) -> Result<(), SendError> {
        self.part(Part::Cite(&citation)).await
    }

    /// Sends rows to show as a table.
    ///
    /// # Errors
    ///
    /// [`SendError::Closed`] when the client has disconnected.
    pub async fn table(&self, table: Table) -> Result<(), SendError> {
        self.part(Part::Table(&table)).await
    }

    /// Sends rows to draw as a chart.
    ///
    /// # Errors
    ///
    /// [`SendError::Closed`] when the client has disconnected.
    pub async fn chart(&self, chart: Chart) -> Result<(), SendError> {
        self.part(Part::Chart(&chart)).await
    }

    /// Sends an error that does not end the turn. To fail the turn, return an error instead.
    ///
    /// # Errors
    ///
    /// [`SendError::Closed`] when the client has disconnected.
    pub async fn error(&self, notice: impl Into<Notice>) -> Result<(), SendError> {
        let notice = notice.into();
        self.part(Part::Error(&notice)).await
    }

    /// Adds the tokens of one call of a model to the tokens of the turn. Observers, and front ends that show tokens,
    /// receive the sum of all calls.
    ///
    /// A provider that repeats its figures within one stream sends totals of that stream: report only the last one, as
    /// a [`Relay`](crate::models::Relay) does.
    ///
    /// # Errors
    ///
    /// [`SendError::Closed`] when the client has disconnected. Observers receive the tokens nevertheless, once the
    /// future was polled.
    pub async fn usage(&self, usage: Usage) -> Result<(), SendError> {
        let mut sum = self.channel.spend(usage);
        loop {
            self.part(Part::Usage(&sum)).await?;
            // Another thread may have increased the sum and written a larger one in the meantime.
            match self.channel.spend(Usage::default()) {
                now if now == sum => return Ok(()),
                now => sum = now,
            }
        }
    }

    /// Sets a header of the response, as [`AgentError::header`](crate::protocol::AgentError::header) does for a
    /// failure. It is sent if the head of the response [waits for the first
    /// output](crate::Router::first_output_timeout) or the answer is one document. It has no effect once the head is
    /// sent, as after that time, nor for a client that joins or resumes a [stored reply](crate::replies). Of more than
    /// 100 headers the rest has no effect.
    pub fn header(&self, name: HeaderName, value: HeaderValue) {
        self.channel.set_header(name, value);
    }

    /// Asks the user a question and ends the turn. [`Request::decision`](crate::Request::decision) of the next request
    /// returns the answer.
    ///
    /// A front end without dialogs shows the question as the last text of the answer, a line without markup: title and
    /// message become plain text. The user agrees by repeating the code at the end of the line.
    ///
    /// # Errors
    ///
    /// [`SendError::Invalid`] when title and message together have more than 8,000 characters as they are shown, or
    /// more than 32,759 letters and digits after normalization (NFKC), or the id has more than 64 bytes;
    /// [`SendError::Closed`] when the client has disconnected.
    pub fn confirm(self, confirmation: Confirmation) -> Result<(), SendError> {
        self.channel.confirm(&confirmation)
    }

    /// Asks a question again after an answer that does not count, tells the user the reason, and ends the turn. After
    /// [`Verdict::Changed`] it only tells the reason, because asking again would not help.
    ///
    /// Write nothing before the question: no other text should be above it.
    ///
    /// # Errors
    ///
    /// The same errors as [`confirm`](Self::confirm).
    pub async fn ask_again(
        self,
        verdict: Verdict,
        confirmation: Confirmation,
    ) -> Result<(), SendError> {
        if let Some(reason) = verdict.reason() {
            self.text(reason).await?;
        }
        match verdict {
            Verdict::Changed => Ok(()),
            _ => self.confirm(confirmation),
        }
    }

    /// Calls a tool that the front end offered, and ends the turn: [`calls`](Self::calls) with one call.
    ///
    /// # Errors
    ///
    /// The same errors as [`calls`](Self::calls).
    pub fn call(self, call: ToolCall) -> Result<(), SendError> {
        self.calls(&[call])
    }

    /// Calls tools that the front end offered and ends the turn.
    ///
    /// If a front end runs one call per turn, the other calls are queued: each request with a result is answered with
    /// the next call, and the agent runs again when all calls have results.
    ///
    /// # Errors
    ///
    /// [`SendError::Unsupported`] when the front end did not offer one of the tools. [`SendError::Invalid`] when
    /// `calls` is empty, when arguments are not an object, or when the protocol checks arguments against the tool's
    /// schema and they do not match it. [`SendError::Closed`] when the client has disconnected. After an error no call
    /// is made.
    pub fn calls(self, calls: &[ToolCall]) -> Result<(), SendError> {
        if calls.is_empty() {
            return Err(SendError::Invalid("there is no call".to_owned()));
        }
        self.channel
            .end(false, |session, out| session.part(Part::Calls(calls), out))
    }

    /// Ends the turn with an incomplete answer, and sends the reason: as the finish reason if the front end supports
    /// it, otherwise as a notice.
    ///
    /// Some clients automatically request the remaining text after [`Cut::Length`].
    ///
    /// # Errors
    ///
    /// [`SendError::Closed`] when the client has disconnected.
    pub fn cut(self, cut: Cut) -> Result<(), SendError> {
        self.channel
            .end(false, |session, out| session.part(Part::Cut(cut), out))
    }

    /// Waits until the client has disconnected and the body is dropped.
    ///
    /// Use this in other tasks of the agent. The agent's own future is dropped when the client disconnects, unless the
    /// run was [detached](crate::Body::detach).
    pub fn closed(&self) -> impl Future<Output = ()> + Send {
        poll_fn(|cx| self.channel.poll_closed(cx))
    }

    /// Sends an event of this protocol that does not end the turn.
    ///
    /// The compiler rejects other events, with an explanation:
    ///
    /// ```compile_fail,E0277
    /// # use copilot_wire::{Protocol, Reply, protocol::SendError};
    /// # async fn f<P: Protocol>(reply: Reply<P>, ending: Ending<P>) -> Result<(), SendError> {
    /// reply.send(ending).await // "what ends a turn is sent with `reply.end`"
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`SendError`]; nothing was written then, and the turn may continue.
    pub async fn send(&self, event: impl IntoOutput<P>) -> Result<(), SendError> {
        let event = event.into_output();
        poll_fn(move |cx| {
            self.channel
                .poll_write(cx, true, |session, out| session.output(&event, out))
        })
        .await
    }

    /// Sends an event of this protocol that ends the turn.
    ///
    /// # Errors
    ///
    /// [`SendError`]; the turn has not ended then, and the agent should return the error.
    pub fn end(self, event: impl IntoEnding<P>) -> Result<(), SendError> {
        let event = event.into_ending();
        self.channel
            .end(false, |session, out| session.ending(&event, out))
    }

    async fn part(&self, part: Part<'_>) -> Result<(), SendError> {
        let is_output = !matches!(part, Part::Status(_) | Part::ToolRun(_) | Part::Usage(_));
        poll_fn(|cx| {
            self.channel
                .poll_write(cx, is_output, |session, out| session.part(part, out))
        })
        .await
    }
}

/// An event that [`Reply::send`] accepts: any type that converts into an [`Output`](crate::protocol::Output) of the
/// protocol.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be sent in the course of a turn",
    label = "not an output of `{P}`",
    note = "what ends a turn is sent with `reply.end`"
)]
pub trait IntoOutput<P: Protocol> {
    /// Converts the event.
    fn into_output(self) -> Output<P>;
}

// Without this attribute the compiler reports a missing `Into` instead of the message above.
#[diagnostic::do_not_recommend]
impl<P: Protocol, T: Into<Output<P>>> IntoOutput<P> for T {
    fn into_output(self) -> Output<P> {
        self.into()
    }
}

/// An event that [`Reply::end`] accepts: any type that converts into an [`Ending`](crate::protocol::Ending) of the
/// protocol.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot end a turn",
    label = "not an ending of `{P}`",
    note = "what does not end a turn is sent with `reply.send`"
)]
pub trait IntoEnding<P: Protocol> {
    /// Converts the event.
    fn into_ending(self) -> Ending<P>;
}

#[diagnostic::do_not_recommend]
impl<P: Protocol, T: Into<Ending<P>>> IntoEnding<P> for T {
    fn into_ending(self) -> Ending<P> {
        self.into()
    }
}

impl<P: Protocol> Drop for Reply<P> {
    fn drop(&mut self) {
        self.channel.release();
    }
}

opaque_debug!(impl[P: Protocol] Reply for Reply<P>);
