//! The program, in a process of its own.
// Helpers of tests may be blunt too; `clippy.toml` reaches the test functions only.
#![allow(clippy::unwrap_used, missing_docs)]
#![cfg(unix)]

use std::net::TcpListener;
use std::process::Command;

use server_tests::{Client, Nginx, Place, Program, crowd, stress};

const SERVER: &str = env!("CARGO_BIN_EXE_hyper-server");

#[test]
fn a_signal_lets_streams_finish() {
    for signal in ["TERM", "INT"] {
        let program = Program::start(Command::new(SERVER).args(["--port", "0"])).unwrap();
        let stopped = program.stop_while_streaming(signal, "analyst", "Hello");
        let (answer, status) = stopped.expect(signal);
        assert!(answer.ends_with("data: [DONE]\n\n"), "{signal}: {answer}");
        assert!(status.success(), "{signal}: {status}");
    }
}

#[test]
fn it_says_how_it_is_used_and_why_it_failed() {
    let run = |arguments: &[&str]| {
        let output = Command::new(SERVER).args(arguments).output().unwrap();
        let [told, wrong] =
            [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
        (output.status.code(), told, wrong)
    };
    let (status, told, wrong) = run(&["--help"]);
    assert_eq!((status, &*wrong), (Some(0), ""));
    assert!(told.contains("[--port N]"), "{told}");
    for arguments in [&["--port"][..], &["--port", "x"], &["7777"]] {
        let (status, told, wrong) = run(arguments);
        assert_eq!((status, &*told), (Some(2), ""), "{arguments:?}");
        assert!(wrong.contains("[--port N]"), "{wrong}");
    }
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let (status, told, wrong) = run(&["--port", &port]);
    assert_eq!((status, &*told), (Some(1), ""));
    assert!(wrong.starts_with(&format!("port {port}: ")), "{wrong}");
}

/// Says nothing, half of an HTTP/2 preface, or a whole one and no request.
const SILENCE: [&[u8]; 3] = [
    b"",
    b"PRI * HTTP/2",
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0",
];

#[test]
fn silent_connections_do_not_keep_others_out() {
    let limited = "ulimit -n 256; exec \"$0\" --port 0";
    let mut command = Command::new("sh");
    let program = Program::start(command.args(["-c", limited, SERVER])).unwrap();
    let ask = |client: &mut Client| {
        client.request("GET", "/agents.json", &[], b"").unwrap();
        assert_eq!(client.response().unwrap().0.status, 200);
    };
    let mut visitor = Client::connect(program.address).unwrap();
    ask(&mut visitor);
    let mut silent = Vec::new();
    for silence in SILENCE.iter().cycle().take(300) {
        let mut client = Client::connect(program.address).unwrap();
        client.send(silence).unwrap();
        silent.push(client);
    }
    ask(&mut visitor);
    ask(&mut Client::connect(program.address).unwrap());
    drop(silent);
    let place = Place {
        path: "/v1/query",
        key: "x-none: 1",
    };
    crowd(program.address, place).unwrap();
}

/// The router's budget for bodies is 256 MiB.
#[test]
fn what_never_ends_costs_a_bounded_amount_and_keeps_nobody_out() {
    let start = || Program::start(Command::new(SERVER).args(["--port", "0"])).unwrap();
    let place = Place {
        path: "/v1/query",
        key: "x-none: 1",
    };
    let cost = stress(start, place).unwrap();
    println!("{cost:?}");
    for memory in [cost.uploads, cost.bodies, cost.silent] {
        assert!(memory < 320 << 20, "{cost:?}");
    }
}

/// nginx speaks HTTP/1.0 to its upstream by default, where a stream that is cut looks like one that has ended.
#[test]
fn a_long_answer_fails_when_the_server_stops() {
    let program = Program::start(Command::new(SERVER).args(["--port", "0"])).unwrap();
    let location = format!("location / {{ proxy_pass http://{}; }}", program.address);
    let nginx = Nginx::start(&location).unwrap();
    let addresses: Vec<_> = [program.address]
        .into_iter()
        .chain(nginx.as_ref().map(|nginx| nginx.address))
        .collect();
    let (answers, status) = program
        .stop_in_long_answers(
            &addresses,
            Place {
                path: "/v1/chat/completions",
                key: "x-none: 1",
            },
        )
        .unwrap();
    for answer in answers {
        let end = answer.rsplit("\n\n").nth(1).unwrap();
        assert!(end.contains("The server is shutting down"), "{end}");
        assert!(!answer.contains("finish_reason\":\"stop"), "{end}");
    }
    assert!(status.success(), "{status}");
}
