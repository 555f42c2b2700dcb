//! Copies the first server of the reference, with an agent that fails or is silent, at a free port.

use std::path::Path;
use std::{env, fs};

const PAGE: &str = "../../src/guide/first_server.md";
/// The replacements in the snippet.
const AGENT: [&str; 2] = [
    r#"reply.text(format!("There is one book on {topic}.")).await?;"#,
    r#"if topic == "fail" {
            return Err(std::io::Error::other("the disk is full").into());
        }
        tokio::time::sleep(std::time::Duration::from_secs(20)).await;
        reply.text("late").await?;"#,
];
const LISTENER: [&str; 2] = [
    r#"let listener = TcpListener::bind("127.0.0.1:7777").await?;"#,
    r#"let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("{}", listener.local_addr()?);"#,
];

fn main() {
    println!("cargo::rerun-if-changed={PAGE}");
    let page = fs::read_to_string(PAGE).unwrap();
    let server = page.split("```no_run\n").nth(1).unwrap();
    let mut server = server.split("```").next().unwrap().to_owned();
    for [from, to] in [AGENT, LISTENER] {
        assert_eq!(server.matches(from).count(), 1, "{from} in {server}");
        server = server.replace(from, to);
    }
    let out = env::var_os("OUT_DIR").unwrap();
    fs::write(Path::new(&out).join("server.rs"), server).unwrap();
}
