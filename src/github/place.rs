//! A page of github.com by its parts.

/// A page of github.com by its parts: what `github.current-url` and file references point at.
///
/// ```
/// use copilot_wire::github::{Page, Place};
///
/// let place = Place::parse("https://github.com/harbour/tides/issues/12#issuecomment-9").unwrap();
/// assert_eq!((place.owner, place.repository), ("harbour", Some("tides")));
/// assert_eq!(place.page, Page::Issue(12));
/// assert_eq!(place.fragment, Some("issuecomment-9"));
/// assert_eq!(Place::parse("https://example.com/harbour/tides"), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Place<'a> {
    /// The user or organisation.
    pub owner: &'a str,
    /// The repository, if the page is of one.
    pub repository: Option<&'a str>,
    /// What of it.
    pub page: Page<'a>,
    /// What follows `#`.
    pub fragment: Option<&'a str>,
}

/// What of a repository a page shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Page<'a> {
    /// An issue by its number.
    Issue(u64),
    /// A pull request by its number.
    PullRequest(u64),
    /// Any other page by its path below the repository, without a leading slash; empty for the
    /// repository itself.
    Other(&'a str),
}

impl<'a> Place<'a> {
    /// Takes a URL apart. `None` when it is not below `https://github.com/`.
    #[must_use]
    pub fn parse(url: &'a str) -> Option<Self> {
        let path = url.strip_prefix("https://github.com/")?;
        let (path, fragment) = match path.split_once('#') {
            Some((path, fragment)) => (path, Some(fragment)),
            None => (path, None),
        };
        let path = path.split('?').next().unwrap_or_default();
        // The pages of an organisation have its name behind `orgs`.
        let path = path.strip_prefix("orgs/").unwrap_or(path);
        let (owner, path) = path.split_once('/').unwrap_or((path, ""));
        if owner.is_empty() {
            return None;
        }
        let (repository, path) = path.split_once('/').unwrap_or((path, ""));
        let mut segments = path.split('/');
        let page = match (segments.next(), segments.next().map(str::parse)) {
            (Some("issues"), Some(Ok(number))) => Page::Issue(number),
            (Some("pull"), Some(Ok(number))) => Page::PullRequest(number),
            _ => Page::Other(path),
        };
        Some(Self {
            owner,
            repository: (!repository.is_empty()).then_some(repository),
            page,
            fragment,
        })
    }
}
