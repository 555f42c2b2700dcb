//! Tests of the help.

use crate::program::{fixture, run};

/// Every file of the fixtures that the examples name is there.
#[test]
fn examples_name_files_that_exist() {
    let mut named = 0;
    for command in [
        "sse", "decode", "request", "chat", "check", "sign", "keys", "serve",
    ] {
        let help = run(&[command, "--help"], "").out;
        assert!(!help.contains(" request.json"), "{help}");
        let words = help.split([' ', '@', '\n']);
        for file in words.filter_map(|word| word.strip_prefix("fixtures/")) {
            assert!(std::path::Path::new(&fixture(file)).is_file(), "{file}");
            named += 1;
        }
    }
    assert!(named > 5);
}
