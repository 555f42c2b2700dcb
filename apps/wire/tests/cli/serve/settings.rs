//! The settings, from options and files.

use serde_json::{Value, json};
use server_tests::Client;

use super::{Gateway, chunk, hello};
use crate::program::run;
use crate::upstream::{Upstream, stream};

#[test]
fn settings_that_are_wrong_name_their_place() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("wire.toml");
    let file = file.to_str().unwrap();
    let model = "[[models]]\nname = \"m\"\nupstream = \"http://127.0.0.1:9\"\ndialect = \"chat\"\n";
    for (text, error) in [
        ("models = [", "wire.toml: line 1: "),
        ("", "wire.toml: line 1: missing field `models`"),
        ("models = []", "wire.toml: models: there is none"),
        (
            &format!("{model}colour = 1"),
            "wire.toml: line 5: unknown field `colour`",
        ),
        (
            &format!("{model}retries = -1"),
            "wire.toml: line 5: invalid value",
        ),
        (
            &format!("{model}key-env = \"NO_SUCH_KEY\""),
            "wire.toml: models[0].key-env: the environment has no NO_SUCH_KEY",
        ),
        (
            &format!("{model}key-env = \"BAD_KEY\""),
            "wire.toml: models[0].key-env: BAD_KEY has characters that no header can have",
        ),
        (
            &model.replace("name = \"m\"\n", ""),
            "wire.toml: models[0].name: it is missing",
        ),
        (
            &model.replace("\"chat\"", "\"chats\""),
            "wire.toml: line 4: unknown variant `chats`",
        ),
        (
            &model.replace("http:", "ftp:"),
            "wire.toml: models[0].upstream: it must begin with http",
        ),
        (
            &format!("{model}{model}"),
            "wire.toml: models[1].name: another model has it",
        ),
        (
            &format!("[server]\nlisten = \"0.0.0.0:0\"\n{model}"),
            "wire.toml: server.listen: other machines",
        ),
        (
            &format!("[server]\nkeys-env = \"PATH\"\n{model}"),
            "wire.toml: server.keys-env: PATH must be like user=key",
        ),
        (
            &format!("[server]\norigin = [\"https://chat.example/x\"]\n{model}"),
            "wire.toml: server.origin: https://chat.example/x: it must be like",
        ),
        (
            &format!("{model}[models.profile]\nstop = 4"),
            "wire.toml: line 6: unknown field `stop`",
        ),
        (
            &format!("{model}[models.profile]\nsystem = \"last\""),
            "wire.toml: line 6: unknown variant `last`",
        ),
        (
            &format!("{model}[models.profile]\ntool-names = 4"),
            "wire.toml: models[0].profile.tool-names: must be at least 16",
        ),
        (
            &format!("{model}provider = \"vlm\""),
            "wire.toml: models[0].provider: must be one of OpenAI, Anthropic",
        ),
        (
            &format!(
                "{model}[[models.next]]\nupstream = \"http://127.0.0.1:9\"\ndialect = \"messages\""
            ),
            "wire.toml: models[0].next[0].dialect: it must be that of the first upstream",
        ),
        (
            &format!(
                "{model}weight = 1\n[[models.next]]\nupstream = \"http://127.0.0.1:9\"\ndialect = \"chat\""
            ),
            "wire.toml: models[0].next[0].weight: all upstreams of a model have one, or none",
        ),
        (
            &format!("{model}answer-timeout = 0"),
            "wire.toml: line 5: invalid value",
        ),
    ] {
        std::fs::write(file, text).unwrap();
        let seen = run(&["serve", "--config", file], "");
        assert_eq!(seen.status, 2, "{}{}", seen.out, seen.err);
        assert!(seen.err.contains(error), "{error}: {}", seen.err);
        assert!(!seen.err.contains("sk-secret"), "{}", seen.err);
    }
    for more in [
        ["--model", "m"],
        ["--listen", "127.0.0.1:0"],
        ["--dialect", "chat"],
    ] {
        let seen = run(&[&["serve", "--config", file], &more[..]].concat(), "");
        assert!(seen.err.contains("cannot be used with"), "{}", seen.err);
    }
    let seen = run(&["serve"], "");
    assert!(seen.err.contains("--upstream <URL>"), "{}", seen.err);
    // It needs one or the other, not both.
    let usage = "--dialect <DIALECT> [OPTIONS]\n       wire serve --config <FILE>\n";
    assert!(seen.err.contains(usage), "{}", seen.err);
}

#[test]
fn a_file_is_read_again_and_a_bad_one_changes_nothing() {
    let (one, two) = (Upstream::new([hello()]), Upstream::new([hello()]));
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("wire.toml");
    let write = |upstream: &Upstream, name: &str| {
        let address = upstream.address;
        let text = format!(
            "[server]\nlisten = \"127.0.0.1:0\"\n[[models]]\nname = \"{name}\"\nmodel = \"up\"\n\
             upstream = \"http://{address}/v1/chat/completions\"\ndialect = \"chat\"\n"
        );
        std::fs::write(&file, text).unwrap();
    };
    write(&one, "bull");
    let gateway = Gateway::new(&["--json", "--config", file.to_str().unwrap()]);
    let log = || serde_json::from_str::<Value>(&gateway.line()).unwrap();
    assert_eq!(gateway.ask("bull", &[]).0.status, 200);
    assert!(
        one.asked()[0]
            .head
            .starts_with("POST /v1/chat/completions ")
    );
    assert!(one.asked()[0].body.contains(r#""model":"up""#));
    assert_eq!(
        (&log()["model"], &json!("bull")),
        (&json!("bull"), &json!("bull"))
    );

    // A turn that runs goes on.
    one.script(stream(chunk(&json!({"content": "One"}), None)).hangs());
    let mut client = Client::connect(gateway.address).unwrap();
    let body = json!({"stream": true, "messages": [{"role": "user", "content": "x"}]});
    client
        .post("/v1/chat/completions", body.to_string())
        .unwrap();
    client.head().unwrap();
    client.chunk().unwrap();

    write(&two, "bear");
    gateway.signal("HUP");
    assert_eq!(log()["note"], "the settings were read again");
    assert_eq!(gateway.ask("bull", &[]).0.status, 404);
    assert_eq!(gateway.ask("bear", &[]).0.status, 200);
    assert_eq!(two.asked().len(), 1);
    assert_eq!(
        (log()["turn"].clone(), log()["turn"].clone()),
        (json!("refused"), json!("answered"))
    );

    // Where it listens decides whether keys are needed.
    let opened = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, opened.replace("127.0.0.1:0", "127.0.0.2:0")).unwrap();
    gateway.signal("HUP");
    let note = log()["note"].as_str().unwrap().to_owned();
    assert!(note.contains("listens on 127.0.0.1:0 until"), "{note}");
    std::fs::write(&file, "models = 1").unwrap();
    gateway.signal("HUP");
    let note = log()["note"].as_str().unwrap().to_owned();
    assert!(
        note.starts_with("the settings stay as they were: ") && note.contains("line 1"),
        "{note}"
    );
    assert_eq!(gateway.ask("bear", &[]).0.status, 200);
    log();

    // The first turn is drained as all are.
    gateway.signal("TERM");
    let mut rest = String::new();
    while let Ok(chunk) = client.chunk() {
        if chunk.is_empty() {
            break;
        }
        rest += &String::from_utf8(chunk).unwrap();
    }
    assert!(rest.contains("The server is shutting down"), "{rest}");
    assert_eq!(log()["turn"], "shut_down");
}

#[test]
fn pages_of_the_origins_that_are_named_may_call() {
    let upstream = Upstream::new([hello()]);
    let options = [
        "--model",
        "m",
        "--keys-env",
        "USER_KEYS",
        "--origin",
        "https://one.example",
    ];
    let more = ["--origin", "http://localhost:3000"];
    let gateway = Gateway::before(upstream.address, "chat", &[&options[..], &more].concat());
    let allowed = |origin: &str| {
        let headers = [
            &*format!("origin: {origin}"),
            "access-control-request-method: POST",
            "access-control-request-headers: authorization, content-type",
        ];
        let (head, _) = gateway.request("OPTIONS", "/api/chat", &headers, "");
        head.header("access-control-allow-origin")
            .map(str::to_owned)
    };
    for origin in [
        "https://one.example",
        "http://localhost:3000",
        "https://pro.openbb.co",
    ] {
        assert_eq!(allowed(origin).as_deref(), Some(origin));
        // A refusal too can be read by the page.
        let origin = format!("origin: {origin}");
        let (head, _) = gateway.request("POST", "/v1/chat/completions", &[&origin], "{}");
        assert_eq!(head.status, 401);
        assert!(head.header("access-control-allow-origin").is_some());
        gateway.line();
    }
    assert_eq!(allowed("https://two.example"), None);
    let seen = run(
        &[
            "serve",
            "--upstream",
            "http://127.0.0.1:9",
            "--dialect",
            "chat",
            "--origin",
            "*",
        ],
        "",
    );
    assert!(
        seen.err.contains("--origin: *: it must be like"),
        "{}",
        seen.err
    );
}
