//! Copies the first server of the guide, with an agent that fails or is silent, at a free port.

use std::path::Path;
use std::{env, fs};

const CHAPTER: &str = "../../src/guide/servers.md";
/// The replacements in the guide's snippet.
const AGENT: [&str; 2] = [
    "Ok(reply.text(&request.prompt().unwrap_or_default()).await?)",
    r#"match request.prompt().as_deref() {
            Some("fail") => Err(std::io::Error::other("the disk is full").into()),
            _ => {
                tokio::time::sleep(std::time::Duration::from_secs(20)).await;
                Ok(reply.text("late").await?)
            }
        }"#,
];
const LISTENER: [&str; 2] = [
    r#"let listener = TcpListener::bind("127.0.0.1:7777").await?;"#,
    r#"let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("{}", listener.local_addr()?);"#,
];

fn main() {
    println!("cargo::rerun-if-changed={CHAPTER}");
    let chapter = fs::read_to_string(CHAPTER).unwrap();
    let server = chapter.split("```no_run\n").nth(1).unwrap();
    let mut server = server.split("```").next().unwrap().to_owned();
    for [from, to] in [AGENT, LISTENER] {
        assert_eq!(server.matches(from).count(), 1, "{from} in {server}");
        server = server.replace(from, to);
    }
    let out = env::var_os("OUT_DIR").unwrap();
    fs::write(Path::new(&out).join("server.rs"), server).unwrap();
}
