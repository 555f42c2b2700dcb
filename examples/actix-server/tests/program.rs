//! The program, in a process of its own.
#![cfg(unix)]

use std::process::Command;

use server_tests::{Client, Program};

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

/// They are closed after a while, which lets the others in.
#[test]
fn silent_connections_do_not_keep_others_out_for_long() {
    let limited = "ulimit -n 256; exec \"$0\" --port 0";
    let mut command = Command::new("sh");
    let program = Program::start(command.args(["-c", limited, SERVER])).unwrap();
    let connect = || Client::connect(program.address).unwrap();
    let silent: Vec<Client> = (0..300).map(|_| connect()).collect();
    let mut visitor = connect();
    visitor.request("GET", "/agents.json", &[], b"").unwrap();
    assert_eq!(visitor.response().unwrap().0.status, 200);
    drop(silent);
}
