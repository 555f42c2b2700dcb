//! Fetching pages, without access to this machine and private networks.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::header::{CONTENT_TYPE, LOCATION};
use reqwest::{Client, Response};
use url::{Host, Url};

use crate::http;

/// The limits of the page size in bytes and of redirects.
const PAGE_BYTES: usize = 1024 * 1024;
const REDIRECTS: usize = 5;

/// A client that fetches pages.
#[async_trait]
pub trait Fetch: Send + Sync + fmt::Debug {
    /// Fetches the page at a URL.
    ///
    /// # Errors
    ///
    /// [`WebError`]
    async fn get(&self, url: &str) -> Result<Fetched, WebError>;
}

/// A fetched page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fetched {
    /// The URL after redirects.
    pub url: String,
    /// `true` for HTML, `false` for plain text.
    pub html: bool,
    /// The content.
    pub body: String,
}

impl Fetched {
    /// Creates a page of HTML.
    pub fn html(url: &str, body: &str) -> Self {
        Self {
            url: url.to_owned(),
            html: true,
            body: body.to_owned(),
        }
    }
}

/// An error of a web request.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WebError {
    /// The URL is not valid, or not `http` or `https`.
    #[error("Invalid URL")]
    BadUrl,
    /// The address is on this machine or in a private network.
    #[error("Access to local addresses is restricted")]
    Local,
    /// The server is unreachable, or the connection failed.
    #[error("the server could not be reached")]
    Unreachable,
    /// The server responded with this error status.
    #[error("HTTP {0} error")]
    Status(u16),
    /// The page redirects too often.
    #[error("too many redirects")]
    Redirects,
    /// The page is too large.
    #[error("the page is too large")]
    TooLarge,
    /// The content is not text.
    #[error("the page is not text")]
    NotText,
    /// The search service responded in an unknown format.
    #[error("the answer could not be read")]
    Unreadable,
}

/// A client that fetches pages of the public web only.
///
/// Its DNS resolver drops all addresses of this machine and of private networks, so the address
/// that was checked is the one that is connected to. Each redirect is checked like the first URL.
#[derive(Clone, Debug)]
pub struct GuardedFetch {
    client: Client,
}

impl GuardedFetch {
    /// Creates a client with a timeout.
    ///
    /// # Errors
    ///
    /// [`WebError::Unreachable`] if no HTTP client can be made.
    pub fn new(timeout: Duration) -> Result<Self, WebError> {
        let builder = http::builder(timeout)
            // A proxy would resolve names itself and bypass the resolver below.
            .no_proxy()
            .dns_resolver(Arc::new(PublicOnly));
        let client = builder.build().map_err(|_| WebError::Unreachable)?;
        Ok(Self { client })
    }

    async fn hop(&self, url: &Url) -> Result<Response, WebError> {
        check(url)?;
        let sent = self.client.get(url.clone()).send().await;
        sent.map_err(|_| WebError::Unreachable)
    }
}

#[async_trait]
impl Fetch for GuardedFetch {
    async fn get(&self, url: &str) -> Result<Fetched, WebError> {
        let mut url = Url::parse(url).map_err(|_| WebError::BadUrl)?;
        // The client does not follow redirects itself, so that every target is checked like the first URL.
        for _ in 0..=REDIRECTS {
            let response = self.hop(&url).await?;
            let status = response.status();
            if !status.is_redirection() {
                return read(url, response).await;
            }
            let target = response.headers().get(LOCATION);
            let target = target.and_then(|value| value.to_str().ok());
            let target = target.ok_or(WebError::Status(status.as_u16()))?;
            url = url.join(target).map_err(|_| WebError::BadUrl)?;
        }
        Err(WebError::Redirects)
    }
}

async fn read(url: Url, response: Response) -> Result<Fetched, WebError> {
    if !response.status().is_success() {
        return Err(WebError::Status(response.status().as_u16()));
    }
    let kind = response.headers().get(CONTENT_TYPE);
    let kind = kind
        .and_then(|value| value.to_str().ok())
        .unwrap_or("text/html");
    let (html, text) = (kind.contains("html"), kind.starts_with("text/"));
    if !html && !text && !kind.contains("json") && !kind.contains("xml") {
        return Err(WebError::NotText);
    }
    let body = http::body(response, PAGE_BYTES).await;
    let body = body.map_err(|error| match error {
        http::BodyError::TooLarge(_) => WebError::TooLarge,
        http::BodyError::Broken(_) => WebError::Unreachable,
    })?;
    Ok(Fetched {
        url: url.into(),
        html,
        body: String::from_utf8_lossy(&body).into_owned(),
    })
}

/// Checks the scheme, and an address that is written in the URL.
fn check(url: &Url) -> Result<(), WebError> {
    if !matches!(url.scheme(), "http" | "https") {
        return Err(WebError::BadUrl);
    }
    let public = match url.host() {
        None => return Err(WebError::BadUrl),
        Some(Host::Domain(name)) => {
            // `localhost.` is the same name, with the root of the DNS written out.
            let name = name.trim_end_matches('.');
            name != "localhost" && !name.ends_with(".localhost")
        }
        Some(Host::Ipv4(address)) => is_public(address.into()),
        Some(Host::Ipv6(address)) => is_public(address.into()),
    };
    public.then_some(()).ok_or(WebError::Local)
}

/// Returns `true` if an address belongs to the public internet.
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    // The blocks of the IANA registry of special addresses: 100.64.0.0/10 of carriers (RFC 6598),
    // 192.0.0.0/24 (RFC 6890), 198.18.0.0/15 for benchmarks (RFC 2544), and the old 6to4 relays.
    let shared = a == 100 && (64..128).contains(&b);
    let protocol = a == 192 && b == 0 && c == 0;
    let benchmark = a == 198 && (b == 18 || b == 19);
    let relay = a == 192 && b == 88 && c == 99;
    !(address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_documentation()
        // Below: "this network", and everything from multicast to the reserved end.
        || a == 0
        || a >= 224
        || shared
        || protocol
        || benchmark
        || relay)
}

/// Returns `true` for global unicast addresses (2000::/3), except those that embed or document
/// others. Everything else (loopback, local, multicast, mapped and translated IPv4 addresses) is
/// outside.
fn is_public_v6(address: Ipv6Addr) -> bool {
    let [a, b, ..] = address.segments();
    let global = a & 0xE000 == 0x2000;
    let teredo_and_protocols = a == 0x2001 && b < 0x0200;
    let documentation = (a == 0x2001 && b == 0x0DB8) || (a == 0x3FFF && b < 0x1000);
    let six_to_four = a == 0x2002;
    global && !teredo_and_protocols && !documentation && !six_to_four
}

#[derive(Debug)]
struct PublicOnly;

impl Resolve for PublicOnly {
    fn resolve(&self, name: Name) -> Resolving {
        Box::pin(async move {
            // Checked in the resolver and not before the request, because a second lookup could return another address.
            let found = tokio::net::lookup_host((name.as_str(), 0)).await?;
            let public: Vec<SocketAddr> = found.filter(|found| is_public(found.ip())).collect();
            Ok(Box::new(public.into_iter()) as Addrs)
        })
    }
}
