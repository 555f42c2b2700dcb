//! The text and the links of an HTML page.

use std::cell::RefCell;

use html5ever::tendril::StrTendril;
use html5ever::tokenizer::states::{Rawtext, Rcdata, ScriptData};
use html5ever::tokenizer::{
    BufferQueue, Tag, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts,
};
use url::Url;

use crate::agent_loop::tokens::floor;

/// The elements that do not end a line.
const INLINE: [&str; 15] = [
    "a", "abbr", "b", "code", "em", "i", "mark", "q", "s", "small", "span", "strong", "sub", "sup",
    "u",
];

/// The number of links that are retained.
const LINKS: usize = 100;

/// The number of bytes that are tokenized at a time, and the limit of a tag, such as one with an
/// image in its URL.
const PIECE: usize = 1024;
const LONGEST_TAG: usize = 64 * 1024;

/// The maximum number of attribute comparisons. A tag takes quadratic time, because each attribute is compared with all
/// before it. At the limit the remaining page is ignored.
const COMPARISONS: usize = 50_000_000;

/// The text of an HTML page.
///
/// The page is read as a sequence of tags and texts without building a tree, in linear time for any
/// nesting of its elements.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Page {
    /// The title.
    pub title: Option<String>,
    /// The text without `script` and `style`: lines are trimmed and split at double spaces, empty
    /// ones dropped.
    pub text: String,
    /// The first links, as text and URL. The URL is as it was written.
    pub links: Vec<(String, String)>,
}

impl Page {
    /// Parses a page. Any HTML can be parsed.
    pub fn read(html: &str) -> Self {
        let tokenizer = Tokenizer::new(Reader::default(), TokenizerOpts::default());
        let input = BufferQueue::default();
        let mut rest = html;
        let mut tag = OpenTag::default();
        while !rest.is_empty() && tag.goes_on() {
            let (piece, tail) = rest.split_at(floor(rest, PIECE));
            let tokens = tokenizer.sink.0.borrow().tokens;
            input.push_back(StrTendril::from(piece));
            // The tokenizer stops early only to run a script, which is not done here.
            let _ = tokenizer.feed(&input);
            // This piece completed no token, so the tokenizer is inside a tag.
            let quiet = tokenizer.sink.0.borrow().tokens == tokens;
            tag.read(piece, quiet);
            rest = tail;
        }
        tokenizer.end();
        tokenizer.sink.0.into_inner().page()
    }

    /// Creates a page of plain text.
    pub fn plain(text: String) -> Self {
        Self {
            text,
            ..Self::default()
        }
    }

    /// Returns the first links as `text (url)`, with absolute URLs.
    pub fn links(&self, base: &str, count: usize) -> Vec<String> {
        let base = Url::parse(base).ok();
        let link = |(text, address): &(String, String)| {
            let absolute = base.as_ref().and_then(|base| base.join(address).ok());
            let address = absolute.map_or_else(|| address.clone(), String::from);
            format!("{text} ({address})")
        };
        self.links.iter().take(count).map(link).collect()
    }
}

/// The cost of a tag that is not complete.
#[derive(Default)]
struct OpenTag {
    bytes: usize,
    /// An upper bound of its attributes.
    attributes: usize,
    /// The comparisons of all such tags of the page.
    comparisons: usize,
}

impl OpenTag {
    fn goes_on(&self) -> bool {
        self.bytes < LONGEST_TAG && self.comparisons < COMPARISONS
    }

    fn read(&mut self, piece: &str, quiet: bool) {
        // Every attribute follows one of these.
        let separates = |byte: &u8| byte.is_ascii_whitespace() || b"/\"'".contains(byte);
        let attributes = piece.bytes().filter(separates).count();
        if quiet {
            self.bytes += piece.len();
            self.attributes += attributes;
            // Each new attribute is compared with all that the tag has so far.
            self.comparisons += attributes * self.attributes;
        } else {
            self.bytes = 0;
            // The tag may have started in this piece.
            self.attributes = attributes;
        }
    }
}

#[derive(Default)]
struct Reader(RefCell<State>);

#[derive(Default)]
struct State {
    text: String,
    tokens: u64,
    /// `true` inside `script` or `style`.
    hidden: bool,
    /// The start of the title in the text, while it is open.
    title_start: Option<usize>,
    title: Option<String>,
    /// The start of a link in the text, and its URL, while it is open.
    link: Option<(usize, String)>,
    links: Vec<(String, String)>,
}

impl TokenSink for Reader {
    type Handle = ();

    fn process_token(&self, token: Token, _line: u64) -> TokenSinkResult<()> {
        let mut state = self.0.borrow_mut();
        // An error may occur in the middle of a tag.
        if !matches!(token, Token::ParseError(_)) {
            state.tokens += 1;
        }
        match token {
            Token::CharacterTokens(text) if !state.hidden => state.text.push_str(&text),
            Token::TagToken(tag) if tag.kind == TagKind::StartTag => return state.open(&tag),
            Token::TagToken(tag) => state.close(&tag.name),
            _ => {}
        }
        TokenSinkResult::Continue
    }
}

impl State {
    fn open(&mut self, tag: &Tag) -> TokenSinkResult<()> {
        let name: &str = &tag.name;
        if !INLINE.contains(&name) {
            self.text.push('\n');
        }
        match name {
            "script" => {
                self.hidden = true;
                return TokenSinkResult::RawData(ScriptData);
            }
            "style" => {
                self.hidden = true;
                return TokenSinkResult::RawData(Rawtext);
            }
            "title" => {
                self.title_start = Some(self.text.len());
                return TokenSinkResult::RawData(Rcdata);
            }
            // The tokenizer cannot know which elements hold raw text: without this, tags in them
            // would count as tags.
            "textarea" => return TokenSinkResult::RawData(Rcdata),
            "a" => {
                self.close_link();
                let mut attributes = tag.attrs.iter();
                let href = attributes.find(|a| &*a.name.local == "href");
                self.link = href.map(|href| (self.text.len(), href.value.to_string()));
            }
            _ => {}
        }
        TokenSinkResult::Continue
    }

    fn close(&mut self, name: &str) {
        match name {
            "script" | "style" => self.hidden = false,
            "title" => {
                let title = self.title_start.take().map(|start| self.words_from(start));
                self.title = self.title.take().or(title);
            }
            "a" => self.close_link(),
            _ => {}
        }
        if !INLINE.contains(&name) {
            self.text.push('\n');
        }
    }

    fn close_link(&mut self) {
        if let Some((start, address)) = self.link.take() {
            if self.links.len() < LINKS {
                self.links.push((self.words_from(start), address));
            }
        }
    }

    fn words_from(&self, start: usize) -> String {
        let text = self.text.get(start..).unwrap_or_default();
        let words: Vec<&str> = text.split_whitespace().collect();
        words.join(" ")
    }

    fn page(mut self) -> Page {
        self.close_link();
        let phrases = self.text.lines().flat_map(|line| line.split("  "));
        let phrases = phrases.map(str::trim).filter(|phrase| !phrase.is_empty());
        Page {
            title: self.title.filter(|title| !title.is_empty()),
            text: phrases.collect::<Vec<_>>().join("\n"),
            links: self.links,
        }
    }
}
