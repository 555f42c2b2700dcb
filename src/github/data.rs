//! The data of a reference by its type.

use super::place::Place;
use crate::json::model::{Field, model};
use crate::json::{Json, JsonError, Kind, List, Members, Reader};

/// The data of a reference by its type: those of GitHub's documentation on context passing, of VS
/// Code and of copilot-go.
///
/// The reference keeps the data as it came. A member that is missing or of another type is `None`,
/// because clients differ in what they send.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Data<'a> {
    /// `client.file`: an open file, from VS Code and Visual Studio.
    ClientFile(ClientFile),
    /// `client.selection`: the selected lines of an open file.
    ClientSelection(ClientSelection),
    /// `github.repository`: a repository, from every client.
    Repository(Box<Repository>),
    /// `github.current-url`: the page of github.com that the user looks at.
    CurrentUrl(String),
    /// `github.file`: a file of a repository, from github.com. It has no content.
    File(Box<RepositoryFile>),
    /// `github.snippet`: lines of a file of a repository, from github.com. It has no content.
    Snippet(Box<RepositoryFile>),
    /// `github.agent`: the agent that wrote an assistant's message, from github.com.
    Agent(AgentProfile),
    /// `github.redacted`: something was attached, and withheld from this agent. Holds the type that
    /// was withheld. [`Context::withheld`](super::Context::withheld) knows why.
    Redacted(String),
    /// Any other type, one of the agent's own for example, or data that is no object.
    Other(Option<&'a Json>),
}

impl<'a> Data<'a> {
    pub(super) fn read(kind: &str, data: Option<&'a Json>) -> Self {
        Self::typed(kind, data).unwrap_or(Self::Other(data))
    }

    fn typed(kind: &str, data: Option<&Json>) -> Option<Self> {
        let data = data.filter(|data| data.kind() == Kind::Object)?;
        let text = |name| -> String {
            let value = data.get(name).unwrap_or_default();
            value.string().unwrap_or_default().into_owned()
        };
        Some(match kind {
            "client.file" => Self::ClientFile(Field::from_raw(data)?),
            "client.selection" => Self::ClientSelection(Field::from_raw(data)?),
            "github.repository" => Self::Repository(Box::new(Field::from_raw(data)?)),
            "github.current-url" => Self::CurrentUrl(text("url")),
            "github.file" => Self::File(Box::new(Field::from_raw(data)?)),
            "github.snippet" => Self::Snippet(Box::new(Field::from_raw(data)?)),
            "github.agent" => Self::Agent(Field::from_raw(data)?),
            "github.redacted" => Self::Redacted(text("type")),
            _ => return None,
        })
    }
}

/// Why the content of a file is a word in place of the text.
///
/// VS Code sends these words as if they were the file's text. An agent that does not know them
/// explains `content-exclusion` to the user.
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
    /// Recognises a marker: the whole text must be one.
    #[must_use]
    pub fn of(content: &str) -> Option<Self> {
        match content {
            "content-exclusion" => Some(Self::ContentExclusion),
            "hidden-file" => Some(Self::HiddenFile),
            "file-too-large" => Some(Self::TooLarge),
            _ => None,
        }
    }
}

/// An open file. The reference's id is its path, relative to the repository where there is one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ClientFile {
    /// VS Code's id of the language.
    pub language: Option<String>,
    /// The whole text, or a marker: see [`exclusion`](Self::exclusion).
    pub content: String,
    /// Members that this crate does not know.
    pub unknown: Members,
}

model!(ClientFile, null: absent, escape: Json {
    language: "language",
    content: "content" always,
});

impl ClientFile {
    /// Returns why the text is missing, if it is.
    #[must_use]
    pub fn exclusion(&self) -> Option<Exclusion> {
        Exclusion::of(&self.content)
    }
}

/// A place in a file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Position {
    /// The line; the first is 0.
    pub line: u64,
    /// The column; the first is 0.
    pub col: u64,
    /// Members that this crate does not know.
    pub unknown: Members,
}

model!(Position, null: absent, escape: Json {
    line: "line" always => integer,
    col: "col" always => integer,
});

/// Selected lines of an open file. An empty selection comes as the whole line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ClientSelection {
    /// Where it starts.
    pub start: Position,
    /// Where it ends.
    pub end: Position,
    /// The text, or a marker: see [`exclusion`](Self::exclusion).
    pub content: String,
    /// Members that this crate does not know.
    pub unknown: Members,
}

model!(ClientSelection, null: absent, escape: Json {
    start: "start" always,
    end: "end" always,
    content: "content" always,
});

impl ClientSelection {
    /// Returns why the text is missing, if it is.
    #[must_use]
    pub fn exclusion(&self) -> Option<Exclusion> {
        Exclusion::of(&self.content)
    }
}

/// A repository. VS Code sends its name, owner and id only.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Repository {
    /// The id. Recorded requests have a number, the documentation a string: this is its text.
    pub id: Option<String>,
    /// The name.
    pub name: Option<String>,
    /// The owner's login.
    pub owner_login: Option<String>,
    /// `User` or `Organization`.
    pub owner_type: Option<String>,
    /// Where the readme file is.
    pub readme_path: Option<String>,
    /// What the repository says about itself.
    pub description: Option<String>,
    /// The commit that the user looks at.
    pub commit_oid: Option<String>,
    /// The full name of the ref, such as `refs/heads/main`.
    pub git_ref: Option<String>,
    /// The short name of the ref and its type.
    pub ref_info: Option<RefInfo>,
    /// `public` or `private`.
    pub visibility: Option<String>,
    /// The languages, largest first.
    pub languages: List<Language>,
    /// Members that this crate does not know.
    pub unknown: Members,
}

model!(Repository, null: absent, escape: Json {
    id: "id" => id,
    name: "name",
    owner_login: "ownerLogin",
    owner_type: "ownerType",
    readme_path: "readmePath",
    description: "description",
    commit_oid: "commitOID",
    git_ref: "ref",
    ref_info: "refInfo",
    visibility: "visibility",
    languages: "languages",
});

/// A ref by its short name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RefInfo {
    /// The short name, such as `main`.
    pub name: Option<String>,
    /// `branch` or `tag`.
    pub kind: Option<String>,
    /// Members that this crate does not know.
    pub unknown: Members,
}

model!(RefInfo, null: absent, escape: Json {
    name: "name",
    kind: "type",
});

/// A language of a repository.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Language {
    /// The name.
    pub name: String,
    /// Its share in percent.
    pub percent: f64,
    /// Members that this crate does not know.
    pub unknown: Members,
}

model!(Language, null: absent, escape: Json {
    name: "name" always,
    percent: "percent" always,
});

/// A file of a repository, or lines of one. Fetch the content with the request's token.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RepositoryFile {
    /// Its page on github.com.
    pub url: Option<String>,
    /// Its path in the repository.
    pub path: Option<String>,
    /// The ref.
    pub git_ref: Option<String>,
    /// The commit.
    pub commit_oid: Option<String>,
    /// The repository's id: the text of a number or a string.
    pub repo_id: Option<String>,
    /// The repository's name.
    pub repo_name: Option<String>,
    /// The repository's owner.
    pub repo_owner: Option<String>,
    /// GitHub's id of the language.
    pub language_id: Option<String>,
    /// The language.
    pub language_name: Option<String>,
    /// The lines of a snippet.
    pub range: Option<LineRange>,
    /// Members that this crate does not know.
    pub unknown: Members,
}

model!(RepositoryFile, null: absent, escape: Json {
    url: "url",
    path: "path",
    git_ref: "ref",
    commit_oid: "commitOID",
    repo_id: "repoID" => id,
    repo_name: "repoName",
    repo_owner: "repoOwner",
    language_id: "languageID" => id,
    language_name: "languageName",
    range: "range",
});

impl RepositoryFile {
    /// Returns what its page says about owner, repository and path.
    #[must_use]
    pub fn place(&self) -> Option<Place<'_>> {
        Place::parse(self.url.as_deref()?)
    }
}

/// The lines of a snippet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LineRange {
    /// The first line.
    pub start: Option<u64>,
    /// The last line.
    pub end: Option<u64>,
    /// Members that this crate does not know.
    pub unknown: Members,
}

model!(LineRange, null: absent, escape: Json {
    start: "start" => line,
    end: "end" => line,
});

/// The agent that wrote a message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct AgentProfile {
    /// The App's id: the text of a number or a string.
    pub id: Option<String>,
    /// The App's slug.
    pub login: Option<String>,
    /// Its picture.
    pub avatar_url: Option<String>,
    /// Its page.
    pub url: Option<String>,
    /// Members that this crate does not know.
    pub unknown: Members,
}

model!(AgentProfile, null: absent, escape: Json {
    id: "id" => id,
    login: "login",
    avatar_url: "avatarURL",
    url: "url",
});

/// An integer, also one that was written with a fraction of zero: senders write `0` and `0.0`.
fn integer(reader: &mut Reader<'_>) -> Result<Option<u64>, JsonError> {
    if let Some(value) = reader.u64()? {
        return Ok(Some(value));
    }
    Ok(reader.f64()?.and_then(whole))
}

/// A float as the integer that it is, up to where floats hold every integer.
pub(super) fn whole(value: f64) -> Option<u64> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let fits = value.fract() == 0.0 && (0.0..=EXACT).contains(&value);
    // The range is checked, and there is no other conversion.
    fits.then_some(value as u64)
}

fn line(reader: &mut Reader<'_>) -> Result<Option<Option<u64>>, JsonError> {
    Ok(integer(reader)?.map(Some))
}

/// An id: a string, or the digits of a number. Repository ids come as both.
fn id(reader: &mut Reader<'_>) -> Result<Option<Option<String>>, JsonError> {
    if reader.is(Kind::Number) {
        return Ok(Some(Some(reader.value()?.text().to_owned())));
    }
    let id = reader.string()?.filter(|id| !id.is_empty());
    Ok(id.map(|id| Some(id.into_owned())))
}
