//! The guide of copilot-wire, to look things up in when there is no other data.

/// A paragraph that answers a question.
pub(crate) struct Found {
    /// The file that it stands in.
    pub(crate) chapter: String,
    pub(crate) text: String,
}

const CHAPTERS: [(&str, &str); 16] = [
    ("concepts", include_str!("../../../src/guide/concepts.md")),
    ("openbb", include_str!("../../../src/guide/openbb.md")),
    ("github", include_str!("../../../src/guide/github.md")),
    ("openai", include_str!("../../../src/guide/openai.md")),
    ("ag_ui", include_str!("../../../src/guide/ag_ui.md")),
    ("anthropic", include_str!("../../../src/guide/anthropic.md")),
    (
        "chat_pages",
        include_str!("../../../src/guide/chat_pages.md"),
    ),
    (
        "coding_clients",
        include_str!("../../../src/guide/coding_clients.md"),
    ),
    ("responses", include_str!("../../../src/guide/responses.md")),
    (
        "meilisearch",
        include_str!("../../../src/guide/meilisearch.md"),
    ),
    ("servers", include_str!("../../../src/guide/servers.md")),
    ("models", include_str!("../../../src/guide/models.md")),
    ("access", include_str!("../../../src/guide/access.md")),
    ("testing", include_str!("../../../src/guide/testing.md")),
    (
        "from_openbb_ai",
        include_str!("../../../src/guide/from_openbb_ai.md"),
    ),
    (
        "from_preview_sdk",
        include_str!("../../../src/guide/from_preview_sdk.md"),
    ),
];

/// More words than this are no question.
const LONGEST: usize = 100;

/// The share of a question's weight that a paragraph must have.
const ENOUGH: f64 = 0.4;

/// Returns the paragraph with most of the question's words, weighted by their rarity; `None` when no
/// paragraph has enough of them.
pub(crate) fn look_up(question: &str) -> Option<Found> {
    let mut found = Vec::new();
    let mut pages = Vec::new();
    for (chapter, text) in CHAPTERS {
        for (heading, text) in paragraphs(text) {
            pages.push(words(&format!("{heading} {text}")));
            found.push((chapter, text));
        }
    }
    let mut asked = words(question);
    asked.truncate(LONGEST);
    asked.sort();
    asked.dedup();
    let weights: Vec<(String, f64)> = asked
        .into_iter()
        .map(|word| {
            let pages = pages.iter().filter(|page| page.contains(&word)).count();
            let weight = (found.len() as f64 / (1 + pages) as f64).ln();
            (word, weight)
        })
        .collect();
    let all: f64 = weights.iter().map(|(_, weight)| weight).sum();
    let score = |page: &[String]| -> f64 {
        let known = weights.iter().filter(|(word, _)| page.contains(word));
        known.map(|(_, weight)| weight).sum()
    };
    // From the back, so that among equals the first is taken: the chapters begin with the basics.
    let scored = found.iter().zip(&pages).rev();
    let scored = scored.map(|(found, page)| (found, score(page)));
    let ((chapter, text), best) = scored.max_by(|(_, one), (_, two)| one.total_cmp(two))?;
    (best > 0.0 && best >= all * ENOUGH).then(|| Found {
        chapter: format!("src/guide/{chapter}.md"),
        text: text.clone(),
    })
}

/// Returns the paragraphs and list items of a chapter that are prose, without the targets of its
/// links, each with its heading.
fn paragraphs(chapter: &str) -> Vec<(String, String)> {
    let mut in_code = false;
    let prose = chapter.lines().map(|line| {
        if line.starts_with("```") {
            in_code = !in_code;
            return "";
        }
        let prose = !in_code && !line.starts_with(['|', '<']);
        if prose { line } else { "" }
    });
    let prose: Vec<&str> = prose.collect();
    let mut heading = "";
    let mut found = Vec::new();
    let prose = prose.join("\n").replace("\n* ", "\n\n");
    for paragraph in prose.split("\n\n") {
        if let Some(title) = paragraph.trim().strip_prefix('#') {
            heading = title;
            continue;
        }
        let text = plain(&paragraph.split_whitespace().collect::<Vec<_>>().join(" "));
        if text.ends_with('.') {
            found.push((heading.to_owned(), text));
        }
    }
    found
}

/// Returns text without the targets of its links, which are valid in the guide only.
fn plain(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("](") {
        match before.rsplit_once('[') {
            Some((before, label)) => out.extend([before, label]),
            None => out.push_str(before),
        }
        rest = after.split_once(')').map_or("", |(_, rest)| rest);
    }
    out + rest
}

/// Returns the significant words, without their endings.
fn words(text: &str) -> Vec<String> {
    const EMPTY: [&str; 25] = [
        "and", "are", "can", "does", "for", "from", "has", "have", "how", "into", "its", "may",
        "not", "say", "that", "the", "this", "was", "what", "when", "where", "which", "with",
        "you", "your",
    ];
    text.split(|character: char| !character.is_alphanumeric())
        .map(str::to_lowercase)
        .filter(|word| word.len() > 2 && !EMPTY.contains(&word.as_str()))
        .map(|word| word.trim_end_matches('s').to_owned())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_about_the_crate_find_a_paragraph() {
        for (question, chapter, word) in [
            (
                "What happens when a client disconnects?",
                "concepts",
                "drop",
            ),
            ("Do streams pass nginx?", "servers", "nginx"),
            (
                "How are signatures of GitHub verified?",
                "github",
                "verified",
            ),
        ] {
            let found = look_up(question).expect(question);
            assert_eq!(
                found.chapter,
                format!("src/guide/{chapter}.md"),
                "{question}"
            );
            assert!(found.text.contains(word), "{question}: {}", found.text);
            assert!(!found.text.contains("]("), "{}", found.text);
        }
    }

    #[test]
    fn nothing_is_made_up() {
        for question in [
            "",
            "hello",
            "the and for",
            "Which films have robots?",
            "Find something from 1927",
            "Say hello in three languages",
        ] {
            let found = look_up(question).map(|found| found.text);
            assert_eq!(found, None, "{question}");
        }
    }
}
