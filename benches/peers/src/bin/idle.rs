//! Opens streams that stay silent, and says what each of them costs the server.
//!
//! ```sh
//! cargo run --release --bin idle -- PORT PID COUNT
//! ```

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, TcpStream};
use std::time::Duration;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [port, pid, count] = &args[..] else {
        return Err("idle PORT PID COUNT".into());
    };
    let (port, count): (u16, u64) = (port.parse()?, count.parse()?);
    // A request of 1 KB.
    let message = "x".repeat(900);
    let body = format!(r#"{{"messages":[{{"role":"human","content":"{message}"}}]}}"#);
    let request = format!(
        "POST /v1/query HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
         content-length: {}\r\n\r\n{body}",
        body.len()
    );
    // The first ones make the server allocate what it needs whatever their number.
    let mut streams: Vec<TcpStream> = Vec::new();
    for _ in 0..100 {
        streams.push(open(port, &request)?);
    }
    std::thread::sleep(Duration::from_millis(300));
    let before = resident(pid)?;
    for _ in 0..count {
        streams.push(open(port, &request)?);
    }
    std::thread::sleep(Duration::from_millis(500));
    let after = resident(pid)?;
    println!("{:.2} KiB a stream", (after - before) as f64 / count as f64);
    Ok(())
}

/// Sends the request and waits for the first event.
fn open(port: u16, request: &str) -> std::io::Result<TcpStream> {
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
    stream.write_all(request.as_bytes())?;
    let mut answer = Vec::new();
    let mut buffer = [0; 4096];
    while !answer.windows(6).any(|bytes| bytes == b"data: ") {
        let length = stream.read(&mut buffer)?;
        answer.extend_from_slice(buffer.get(..length).unwrap_or_default());
        assert!(length > 0, "{}", String::from_utf8_lossy(&answer));
    }
    Ok(stream)
}

/// Returns the resident memory of a process, in KiB.
fn resident(pid: &str) -> Result<u64, Box<dyn std::error::Error>> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let number = line.and_then(|line| line.split_whitespace().next());
    Ok(number.ok_or("no VmRSS")?.parse()?)
}
