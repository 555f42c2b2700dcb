//! The data that is encoded and decoded: generated, the same in every run.

/// A small generator of numbers, so that no pattern is there for the processor to learn.
pub struct Numbers(u64);

impl Numbers {
    pub fn new() -> Self {
        Self(0x2545_F491_4F6C_DD1D)
    }

    pub fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit as u64) as usize
    }
}

impl Default for Numbers {
    fn default() -> Self {
        Self::new()
    }
}

/// Tokens as a model cuts them: 5 in 100 need an escape, 3 in 100 are not ASCII.
const TOKENS: &[&str] = &[
    "The",
    " latest",
    " close",
    " of",
    " A",
    "APL",
    " is",
    " ",
    "233",
    ".",
    "85",
    ",",
    " up",
    " 1",
    ".",
    "2",
    "%",
    " since",
    " Monday",
    ".",
    " In",
    " the",
    " same",
    " time",
    ",",
    " the",
    " index",
    " fell",
    " by",
    " ",
    "0",
    ".",
    "4",
    "%",
    ",",
    " which",
    " makes",
    " it",
    " a",
    " strong",
    " week",
    " for",
    " the",
    " stock",
    ".",
    " Volume",
    " was",
    " above",
    " its",
    " thirty",
    "-",
    "day",
    " average",
    ",",
    " at",
    " ",
    "61",
    " million",
    " shares",
    ".",
    " An",
    "alysts",
    " at",
    " two",
    " banks",
    " raised",
    " their",
    " targets",
    " to",
    " ",
    "250",
    " and",
    " ",
    "260",
    ":",
    " **",
    "Buy",
    "**",
    " (",
    "unchanged",
    ")",
    ".",
    " |",
    " Date",
    " |",
    " Close",
    " |",
    " What",
    " would",
    " you",
    " like",
    " next",
    "\n\n",
    "\n",
    " \"",
    "\".",
    ".\n",
    " “",
    "”",
    " –",
];

pub fn tokens(count: usize) -> Vec<&'static str> {
    let mut numbers = Numbers::new();
    (0..count)
        .map(|_| TOKENS[numbers.below(TOKENS.len())])
        .collect()
}

/// A text of about this many bytes. With `dirty`, 3 of 100 bytes need an escape.
pub fn text(length: usize, dirty: bool) -> String {
    let mut numbers = Numbers::new();
    let mut out = String::new();
    while out.len() < length {
        match numbers.below(33) {
            0 if dirty => out.push(['"', '\n', '\\', '\t'][numbers.below(4)]),
            _ => out.push(char::from(b'a' + numbers.below(26) as u8)),
        }
    }
    out
}

/// Markdown as a model writes it, of about this many bytes.
pub fn markdown(length: usize) -> String {
    const SECTION: &str = "## A heading\n\nSome text with **bold** and `code`, a \
        [link](https://example.com/a) and more \"quoted\" words that go on.\n\n- an item of a \
        list\n- another, with `code`\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```rust\nfn main() {\n    \
        println!(\"{}\", 1 < 2);\n}\n```\n\n";
    SECTION.repeat(length / SECTION.len() + 1)
}

/// A row of a table.
#[derive(Clone, serde::Serialize)]
pub struct Price {
    pub date: String,
    pub symbol: &'static str,
    pub open: f64,
    pub high: f64,
    pub low: f64,
    pub close: f64,
    pub volume: u64,
}

pub fn prices(count: usize) -> Vec<Price> {
    let mut numbers = Numbers::new();
    let mut price = move || (numbers.below(100_000) as f64).mul_add(0.01, 100.0);
    let mut numbers = Numbers::new();
    (0..count)
        .map(|day| Price {
            date: format!(
                "{:04}-{:02}-{:02}T00:00:00",
                1990 + day / 336 % 40,
                1 + day / 28 % 12,
                1 + day % 28
            ),
            symbol: ["AAPL", "MSFT", "GOOG", "TSLA"][numbers.below(4)],
            open: price(),
            high: price(),
            low: price(),
            close: price(),
            volume: 1_000_000 + numbers.below(90_000_000) as u64,
        })
        .collect()
}

/// The wire of a stream of OpenBB text events.
pub fn openbb_wire(texts: &[&str]) -> String {
    let mut wire = String::new();
    for token in texts {
        wire += "event: copilotMessageChunk\ndata: {\"delta\":";
        wire += &serde_json::to_string(token).unwrap();
        wire += "}\n\n";
    }
    wire
}

/// The wire of a stream of OpenAI chunks.
pub fn openai_wire(count: usize) -> String {
    let mut wire = String::new();
    for token in tokens(count) {
        wire += "data: {\"id\":\"chatcmpl-Cd8fJ4mGq2hVtS1wYzB7nKxL0pRaE\",\
                 \"object\":\"chat.completion.chunk\",\"created\":1763712345,\
                 \"model\":\"gpt-4o-mini-2024-07-18\",\
                 \"choices\":[{\"index\":0,\"delta\":{\"content\":";
        wire += &serde_json::to_string(token).unwrap();
        wire += "},\"finish_reason\":null}]}\n\n";
    }
    wire
}
