//! The numbers of events in encoded bytes.

/// Returns the number of events in `bytes`, which are whole events: the number of blank lines.
#[must_use]
pub fn count_events(bytes: &[u8]) -> u64 {
    // By blocks whose count fits into a byte: the compiler then compares many bytes at a time.
    const BLOCK: usize = u8::MAX as usize;
    let next = bytes.get(1..).unwrap_or_default();
    let blocks = bytes.chunks(BLOCK).zip(next.chunks(BLOCK));
    let counts = blocks.map(|(bytes, next)| {
        let pairs = bytes.iter().zip(next);
        pairs.fold(0, |count: u8, (&byte, &next)| {
            count + u8::from((byte == b'\n') & (next == b'\n'))
        })
    });
    counts.map(u64::from).sum()
}

/// Returns the position in `bytes`, which are whole events, behind the first `count` events; the end if
/// there are fewer.
#[must_use]
pub fn skip_events(bytes: &[u8], count: u64) -> usize {
    let Some(before) = count.checked_sub(1) else {
        return 0;
    };
    boundaries(bytes)
        .nth(usize::try_from(before).unwrap_or(usize::MAX))
        .unwrap_or(bytes.len())
}

/// Returns the largest position up to `most` behind a whole event; behind the first event if that is larger.
#[must_use]
pub fn cut_events(bytes: &[u8], most: usize) -> usize {
    if bytes.len() <= most {
        return bytes.len();
    }
    let mut ends = boundaries(bytes);
    // At least one event, however large: a reader that got nothing would ask for the same again.
    let Some(first) = ends.next() else {
        return bytes.len();
    };
    ends.take_while(|end| *end <= most).last().unwrap_or(first)
}

/// Returns an iterator over the positions behind each event.
fn boundaries(bytes: &[u8]) -> impl Iterator<Item = usize> {
    let pairs = bytes.windows(2).enumerate();
    pairs
        .filter(|(_, pair)| *pair == b"\n\n")
        .map(|(at, _)| at + 2)
}
