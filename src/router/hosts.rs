//! The hosts that requests may be for.

use http::HeaderValue;
use http::header::HOST;
use http::request::Parts;
use http::uri::Authority;

/// The hosts that requests may be for; any, unless there is a list.
#[derive(Clone, Default)]
pub(super) struct Hosts(Option<Vec<Box<str>>>);

impl Hosts {
    pub(super) fn of<H: Into<String>>(hosts: impl IntoIterator<Item = H>) -> Self {
        let hosts = hosts.into_iter().map(|host| host.into().into_boxed_str());
        Self(Some(hosts.collect()))
    }

    /// Returns `true` if a page of this origin was served by the host that the request is for, and that is one of the
    /// list or a name of the user's own machine.
    pub(super) fn is_own_origin(&self, origin: &HeaderValue, request: &Parts) -> bool {
        let origin = origin.to_str().unwrap_or_default();
        let origin = origin.split_once("://").map(|(_, authority)| authority);
        let host = request
            .headers
            .get(HOST)
            .and_then(|host| host.to_str().ok());
        let host = request.uri.authority().map(Authority::as_str).or(host);
        let (Some(origin), Some(host)) = (origin, host) else {
            return false;
        };
        let name = Authority::try_from(host);
        let local = ["localhost", "127.0.0.1", "[::1]"];
        let is_local = name.is_ok_and(|name| local.contains(&name.host()));
        // Requests for other hosts were refused before.
        origin.eq_ignore_ascii_case(host) && (self.0.is_some() || is_local)
    }

    /// Returns `true` if a request may be answered. One without a host may: no browser sends it.
    pub(super) fn take(&self, request: &Parts) -> bool {
        let Some(hosts) = &self.0 else {
            return true;
        };
        let served = |authority: &Authority| {
            let asked = authority.host();
            hosts.iter().any(|host| host.eq_ignore_ascii_case(asked))
        };
        // HTTP/2 has the host in the URI. If there are several, all must be allowed.
        let mut named = request.headers.get_all(HOST).iter();
        let named =
            named.all(|host| Authority::try_from(host.as_bytes()).is_ok_and(|a| served(&a)));
        named && request.uri.authority().is_none_or(served)
    }
}
