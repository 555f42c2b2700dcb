//! The data of a reference by its type.

use std::borrow::Cow;

use super::place::Place;
use crate::json::{Json, JsonError, Kind, Reader};

/// The data of a reference by its type: those of GitHub's documentation on context passing, of VS
/// Code and of copilot-go.
///
/// A view: it borrows from the reference, which keeps the data as it came. A member that is missing
/// or of another type is `None`, because clients differ in what they send.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Data<'a> {
    /// `client.file`: an open file, from VS Code and Visual Studio.
    ClientFile(ClientFile<'a>),
    /// `client.selection`: the selected lines of an open file.
    ClientSelection(ClientSelection<'a>),
    /// `github.repository`: a repository, from every client.
    Repository(Box<Repository<'a>>),
    /// `github.current-url`: the page of github.com that the user looks at.
    CurrentUrl(Cow<'a, str>),
    /// `github.file`: a file of a repository, from github.com. It has no content.
    File(Box<RepositoryFile<'a>>),
    /// `github.snippet`: lines of a file of a repository, from github.com. It has no content.
    Snippet(Box<RepositoryFile<'a>>),
    /// `github.agent`: the agent that wrote an assistant's message, from github.com.
    Agent(AgentProfile<'a>),
    /// `github.redacted`: something was attached, and withheld from this agent. Holds the type that
    /// was withheld. [`Context::withheld`](super::Context::withheld) knows why.
    Redacted(Cow<'a, str>),
    /// Any other type, one of the agent's own for example, or data that is no object.
    Other(Option<&'a Json>),
}

impl<'a> Data<'a> {
    pub(super) fn read(kind: &str, data: Option<&'a Json>) -> Self {
        let Some(object) = data.filter(|data| data.kind() == Kind::Object) else {
            return Self::Other(data);
        };
        let read = match kind {
            "client.file" => ClientFile::read(object).map(Self::ClientFile),
            "client.selection" => ClientSelection::read(object).map(Self::ClientSelection),
            "github.repository" => Repository::read(object).map(|it| Self::Repository(it.into())),
            "github.current-url" => string(object, "url").map(Self::CurrentUrl),
            "github.file" => RepositoryFile::read(object).map(|it| Self::File(it.into())),
            "github.snippet" => RepositoryFile::read(object).map(|it| Self::Snippet(it.into())),
            "github.agent" => AgentProfile::read(object).map(Self::Agent),
            "github.redacted" => string(object, "type").map(Self::Redacted),
            _ => return Self::Other(data),
        };
        read.unwrap_or(Self::Other(data))
    }
}

/// The string member of an object, empty when there is none.
fn string<'a>(object: &'a Json, name: &str) -> Result<Cow<'a, str>, JsonError> {
    let mut value = None;
    object.reader().object(|reader, key| {
        if key == name {
            value = reader.string()?;
        }
        Ok(())
    })?;
    Ok(value.unwrap_or_default())
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
pub struct ClientFile<'a> {
    /// VS Code's id of the language.
    pub language: Option<Cow<'a, str>>,
    /// The whole text, or a marker: see [`exclusion`](Self::exclusion).
    pub content: Cow<'a, str>,
}

impl<'a> ClientFile<'a> {
    /// Why the text is missing, if it is.
    #[must_use]
    pub fn exclusion(&self) -> Option<Exclusion> {
        Exclusion::of(&self.content)
    }

    fn read(data: &'a Json) -> Result<Self, JsonError> {
        let mut file = Self::default();
        data.reader().object(|reader, key| {
            match &*key {
                "language" => file.language = reader.string()?,
                "content" => file.content = reader.string()?.unwrap_or_default(),
                _ => {}
            }
            Ok(())
        })?;
        Ok(file)
    }
}

/// A place in a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Position {
    /// The line; the first is 0.
    pub line: u64,
    /// The column; the first is 0.
    pub col: u64,
}

impl Position {
    fn read(reader: &mut Reader<'_>) -> Result<Self, JsonError> {
        let mut position = Self::default();
        reader.object(|reader, key| {
            match &*key {
                "line" => position.line = integer(reader)?.unwrap_or_default(),
                "col" => position.col = integer(reader)?.unwrap_or_default(),
                _ => {}
            }
            Ok(())
        })?;
        Ok(position)
    }
}

/// Selected lines of an open file. An empty selection comes as the whole line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ClientSelection<'a> {
    /// Where it starts.
    pub start: Position,
    /// Where it ends.
    pub end: Position,
    /// The text, or a marker: see [`exclusion`](Self::exclusion).
    pub content: Cow<'a, str>,
}

impl<'a> ClientSelection<'a> {
    /// Why the text is missing, if it is.
    #[must_use]
    pub fn exclusion(&self) -> Option<Exclusion> {
        Exclusion::of(&self.content)
    }

    fn read(data: &'a Json) -> Result<Self, JsonError> {
        let mut selection = Self::default();
        data.reader().object(|reader, key| {
            match &*key {
                "start" if reader.is(Kind::Object) => selection.start = Position::read(reader)?,
                "end" if reader.is(Kind::Object) => selection.end = Position::read(reader)?,
                "content" => selection.content = reader.string()?.unwrap_or_default(),
                _ => {}
            }
            Ok(())
        })?;
        Ok(selection)
    }
}

/// A repository. VS Code sends its name, owner and id only.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Repository<'a> {
    /// The id. Recorded requests have a number, the documentation a string: this is its text.
    pub id: Option<Cow<'a, str>>,
    /// The name.
    pub name: Option<Cow<'a, str>>,
    /// The owner's login.
    pub owner_login: Option<Cow<'a, str>>,
    /// `User` or `Organization`.
    pub owner_type: Option<Cow<'a, str>>,
    /// Where the readme file is.
    pub readme_path: Option<Cow<'a, str>>,
    /// What the repository says about itself.
    pub description: Option<Cow<'a, str>>,
    /// The commit that the user looks at.
    pub commit_oid: Option<Cow<'a, str>>,
    /// The full name of the ref, such as `refs/heads/main`.
    pub git_ref: Option<Cow<'a, str>>,
    /// The short name of the ref, such as `main`.
    pub ref_name: Option<Cow<'a, str>>,
    /// `branch` or `tag`.
    pub ref_type: Option<Cow<'a, str>>,
    /// `public` or `private`.
    pub visibility: Option<Cow<'a, str>>,
    /// The languages with their share in percent, largest first.
    pub languages: Vec<(Cow<'a, str>, f64)>,
}

impl<'a> Repository<'a> {
    fn read(data: &'a Json) -> Result<Self, JsonError> {
        let mut it = Self::default();
        data.reader().object(|reader, key| {
            match &*key {
                "id" => it.id = id(reader)?,
                "name" => it.name = reader.string()?,
                "ownerLogin" => it.owner_login = reader.string()?,
                "ownerType" => it.owner_type = reader.string()?,
                "readmePath" => it.readme_path = reader.string()?,
                "description" => it.description = reader.string()?,
                "commitOID" => it.commit_oid = reader.string()?,
                "ref" => it.git_ref = reader.string()?,
                "refInfo" if reader.is(Kind::Object) => reader.object(|reader, key| {
                    match &*key {
                        "name" => it.ref_name = reader.string()?,
                        "type" => it.ref_type = reader.string()?,
                        _ => {}
                    }
                    Ok(())
                })?,
                "visibility" => it.visibility = reader.string()?,
                "languages" if reader.is(Kind::Array) => reader.array(|reader, _| {
                    it.languages.extend(language(reader)?);
                    Ok(())
                })?,
                _ => {}
            }
            Ok(())
        })?;
        Ok(it)
    }
}

fn language<'a>(reader: &mut Reader<'a>) -> Result<Option<(Cow<'a, str>, f64)>, JsonError> {
    if !reader.is(Kind::Object) {
        return Ok(None);
    }
    let (mut name, mut percent) = (None, 0.0);
    reader.object(|reader, key| {
        match &*key {
            "name" => name = reader.string()?,
            "percent" => percent = reader.f64()?.unwrap_or_default(),
            _ => {}
        }
        Ok(())
    })?;
    Ok(name.map(|name| (name, percent)))
}

/// A file of a repository, or lines of one. Fetch the content with the request's token.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RepositoryFile<'a> {
    /// Its page on github.com.
    pub url: Option<Cow<'a, str>>,
    /// Its path in the repository.
    pub path: Option<Cow<'a, str>>,
    /// The ref.
    pub git_ref: Option<Cow<'a, str>>,
    /// The commit.
    pub commit_oid: Option<Cow<'a, str>>,
    /// The repository's id: the text of a number or a string.
    pub repo_id: Option<Cow<'a, str>>,
    /// The repository's name.
    pub repo_name: Option<Cow<'a, str>>,
    /// The repository's owner.
    pub repo_owner: Option<Cow<'a, str>>,
    /// GitHub's id of the language.
    pub language_id: Option<Cow<'a, str>>,
    /// The language.
    pub language_name: Option<Cow<'a, str>>,
    /// The first and the last line of a snippet.
    pub range: Option<(u64, u64)>,
}

impl<'a> RepositoryFile<'a> {
    fn read(data: &'a Json) -> Result<Self, JsonError> {
        let mut it = Self::default();
        data.reader().object(|reader, key| {
            match &*key {
                "url" => it.url = reader.string()?,
                "path" => it.path = reader.string()?,
                "ref" => it.git_ref = reader.string()?,
                "commitOID" => it.commit_oid = reader.string()?,
                "repoID" => it.repo_id = id(reader)?,
                "repoName" => it.repo_name = reader.string()?,
                "repoOwner" => it.repo_owner = reader.string()?,
                "languageID" => it.language_id = id(reader)?,
                "languageName" => it.language_name = reader.string()?,
                "range" if reader.is(Kind::Object) => {
                    let (mut start, mut end) = (None, None);
                    reader.object(|reader, key| {
                        match &*key {
                            "start" => start = integer(reader)?,
                            "end" => end = integer(reader)?,
                            _ => {}
                        }
                        Ok(())
                    })?;
                    it.range = start.zip(end);
                }
                _ => {}
            }
            Ok(())
        })?;
        Ok(it)
    }

    /// What its page says about owner, repository and path.
    #[must_use]
    pub fn place(&self) -> Option<Place<'_>> {
        Place::parse(self.url.as_deref()?)
    }
}

/// The agent that wrote a message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct AgentProfile<'a> {
    /// The App's id: the text of a number or a string.
    pub id: Option<Cow<'a, str>>,
    /// The App's slug.
    pub login: Option<Cow<'a, str>>,
    /// Its picture.
    pub avatar_url: Option<Cow<'a, str>>,
    /// Its page.
    pub url: Option<Cow<'a, str>>,
}

impl<'a> AgentProfile<'a> {
    fn read(data: &'a Json) -> Result<Self, JsonError> {
        let mut it = Self::default();
        data.reader().object(|reader, key| {
            match &*key {
                "id" => it.id = id(reader)?,
                "login" => it.login = reader.string()?,
                "avatarURL" => it.avatar_url = reader.string()?,
                "url" => it.url = reader.string()?,
                _ => {}
            }
            Ok(())
        })?;
        Ok(it)
    }
}

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

/// An id: a string, or the digits of a number. Repository ids come as both.
fn id<'a>(reader: &mut Reader<'a>) -> Result<Option<Cow<'a, str>>, JsonError> {
    if reader.is(Kind::Number) {
        return Ok(Some(Cow::Owned(reader.value()?.text().to_owned())));
    }
    Ok(reader.string()?.filter(|id| !id.is_empty()))
}
