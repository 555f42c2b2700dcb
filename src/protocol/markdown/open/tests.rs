use proptest::prelude::*;

use super::*;

fn scan(text: &str) -> OpenConstructs {
    let mut constructs = OpenConstructs::new();
    constructs.feed(text);
    constructs
}

#[test]
fn ordinary_text_is_left_as_it_is() {
    let texts = [
        "",
        "Two\n\nparagraphs.\n",
        "a < b, c <3, HashMap<K, V>, <https://a.example> and <a@b.example>",
        "Use `Vec<String>`, `<!--` or ``<?` ``.",
        "```html\n<div hidden>\n<!--\n```\n",
        "~~~\n```\n~~~\n",
        "````\n```\n````",
        "1. Run\n\n   ```sh\n   a <b\n   ```\n2. Done",
        "a<br>b<br/>\n\n<hr>\n",
        "<details><summary>x</summary>\n\n**b**\n\n</details>\n",
        "<p align=\"center\">\n<img src='x' alt=y>\n</p>\r\n",
        "H<sub>2</sub>O",
        "| $5<br>x | \\<b\\> |\n",
        "$$\nx\n$$\n",
        "[a](https://b.example) ![c](d)\n- [x] done",
    ];
    for text in texts {
        assert!(scan(text).is_exact(), "{text:?}");
        assert_eq!(scan(text).closers().as_deref(), Ok(""), "{text:?}");
    }
    let image = format!("![a](data:image/png;base64,{})", "A".repeat(100_000));
    assert_eq!(scan(&image).closers().as_deref(), Ok(""));
}

#[test]
fn what_is_open_is_closed_exactly() {
    let cases = [
        ("```rust\nfn", "\n```\n\n"),
        ("~~~~\n```", "\n~~~~\n\n"),
        (
            "1. a\n   ```\n   b",
            "\n\n``` text\n```\n\n~~~ text\n~~~\n\n",
        ),
        (
            "<details><summary>x</summary>\n\n",
            "\n\n</dir></details>\n\n",
        ),
        ("Vec<String> of <B>", "\n\n</dir></b></string>\n\n"),
        ("$$\nx", "\n\n$$ text\n$$\n\n"),
    ];
    for (text, expected) in cases {
        assert_eq!(scan(text).closers().as_deref(), Ok(expected), "{text:?}");
    }
}

#[test]
fn in_doubt_all_that_was_named_is_closed() {
    let cases = [
        ("<!-- <b>", "</b>\n\n"),
        ("<div title=\"", "</div>\n\n"),
        ("<p><ul></p>", "</ul></p>\n\n"),
        ("<p>\n<x<Y hidden>\n", "</x<y></y></p>\n\n"),
        ("<details>\n\n`a\n</details> `", "</details>\n\n"),
        ("<details>\n\n[a](</details>)", "</details>\n\n"),
        ("<details>\n\n    </details>", "</details>\n\n"),
        ("<span hidden>\n\na</span>", "</span>\n\n"),
        ("- <script> <object> <b>", "</table></b></object></p></h1>"),
        ("[a]: b\n\"", "</listing></p>"),
        ("a <button hidden>", "</button></p></h1>"),
        ("<? ```", "~~~ text\n~~~\n\n"),
    ];
    for (text, expected) in cases {
        let closers = scan(text).closers().unwrap();
        assert!(!scan(text).is_exact(), "{text:?}");
        assert!(closers.starts_with("\n\n") && closers.contains("\n</dir '\"()[]>\n<!-- -->\n"));
        let found = closers.contains(expected);
        assert!(found, "{text:?}: {closers:?}");
    }
}

#[test]
fn what_cannot_be_closed_is_an_error() {
    let texts = [
        "<plaintext>".to_owned(),
        "a <PLAINTEXT".to_owned(),
        "<frameset>".to_owned(),
        "<style>p {}</style>".to_owned(),
        "<div class=\"fixed\">x</div>".to_owned(),
        "<div/STYLE = 'position: fixed'>x</div>".to_owned(),
        "<dialog open>x</dialog>".to_owned(),
        "<b>".repeat(MAX_NAMES),
        format!("<!{}", "`".repeat(1_000)),
        format!("<!<a{}", "b".repeat(1_000)),
    ];
    for text in texts {
        let shown: String = text.chars().take(40).collect();
        assert_eq!(scan(&text).closers(), Err(Unclosable), "{shown:?}");
    }
    let code = "```\n<plaintext>\n```\n`<style>`";
    assert_eq!(scan(code).closers().as_deref(), Ok(""));
}

#[test]
fn little_is_held_of_a_long_text() {
    let mut constructs = OpenConstructs::new();
    for piece in ["plain text ", "- ", "x](", "\u{e9}", " | "] {
        for _ in 0..100_000 {
            constructs.feed(piece);
        }
    }
    assert!(format!("{constructs:?}").len() < 3 * MAX_LINE);
}

#[test]
fn plain_text_is_skipped_behind_code_and_comparisons() {
    for text in [
        "Use `Vec` n",
        "a `b",
        "a < b",
        "a <3",
        "- x | y",
        "```\nVec<String",
    ] {
        assert!(scan(text).is_quiet(), "{text:?}");
    }
    // A tag is read to its end, and a fence may still grow.
    for text in ["a <b", "a </", "a <!", "a `", "a <", "``", "\n", "  "] {
        assert!(!scan(text).is_quiet(), "{text:?}");
    }
}

#[test]
fn a_long_line_is_read_as_a_short_one() {
    for length in [10, 1_015, 1_016, 1_024, 1_030, 5_000] {
        let word = "w".repeat(length);
        for text in [
            format!("{word} <b>\n"),
            format!("- {word} `<b>`\r\n"),
            format!("{word}\u{c} `a\n<b>\n"),
            format!("<details>{word}\n{word}\u{a0}\n"),
            format!("{word}`\u{a0}\"\n"),
        ] {
            let mut pieces = OpenConstructs::new();
            for character in text.chars() {
                pieces.feed(character.encode_utf8(&mut [0; 4]));
            }
            assert_eq!(format!("{:?}", scan(&text)), format!("{pieces:?}"));
        }
    }
}

/// Texts in which anything may meet anything.
fn texts() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        "<",
        ">",
        "</",
        "<!--",
        "-->",
        "<?",
        "<b>",
        "</b>",
        "<details>\n",
        "</details>\n",
        "<br>",
        "<div title=\"",
        "\"",
        "'",
        "/",
        "=",
        "class",
        "`",
        "```",
        "~~~",
        "````",
        "\n",
        "\n\n",
        "\r",
        "\r\n",
        " ",
        "    ",
        "\t",
        "- ",
        "> ",
        "1. ",
        "\\",
        "[",
        "]",
        "(",
        ")",
        ":",
        "$",
        "$$",
        "|",
        "word",
        "a b",
        "K, V",
        "\u{e9}",
        "\u{a0}",
        "\u{c}",
        "plaintext",
        "{",
    ]);
    prop::collection::vec(pieces, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    /// The pieces do not matter, and plain ones need not be fed where it is quiet.
    #[test]
    fn only_the_text_counts(text in texts(), cuts in prop::collection::vec(1_usize..6, 1..20)) {
        let whole = scan(&text);
        let (mut all, mut needed) = (OpenConstructs::new(), OpenConstructs::new());
        let mut rest = text.as_str();
        let mut cuts = cuts.iter().cycle();
        while !rest.is_empty() {
            let length = *cuts.next().unwrap();
            let at = rest.char_indices().nth(length).map_or(rest.len(), |(at, _)| at);
            let (piece, after) = rest.split_at(at);
            all.feed(piece);
            if !(needed.is_quiet() && OpenConstructs::is_plain(piece)) {
                needed.feed(piece);
            }
            rest = after;
        }
        prop_assert_eq!(all.closers(), whole.closers());
        prop_assert_eq!(needed.closers(), whole.closers());
        prop_assert_eq!(format!("{needed:?}"), format!("{whole:?}"));
    }

    /// Outside code every element that is begun is ended.
    #[test]
    fn every_start_tag_has_its_end(text in texts()) {
        let Ok(closers) = scan(&text).closers() else { return Ok(()) };
        for name in ["b", "details", "div"] {
            let opened = text.matches(&format!("<{name}>")).count();
            let closed = (text.clone() + &closers).matches(&format!("</{name}>")).count();
            let code = text.contains(['`', '~', '\\']);
            prop_assert!(code || opened <= closed, "{name}: {text:?}, {closers:?}");
        }
    }
}
