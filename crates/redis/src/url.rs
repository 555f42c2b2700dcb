//! The URLs of servers.

use redis::io::tcp::TcpSettings;
use redis::sentinel::SentinelNodeConnectionInfo;
use redis::{ConnectionAddr, ConnectionInfo, IntoConnectionInfo, TlsMode};

use crate::fault::Fault;

/// The servers of a URL.
pub(crate) struct Target {
    /// One server, some servers of a cluster, or Sentinels.
    pub(crate) hosts: Vec<ConnectionInfo>,
    pub(crate) master: Option<Master>,
}

/// The master that the Sentinels of a URL are asked for.
pub(crate) struct Master {
    pub(crate) name: String,
    pub(crate) node: SentinelNodeConnectionInfo,
}

/// Parses a URL: `redis://user:password@host:port/db`, the same with several hosts and commas between them, or
/// `redis+sentinel://user:password@host:port,host:port/name/db`.
pub(crate) fn parse(url: &str) -> Result<Target, Fault> {
    let (scheme, rest) = url.split_once(':').unwrap_or_default();
    let scheme = scheme.to_ascii_lowercase();
    let (base, is_sentinel) = match scheme.strip_suffix("+sentinel") {
        Some(base) => (base, true),
        None => (&*scheme, false),
    };
    if base == "rediss" {
        prepare_tls()?;
    }
    let rest = match rest.strip_prefix("//") {
        Some(rest) if is_sentinel || rest.contains(',') => rest,
        // Unchanged: there are URLs of other forms, such as those of Unix sockets.
        _ => return one(url).map(|host| Target::new(vec![host])),
    };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    let (user, hosts) = authority.rsplit_once('@').unwrap_or(("", authority));
    let user = if user.is_empty() {
        String::new()
    } else {
        format!("{user}@")
    };
    if is_sentinel {
        return sentinels(base, &user, hosts, path);
    }
    let hosts = hosts
        .split(',')
        .map(|host| one(&format!("{base}://{user}{host}{path}")));
    hosts.collect::<Result<_, _>>().map(Target::new)
}

/// Parses the rest of a URL of Sentinels.
fn sentinels(base: &str, user: &str, hosts: &str, path: &str) -> Result<Target, Fault> {
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    let path = path.trim_matches('/');
    let (name, db) = path.split_once('/').unwrap_or((path, "0"));
    let is_name = |name: &str| {
        name.bytes()
            .all(|it| it.is_ascii_alphanumeric() || b"._-".contains(&it))
    };
    if name.is_empty() || !is_name(name) {
        return Err(Fault::lasting(
            "a URL of Sentinels ends with the name of a master: redis+sentinel://HOST/NAME",
        ));
    }
    let (mut own_user, mut own_password) = ("", "");
    for parameter in query.split('&').filter(|it| !it.is_empty()) {
        match parameter.split_once('=') {
            Some(("sentinel_username", value)) => own_user = value,
            Some(("sentinel_password", value)) => own_password = value,
            _ => return Err(Fault::lasting("unknown parameter in a URL of Sentinels")),
        }
    }
    let own = match (own_user, own_password) {
        ("", "") => String::new(),
        _ => format!("{own_user}:{own_password}@"),
    };
    let host = |host: &str| {
        // An IPv6 address has colons in its brackets.
        let has_port = host
            .rsplit(']')
            .next()
            .is_some_and(|rest| rest.contains(':'));
        one(&format!(
            "{base}://{own}{host}{}/",
            if has_port { "" } else { ":26379" }
        ))
    };
    let node = one(&format!("{base}://{user}host/{db}"))?;
    let mut settings = SentinelNodeConnectionInfo::default()
        .set_redis_connection_info(node.redis_settings().clone())
        .set_tcp_settings(node.tcp_settings().clone());
    if matches!(node.addr(), ConnectionAddr::TcpTls { .. }) {
        settings = settings.set_tls_mode(TlsMode::Secure);
    }
    Ok(Target {
        hosts: hosts.split(',').map(host).collect::<Result<_, _>>()?,
        master: Some(Master {
            name: name.to_owned(),
            node: settings,
        }),
    })
}

/// Parses the URL of one server.
fn one(url: &str) -> Result<ConnectionInfo, Fault> {
    // Errors of the parser may show a part of the URL, which has the password.
    let info = url
        .into_connection_info()
        .map_err(|_| Fault::lasting("invalid URL"))?;
    Ok(info.set_tcp_settings(TcpSettings::default().set_nodelay(true)))
}

/// Prepares TLS. Fails without the feature `tls`.
fn prepare_tls() -> Result<(), Fault> {
    #[cfg(not(feature = "tls"))]
    return Err(Fault::lasting("rediss:// needs the feature `tls`"));
    #[cfg(feature = "tls")]
    {
        if rustls::crypto::CryptoProvider::get_default().is_none() {
            // Without a provider, the first TLS connection panics. The call fails if another thread has installed one.
            let _ = rustls::crypto::ring::default_provider().install_default();
        }
        Ok(())
    }
}

impl Target {
    fn new(hosts: Vec<ConnectionInfo>) -> Self {
        Self {
            hosts,
            master: None,
        }
    }
}

/// Returns `like` with another host and port, as a cluster names them.
pub(crate) fn at(like: &ConnectionInfo, host: &str, port: u16) -> ConnectionInfo {
    let mut addr = like.addr().clone();
    match &mut addr {
        ConnectionAddr::Tcp(to, number) => (*to, *number) = (host.to_owned(), port),
        ConnectionAddr::TcpTls {
            host: to,
            port: number,
            ..
        } => (*to, *number) = (host.to_owned(), port),
        _ => {}
    }
    like.clone().set_addr(addr)
}
