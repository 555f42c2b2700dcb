//! The tools of the library, the kit and the command line for any protocol: check, resume, play, decode, fuzz.

use super::*;

#[test]
fn it_is_checked_by_the_rules_of_lines_and_its_own() {
    let report = block_on(check(&router(), Target::new(kit::<Ollama>())));
    assert!(report.is_clean(), "{report}");
    for rule in [
        "http/content-type",
        "lines/object",
        "lines/blank",
        "lines/utf8",
        "ollama/done",
        "ollama/whole",
    ] {
        assert!(report.passed.contains(&rule), "{rule}: {report}");
    }
    assert!(
        !report.unseen.iter().any(|rule| rule.starts_with("sse/")),
        "{report}"
    );

    let whole = chat("hi").into_body();
    let (first, end) = whole.split_once('\n').unwrap();
    for (stream, rule) in [
        (format!("{first}\n"), "ollama/done"),
        (format!("{first}\n\n{end}"), "lines/blank"),
        (format!(": ping\n{whole}"), "lines/object"),
        (format!("{{}}\n{whole}"), "ollama/message"),
    ] {
        let report = recorded(kit::<Ollama>(), stream.as_bytes());
        assert!(
            report.rules().any(|broken| broken == rule),
            "{rule}: {report}"
        );
    }
    assert!(recorded(kit::<Ollama>(), whole.as_bytes()).is_clean());
    assert!(recorded(kit::<Ollama>(), whole.trim_end().as_bytes()).is_clean());
    let broken = [whole.as_bytes(), b"\xff\n"].concat();
    let report = recorded(kit::<Ollama>(), &broken);
    assert!(
        report.rules().any(|broken| broken == "lines/utf8"),
        "{report}"
    );
}

/// A stream of the other framing is not taken for one of this protocol.
#[test]
fn another_content_type_is_a_finding() {
    let router = Router::new().mount(Model::new("agent"), player()).unwrap();
    let report = block_on(check(&Mislabelled(router), Target::new(kit::<Ollama>())));
    assert!(
        report.rules().any(|broken| broken == "http/content-type"),
        "{report}"
    );
}

struct Mislabelled(Router);

#[async_trait]
impl Endpoint for Mislabelled {
    async fn call(
        &self,
        request: http::Request<Bytes>,
    ) -> Result<Response<EndpointBody>, EndpointError> {
        let mut response = self.0.call(request).await?;
        let headers = response.headers_mut();
        if headers["content-type"] == "application/x-ndjson" {
            let other = http::HeaderValue::from_static("text/event-stream");
            headers.insert("content-type", other);
        }
        Ok(response)
    }

    async fn sleep(&self, duration: Duration) {
        Endpoint::sleep(&self.0, duration).await;
    }
}

/// The reply goes on without its reader, and who asks again gets all of it, cut at lines.
#[test]
fn a_reply_is_resumed() {
    let spawn = |task: Task| drop(std::thread::spawn(move || block_on(task)));
    let replies = Replies::single_user(MemoryReplyStore::new(), spawn).join(true);
    let (sender, gate) = futures::channel::oneshot::channel::<()>();
    let gate = Arc::new(std::sync::Mutex::new(Some(gate)));
    let agent = move |_: Request<Ollama>, reply: Reply<Ollama>| {
        let gate = Arc::clone(&gate);
        async move {
            for number in 0..200 {
                reply.text(format!("word {number} ")).await?;
            }
            let gate = gate.lock().unwrap().take();
            if let Some(gate) = gate {
                let _ = gate.await;
            }
            Ok(reply.text("end").await?)
        }
    };
    let router = Router::new().resumable(replies);
    let router = router.mount_fn(Model::new("agent"), agent).unwrap();
    let post = || {
        send(
            &router,
            http::Request::post("/api/chat"),
            said("hi").to_string(),
        )
        .into_body()
    };
    let mut first = post();
    let Some(Ok(begun)) = block_on(first.next()) else {
        panic!("nothing was sent");
    };
    assert!(begun.ends_with(b"\n"));
    drop(first);
    let again = post();
    sender.send(()).unwrap();
    let whole = text(again);
    assert!(whole.as_bytes().starts_with(&begun));
    let said: String = lines(&whole)
        .iter()
        .map(|line| line["message"]["content"].as_str().unwrap().to_owned())
        .collect();
    assert!(
        said.starts_with("word 0 word 1 ") && said.ends_with("word 199 end"),
        "{said}"
    );
}

#[test]
fn it_is_on_the_playground() {
    let page = ask(&router(), http::Request::get("/"), "");
    assert!(page.body().contains("class OllamaFront extends Front"));
    let fronts = ask(&router(), http::Request::get("/playground.json"), "");
    assert!(fronts.body().contains("\"ollama\""), "{}", fronts.body());
}

/// Runs the command line.
fn wire(args: &[&str], input: &str) -> (Option<i32>, String) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_pager-wire"))
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(input.as_bytes()).unwrap();
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    (
        output.status.code(),
        String::from_utf8(output.stdout).unwrap(),
    )
}

#[test]
fn the_command_line_decodes_it() {
    let stream = chat("think").into_body();
    for stream in [&stream, stream.trim_end()] {
        let (status, shown) = wire(&["decode", "-p", "ollama"], stream);
        assert_eq!(status, Some(0), "{shown}");
        for line in [
            "reasoning     Two and two",
            "text          \"Four\"",
            "done",
            "5 events",
        ] {
            assert!(shown.contains(line), "{shown}");
        }
    }
    // The offset is that of the line.
    let second = stream.find('\n').unwrap() + 1;
    let (_, shown) = wire(&["decode", "-p", "ollama"], &stream);
    assert!(
        shown.contains(&format!("    2  {second:>8}  reasoning")),
        "{shown}"
    );
    let (status, shown) = wire(
        &["decode", "-p", "ollama"],
        &format!("{stream}{{\"model\":"),
    );
    assert_eq!(status, Some(1), "{shown}");
    let cut = stream.trim_end().rfind('\n').unwrap();
    let (status, shown) = wire(&["decode", "-p", "ollama"], &stream[..cut]);
    assert_eq!(status, Some(1), "{shown}");
    assert!(shown.contains("ollama/done"), "{shown}");
}

#[test]
fn it_is_fuzzed() {
    let hi = said("hi").to_string();
    let parts = || http::Request::post("/").body(()).unwrap().into_parts().0;
    let body = Body::run(
        Arc::new(player()),
        Request::<Ollama>::from_parts(parts(), Ollama::read(&parts(), hi.clone().into()).unwrap()),
        &Env::default(),
    );
    let stream = text(body);
    let seeds = [hi.as_bytes(), stream.as_bytes(), b"\0{\"error\":\"x\"}\n"];
    mutations(&seeds, |bytes| {
        properties::request::<Ollama>(bytes);
        properties::event::<Ollama>(bytes);
        properties::word::<Ollama>(bytes);
    });
}
