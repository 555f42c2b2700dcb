//! The hosts for which requests are accepted.

use http::HeaderValue;
use http::header::HOST;
use http::request::Parts;
use http::uri::Authority;

/// The hosts for which requests are accepted. `None` accepts any host.
#[derive(Clone, Default)]
pub(super) struct Hosts(Option<Vec<Box<str>>>);

impl Hosts {
    pub(super) fn of<H: Into<String>>(hosts: impl IntoIterator<Item = H>) -> Self {
        let hosts = hosts.into_iter().map(|host| host.into().into_boxed_str());
        Self(Some(hosts.collect()))
    }

    /// Returns `true` if `origin` is the host that the request names, and this host is either in the list or a name of
    /// the user's own machine.
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
        // With a list, requests for hosts that are not in it have been refused before.
        origin.eq_ignore_ascii_case(host) && (self.0.is_some() || is_local)
    }

    /// Returns `true` if a request is accepted. A request without a host is accepted, because no browser sends one.
    pub(super) fn take(&self, request: &Parts) -> bool {
        let Some(hosts) = &self.0 else {
            return true;
        };
        let served = |authority: &Authority| {
            let asked = authority.host();
            hosts.iter().any(|host| host.eq_ignore_ascii_case(asked))
        };
        // HTTP/2 has the host in the URI. If several hosts are named, all must be allowed.
        let mut named = request.headers.get_all(HOST).iter();
        let named =
            named.all(|host| Authority::try_from(host.as_bytes()).is_ok_and(|a| served(&a)));
        named && request.uri.authority().is_none_or(served)
    }
}
