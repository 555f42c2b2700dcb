//! Clients, polite and rude.

use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::thread::sleep;
use std::time::Duration;

use server_tests::{Client, PATHS, say_to};

/// splitmix64
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) as usize % bound
    }

    fn of<T: Copy>(&mut self, choices: &[T]) -> io::Result<T> {
        let choice = choices.get(self.below(choices.len()));
        choice
            .copied()
            .ok_or_else(|| fault("nothing to choose from"))
    }

    fn millis(&mut self, most: usize) -> Duration {
        Duration::from_millis(self.below(most) as u64)
    }
}

/// The behaviour of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Behaviour {
    /// Reads a stream of a second to its end, several on one connection.
    Polite,
    /// Reads another one slowly.
    Slow,
    /// Leaves in the middle.
    Leaves,
    /// Closes its own half and goes on reading.
    HalfCloses,
    /// Does not read what floods it, and leaves.
    Stalls,
    /// Sends half a request.
    BreaksOff,
    /// Sends its request a few bytes at a time.
    Drips,
    /// Sends what is no HTTP.
    Babbles,
    /// Sends what is no request.
    Errs,
    /// Announces more than it may send.
    Exaggerates,
    /// Has the agent panic or give up.
    Provokes,
    /// Has no key, and sends a large body.
    Intrudes,
    /// Sends more requests than a key may.
    Hurries,
}

/// The number of requests that a key may send in a minute: more than any client of its own does.
pub(crate) const PER_MINUTE: u32 = 600;

/// The key of those who hurry.
pub(crate) const HURRIED: &str = "hurried";

fn fault(what: &str) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, what.to_owned())
}

fn expect(met: bool, what: impl FnOnce() -> String) -> io::Result<()> {
    if met { Ok(()) } else { Err(fault(&what())) }
}

impl Behaviour {
    pub(crate) const ALL: [Self; 13] = [
        Self::Polite,
        Self::Slow,
        Self::Leaves,
        Self::HalfCloses,
        Self::Stalls,
        Self::BreaksOff,
        Self::Drips,
        Self::Babbles,
        Self::Errs,
        Self::Exaggerates,
        Self::Provokes,
        Self::Intrudes,
        Self::Hurries,
    ];

    /// Picks a behaviour; most clients read to the end.
    pub(crate) fn any(random: &mut Random) -> Self {
        let choice = random.below(2 * Self::ALL.len());
        Self::ALL.get(choice).copied().unwrap_or(Self::Polite)
    }

    /// Returns `true` if only a server with keys has an answer to it.
    pub(crate) fn needs_keys(self) -> bool {
        matches!(self, Self::Intrudes | Self::Hurries)
    }

    /// Comes, does it, and goes; an error is one that it did not provoke.
    pub(crate) fn act(self, address: SocketAddr, key: &str, random: &mut Random) -> io::Result<()> {
        let path = random.of(&PATHS)?;
        let mut client = Client::connect(address)?.key(key);
        match self {
            Self::Polite => {
                for _ in 0..=random.below(3) {
                    client.post(path, say_to(path, "brook"))?;
                    let (head, body) = client.response()?;
                    whole(path, head.status, &body)?;
                }
                Ok(())
            }
            Self::Slow => {
                client.post(path, say_to(path, "brook"))?;
                let status = client.head()?.status;
                let mut body = Vec::new();
                loop {
                    let chunk = client.chunk()?;
                    if chunk.is_empty() {
                        break whole(path, status, &String::from_utf8_lossy(&body));
                    }
                    body.extend(chunk);
                    sleep(random.millis(100));
                }
            }
            Self::Leaves => {
                let prompt = random.of(&["brook", "drip", "silence"])?;
                client.post(path, say_to(path, prompt))?;
                if random.below(2) == 0 {
                    expect(client.head()?.status == 200, || "no stream".into())?;
                }
                sleep(random.millis(300));
                Ok(())
            }
            Self::HalfCloses => {
                client.post(path, say_to(path, "drip"))?;
                client.half_close()?;
                // The server may end it at any point, but it must.
                while client.head().is_ok() || client.chunk().is_ok_and(|chunk| !chunk.is_empty()) {
                }
                Ok(())
            }
            Self::Stalls => {
                client.post(path, say_to(path, "flood"))?;
                sleep(random.millis(1500));
                Ok(())
            }
            Self::BreaksOff => {
                let request = request(path, key, &say_to(path, "brook"));
                let sent = request.get(..random.below(request.len()));
                client.send(sent.unwrap_or_default())?;
                sleep(random.millis(300));
                Ok(())
            }
            Self::Drips => {
                let request = request(path, key, &say_to(path, "brook"));
                for piece in request.chunks(1 + random.below(60)) {
                    client.send(piece)?;
                    sleep(random.millis(20));
                }
                let (head, body) = client.response()?;
                whole(path, head.status, &body)
            }
            Self::Babbles => {
                let bytes: Vec<u8> = (0..random.below(500))
                    .map(|_| random.below(256) as u8)
                    .collect();
                // It may hang up before it has heard all.
                let _ = client.send(&bytes);
                let _ = client.half_close();
                let _ = client.head();
                Ok(())
            }
            Self::Errs => {
                let body = random.of(&["", "{", "[]", "{}", "\u{fffd}", r#"{"messages":7}"#])?;
                client.post(path, body)?;
                let (head, body) = client.response()?;
                let refused = (400..500).contains(&head.status) && body.starts_with('{');
                expect(refused, || format!("{}: {body}", head.status))
            }
            Self::Exaggerates => {
                let head = format!(
                    "POST {path} HTTP/1.1\r\nhost: localhost\r\n{key}\r\n\
                     content-type: application/json\r\ncontent-length: 1000000000\r\n\r\n"
                );
                client.send(head.as_bytes())?;
                let status = client.head()?.status;
                expect(status == 413, || format!("{status} for a gigabyte"))
            }
            Self::Provokes => {
                let prompt = random.of(&["panic", "fail", "serialize", "endless"])?;
                client.post(path, say_to(path, prompt))?;
                let (head, body) = client.response()?;
                let told = ["Sorry", "gave up"]
                    .iter()
                    .any(|words| body.contains(words));
                expect(head.status == 200 && told, || format!("{prompt}: {body}"))
            }
            Self::Intrudes => {
                let mut client = Client::connect(address)?;
                client.post(path, vec![b' '; 1 << 20])?;
                let (head, body) = client.response()?;
                expect(head.status == 401, || {
                    format!("{} without a key: {body}", head.status)
                })
            }
            Self::Hurries => hurry(path, client.key(format!("x-api-key: {HURRIED}"))),
        }
    }
}

/// Sends requests until there were too many: at the latest when two minutes have been used up.
fn hurry(path: &str, mut client: Client) -> io::Result<()> {
    for _ in 0..=2 * PER_MINUTE {
        client.post(path, "{}")?;
        let (head, _) = client.response()?;
        if head.status == 429 {
            let wait = head
                .header("retry-after")
                .and_then(|wait| wait.parse().ok());
            let wait: u32 = wait.ok_or_else(|| fault("no time to come back"))?;
            return expect((1..=60).contains(&wait), || format!("wait for {wait} s"));
        }
    }
    Err(fault("a key without a limit"))
}

fn request(path: &str, key: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: localhost\r\n{key}\r\n\
         content-type: application/json\r\ncontent-length: {length}\r\n\r\n"
    );
    [head.as_bytes(), body.as_bytes()].concat()
}

/// Returns an error unless a stream is complete, with all of its words.
pub(crate) fn whole(path: &str, status: u16, body: &str) -> io::Result<()> {
    let ended = path == "/v1/query" || body.ends_with("data: [DONE]\n\n");
    let words = body.matches("drop").count();
    let whole = status == 200 && ended && words == 50 && !body.contains("Sorry");
    expect(whole, || {
        format!("{path}: {status}, {words} words, {ended}")
    })
}
