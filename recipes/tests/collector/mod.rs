//! Where the test of `observe` sends its telemetry.

use std::process::{Child, Command};
use std::time::Duration;

/// The collector that telemetry is sent to: this test, or the program `COLLECTOR` that sends to it what it has received.
pub struct Collector {
    pub url: String,
    program: Option<Child>,
}

impl Collector {
    pub fn before(receiver: &str) -> Self {
        let Some(program) = std::env::var_os("COLLECTOR") else {
            let (url, program) = (format!("http://{receiver}"), None);
            return Self { url, program };
        };
        // It cannot choose free ports itself.
        let ports = [0; 2].map(|_| std::net::TcpListener::bind("127.0.0.1:0").unwrap());
        let [http, grpc] = ports
            .each_ref()
            .map(|it| it.local_addr().unwrap().to_string());
        drop(ports);
        let folder = env!("CARGO_TARGET_TMPDIR");
        let mut command = Command::new(program);
        command
            .args([
                "start",
                "--otlp-http-endpoint",
                &http,
                "--otlp-grpc-endpoint",
                &grpc,
            ])
            .args(["--exporter", "otlp", "--otlp-exporter-protocol", "http"])
            .args(["--otlp-exporter-endpoint", &format!("http://{receiver}")])
            .args([
                "--pid-file",
                &format!("{folder}/pid"),
                "--log-file",
                &format!("{folder}/log"),
            ]);
        let program = Some(command.spawn().unwrap());
        while std::net::TcpStream::connect(&http).is_err() {
            std::thread::sleep(Duration::from_millis(10));
        }
        let url = format!("http://{http}");
        Self { url, program }
    }
}

impl Drop for Collector {
    fn drop(&mut self) {
        if let Some(program) = &mut self.program {
            let _ = program.kill();
            let _ = program.wait();
        }
    }
}
