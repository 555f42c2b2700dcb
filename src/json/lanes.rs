//! Processing of 64 bytes at a time, in safe code that the compiler vectorizes.

/// The number of bytes in a block.
pub(crate) const BLOCK: usize = 64;
/// The number of zeros by which an output is extended before blocks are written to it: few enough that they
/// are still in the nearest cache then.
pub(super) const ZEROS: usize = 16 * BLOCK;
/// A block of text.
pub(super) type Block = [u8; BLOCK];

/// The first byte of U+2028 and U+2029, and of other characters.
pub(super) const SEPARATOR_LEAD: u8 = 0xE2;

/// A word with 1 in every byte.
pub(super) const ONES: u64 = 0x0101_0101_0101_0101;

/// Returns a word whose bit `i` is set if `test` is true for byte `i` of the block.
///
/// The instruction that gathers a bit of every byte cannot be called without `unsafe`. Instead row `k`
/// of eight bytes gives bit `k` of eight columns, which needs only ands and ors; a transposition then
/// puts the bits in the order of the text.
#[inline(always)]
pub(super) fn mask(block: &Block, test: impl Fn(u8) -> bool) -> u64 {
    let flags = block.map(|byte| if test(byte) { 0xFF } else { 0 });
    let mut columns = 0;
    let mut bits = u128::from(ONES) | u128::from(ONES << 1) << 64;
    for rows in flags.chunks_exact(16) {
        columns |= bits & rows.try_into().map_or(0, u128::from_le_bytes);
        bits <<= 2;
    }
    let columns = columns as u64 | (columns >> 64) as u64;
    if columns == 0 { 0 } else { transpose(columns) }
}

/// Returns the offset of the first byte for which `test` is true.
#[inline(always)]
pub(crate) fn first(step: &[u8; 16], test: impl Fn(u8) -> bool) -> Option<usize> {
    let flags = u128::from_le_bytes(step.map(|byte| if test(byte) { 0xFF } else { 0 }));
    (flags != 0).then_some(flags.trailing_zeros() as usize / 8)
}

/// Moves bit `8 r + c` to `8 c + r`.
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

/// Returns `true` if `test` is true for a byte of the chunk.
#[inline(always)]
pub(crate) fn any<const N: usize>(chunk: &[u8; N], test: impl Fn(u8) -> bool) -> bool {
    chunk.iter().fold(false, |found, &byte| found | test(byte))
}

/// Copies `N` bytes to an offset, also if the caller needs fewer: a copy of constant length is a
/// few instructions, one of variable length is a call. Copies nothing if there is no space.
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
