//! Everything at a time: connections that break, and servers that are killed and replaced.

// Helpers of tests may be blunt too; `clippy.toml` reaches the test functions only.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice
)]

use std::net::SocketAddr;
use std::time::Duration;

use futures_util::{StreamExt, stream};
use serde_json::Value;
use tokio::time::sleep;

use crate::{Answer, events, numbers, response_id, send_as};

/// Replies of the Responses API that are cut at random, while their servers come and go.
#[derive(Clone, Debug)]
pub struct Storm {
    /// Every server can read the replies of the others.
    pub servers: Vec<SocketAddr>,
    /// The key that each request has.
    pub user: &'static str,
    /// The path of the responses.
    pub path: &'static str,
    /// Asks for two words and then the numbers below `words`, streamed in the background.
    pub body: Value,
    /// The number of numbers in a reply.
    pub words: u64,
    /// The number of replies, 20 at a time.
    pub replies: usize,
    /// The number of connections of each reply that are left on purpose.
    pub cuts: usize,
}

/// The last events of replies. The third one is that of a reply of which nothing was stored.
const ENDS: [&str; 3] = [
    "event: response.completed",
    "event: response.failed",
    "event: error",
];

/// What became of replies.
#[derive(Debug, Default)]
pub struct Tally {
    whole: usize,
    failed: usize,
    cuts: usize,
    broken: usize,
}

impl Storm {
    /// Reads all replies while `trouble` happens, which goes on until they have ended.
    ///
    /// # Panics
    ///
    /// Where anything is lost, doubled or out of order.
    pub async fn run(&self, trouble: impl Future<Output = ()>) -> Tally {
        let work = stream::iter(0..self.replies).map(|_| self.reply());
        let work = work
            .buffer_unordered(20)
            .fold(Tally::default(), async |sum, one| Tally {
                whole: sum.whole + one.whole,
                failed: sum.failed + one.failed,
                cuts: sum.cuts + one.cuts,
                broken: sum.broken + one.broken,
            });
        let tally = tokio::select! {
            tally = work => tally,
            () = trouble => unreachable!("it goes on"),
        };
        assert_eq!(tally.cuts, self.replies * self.cuts);
        assert_eq!(tally.whole + tally.failed, self.replies);
        assert!(tally.whole > 0, "{tally:?}");
        tally
    }

    /// Runs one reply, and reads it until enough connections were left: again from its start if it has ended before. Checks
    /// what its reader gets.
    async fn reply(&self) -> Tally {
        let mut tally = Tally::default();
        let mut path = String::new();
        loop {
            let seen = self.read(&mut path, &mut tally).await;
            let is_whole = self.check(&seen);
            if seen.starts_with("event: error") {
                path.clear();
            }
            if tally.cuts == self.cuts {
                match is_whole {
                    true => tally.whole += 1,
                    false => tally.failed += 1,
                }
                return tally;
            }
        }
    }

    /// Reads a reply to its end; begins it where there is no path yet.
    async fn read(&self, path: &mut String, tally: &mut Tally) -> String {
        let mut seen = String::new();
        loop {
            let mut answer = match path.as_str() {
                "" => self.ask("POST", self.path, Some(self.body.clone())).await,
                path => {
                    let after = match events(&seen) {
                        0 => path.to_owned(),
                        count => format!("{path}&starting_after={}", count - 1),
                    };
                    self.ask("GET", &after, None).await
                }
            };
            // From any byte to any byte.
            let length = match tally.cuts == self.cuts {
                true => usize::MAX,
                false => random(6_000) as usize,
            };
            let is_open = answer
                .until(|bytes| bytes.len() >= length || has_end(bytes))
                .await;
            let bytes = std::mem::take(&mut answer.bytes);
            let bytes = &bytes[..bytes.len().min(length)];
            let text = String::from_utf8_lossy(bytes).replace(": ping\n\n", "");
            let end = text.rfind("\n\n").map_or(0, |end| end + 2);
            seen.push_str(&text[..end]);
            if path.is_empty() && !seen.is_empty() {
                *path = format!("{}/{}?stream=true", self.path, response_id(seen.as_bytes()));
            }
            if has_end(seen.as_bytes()) {
                return seen;
            }
            match is_open {
                true => tally.cuts += 1,
                false => tally.broken += 1,
            }
        }
    }

    /// Sends a request to any server until one answers it.
    async fn ask(&self, method: &str, path: &str, body: Option<Value>) -> Answer {
        loop {
            let server = self.servers[random(self.servers.len() as u64) as usize];
            if let Ok(answer) = send_as(self.user, server, method, path, body.clone()).await {
                match answer.status {
                    200 => return answer,
                    503 => {}
                    status => panic!("status {status} of {path}"),
                }
            }
            sleep(Duration::from_millis(50)).await;
        }
    }

    /// Checks that nothing is lost, doubled or out of order. Returns `true` if the reply is whole, and not one that failed
    /// with its server.
    fn check(&self, seen: &str) -> bool {
        let is_whole = seen.contains("event: response.completed");
        let ends = ENDS.map(|end| seen.matches(end).count());
        assert_eq!(ends.iter().sum::<usize>(), 1, "{seen}");
        let deltas = &seen[..seen.find("output_text.done").unwrap_or(seen.len())];
        let words = numbers(deltas);
        assert_eq!(words, (0..words.len() as u64).collect::<Vec<_>>(), "{seen}");
        let places = seen.split("\"sequence_number\":").skip(1);
        let places = places.map(|it| it.split([',', '}']).next().unwrap().parse().unwrap());
        let mut places: Vec<u64> = places.collect();
        if is_whole {
            assert_eq!(words.len() as u64, self.words, "{seen}");
        } else {
            // Another server writes the failure, behind what is stored: less than what a reader may have seen.
            places.pop();
        }
        let all = 0..places.len() as u64;
        assert_eq!(places, all.collect::<Vec<_>>(), "{seen}");
        is_whole
    }
}

fn has_end(bytes: &[u8]) -> bool {
    // The last event, as a whole.
    let text = String::from_utf8_lossy(bytes);
    let end = ENDS.into_iter().find_map(|end| text.find(end));
    end.is_some_and(|at| text[at..].contains("\n\n"))
}

/// Returns a random number below this one.
pub fn random(below: u64) -> u64 {
    u64::from(getrandom::u32().unwrap()) % below
}
