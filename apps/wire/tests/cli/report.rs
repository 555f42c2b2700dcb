//! The files of `wire check`: a page, and test cases for CI.

use std::collections::BTreeSet;
use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::time::Duration;

use analyst::Analyst;
use copilot_wire::Router;
use roxmltree::{Document, Node, ParsingOptions};
use serde_json::Value;
use tempfile::TempDir;

use crate::program::run;
use crate::server::Server;

/// Where the files of a report go.
pub(crate) struct Files {
    _folder: TempDir,
    pub(crate) html: PathBuf,
    pub(crate) junit: PathBuf,
}

impl Files {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self {
            html: folder.path().join("report.html"),
            junit: folder.path().join("report.xml"),
            _folder: folder,
        }
    }

    pub(crate) fn options(&self) -> [&str; 4] {
        let [html, junit] = [&self.html, &self.junit].map(|path| path.to_str().unwrap());
        ["--html", html, "--junit", junit]
    }
}

/// Reads a document as strictly as XML 1.0 asks for.
fn parse(text: &str) -> Document<'_> {
    let options = ParsingOptions {
        allow_dtd: true,
        ..ParsingOptions::default()
    };
    Document::parse_with_options(text, options).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn all<'a>(document: &'a Document<'_>, name: &'static str) -> impl Iterator<Item = Node<'a, 'a>> {
    let elements = document.descendants();
    elements.filter(move |element| element.has_tag_name(name))
}

fn ids(list: &Value) -> Vec<&str> {
    let list = list.as_array().unwrap().iter();
    list.map(|it| it.as_str().unwrap_or_else(|| it["rule"].as_str().unwrap()))
        .collect()
}

const KEY: &str = "sk-0123456789abcdef";

/// Text that no report may repeat as it is: markup, characters without a form in XML, bytes that are no text, and the key.
const HOSTILE: &[u8] = b"data: </pre></td></failure><script>alert(1)</script>]]> &nbsp; \0 \x1b[2J \xef\xbf\xbe \xff\xfe \
                         no such key: sk-0123456789abcdef\n\n";

/// Answers everything with hostile bytes, until the test program ends.
fn hostile() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!(
        "http://{}/v1/chat/completions",
        listener.local_addr().unwrap()
    );
    std::thread::spawn(move || {
        for socket in listener.incoming() {
            // A client that leaves is none of its business.
            let _ = answer(socket.unwrap());
        }
    });
    url
}

fn answer(mut socket: TcpStream) -> std::io::Result<()> {
    let mut request = Vec::new();
    let mut buffer = vec![0; 65536];
    let mut missing = usize::MAX;
    while missing > 0 {
        let count = socket.read(&mut buffer)?;
        if count == 0 {
            return Ok(());
        }
        request.extend_from_slice(&buffer[..count]);
        let Some(end) = request.windows(4).position(|bytes| bytes == b"\r\n\r\n") else {
            continue;
        };
        let head = String::from_utf8_lossy(&request[..end]).to_lowercase();
        let length = head.split("content-length: ").nth(1);
        let length = length.map_or(0, |rest| rest.lines().next().unwrap().parse().unwrap());
        missing = (end + 4 + length).saturating_sub(request.len());
    }
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
    socket.write_all(&[head.as_bytes(), HOSTILE].concat())
}

#[test]
fn what_an_endpoint_says_stays_text_and_keys_are_hidden() {
    let (url, files) = (hostile(), Files::new());
    let header = format!("authorization: Bearer {KEY}");
    let options = ["--model", "m", "-H", &header, "--json"];
    let args = [
        &["check", &url, "-p", "openai"][..],
        &options,
        &files.options(),
    ]
    .concat();
    let seen = run(&args, "");
    assert_eq!(seen.status, 1, "{}", seen.err);
    let report = &seen.json()[0];
    let findings = report["findings"].as_array().unwrap();

    let html = fs::read_to_string(&files.html).unwrap();
    let page = parse(&html);
    let shown: Vec<_> = all(&page, "pre").filter_map(|it| it.text()).collect();
    // XML has no form for the last one of these.
    let written = |finding: &Value| {
        finding["bytes"]
            .as_str()
            .unwrap()
            .replace('\u{fffe}', "\u{fffd}")
    };
    let bytes: Vec<_> = findings.iter().map(written).collect();
    assert_eq!(shown, bytes);
    assert!(
        shown
            .iter()
            .any(|text| text.contains("</pre></td></failure><script>")),
        "{html}"
    );
    assert_eq!(all(&page, "script").count(), 0);
    assert_eq!(all(&page, "section").count(), findings.len());
    assert_eq!(all(&page, "h1").next().unwrap().text(), Some("Failed"));

    let junit = fs::read_to_string(&files.junit).unwrap();
    let document = parse(&junit);
    assert_eq!(document.root_element().tag_name().name(), "testsuites");
    let cases: Vec<_> = all(&document, "testcase").collect();
    for (part, child) in [("passed", None), ("unseen", Some("skipped"))] {
        for id in ids(&report[part]) {
            let case = cases
                .iter()
                .find(|case| case.attribute("name") == Some(id))
                .unwrap();
            let found = case.first_element_child().map(|it| it.tag_name().name());
            assert_eq!(found, child, "{id}");
        }
    }
    let mut failures = 0;
    for finding in findings {
        let id = finding["rule"].as_str();
        let case = cases
            .iter()
            .find(|case| case.attribute("name") == id)
            .unwrap();
        let content = case.first_element_child().unwrap();
        let is_error = finding["level"] == "error";
        failures += usize::from(is_error);
        let element = if is_error { "failure" } else { "system-out" };
        assert_eq!(content.tag_name().name(), element);
        let text = content.text().unwrap();
        assert!(text.contains(&written(finding)), "{text}");
    }
    assert!((1..findings.len()).contains(&failures), "{report}");
    let suite = all(&document, "testsuite").next().unwrap();
    for (name, number) in [
        ("tests", cases.len()),
        ("failures", failures),
        ("errors", 0),
        ("skipped", ids(&report["unseen"]).len()),
    ] {
        assert_eq!(suite.attribute(name), Some(&*number.to_string()), "{name}");
    }
    let names: BTreeSet<_> = cases.iter().map(|case| case.attribute("name")).collect();
    assert_eq!(names.len(), cases.len());

    for text in [&html, &junit, &seen.out, &seen.err] {
        assert!(!text.contains(KEY), "{text}");
    }
    assert!(html.contains(&"*".repeat(KEY.len())), "{html}");
}

#[test]
fn a_sound_agent_passes_in_both_files() {
    let agent = Analyst::new(None).pace(Duration::ZERO);
    let server = Server::new(
        Router::new()
            .mount(copilot_wire::openai::Model::new("analyst"), agent)
            .unwrap(),
    );
    let files = Files::new();
    // No secret of the address gets into a report.
    let url = server.url("/v1/chat/completions?key=s3cret-of-the-url");
    let args = ["check", &url, "-p", "openai", "--model", "analyst"];
    let seen = run(&[&args[..], &files.options()].concat(), "");
    assert_eq!((seen.status, &*seen.err), (0, ""), "{}", seen.out);
    let html = fs::read_to_string(&files.html).unwrap();
    let page = parse(&html);
    assert_eq!(all(&page, "h1").next().unwrap().text(), Some("Passed"));
    assert!(html.contains(&server.url(" ")), "{html}");
    assert!(!html.contains("s3cret"), "{html}");
    let junit = fs::read_to_string(&files.junit).unwrap();
    let document = parse(&junit);
    assert_eq!(document.root_element().attribute("failures"), Some("0"));
    assert!(!junit.contains("s3cret"), "{junit}");
    // Every rule that passed is told with its demand.
    let cases = all(&document, "testcase").count();
    assert_eq!(
        all(&page, "tr").filter(|row| row.has_children()).count(),
        cases + 2
    );
}

#[test]
fn a_file_that_cannot_be_written_is_said_before_the_check() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let greeted = std::thread::spawn(move || {
        let (mut socket, _) = listener.accept().unwrap();
        let head = "HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
        socket.write_all(head.as_bytes()).unwrap();
    });
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("none").join("report.html");
    let path = path.to_str().unwrap();
    let seen = run(&["check", &url, "-p", "openbb", "--html", path], "");
    greeted.join().unwrap();
    assert_eq!((seen.status, &*seen.out), (2, ""));
    assert!(seen.err.contains(path), "{}", seen.err);
}
