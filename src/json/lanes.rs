//! Sixty-four bytes at a time, in safe code that the compiler turns into vector instructions.

/// The bytes that one step looks at.
pub(super) const BLOCK: usize = 64;
/// A block of text.
pub(super) type Block = [u8; BLOCK];

/// The first byte of U+2028 and U+2029, and of other characters.
pub(super) const SEPARATOR_LEAD: u8 = 0xE2;

/// One in every byte of a word.
pub(super) const ONES: u64 = 0x0101_0101_0101_0101;

/// A word whose bit `i` says whether `test` holds for byte `i` of the block.
///
/// The compiler has no safe instruction that gathers a bit of every byte, so this takes a way
/// around: row `k` of eight bytes gives bit `k` of eight columns, which needs only ands and ors;
/// a transposition then puts the bits in the order of the text.
#[inline(always)]
pub(super) fn mask(block: &Block, test: impl Fn(u8) -> bool) -> u64 {
    let flags = block.map(|byte| if test(byte) { 0xFF } else { 0 });
    let mut columns = 0;
    let mut ones = ONES;
    for row in flags.chunks_exact(8) {
        columns |= ones & row.try_into().map_or(0, u64::from_le_bytes);
        ones <<= 1;
    }
    if columns == 0 { 0 } else { transpose(columns) }
}

/// Bit `8 r + c` goes to `8 c + r`.
#[inline(always)]
fn transpose(word: u64) -> u64 {
    let swap = |word: u64, distance: u32, mask: u64| {
        let differ = (word ^ (word >> distance)) & mask;
        word ^ differ ^ (differ << distance)
    };
    let word = swap(word, 7, 0x00AA_00AA_00AA_00AA);
    let word = swap(word, 14, 0x0000_CCCC_0000_CCCC);
    swap(word, 28, 0x0000_0000_F0F0_F0F0)
}

/// The offset of the first byte from `at` on for which `test` does not hold.
///
/// For short runs. Eight bytes a step, without a bounds check for each.
#[inline(always)]
pub(super) fn skip_while(text: &[u8], mut at: usize, test: impl Fn(u8) -> bool) -> usize {
    while let Some(chunk) = text.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
        for (index, &byte) in chunk.iter().enumerate() {
            if !test(byte) {
                return at + index;
            }
        }
        at += chunk.len();
    }
    while text.get(at).is_some_and(|&byte| test(byte)) {
        at += 1;
    }
    at
}

/// True when `test` holds for a byte of the chunk.
#[inline(always)]
pub(super) fn any<const N: usize>(chunk: &[u8; N], test: impl Fn(u8) -> bool) -> bool {
    chunk.iter().fold(false, |found, &byte| found | test(byte))
}

/// Copies `N` bytes to an offset, of which the caller may mean fewer: a copy of fixed length is a
/// few instructions, one of variable length is a call. Copies nothing where there is no room.
#[inline(always)]
pub(super) fn put<const N: usize>(out: &mut [u8], to: usize, from: &[u8]) {
    let place = out.get_mut(to..).and_then(|out| out.first_chunk_mut::<N>());
    if let (Some(place), Some(from)) = (place, from.first_chunk::<N>()) {
        *place = *from;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_follow_the_text() {
        for at in 0..BLOCK {
            let mut block = [b' '; BLOCK];
            block[at] = b'"';
            assert_eq!(mask(&block, |byte| byte == b'"'), 1 << at);
            assert_eq!(mask(&block, |byte| byte != b'"'), !(1 << at));
        }
    }
}
