//! No name leads out of the workspace.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests may be blunt")]

use std::fs;

use autogpt::commands::workspace::{PathError, Workspace};
use proptest::prelude::*;

struct Bench {
    folder: tempfile::TempDir,
    workspace: Workspace,
}

impl Bench {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("secret.txt"), "secret").unwrap();
        fs::create_dir(folder.path().join("work_evil")).unwrap();
        let workspace = Workspace::open(&folder.path().join("work")).unwrap();
        Self { folder, workspace }
    }

    /// Tries every command on a name; none may succeed.
    fn refuses(&self, name: &str) {
        let tries = [
            self.workspace.read(name).map(drop),
            self.workspace.write(name, "x"),
            self.workspace.append(name, "x"),
            self.workspace.delete(name),
            self.workspace.open_file(name).map(drop),
        ];
        for tried in tries {
            assert!(tried.is_err(), "{name:?}");
        }
        self.is_untouched(name);
    }

    fn is_untouched(&self, name: &str) {
        let outside = self.folder.path();
        let secret = fs::read_to_string(outside.join("secret.txt")).unwrap();
        assert_eq!(secret, "secret", "{name:?}");
        assert_eq!(fs::read_dir(outside).unwrap().count(), 3, "{name:?}");
        let evil = fs::read_dir(outside.join("work_evil")).unwrap();
        assert_eq!(evil.count(), 0, "{name:?}");
    }
}

const ESCAPES: [&str; 40] = [
    "../secret.txt",
    "../work_evil/x",
    "../work/../secret.txt",
    "a/../../secret.txt",
    "a/b/../../../secret.txt",
    "./../secret.txt",
    "..",
    ".",
    "",
    "/",
    "/etc/passwd",
    "//etc/passwd",
    "\\etc\\passwd",
    "..\\secret.txt",
    "a\\..\\..\\secret.txt",
    "C:\\secret.txt",
    "C:secret.txt",
    "c:/secret.txt",
    "\\\\server\\share\\x",
    "\\\\?\\C:\\x",
    "\\\\.\\PhysicalDrive0",
    "file:stream",
    "a.txt::$DATA",
    "NUL",
    "nul.txt",
    "con",
    "COM1",
    "com1.log",
    "LPT9",
    "com²",
    "AUX .txt",
    "PRN",
    "dir/NUL",
    "x\0y",
    "x\ny",
    "x.",
    "x ",
    "a?b",
    "a|b",
    "../auto_gpt_workspace/../secret.txt",
];

#[test]
fn escape_forms_are_refused() {
    let bench = Bench::new();
    for name in ESCAPES {
        bench.refuses(name);
    }
    assert!(matches!(
        bench.workspace.search("../.."),
        Err(PathError::Outside)
    ));
    assert!(matches!(
        bench.workspace.search("/etc"),
        Err(PathError::Outside)
    ));
}

#[cfg(unix)]
#[test]
fn links_that_lead_out_are_refused() {
    use std::os::unix::fs::symlink;

    let bench = Bench::new();
    let work = bench.workspace.path();
    let outside = bench.folder.path();
    symlink(outside, work.join("up")).unwrap();
    symlink(outside.join("secret.txt"), work.join("file")).unwrap();
    symlink("../secret.txt", work.join("relative")).unwrap();
    symlink("../missing.txt", work.join("dangling")).unwrap();
    symlink("up/secret.txt", work.join("chain")).unwrap();
    symlink("loop", work.join("loop")).unwrap();
    for name in [
        "up/secret.txt",
        "up/new.txt",
        "up/new/x.txt",
        "chain",
        "loop",
    ] {
        assert!(bench.workspace.read(name).is_err(), "{name}");
        assert!(bench.workspace.write(name, "x").is_err(), "{name}");
        assert!(bench.workspace.append(name, "x").is_err(), "{name}");
        bench.is_untouched(name);
    }
    for name in ["file", "relative", "dangling"] {
        assert!(bench.workspace.read(name).is_err(), "{name}");
        assert!(bench.workspace.write(name, "x").is_err(), "{name}");
        assert!(bench.workspace.append(name, "x").is_err(), "{name}");
        // Deleting removes the link, not what it points to.
        assert!(bench.workspace.delete(name).is_ok(), "{name}");
        bench.is_untouched(name);
    }
    assert!(bench.workspace.search("up").is_err());
    assert_eq!(bench.workspace.search("").unwrap(), [""; 0]);
    // A link that stays inside is a name like another.
    bench.workspace.write("a.txt", "inside").unwrap();
    symlink("a.txt", work.join("b.txt")).unwrap();
    assert_eq!(bench.workspace.read("b.txt").unwrap(), "inside");
}

/// Checks files whose opening would block until the other end of the pipe is opened.
#[cfg(unix)]
#[test]
fn a_pipe_is_not_opened() {
    let bench = Bench::new();
    let pipe = bench.workspace.path().join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    let workspace = &bench.workspace;
    let tries = [
        workspace.read("pipe").map(drop),
        workspace.write("pipe", "x"),
        workspace.append("pipe", "x"),
        workspace.open_file("pipe").map(drop),
    ];
    for tried in tries {
        assert_eq!(tried.unwrap_err().to_string(), "'pipe': this is not a file");
    }
    workspace.delete("pipe").unwrap();
    fs::create_dir(&pipe).unwrap();
    let folder = workspace.read("pipe").unwrap_err();
    assert_eq!(folder.to_string(), "'pipe': this is a folder");
}

#[test]
fn ordinary_names_work() {
    let bench = Bench::new();
    for name in [
        "a.txt",
        "notes/plan.txt",
        "./b.txt",
        "a/../c.txt",
        "预算.txt",
        ".hidden",
        "x..y",
    ] {
        bench.workspace.write(name, name).unwrap();
        assert_eq!(bench.workspace.read(name).unwrap(), name);
    }
    let found = bench.workspace.search("/").unwrap();
    assert_eq!(
        found,
        [
            "a.txt",
            "b.txt",
            "c.txt",
            "notes/plan.txt",
            "x..y",
            "预算.txt"
        ]
    );
}

#[test]
fn sizes_are_limited() {
    let bench = Bench::new();
    let large = "x".repeat(4 * 1024 * 1024);
    bench.workspace.write("a", &large).unwrap();
    assert!(matches!(
        bench.workspace.append("a", "y"),
        Err(PathError::TooLarge)
    ));
    let larger = format!("{large}y");
    assert!(matches!(
        bench.workspace.write("b", &larger),
        Err(PathError::TooLarge)
    ));
    fs::write(bench.workspace.path().join("c"), larger).unwrap();
    assert!(matches!(
        bench.workspace.read("c"),
        Err(PathError::TooLarge)
    ));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn no_name_leads_out(name in r"([a-z.]{0,3}|\.\.|/|\\|:|work_evil|secret.txt){0,8}") {
        let bench = Bench::new();
        let _ = bench.workspace.write(&name, "x");
        let _ = bench.workspace.append(&name, "x");
        let _ = bench.workspace.delete(&name);
        let _ = bench.workspace.search(&name);
        bench.is_untouched(&name);
    }
}
