//! The hosts that requests may be for.

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
