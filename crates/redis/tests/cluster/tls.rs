//! Redis over TLS, with a user of its own.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::json;

use crate::redis::{Redis, rights};
use crate::support::{Server, chat, free_port, program, resume, send, soon};

/// Certificates of an authority of a test's own.
struct Certificates(PathBuf);

impl Certificates {
    /// Creates the authority, and a certificate for `localhost`.
    fn create() -> Self {
        let folder = format!(
            "copilot-wire-tls-{}-{}",
            std::process::id(),
            free_port().port()
        );
        let it = Self(std::env::temp_dir().join(folder));
        fs::create_dir_all(&it.0).unwrap();
        it.sign("authority", "-addext keyUsage=keyCertSign");
        it.sign(
            "redis",
            "-CA authority.pem -CAkey authority.key -addext subjectAltName=DNS:localhost \
             -addext basicConstraints=critical,CA:FALSE",
        );
        it.sign("stranger", "-addext keyUsage=keyCertSign");
        it
    }

    fn sign(&self, name: &str, options: &str) {
        let openssl = Command::new("openssl")
            .args(
                "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2"
                    .split(' '),
            )
            .args(["-subj", &format!("/CN={name}")])
            .args([
                "-keyout",
                &format!("{name}.key"),
                "-out",
                &format!("{name}.pem"),
            ])
            .args(options.split_whitespace())
            .current_dir(&self.0)
            .output()
            .expect("openssl is installed");
        assert!(
            openssl.status.success(),
            "{}",
            String::from_utf8_lossy(&openssl.stderr)
        );
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Certificates {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Starts a server that trusts an authority.
fn server(url: &str, authority: &Path) -> Command {
    let mut command = program();
    command
        .args([url, "127.0.0.1:0"])
        .env("SSL_CERT_FILE", authority);
    command
}

/// Two servers share replies, over TLS, as a user who has only the rights that the README lists.
#[tokio::test]
#[ignore = "needs redis-server"]
async fn tls() {
    let certificates = Certificates::create();
    let port = free_port().port();
    let path = |name| certificates.path(name).display().to_string();
    let redis = Redis::start(&format!(
        "--tls-port {port} --tls-auth-clients no --tls-cert-file {} --tls-key-file {}",
        path("redis.pem"),
        path("redis.key")
    ));
    redis.command(&rights("chat", "sesame", "copilot-wire:"));
    let url = format!("rediss://chat:sesame@localhost:{port}/");
    let start = || Server::run(server(&url, &certificates.path("authority.pem"))).unwrap();
    let (one, other) = (start(), start());
    let mut page = send(
        one.address,
        "POST",
        "/api/chat",
        chat("c", "count 100000 20"),
    )
    .await;
    page.until_text("\" 5\"").await;
    let mut elsewhere = soon(resume(other.address, "c")).await;
    elsewhere.until_text("\" 20\"").await;
    let stopped = send(other.address, "POST", "/api/chat/c/stop", Some(json!({}))).await;
    assert_eq!(stopped.status, 204);
    let (page, elsewhere) = soon(async { tokio::join!(page.all(), elsewhere.all()) }).await;
    assert_eq!(page, elsewhere);
    assert!(page.contains("\"type\":\"abort\""), "{page}");

    // What goes wrong is named, without a secret.
    let [authority, stranger] = ["authority.pem", "stranger.pem"].map(|it| certificates.path(it));
    for (url, authority, reason) in [
        (url.clone(), &stranger, "invalid certificate"),
        (
            url.replace("localhost", "127.0.0.1"),
            &authority,
            "invalid certificate",
        ),
        (
            url.replace("sesame", "wr0ng"),
            &authority,
            "authentication failed",
        ),
    ] {
        let output = server(&url, authority)
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(
            !output.status.success() && error.contains(reason),
            "{url}: {error}"
        );
        for secret in ["sesame", "wr0ng", "chat", "localhost"] {
            assert!(!error.contains(secret), "{error}");
        }
    }
}
