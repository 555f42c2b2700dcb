//! The context of the current turn, and the reasons why parts of it are missing.

use std::borrow::Cow;
use std::fmt;

use super::data::{Exclusion, ReferenceData};
use super::message::Message;
use super::reference::Reference;

/// The context of the current turn: what the client attached, what was withheld, and why.
///
/// Clients attach it to different messages (recorded request of github.com, VS Code's source): an
/// IDE to the last message; github.com to the messages from the last `_session` message on, of
/// which the last one has only the prompt. This type reads both.
///
/// Missing context is the most frequent report of agent developers. Its causes:
///
/// | symptom | cause | remedy |
/// |---|---|---|
/// | `github.repository` redacted | the App cannot read the repository | install the App on it |
/// | `github.current-url` redacted alone | no repository belongs to the page | nothing; ask the user |
/// | no `client.*`, and the repository redacted | the App cannot read the repository, which removes the editor's context too | install the App on it |
/// | no `client.*` at all | the App lacks the permission "Copilot Editor Context", or the user excluded the file, or no file is open | set the permission; ask the user |
/// | a file whose content is a marker | the file is excluded, hidden or too large | ask for another file |
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Context<'a> {
    references: Vec<&'a Reference>,
    web: bool,
}

/// An attachment that the agent may not read.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Withheld<'a> {
    /// The type of the attachment, such as `github.repository`.
    pub kind: Cow<'a, str>,
    /// The reason why it was withheld.
    pub reason: WithheldReason,
    /// The reference that replaces the attachment.
    pub reference: &'a Reference,
}

/// The reason why an attachment is withheld. `Display` is a sentence for the operator of the agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum WithheldReason {
    /// The App cannot read the repository.
    RepositoryUnreadable,
    /// The page that the user views belongs to no repository.
    NoRepositoryAtUrl,
    /// The platform withheld it without a reason; for editor context, a permission is missing.
    Permission,
    /// The client removed the content.
    Excluded(Exclusion),
}

/// The presence of editor context: the open file and the selection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum EditorContext {
    /// The context is present, and some of it has content.
    Sent,
    /// The context was withheld; see [`Context::withheld`].
    Withheld,
    /// The context is absent: the permission "Copilot Editor Context" is missing, the user excluded
    /// the file, or no file is open. The request does not tell which.
    Absent,
}

impl fmt::Display for WithheldReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::RepositoryUnreadable => {
                "the App cannot read the repository: install it there, with read permission"
            }
            Self::NoRepositoryAtUrl => "the page that the user views belongs to no repository",
            Self::Permission => "a permission of the App is missing",
            Self::Excluded(Exclusion::ContentExclusion) => {
                "a rule of the organisation excludes the file from Copilot"
            }
            Self::Excluded(Exclusion::HiddenFile) => {
                "the file's name starts with a dot, and clients do not send such files"
            }
            Self::Excluded(Exclusion::TooLarge) => "the file is too large to send",
        })
    }
}

impl<'a> Context<'a> {
    /// Collects the context of the latest turn.
    pub(super) fn of(messages: &'a [Message]) -> Self {
        // An IDE has no session message and attaches its context to the last message.
        let session = messages.iter().rposition(Message::is_session);
        let current = messages.get(session.unwrap_or_else(|| messages.len().saturating_sub(1))..);
        let references = current
            .into_iter()
            .flatten()
            // On github.com all messages after the session message are the client's. The references
            // of an assistant message are the agent's own memory, not context.
            .filter(|message| message.role != "assistant")
            .flat_map(|message| &message.references)
            .collect();
        Self {
            references,
            web: session.is_some(),
        }
    }

    /// Returns `true` if the request comes from github.com, whose requests have a `_session`
    /// message.
    pub fn is_web(&self) -> bool {
        self.web
    }

    /// Returns an iterator over all references in order, including those withheld in part or
    /// completely.
    pub fn references(&self) -> impl ExactSizeIterator<Item = &'a Reference> {
        self.references.iter().copied()
    }

    /// Returns an iterator over the data of all references that are not withheld, by type.
    pub fn data(&self) -> impl Iterator<Item = (&'a Reference, ReferenceData<'a>)> {
        self.references().filter_map(|reference| {
            let data = reference.typed();
            (!withholds(&data)).then_some((reference, data))
        })
    }

    /// Returns an iterator over the withheld attachments, with the reasons.
    ///
    /// The rules of redaction are in GitHub's documentation on context passing: if the App cannot
    /// read the repository, `github.repository` is redacted, on github.com together with
    /// `github.current-url`; a URL that belongs to no repository is redacted alone.
    pub fn withheld(&self) -> impl Iterator<Item = Withheld<'a>> {
        let unreadable = self.redacts("github.repository");
        self.references().filter_map(move |reference| {
            let excluded = |exclusion: Option<Exclusion>| {
                Some(Withheld {
                    kind: Cow::Borrowed(&reference.kind),
                    reason: WithheldReason::Excluded(exclusion?),
                    reference,
                })
            };
            match reference.typed() {
                ReferenceData::Redacted(kind) => {
                    let reason = match &*kind {
                        "github.repository" => WithheldReason::RepositoryUnreadable,
                        // Redacted together with the repository; alone it has another cause.
                        "github.current-url" if unreadable => WithheldReason::RepositoryUnreadable,
                        "github.current-url" => WithheldReason::NoRepositoryAtUrl,
                        _ => WithheldReason::Permission,
                    };
                    Some(Withheld {
                        kind: kind.into(),
                        reason,
                        reference,
                    })
                }
                ReferenceData::ClientFile(file) => excluded(file.exclusion()),
                ReferenceData::ClientSelection(selection) => excluded(selection.exclusion()),
                _ => None,
            }
        })
    }

    /// Returns the presence of the open file or the selection.
    pub fn editor(&self) -> EditorContext {
        let is_client = |kind: &str| kind.starts_with("client.");
        if self.data().any(|(reference, _)| is_client(&reference.kind)) {
            return EditorContext::Sent;
        }
        // Outside github.com the platform removes the editor's context together with the
        // repository, without a redacted reference for it.
        let removed = !self.web && self.redacts("github.repository");
        if removed || self.withheld().any(|withheld| is_client(&withheld.kind)) {
            return EditorContext::Withheld;
        }
        EditorContext::Absent
    }

    /// Returns `true` if a reference of this type was redacted.
    fn redacts(&self, kind: &str) -> bool {
        self.references.iter().any(
            |reference| matches!(reference.typed(), ReferenceData::Redacted(redacted) if redacted == kind),
        )
    }
}

/// Returns `true` if the data replaces content that the agent may not read.
fn withholds(data: &ReferenceData<'_>) -> bool {
    match data {
        ReferenceData::Redacted(_) => true,
        ReferenceData::ClientFile(file) => file.exclusion().is_some(),
        ReferenceData::ClientSelection(selection) => selection.exclusion().is_some(),
        _ => false,
    }
}
