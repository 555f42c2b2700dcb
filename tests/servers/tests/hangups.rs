//! Ten thousand clients that hang up at random points leave nothing behind.

// Helpers of tests may be blunt too; `clippy.toml` reaches the test functions only.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use server_tests::{Client, PATHS, Puppet, SERVERS, chunk, memory, open, say, say_to};

const CLIENTS: usize = 10_000;
/// The number of concurrent connections.
const AT_ONCE: usize = 8;

/// splitmix64
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) as usize % bound
    }
}

/// Sends a request, all of it or not, reads a while or not, and leaves, in one way or another.
fn hang_up(address: SocketAddr, random: &mut Random) {
    let mut client = Client::connect(address).unwrap();
    let prompt = ["silence", "drip", "flood", "words", "panic", "well"][random.below(6)];
    let path = PATHS[random.below(4)];
    let mut body = say_to(path, prompt);
    // Some want it all at once. What is collected does not wait for its reader: no flood then.
    let at_once = path == "/v1/chat/completions" && prompt != "flood" && random.below(8) == 0;
    if at_once {
        body = body.replace("true", "false");
    }
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
         content-length: {}\r\n\r\n",
        body.len()
    );
    let whole = [head.as_bytes(), body.as_bytes()].concat();
    let sent = if random.below(3) == 0 {
        random.below(whole.len())
    } else {
        whole.len()
    };
    client.send(&whole[..sent]).unwrap();
    if sent < whole.len() {
        return;
    }
    // The head of a model waits for the first output.
    let is_silent = path == "/v1/chat/completions" && prompt == "silence";
    if random.below(3) > 0 && !at_once && !is_silent {
        let head = client.head();
        let fine = head.as_ref().is_ok_and(|head| head.status == 200);
        assert!(fine, "{prompt} at {path}: {head:?}");
        for _ in 0..random.below(3) {
            // What is silent would be waited for.
            if prompt == "silence" || client.chunk().unwrap().is_empty() {
                break;
            }
        }
    }
    if random.below(4) == 0 {
        client.half_close().unwrap();
    }
}

fn all_hang_up(address: SocketAddr, clients: usize, seed: u64) {
    std::thread::scope(|scope| {
        for thread in 0..AT_ONCE {
            scope.spawn(move || {
                let mut random = Random(seed + thread as u64);
                for _ in 0..clients / AT_ONCE {
                    hang_up(address, &mut random);
                }
            });
        }
    });
}

/// Waits until a server holds no connection.
fn wait_until_closed(name: &str, address: SocketAddr) {
    let start = Instant::now();
    while open(address) > 0 {
        assert!(
            start.elapsed() < Duration::from_secs(30),
            "{name}: {} connections are left",
            open(address)
        );
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn ten_thousand_clients_that_hang_up_leave_nothing_behind() {
    // What the agents' panics print is kept by the test runner, and would count as left behind.
    std::panic::set_hook(Box::new(|_| {}));
    for (name, start) in SERVERS {
        let puppet = Puppet::default();
        let server = start(puppet.mount().unwrap());
        // What is cached and pooled is so after the first ones.
        all_hang_up(server.address, CLIENTS / 4, 1);
        let _ = puppet.wait_for(0);
        wait_until_closed(name, server.address);
        let before = memory(std::process::id());
        all_hang_up(server.address, CLIENTS * 3 / 4, 2);
        let _ = puppet.wait_for(0);
        wait_until_closed(name, server.address);
        let grown = memory(std::process::id()).saturating_sub(before);
        assert!(grown < 16 << 20, "{name}: {grown} bytes are left");

        let mut client = Client::connect(server.address).unwrap();
        client.post("/v1/query", say("well")).unwrap();
        assert_eq!(client.response().unwrap().1, chunk("well"), "{name}");
    }
}
