//! What context came with the current turn, what was withheld, and why.

use std::borrow::Cow;
use std::fmt;

use super::data::{Data, Exclusion};
use super::message::Message;
use super::reference::Reference;

/// What context came with the current turn, what was withheld, and why.
///
/// Clients put it in different places (recorded request of github.com, VS Code's source): an IDE on
/// the last message; github.com on the messages from the last `_session` message on, of which the
/// last one carries the prompt and nothing else. This is the same for both.
///
/// Missing context is what builders of agents report most. Why something is not there:
///
/// | what is seen | cause | what helps |
/// |---|---|---|
/// | `github.repository` redacted | the App cannot read the repository | install the App on it |
/// | `github.current-url` redacted alone | no repository belongs to the page | nothing; ask the user |
/// | no `client.*`, and the repository redacted | the App cannot read the repository, which removes the editor's context too | install the App on it |
/// | no `client.*` at all | the App lacks the permission "Copilot Editor Context", or the user excluded the file, or no file is open | set the permission; ask the user |
/// | a file whose content is a marker | the file is excluded, hidden or too large | ask for another file |
#[derive(Clone, Debug)]
pub struct Context<'a> {
    references: Vec<&'a Reference>,
    web: bool,
}

/// Something that was attached, and that the agent may not see.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Withheld<'a> {
    /// The type of what was attached, such as `github.repository`.
    pub kind: Cow<'a, str>,
    /// Why it is withheld.
    pub why: Why,
    /// What came in its place.
    pub reference: &'a Reference,
}

/// Why something was withheld. `Display` is a plain sentence for whoever runs the agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Why {
    /// The App cannot read the repository.
    RepositoryUnreadable,
    /// No repository can be derived from the page that the user looks at.
    NoRepositoryAtUrl,
    /// The platform withheld it and does not say why; for editor context, a permission is missing.
    Permission,
    /// The client left the content out.
    Excluded(Exclusion),
}

/// Whether the editor's context came: the open file, the selection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum EditorContext {
    /// It came, and some of it has content.
    Sent,
    /// Something was there and was withheld; see [`Context::withheld`].
    Withheld,
    /// Nothing came: the permission "Copilot Editor Context" is missing, the user excluded the
    /// file, or no file is open. The request cannot tell which.
    Absent,
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::RepositoryUnreadable => {
                "the App cannot read the repository: install it there, with read permission"
            }
            Self::NoRepositoryAtUrl => "no repository belongs to the page that the user looks at",
            Self::Permission => "a permission of the App is missing",
            Self::Excluded(Exclusion::ContentExclusion) => {
                "a rule of the organisation excludes the file from Copilot"
            }
            Self::Excluded(Exclusion::HiddenFile) => {
                "the file's name starts with a dot, and clients do not send such files"
            }
            Self::Excluded(Exclusion::TooLarge) => "the file is too large to be sent",
        })
    }
}

impl<'a> Context<'a> {
    /// Collects the context of the newest turn.
    pub(super) fn of(messages: &'a [Message]) -> Self {
        let session = messages.iter().rposition(Message::is_session);
        let current = messages.get(session.unwrap_or_else(|| messages.len().saturating_sub(1))..);
        let references = current
            .into_iter()
            .flatten()
            // What follows the session message on github.com is all the client's, but an agent's
            // own references are memory, not context.
            .filter(|message| message.role != "assistant")
            .flat_map(|message| &message.references)
            .collect();
        Self {
            references,
            web: session.is_some(),
        }
    }

    /// Whether the request comes from github.com: those have a `_session` message.
    #[must_use]
    pub fn is_web(&self) -> bool {
        self.web
    }

    /// Everything that came, in order, also what is withheld in part or whole.
    pub fn references(&self) -> impl ExactSizeIterator<Item = &'a Reference> {
        self.references.iter().copied()
    }

    /// Everything that came, by its type, without what is withheld.
    pub fn data(&self) -> impl Iterator<Item = (&'a Reference, Data<'a>)> {
        self.references().filter_map(|reference| {
            let data = reference.typed();
            (!withholds(&data)).then_some((reference, data))
        })
    }

    /// What was withheld, and why.
    ///
    /// The rules of redaction (GitHub's documentation on context passing): an App that cannot read
    /// the repository gets `github.repository` redacted, on github.com together with
    /// `github.current-url`; a URL that belongs to no repository is redacted alone.
    pub fn withheld(&self) -> impl Iterator<Item = Withheld<'a>> {
        let unreadable = self.redacts("github.repository");
        self.references().filter_map(move |reference| {
            let excluded = |exclusion: Option<Exclusion>| {
                Some(Withheld {
                    kind: Cow::Borrowed(&reference.kind),
                    why: Why::Excluded(exclusion?),
                    reference,
                })
            };
            match reference.typed() {
                Data::Redacted(kind) => {
                    let why = match &*kind {
                        "github.repository" => Why::RepositoryUnreadable,
                        "github.current-url" if unreadable => Why::RepositoryUnreadable,
                        "github.current-url" => Why::NoRepositoryAtUrl,
                        _ => Why::Permission,
                    };
                    Some(Withheld {
                        kind: kind.into(),
                        why,
                        reference,
                    })
                }
                Data::ClientFile(file) => excluded(file.exclusion()),
                Data::ClientSelection(selection) => excluded(selection.exclusion()),
                _ => None,
            }
        })
    }

    /// Whether the open file or the selection came.
    #[must_use]
    pub fn editor(&self) -> EditorContext {
        let is_client = |kind: &str| kind.starts_with("client.");
        if self.data().any(|(reference, _)| is_client(&reference.kind)) {
            return EditorContext::Sent;
        }
        // Outside github.com the editor's context goes with the repository, without a trace.
        let removed = !self.web && self.redacts("github.repository");
        if removed || self.withheld().any(|withheld| is_client(&withheld.kind)) {
            return EditorContext::Withheld;
        }
        EditorContext::Absent
    }

    /// Whether a reference of this type was redacted.
    fn redacts(&self, kind: &str) -> bool {
        self.references.iter().any(
            |reference| matches!(reference.typed(), Data::Redacted(redacted) if redacted == kind),
        )
    }
}

/// Whether the data stands for something that the agent may not see.
fn withholds(data: &Data<'_>) -> bool {
    match data {
        Data::Redacted(_) => true,
        Data::ClientFile(file) => file.exclusion().is_some(),
        Data::ClientSelection(selection) => selection.exclusion().is_some(),
        _ => false,
    }
}
