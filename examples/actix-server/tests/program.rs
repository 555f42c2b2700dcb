//! The program, in a process of its own.
#![cfg(unix)]

use std::process::Command;

use server_tests::{Nginx, Place, Program, crowd};

const SERVER: &str = env!("CARGO_BIN_EXE_actix-example");

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

/// Silent connections are closed after a while, which lets the others in.
#[test]
fn a_crowd_does_not_keep_others_out_for_long() {
    let limited = "ulimit -n 256; exec \"$0\" --port 0";
    let mut command = Command::new("sh");
    let program = Program::start(command.args(["-c", limited, SERVER])).unwrap();
    let place = Place {
        path: "/v1/query",
        key: "x-none: 1",
    };
    crowd(program.address, place).unwrap();
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
