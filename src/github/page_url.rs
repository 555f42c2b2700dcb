//! URLs of github.com.

/// A parsed URL of github.com, as in `github.current-url` and file references.
///
/// ```
/// use copilot_wire::github::{Page, PageUrl};
///
/// let url = PageUrl::parse("https://github.com/harbour/tides/issues/12#issuecomment-9").unwrap();
/// assert_eq!((url.owner, url.repository), ("harbour", Some("tides")));
/// assert_eq!(url.page, Page::Issue(12));
/// assert_eq!(url.fragment, Some("issuecomment-9"));
/// assert_eq!(PageUrl::parse("https://example.com/harbour/tides"), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PageUrl<'a> {
    /// The user or organisation.
    pub owner: &'a str,
    /// The repository, if the page belongs to one.
    pub repository: Option<&'a str>,
    /// The page itself, such as an issue with its number.
    pub page: Page<'a>,
    /// The fragment: the text after `#`.
    pub fragment: Option<&'a str>,
}

/// A page of a repository.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Page<'a> {
    /// An issue, with its number.
    Issue(u64),
    /// A pull request, with its number.
    PullRequest(u64),
    /// Any other page: its path in the repository, without a leading slash; empty for the
    /// repository itself.
    Other(&'a str),
}

impl<'a> PageUrl<'a> {
    /// Parses a URL; `None` if it does not start with `https://github.com/`.
    pub fn parse(url: &'a str) -> Option<Self> {
        let path = url.strip_prefix("https://github.com/")?;
        let (path, fragment) = match path.split_once('#') {
            Some((path, fragment)) => (path, Some(fragment)),
            None => (path, None),
        };
        let path = path.split('?').next().unwrap_or_default();
        // Pages of an organisation have its name after `orgs`.
        let path = path.strip_prefix("orgs/").unwrap_or(path);
        let (owner, path) = path.split_once('/').unwrap_or((path, ""));
        if owner.is_empty() {
            return None;
        }
        let (repository, path) = path.split_once('/').unwrap_or((path, ""));
        let mut segments = path.split('/');
        let page = match (segments.next(), segments.next().map(str::parse)) {
            // `issues/new` and the like are other pages: the segment after it must be a number.
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
