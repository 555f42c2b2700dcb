//! Processing of 64 bytes at a time, in safe code that the compiler vectorizes.

/// The number of bytes in a block.
pub(crate) const BLOCK: usize = 64;
/// The number of zeros by which an output is extended before blocks are written to it: few enough to stay in the
/// first-level cache.
pub(super) const ZEROS: usize = 16 * BLOCK;
/// A block of text.
pub(super) type Block = [u8; BLOCK];

/// The first byte of U+2028 and U+2029, and of other characters.
pub(super) const SEPARATOR_LEAD: u8 = 0xE2;

/// A word with 1 in every byte.
pub(crate) const ONES: u64 = 0x0101_0101_0101_0101;

/// Returns a word whose bit `i` is set if `test` is true for byte `i` of the block.
///
/// The instruction that gathers a bit of every byte cannot be called without `unsafe`. A multiplication adds eight
/// bytes of 0 or 1, each shifted to a bit of its own in the highest byte, where no two of them meet.
#[inline(always)]
pub(super) fn mask(block: &Block, test: impl Fn(u8) -> bool) -> u64 {
    let flags = block.map(|byte| u8::from(test(byte)));
    let word = |row: &[u8]| row.try_into().map_or(0, u64::from_le_bytes);
    let rows = flags.chunks_exact(8).map(word);
    if rows.clone().fold(0, |all, row| all | row) == 0 {
        return 0;
    }
    let bytes = rows.map(|row| row.wrapping_mul(0x0102_0408_1020_4080) >> 56);
    bytes
        .enumerate()
        .fold(0, |mask, (row, byte)| mask | byte << (8 * row))
}

/// Returns `true` if `test` is true for a byte of the chunk.
#[inline(always)]
pub(crate) fn any<const N: usize>(chunk: &[u8; N], test: impl Fn(u8) -> bool) -> bool {
    chunk.iter().fold(false, |found, &byte| found | test(byte))
}

/// Copies `N` bytes to an offset, even if the caller needs fewer: a copy of constant length is a few instructions, but
/// a copy of variable length is a call. Copies nothing if there is no space.
#[inline(always)]
pub(super) fn put<const N: usize>(out: &mut [u8], to: usize, from: &[u8]) {
    let place = out.get_mut(to..).and_then(|out| out.first_chunk_mut::<N>());
    if let (Some(place), Some(from)) = (place, from.first_chunk::<N>()) {
        *place = *from;
    }
}
