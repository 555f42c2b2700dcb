//! The data that is encoded and decoded: generated, the same in every run.

use bytes::Bytes;

/// The numbers of events in an answer: a short, a typical and a long one.
pub const ANSWERS: [usize; 3] = [1, 100, 10_000];

/// The tokens of an answer of one kind of text.
pub const SAMPLE: usize = 2000;

/// Events of 64 KiB, more of them than fit under any limit of the code.
pub const LARGE: usize = 32;

/// The tokens of a stream that is read.
pub const READ: usize = 2000;

/// The bytes that arrive together, with the names of their paths.
pub const PIECES: [(&str, usize); 3] = [("16", 16), ("1460", 1460), ("64k", 64 * 1024)];

/// Makes a text of about this many bytes.
pub type Text = fn(usize) -> String;

/// The texts of large events.
pub const TEXTS: [(&str, Text); 3] = [
    ("clean", |length| text(length, false)),
    ("escapes", |length| text(length, true)),
    ("markdown", markdown),
];

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

/// A kind of text that models write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sample {
    Prose,
    Lines,
    List,
    Table,
    Code,
    Chinese,
    Emoji,
}

impl Sample {
    pub const ALL: &[(&str, Self)] = &[
        ("prose", Self::Prose),
        ("lines", Self::Lines),
        ("list", Self::List),
        ("table", Self::Table),
        ("code", Self::Code),
        ("chinese", Self::Chinese),
        ("emoji", Self::Emoji),
    ];

    fn text(self) -> &'static str {
        match self {
            Self::Prose => include_str!("samples/prose.md").trim_end(),
            Self::Lines => include_str!("samples/lines.md"),
            Self::List => include_str!("samples/list.md"),
            Self::Table => include_str!("samples/table.md"),
            Self::Code => include_str!("samples/code.md"),
            Self::Chinese => include_str!("samples/chinese.md"),
            Self::Emoji => include_str!("samples/emoji.md"),
        }
    }

    /// This text again and again, as many tokens of a model.
    pub fn tokens(self, count: usize) -> Vec<&'static str> {
        split(self.text()).cycle().take(count).collect()
    }

    /// This text again and again, up to this many bytes or a few less.
    pub fn of_length(self, length: usize) -> String {
        let mut text = self.text().repeat(length / self.text().len() + 1);
        let end = (0..=length).rev().find(|at| text.is_char_boundary(*at));
        text.truncate(end.unwrap_or_default());
        text
    }
}

/// Cuts a text as the usual tokenizers do: a word with the space before it, up to three digits, up to two letters of a
/// script without spaces, equal signs together, line ends together.
fn split(mut text: &'static str) -> impl Iterator<Item = &'static str> + Clone {
    std::iter::from_fn(move || {
        let mut letters = text.char_indices().peekable();
        let (_, mut first) = letters.next()?;
        if first == ' '
            && letters
                .peek()
                .is_some_and(|(_, next)| !next.is_whitespace())
        {
            first = letters.next()?.1;
        }
        let (like, most): (fn(char, char) -> bool, usize) = match first {
            _ if first.is_ascii_alphabetic() => (|_, next| next.is_ascii_alphabetic(), 12),
            _ if first.is_ascii_digit() => (|_, next| next.is_ascii_digit(), 3),
            _ if first.is_alphabetic() => (|_, next| next.is_alphabetic(), 2),
            _ => (|first, next| first == next, 16),
        };
        let more = letters
            .take(most - 1)
            .take_while(|(_, next)| like(first, *next));
        let last = more.last();
        let end = match last {
            Some((at, letter)) => at + letter.len_utf8(),
            None => text.find(first).unwrap_or(0) + first.len_utf8(),
        };
        let (token, rest) = text.split_at(end);
        text = rest;
        Some(token)
    })
}

/// Markdown as a model writes it, of about this many bytes: all samples, one after the other.
pub fn markdown(length: usize) -> String {
    let all: String = Sample::ALL
        .iter()
        .map(|(_, sample)| format!("{}\n\n", sample.text()))
        .collect();
    all.repeat(length / all.len() + 1)
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

/// A query with this many rows of widget data, as JSON text in a string or as plain records.
pub fn query(rows: usize, as_string: bool) -> Bytes {
    let records = serde_json::to_string(&prices(rows)).unwrap();
    let content = match as_string {
        true => serde_json::to_string(&records).unwrap(),
        false => records,
    };
    let body = format!(
        r#"{{"messages":[{{"role":"human","content":"What happened?"}},{{"role":"ai","content":"{{\"function\":\"get_widget_data\",\"input_arguments\":{{\"data_sources\":[]}}}}"}},{{"role":"tool","function":"get_widget_data","input_arguments":{{"data_sources":[{{"widget_uuid":"5f0e2c6e-0d1c-4d6e-9a7b-2f0a3c1b4d5e","origin":"OpenBB Sandbox","id":"prices","input_args":{{"symbol":"AAPL"}}}}]}},"data":[{{"items":[{{"data_format":{{"data_type":"object","parse_as":"table"}},"content":{content}}}]}}],"extra_state":{{}}}}],"widgets":{{"primary":[],"secondary":[],"extra":[]}},"timezone":"Europe/London","urls":[]}}"#
    );
    Bytes::from(body)
}

/// A query with a conversation of so many turns of 10 KB. All messages have letters that may begin the proof of a
/// question.
pub fn conversation(turns: usize) -> Bytes {
    let said = text(10_000, true);
    let messages: Vec<_> = (0..turns)
        .map(|turn| {
            let role = if turn % 2 == 0 { "human" } else { "ai" };
            let content = format!("{turn} cwd {said}");
            serde_json::json!({ "role": role, "content": content })
        })
        .collect();
    let query = serde_json::json!({ "messages": messages });
    Bytes::from(query.to_string())
}
