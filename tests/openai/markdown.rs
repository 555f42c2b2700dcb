//! Parts as Markdown: text from data stays text, and links lead to the web.

use copilot_wire::protocol::{Citation, Notice, Table, escape_markdown};
use serde_json::json;

use crate::words::{answer, text};

/// Returns the list of sources below an answer.
fn sources(citations: Vec<Citation>) -> String {
    text(&answer(move |reply| {
        let citations = citations.clone();
        async move {
            for citation in citations {
                reply.cite(citation).await?;
            }
            Ok(())
        }
    }))
}

#[test]
fn sources_are_a_list_of_links() {
    let citations = vec![
        Citation::new("10-K [2025]")
            .url("https://sec.example/a(1)")
            .excerpt("Revenue\nrose."),
        Citation::new("notes.md"),
        Citation::new("# of shares"),
        Citation::new("a trap").url("javascript:x()"),
        Citation::new("\u{7}# no heading"),
        Citation::new("\u{7}---"),
        Citation::new(" \u{7}").url("https://a.example/_b_"),
        Citation::new("").url("javascript:x()"),
        Citation::new(""),
    ];
    assert_eq!(
        sources(citations),
        "\n\n**Sources**\n\n\
             - [10-K \\[2025\\]](https://sec.example/a%281%29): Revenue rose.\n\
             - notes.md\n\
             - \\# of shares\n\
             - a trap (javascript:x())\n\
             - \\# no heading\n\
             - \\---\n\
             - [https://a.example/\\_b\\_](https://a.example/_b_)\n\
             - javascript:x()\n\
             - (untitled)\n"
    );
}

#[test]
fn text_stays_text() {
    let cases = [
        ("plain", "plain"),
        ("two\r\nlines\n\n", "two lines"),
        ("snake_case_name", "snake_case_name"),
        ("_emphasis_", "\\_emphasis\\_"),
        ("a|b", "a\\|b"),
        ("a\\|b", "a\\\\\\|b"),
        ("![x](http://e.example/?q)", "!\\[x\\](http://e.example/?q)"),
        ("<img src=x>", "\\<img src=x\\>"),
        ("&lt;b&gt;", "\\&lt;b\\&gt;"),
        ("`**~~", "\\`\\*\\*\\~\\~"),
        ("a\u{1b}[0m\u{85}b", "a \\[0m b"),
        ("\u{7} a \u{1b}", "a"),
        ("\u{202E} \n", ""),
        ("a\u{202E}b\u{2066}c\u{2069}", "abc"),
        ("", ""),
    ];
    for (text, expected) in cases {
        assert_eq!(escape_markdown(text), expected, "{text:?}");
    }
}

#[test]
fn a_line_begins_nothing() {
    let cases = [
        ("10-K", "10-K"),
        ("3.5 reasons", "3.5 reasons"),
        ("# Big", "\\# Big"),
        ("- item", "\\- item"),
        ("---", "\\---"),
        ("1. item", "1\\. item"),
        ("2)", "2\\)"),
        ("\u{7}# Big", "\\# Big"),
        ("\u{1b}\u{202E}- \0-", "\\- -"),
        ("\0 1. item", "1\\. item"),
        (". item", ". item"),
        (") item", ") item"),
    ];
    let items = sources(cases.map(|(title, _)| Citation::new(title)).into());
    let items = items.lines().filter_map(|line| line.strip_prefix("- "));
    assert_eq!(
        items.collect::<Vec<_>>(),
        cases.map(|(_, expected)| expected)
    );
}

#[test]
fn only_the_web_and_mail_are_targets() {
    let cases = [
        (
            "https://a.example/b_(c)?d=e f",
            Some("https://a.example/b_%28c%29?d=e%20f"),
        ),
        (" HTTP://a.example ", Some("HTTP://a.example")),
        ("mailto:a@b.example", Some("mailto:a@b.example")),
        (
            "https://a.example/\n) [x](y",
            Some("https://a.example/%0A%29%20[x]%28y"),
        ),
        ("https://a.example/\u{2028}", Some("https://a.example/")),
        (
            "https://a.example/\u{85}x",
            Some("https://a.example/%C2%85x"),
        ),
        // Spaces of other scripts, and a control character that is none.
        (
            "https://a.example/\u{3000}\u{7f}x",
            Some("https://a.example/%E3%80%80%7Fx"),
        ),
        ("javascript:alert(1)", None),
        ("data:text/html,x", None),
        ("/relative", None),
    ];
    let citations = cases.map(|(url, _)| Citation::new("x").url(url));
    let items = sources(citations.into());
    let targets = items.lines().filter_map(|line| line.strip_prefix("- "));
    let targets = targets.map(|link| link.strip_prefix("[x](")?.strip_suffix(')'));
    assert_eq!(
        targets.collect::<Vec<_>>(),
        cases.map(|(_, expected)| expected)
    );
}

#[test]
fn a_notice_is_one_paragraph() {
    let text = Notice::new("no rows:\n<b>x</b>").to_markdown();
    assert_eq!(text, "\n\n**Error:** no rows: \\<b\\>x\\</b\\>\n\n");
}

#[test]
fn rows_become_lines() {
    let rows = json!([
        {"a": "x|y", "b": 1.50, "c": null},
        {"d": {"k": [1]}, "a": true},
    ]);
    assert_eq!(
        Table::new("The *T*", &rows)
            .unwrap()
            .description("two\nrows")
            .to_markdown(),
        "\n\n**The \\*T\\***: two rows\n\n\
             | a | b | c | d |\n\
             | --- | --- | --- | --- |\n\
             | x\\|y | 1.5 |  |  |\n\
             | true |  |  | {\"k\":\\[1\\]} |\n\n"
    );
}

#[test]
fn an_empty_table_says_so() {
    for rows in [json!([]), json!([{}, {}])] {
        assert_eq!(
            Table::new("T", &rows).unwrap().to_markdown(),
            "\n\n**T**\n\n(no rows)\n\n"
        );
    }
}

#[test]
fn many_rows_are_counted() {
    let rows: Vec<_> = (0..250).map(|n| json!({"n": n})).collect();
    let text = Table::new("T", &serde_json::Value::from(rows))
        .unwrap()
        .to_markdown();
    assert_eq!(
        text.lines().filter(|line| line.starts_with("| ")).count(),
        102
    );
    assert!(text.ends_with("| 99 |\n\n(150 more rows)\n\n"), "{text}");
}
