//! The guide's chapter on protocols shows the code of this package.

#[test]
fn every_snippet_of_the_chapter_is_code_of_this_package() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/");
    let read = |path: &str| std::fs::read_to_string(format!("{root}{path}")).unwrap();
    let files = ["mod", "event", "request", "session", "mount", "front_end"];
    let files = files.map(|name| read(&format!("src/ollama/{name}.rs")));
    let files = files.concat() + &read("src/main.rs");
    let tests = ["main", "tools"].map(|name| read(&format!("tests/ollama/{name}.rs")));
    let sources = files + &tests.concat();
    let chapter = read("../../src/guide/own_protocol.md");
    let snippets: Vec<&str> = chapter
        .split("```rust,ignore\n")
        .skip(1)
        .filter_map(|rest| rest.split("```").next())
        .collect();
    assert!(snippets.len() > 8, "{}", snippets.len());
    for snippet in snippets {
        assert!(sources.contains(snippet), "{snippet}");
    }
}
