//! The line of text that is a question, and the search for this line in the messages that a client returns.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::ops::Range;

use memchr::memmem;
use sha2::{Digest, Sha256};
use unicode_normalization::UnicodeNormalization;

use super::text::{self, normalized};

/// The first word of a question.
pub(super) const FIRST: &str = "Question: ";

/// A key with which proofs are made.
pub(super) type Key = [u8; 32];

/// The digits of Crockford's Base32 in lower case: without `i`, `l`, `o` and `u`.
const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// The words before the code in canonical form; `REFUSE` has those after it.
const AGREE: &str = "toagreereplyyes";
const REFUSE: &str = "torefusereplyno";

/// The start of a proof. The digits after it are the length of the body, the minute and the tag.
const MARK: &str = "cw";
const LENGTH: usize = 3;
const MINUTE: usize = 4;
const TAG: usize = 12;
const PROOF: usize = MARK.len() + LENGTH + MINUTE + TAG;

/// The maximum number of letters and digits after a question: a client may append a footer.
const FOOTER: usize = 256;

/// The maximum number of letters and digits of an id on the line.
const LONGEST_ID: usize = 128;

/// The maximum number of letters and digits of title and message together.
pub(super) const LONGEST_BODY: usize = (1 << (5 * LENGTH)) - 1;

/// The maximum number of bytes at the end of a message in which a question is searched, and the maximum number of their
/// letters. A question has at most 8,000 characters, and [`LONGEST_BODY`] letters of three bytes once a client has
/// normalized it; the rest is for its id, its proof, a footer, and the line breaks that a client adds.
const TAIL: usize = 1 << 17;

/// The modulus of the minute in a proof: about two years.
const MINUTES: u64 = 1 << (5 * MINUTE);

/// The place at which a question is asked: everything that the question and its answer must have in common.
///
/// It contains the user's own words instead of a message count. Counts recur after an edit, after a compaction and in
/// other conversations, and they differ if a client sends only the last messages.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct PlaceId([u8; 32]);

impl PlaceId {
    /// Creates the id of a place from the path of the mount, the user, the conversation (empty if the body of the
    /// request does not name it), and the user's last message before the question.
    pub(crate) fn new(path: &str, user: &str, conversation: &str, message: &str) -> Self {
        let mut digest = Sha256::new();
        for text in [path, user, conversation] {
            digest.update((text.len() as u64).to_be_bytes());
            digest.update(text);
        }
        // The last text needs no length, so its canonical form need not be held.
        for letter in normalized(message).flat_map(text::letters) {
            digest.update(letter.encode_utf8(&mut [0; 4]));
        }
        Self(digest.finalize().into())
    }
}

/// The values of a question that its proof authenticates.
pub(super) struct Question<'a> {
    pub(super) place: &'a PlaceId,
    /// The id as it is on the line.
    pub(super) id: &'a str,
    pub(super) code: &'a str,
    /// The time of asking, in minutes since the Unix epoch.
    pub(super) minute: u64,
    /// The first word, the title and the message in their canonical form.
    pub(super) body: &'a str,
}

impl Question<'_> {
    /// Returns the first 60 bits of the authentication code over all fields.
    pub(super) fn tag(&self, key: &Key) -> u64 {
        let minute = (self.minute % MINUTES).to_be_bytes();
        let fields: [&[u8]; 6] = [
            b"cw1",
            &self.place.0,
            self.id.as_bytes(),
            self.code.as_bytes(),
            &minute,
            self.body.as_bytes(),
        ];
        let mut message = Vec::new();
        for field in fields {
            message.extend_from_slice(&(field.len() as u64).to_be_bytes());
            message.extend_from_slice(field);
        }
        let [a, b, c, d, e, f, g, h, ..] = hmac(key, &message);
        u64::from_be_bytes([a, b, c, d, e, f, g, h]) >> 4
    }

    /// Returns the line of text. `text` is the title and the message as they are shown.
    pub(super) fn line(&self, text: &str, key: &Key) -> String {
        // An underscore is markup. The normalization of the text turns its fullwidth form back.
        let (id, code) = (self.id.replace('_', "＿"), self.code);
        let length = base32(self.body.chars().count() as u64, LENGTH);
        let minute = base32(self.minute, MINUTE);
        let tag = base32(self.tag(key), TAG);
        format!(
            "\n\n{FIRST}{text} To agree, reply: yes {code}. To refuse, reply: no. \
             ({id} {MARK}{length}{minute}{tag})"
        )
    }
}

/// Returns the HMAC-SHA-256 of a message (RFC 2104).
fn hmac(key: &[u8], message: &[u8]) -> [u8; 32] {
    // A key is shorter than a block of the hash, so it is padded with zeros.
    let padded = |pad: u8| {
        let mut block = [pad; 64];
        for (byte, key) in block.iter_mut().zip(key) {
            *byte ^= key;
        }
        Sha256::new_with_prefix(block)
    };
    let inner = padded(0x36).chain_update(message).finalize();
    padded(0x5c).chain_update(inner).finalize().into()
}

/// A question that was found in a message. Its proof is not verified yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) id: String,
    pub(super) code: String,
    pub(super) body: String,
    minute: u64,
    pub(super) tag: u64,
}

impl Found {
    /// Returns `true` if the proof was made with `key` for this place.
    pub(super) fn verified(&self, place: &PlaceId, key: &Key) -> bool {
        let question = Question {
            place,
            id: &self.id,
            code: &self.code,
            minute: self.minute,
            body: &self.body,
        };
        // In constant time: the difference is computed whatever the bits are.
        question.tag(key) ^ self.tag == 0
    }

    /// Returns the range of the question in a message, from its first word to the end of its proof. `None` if its start
    /// is unknown.
    pub(super) fn range(&self, message: &str) -> Option<Range<usize>> {
        let located = Located::new(message)?;
        // The body may have fewer letters than the message here, because it was normalized as a whole and `Located`
        // normalizes each character. So the start is never too early.
        let start = located.question.start;
        let start = start.checked_sub(self.body.chars().count())?;
        Some(located.byte(start)?.start..located.end)
    }

    /// Returns the number of minutes between the asking of the question and `now`.
    pub(super) fn age(&self, now: u64) -> u64 {
        (now + MINUTES - self.minute) % MINUTES
    }

    /// Returns the minute in which the question was asked; never later than `now`.
    pub(super) fn asked(&self, now: u64) -> u64 {
        now.saturating_sub(self.age(now))
    }
}

/// A message in canonical form, with the position of its last question.
pub(super) struct Parsed {
    letters: Vec<char>,
    /// The words around the code and the code, as a range of `letters`.
    question: Range<usize>,
    /// The normalized characters, each with the number of letters and digits up to its end.
    raw: Vec<(char, usize)>,
}

impl Parsed {
    /// Finds the last question in a message: the words around a code, which an id and a proof follow. `None` if there
    /// is none.
    pub(super) fn new(message: &str) -> Option<Self> {
        let tail = tail(message);
        if !has_mark(tail) {
            return None;
        }
        let mut normal = Tail::default();
        normalized(tail).for_each(|character| normal.push(character));
        let mut letters = Vec::with_capacity(normal.0.len());
        let raw = normal.0.into_iter().map(|character| {
            letters.extend(text::letters(character));
            (character, letters.len())
        });
        let raw = raw.collect();
        Some(Self {
            question: find_question(&letters)?,
            letters,
            raw,
        })
    }

    fn text(&self, range: Range<usize>) -> String {
        let letters = self.letters.get(range).unwrap_or_default();
        letters.iter().collect()
    }

    pub(super) fn code(&self) -> String {
        let start = self.question.start + AGREE.len();
        self.text(start..start + DIGITS)
    }

    /// Returns all readings of the line. There can be several, because an id may contain the start of a proof.
    pub(super) fn candidates(&self) -> impl Iterator<Item = Found> {
        let id = self.question.end;
        let ends = id + 1..=(id + LONGEST_ID).min(self.letters.len());
        ends.filter_map(move |end| {
            let rest = self.text(end..(end + PROOF).min(self.letters.len()));
            let proof = rest.strip_prefix(MARK)?;
            let footer = self.letters.len().checked_sub(end + rest.chars().count())?;
            if footer > FOOTER || !proof.is_ascii() {
                return None;
            }
            let (length, proof) = proof.split_at_checked(LENGTH)?;
            let (minute, tag) = proof.split_at_checked(MINUTE)?;
            let length = usize::try_from(number(length, LENGTH)?).ok()?;
            let start = self.question.start;
            Some(Found {
                id: self.raw_id(id..end),
                code: self.code(),
                body: self.text(start.saturating_sub(length)..start),
                minute: number(minute, MINUTE)?,
                tag: number(tag, TAG)?,
            })
        })
    }

    /// Returns an id with its punctuation, but without line breaks that a client has inserted.
    fn raw_id(&self, id: Range<usize>) -> String {
        let first = self.raw.partition_point(|(_, count)| *count <= id.start);
        let last = self.raw.partition_point(|(_, count)| *count < id.end);
        let raw = self.raw.get(first..=last).unwrap_or_default().iter();
        let characters = raw.map(|(character, _)| *character);
        characters.filter(|character| is_id(*character)).collect()
    }
}

/// The last items that were pushed.
#[derive(Default)]
struct Tail<T>(VecDeque<T>);

impl<T> Tail<T> {
    fn push(&mut self, item: T) {
        if self.0.len() == TAIL {
            self.0.pop_front();
        }
        self.0.push_back(item);
    }
}

/// Returns the end of a message, in which alone a question is searched.
pub(super) fn tail(message: &str) -> &str {
    let mut starts = message.len().saturating_sub(TAIL)..=message.len();
    let start = starts.find(|start| message.is_char_boundary(*start));
    start
        .and_then(|start| message.get(start..))
        .unwrap_or_default()
}

/// The last question in a message, with its position in the text.
struct Located {
    /// The last letters and digits, and for each the byte range of the character that it comes from.
    letters: Vec<char>,
    from: Vec<Range<usize>>,
    /// The words around the code and the code, as a range of `letters`.
    question: Range<usize>,
    /// The end of the proof, in bytes.
    end: usize,
}

impl Located {
    fn new(message: &str) -> Option<Self> {
        let tail = tail(message);
        if !has_mark(tail) {
            return None;
        }
        let before = message.len() - tail.len();
        let mut all = Tail::default();
        for (at, character) in tail.char_indices() {
            let at = before + at;
            let mut push = |letter| all.push((letter, at..at + character.len_utf8()));
            match character.is_ascii() {
                // ASCII is already normalized.
                true => text::letters(character).for_each(push),
                false => std::iter::once(character)
                    .nfkc()
                    .flat_map(text::letters)
                    .for_each(&mut push),
            }
        }
        let (letters, from): (Vec<_>, Vec<_>) = all.0.into_iter().unzip();
        let question = find_question(&letters)?;
        let ends = question.end + 1..=question.end + LONGEST_ID;
        let is_proof = |end: &usize| {
            let proof = letters.get(*end..end + PROOF).unwrap_or_default();
            let (mark, digits) = proof.split_at_checked(MARK.len()).unwrap_or_default();
            mark.iter().copied().eq(MARK.chars())
                && digits
                    .iter()
                    .all(|digit| digit.is_ascii() && ALPHABET.contains(&(*digit as u8)))
        };
        // The last one, because an id may contain the start of a proof.
        let end = ends.rev().find(is_proof)? + PROOF;
        let end = from.get(end - 1)?.end;
        Some(Self {
            letters,
            from,
            question,
            end,
        })
    }

    /// Returns the byte range of the character from which a letter comes.
    fn byte(&self, letter: usize) -> Option<Range<usize>> {
        self.from.get(letter).cloned()
    }
}

/// Removes the code and the proof of the last question from a message. Returns the new message and the code.
pub(super) fn without_code<'a>(message: &Cow<'a, str>) -> Option<(Cow<'a, str>, String)> {
    let located = Located::new(message)?;
    let start = located.byte(located.question.start)?.start;
    let code = located.question.start + AGREE.len();
    let code = located.letters.get(code..code + DIGITS)?.iter().collect();
    let after = message.get(located.end..)?;
    let after = after.strip_prefix(')').unwrap_or(after);
    let text = match message {
        Cow::Borrowed(message) if after.is_empty() => message.get(..start)?.trim_end().into(),
        _ => format!("{}{after}", message.get(..start)?.trim_end()).into(),
    };
    Some((text, code))
}

/// Returns `true` if a message may contain a proof. This check is cheaper than the normalization of the message.
fn has_mark(message: &str) -> bool {
    let bytes = message.as_bytes();
    // `MARK`, with each letter in either case: a search for a word is cheaper than one for a frequent letter.
    ["cw", "cW", "Cw", "CW"].iter().any(|mark| {
        let mut marks = memmem::find_iter(bytes, mark);
        marks.any(|at| bytes.get(at + MARK.len()..).is_some_and(may_be_digits))
    })
}

/// Returns `true` if these bytes may begin with the digits of a proof. Bytes that are not ASCII match every digit,
/// because normalization may turn them into any letter.
fn may_be_digits(bytes: &[u8]) -> bool {
    let mut letters = bytes
        .iter()
        .filter(|byte| !byte.is_ascii() || byte.is_ascii_alphanumeric());
    for _ in MARK.len()..PROOF {
        match letters.next() {
            Some(byte) if !byte.is_ascii() => return true,
            Some(byte) if ALPHABET.contains(&byte.to_ascii_lowercase()) => {}
            _ => return false,
        }
    }
    true
}

/// Returns the range of the last code and the words around it. `None` if there is no code.
fn find_question(letters: &[char]) -> Option<Range<usize>> {
    let words = AGREE.len() + DIGITS + REFUSE.len();
    let mut windows = letters.windows(words).enumerate().rev();
    let (start, _) = windows.find(|(_, window)| is_question(window))?;
    Some(start..start + words)
}

/// The number of digits of a code.
pub(super) const DIGITS: usize = 6;

fn is_question(letters: &[char]) -> bool {
    let mut letters = letters.iter().copied();
    AGREE
        .chars()
        .all(|expected| letters.next() == Some(expected))
        && (0..DIGITS).all(|_| letters.next().is_some_and(|digit| digit.is_ascii_digit()))
        && REFUSE
            .chars()
            .all(|expected| letters.next() == Some(expected))
}

/// Returns `true` if a character may stand unencoded in an id on the line.
fn is_id(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '.' | '-' | '_')
}

/// Returns an id for the line: as it is if it is plain, otherwise encoded.
pub(super) fn encode_id(id: &str) -> String {
    let plain = id.chars().all(is_id)
        && id.len() <= 64
        && id.starts_with(|first: char| first.is_ascii_alphanumeric())
        && id.ends_with(|last: char| last.is_ascii_alphanumeric())
        && !id.starts_with(ENCODED)
        // Typographic replacement in a client would turn these into one character.
        && !id.contains("--")
        && !id.contains("..");
    if plain {
        return id.to_owned();
    }
    let mut encoded = ENCODED.to_owned();
    for chunk in id.as_bytes().chunks(5) {
        let mut bytes = [0; 8];
        for (to, from) in bytes.iter_mut().skip(3).zip(chunk) {
            *to = *from;
        }
        // Five bytes are eight digits. Fewer bytes are padded with zeros, and the digits of the padding are left out.
        let digits = base32(u64::from_be_bytes(bytes), 8);
        let length = (chunk.len() * 8).div_ceil(5);
        encoded.push_str(digits.get(..length).unwrap_or_default());
    }
    encoded
}

/// Decodes an id that [`encode_id`] has returned. `None` if the encoding is not valid.
pub(super) fn decode_id(line: &str) -> Option<String> {
    let Some(encoded) = line.strip_prefix(ENCODED) else {
        return Some(line.to_owned());
    };
    let mut bytes = Vec::new();
    for chunk in encoded.as_bytes().chunks(8) {
        let chunk = std::str::from_utf8(chunk).ok()?;
        let missing = 8 - chunk.len();
        let value = number(chunk, chunk.len())? << (5 * missing);
        let [_, _, _, all @ ..] = value.to_be_bytes();
        bytes.extend(all.iter().take(chunk.len() * 5 / 8));
    }
    String::from_utf8(bytes).ok()
}

/// The start of an encoded id.
const ENCODED: &str = "0x";

/// Returns the last digits of a number.
fn base32(value: u64, digits: usize) -> String {
    let digit = |place: usize| ALPHABET.get((value >> (5 * place)) as usize & 31);
    let digits = (0..digits).rev().filter_map(digit);
    digits.map(|digit| char::from(*digit)).collect()
}

fn number(text: &str, digits: usize) -> Option<u64> {
    if text.len() != digits {
        return None;
    }
    text.bytes().try_fold(0, |value, byte| {
        let digit = ALPHABET.iter().position(|digit| *digit == byte)?;
        Some(value << 5 | digit as u64)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 4231, sections 4.3 and 4.2.
    #[test]
    fn the_code_is_an_hmac() {
        let hex = |bytes: [u8; 32]| bytes.map(|byte| format!("{byte:02x}")).concat();
        assert_eq!(
            hex(hmac(b"Jefe", b"what do ya want for nothing?")),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        );
        assert_eq!(
            hex(hmac(&[0x0b; 20], b"Hi There")),
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
        );
    }
}
