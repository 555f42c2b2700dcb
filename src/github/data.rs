//! Typed data of references.

use crate::json::{Json, JsonError, Kind, List, Members, Reader, Wire};

/// The data of a reference, by its type: the types of GitHub's documentation on context passing, of
/// VS Code and of copilot-go.
///
/// The reference retains the original data. A member that is absent or has a wrong type is `None`,
/// because clients differ in what they send.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ReferenceData<'a> {
    /// `client.file`: an open file, from VS Code and Visual Studio.
    ClientFile(ClientFile),
    /// `client.selection`: the selected lines of an open file.
    ClientSelection(ClientSelection),
    /// `github.repository`: a repository, sent by every client.
    Repository(Box<Repository>),
    /// `github.current-url`: the page of github.com that the user views.
    CurrentUrl(String),
    /// `github.file`: a file of a repository, from github.com. It has no content.
    File(Box<RepositoryFile>),
    /// `github.snippet`: lines of a file of a repository, from github.com. It has no content.
    Snippet(Box<RepositoryFile>),
    /// `github.agent`: the agent that wrote an assistant message, from github.com.
    Agent(AgentProfile),
    /// `github.redacted`: an attachment that is withheld from this agent, with its type.
    /// [`Context::withheld`](super::Context::withheld) returns the reason.
    Redacted(String),
    /// Any other type, for example one of the agent's own, or data that is not an object.
    Other(Option<&'a Json>),
}

impl<'a> ReferenceData<'a> {
    pub(super) fn read(kind: &str, data: Option<&'a Json>) -> Self {
        // Data of a known type that does not match it is passed on raw, and never fails the
        // request.
        Self::typed(kind, data).unwrap_or(Self::Other(data))
    }

    fn typed(kind: &str, data: Option<&Json>) -> Option<Self> {
        let data = data.filter(|data| data.kind() == Kind::Object)?;
        let text = |name| -> String {
            let value = data.get(name).unwrap_or_default();
            value.string().unwrap_or_default().into_owned()
        };
        Some(match kind {
            "client.file" => Self::ClientFile(Wire::from_raw(data)?),
            "client.selection" => Self::ClientSelection(Wire::from_raw(data)?),
            "github.repository" => Self::Repository(Box::new(Wire::from_raw(data)?)),
            "github.current-url" => Self::CurrentUrl(text("url")),
            "github.file" => Self::File(Box::new(Wire::from_raw(data)?)),
            "github.snippet" => Self::Snippet(Box::new(Wire::from_raw(data)?)),
            "github.agent" => Self::Agent(Wire::from_raw(data)?),
            "github.redacted" => Self::Redacted(text("type")),
            _ => return None,
        })
    }
}

/// A marker that replaces the content of a file, with the reason.
///
/// VS Code sends these markers as the file's text. An agent that does not know them treats
/// `content-exclusion` as the content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Exclusion {
    /// `content-exclusion`: a rule of the organisation excludes the file from Copilot.
    ContentExclusion,
    /// `hidden-file`: the file's name starts with a dot.
    HiddenFile,
    /// `file-too-large`: the file has more than 1024³ bytes.
    TooLarge,
}

impl Exclusion {
    /// Recognizes a marker; the complete text must be one.
    pub fn parse(content: &str) -> Option<Self> {
        match content {
            "content-exclusion" => Some(Self::ContentExclusion),
            "hidden-file" => Some(Self::HiddenFile),
            "file-too-large" => Some(Self::TooLarge),
            _ => None,
        }
    }
}

/// An open file. The reference's id is its path, relative to the repository if there is one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
#[wire(null_is_absent, escape = Json)]
pub struct ClientFile {
    /// The language, as VS Code's id.
    pub language: Option<String>,
    /// The complete text, or a marker, see [`exclusion`](Self::exclusion).
    #[wire(always)]
    pub content: String,
    /// Members that this crate does not know.
    pub unknown: Members,
}

impl ClientFile {
    /// Returns the reason why the text is missing, if it is.
    pub fn exclusion(&self) -> Option<Exclusion> {
        Exclusion::parse(&self.content)
    }
}

/// A position in a file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Wire)]
#[non_exhaustive]
#[wire(null_is_absent, escape = Json)]
pub struct Position {
    /// The line, from 0.
    #[wire(always, read = integer)]
    pub line: u64,
    /// The column, from 0.
    #[wire(always, read = integer)]
    pub col: u64,
    /// Members that this crate does not know.
    pub unknown: Members,
}

/// Selected lines of an open file. An empty selection is sent as its complete line.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
#[wire(null_is_absent, escape = Json)]
pub struct ClientSelection {
    /// The position at which the selection starts.
    #[wire(always)]
    pub start: Position,
    /// The position at which the selection ends.
    #[wire(always)]
    pub end: Position,
    /// The text, or a marker, see [`exclusion`](Self::exclusion).
    #[wire(always)]
    pub content: String,
    /// Members that this crate does not know.
    pub unknown: Members,
}

impl ClientSelection {
    /// Returns the reason why the text is missing, if it is.
    pub fn exclusion(&self) -> Option<Exclusion> {
        Exclusion::parse(&self.content)
    }
}

/// A repository. VS Code sends only its name, owner and id.
#[derive(Clone, Debug, Default, PartialEq, Wire)]
#[non_exhaustive]
#[wire(rename_all = "camelCase", null_is_absent, escape = Json)]
pub struct Repository {
    /// The id as text. Recorded requests have a number, the documentation a string.
    #[wire(read = id)]
    pub id: Option<String>,
    /// The name.
    pub name: Option<String>,
    /// The owner's login.
    pub owner_login: Option<String>,
    /// The type of the owner: `User` or `Organization`.
    pub owner_type: Option<String>,
    /// The path of the readme file.
    pub readme_path: Option<String>,
    /// The description.
    pub description: Option<String>,
    /// The commit that the user views.
    #[wire(name = "commitOID")]
    pub commit_oid: Option<String>,
    /// The full name of the ref, such as `refs/heads/main`.
    #[wire(name = "ref")]
    pub git_ref: Option<String>,
    /// The short name of the ref and its type.
    pub ref_info: Option<RefInfo>,
    /// The visibility: `public` or `private`.
    pub visibility: Option<String>,
    /// The languages, largest first.
    pub languages: List<Language>,
    /// Members that this crate does not know.
    pub unknown: Members,
}

/// A ref with its short name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
#[wire(null_is_absent, escape = Json)]
pub struct RefInfo {
    /// The short name, such as `main`.
    pub name: Option<String>,
    /// The type: `branch` or `tag`.
    #[wire(name = "type")]
    pub kind: Option<String>,
    /// Members that this crate does not know.
    pub unknown: Members,
}

/// A language of a repository.
#[derive(Clone, Debug, Default, PartialEq, Wire)]
#[non_exhaustive]
#[wire(null_is_absent, escape = Json)]
pub struct Language {
    /// The name.
    #[wire(always)]
    pub name: String,
    /// The share in percent.
    #[wire(always)]
    pub percent: f64,
    /// Members that this crate does not know.
    pub unknown: Members,
}

/// A file of a repository, or lines of one. Its content can be fetched with the request's token.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
#[wire(rename_all = "camelCase", null_is_absent, escape = Json)]
pub struct RepositoryFile {
    /// The URL of the file's page on github.com.
    pub url: Option<String>,
    /// The path in the repository.
    pub path: Option<String>,
    /// The ref.
    #[wire(name = "ref")]
    pub git_ref: Option<String>,
    /// The SHA of the commit.
    #[wire(name = "commitOID")]
    pub commit_oid: Option<String>,
    /// The repository's id as text; sent as a number or a string.
    #[wire(name = "repoID", read = id)]
    pub repo_id: Option<String>,
    /// The repository's name.
    pub repo_name: Option<String>,
    /// The repository's owner.
    pub repo_owner: Option<String>,
    /// The language, as GitHub's id.
    #[wire(name = "languageID", read = id)]
    pub language_id: Option<String>,
    /// The name of the language.
    pub language_name: Option<String>,
    /// The lines of a snippet.
    pub range: Option<LineRange>,
    /// Members that this crate does not know.
    pub unknown: Members,
}

/// The lines of a snippet.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
#[wire(null_is_absent, escape = Json)]
pub struct LineRange {
    /// The first line.
    #[wire(read = line)]
    pub start: Option<u64>,
    /// The last line.
    #[wire(read = line)]
    pub end: Option<u64>,
    /// Members that this crate does not know.
    pub unknown: Members,
}

/// The agent that wrote a message.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
#[wire(null_is_absent, escape = Json)]
pub struct AgentProfile {
    /// The App's id as text; sent as a number or a string.
    #[wire(read = id)]
    pub id: Option<String>,
    /// The App's slug.
    pub login: Option<String>,
    /// The URL of the picture.
    #[wire(name = "avatarURL")]
    pub avatar_url: Option<String>,
    /// The URL of the profile page.
    pub url: Option<String>,
    /// Members that this crate does not know.
    pub unknown: Members,
}

/// Reads an integer, also one with a fraction of zero: senders write `0` and `0.0`.
fn integer(reader: &mut Reader<'_>) -> Result<Option<u64>, JsonError> {
    if let Some(value) = reader.u64()? {
        return Ok(Some(value));
    }
    Ok(reader.f64()?.and_then(whole))
}

/// Converts a float to the integer with the same value, within the range in which floats represent
/// all integers.
pub(super) fn whole(value: f64) -> Option<u64> {
    // 2⁵³: above it not every integer is a float, so the sender's number is not known.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let fits = value.fract() == 0.0 && (0.0..=EXACT).contains(&value);
    // The range is checked above, and `From` does not exist for this conversion.
    fits.then_some(value as u64)
}

fn line(reader: &mut Reader<'_>) -> Result<Option<Option<u64>>, JsonError> {
    Ok(integer(reader)?.map(Some))
}

/// Reads an id as text: a string, or the digits of a number. Repository ids are sent as both.
fn id(reader: &mut Reader<'_>) -> Result<Option<Option<String>>, JsonError> {
    if reader.is(Kind::Number) {
        // The text of the number: an id is only compared, and a float could not hold every one.
        return Ok(Some(Some(reader.value()?.text().to_owned())));
    }
    let id = reader.string()?.filter(|id| !id.is_empty());
    Ok(id.map(|id| Some(id.into_owned())))
}
