//! Sixty-four bytes at a time, in safe code that the compiler turns into vector instructions.

/// The bytes that one step looks at.
pub(super) const BLOCK: usize = 64;
/// A block of text.
pub(super) type Block = [u8; BLOCK];

/// For each row of sixteen bytes the bits of its low and of its high eight.
const ROWS: [[u8; 16]; 4] = [row(0), row(2), row(4), row(6)];

const fn row(bit: u32) -> [u8; 16] {
    let low = 0x0101_0101_0101_0101_u128 << bit;
    (low | low << 65).to_le_bytes()
}

/// A word whose bit `i` says whether `test` holds for byte `i` of the block.
///
/// Eight bytes that lie eight apart share one byte of `columns`, which needs only compares and
/// ors; an 8 by 8 bit transposition then puts the bits in the order of the text.
#[inline(always)]
pub(super) fn mask(block: &Block, test: impl Fn(u8) -> bool) -> u64 {
    let mut columns = [0u8; 16];
    for (row, bits) in block.chunks_exact(16).zip(&ROWS) {
        for ((column, &byte), &bit) in columns.iter_mut().zip(row).zip(bits) {
            *column |= if test(byte) { bit } else { 0 };
        }
    }
    let both = u128::from_le_bytes(columns);
    transpose(both as u64 | (both >> 64) as u64)
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

/// True when `test` holds for a byte of the chunk.
#[inline(always)]
pub(super) fn any<const N: usize>(chunk: &[u8; N], test: impl Fn(u8) -> bool) -> bool {
    chunk.iter().fold(false, |found, &byte| found | test(byte))
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
