//! xxHash with 64 bits and seed 0, of which derived widget ids are made.
//!
//! Written after the xxHash specification, version 0.1.1, "XXH64 algorithm description".

const PRIMES: [u64; 5] = [
    0x9E37_79B1_85EB_CA87,
    0xC2B2_AE3D_27D4_EB4F,
    0x1656_67B1_9E37_79F9,
    0x85EB_CA77_C2B2_AE63,
    0x27D4_EB2F_1656_67C5,
];

/// Hashes `input` with seed 0.
pub(super) fn xxh64(input: &[u8]) -> u64 {
    let [p1, p2, p3, p4, p5] = PRIMES;
    // XXH64 as specified: stripes of 32 bytes in four lanes, then words of 8 and 4 bytes, then
    // bytes.
    let (stripes, mut rest) = input.split_at(input.len() / 32 * 32);
    let mut hash = if stripes.is_empty() {
        // Fewer than 32 bytes skip the lanes.
        p5
    } else {
        // With a seed these would be `seed + p1 + p2`, `seed + p2`, `seed` and `seed - p1`.
        let mut lanes = [p1.wrapping_add(p2), p2, 0, 0_u64.wrapping_sub(p1)];
        for stripe in stripes.chunks_exact(32) {
            for (lane, word) in lanes.iter_mut().zip(stripe.chunks_exact(8)) {
                *lane = round(*lane, little_endian(word));
            }
        }
        let rotated = lanes.iter().zip([1, 7, 12, 18]);
        let converged = rotated.fold(0_u64, |sum, (lane, by)| {
            sum.wrapping_add(lane.rotate_left(by))
        });
        lanes.iter().fold(converged, |hash, &lane| {
            (hash ^ round(0, lane)).wrapping_mul(p1).wrapping_add(p4)
        })
    };
    hash = hash.wrapping_add(input.len() as u64);
    while let Some((word, after)) = rest.split_first_chunk::<8>() {
        hash ^= round(0, little_endian(word));
        hash = hash.rotate_left(27).wrapping_mul(p1).wrapping_add(p4);
        rest = after;
    }
    if let Some((word, after)) = rest.split_first_chunk::<4>() {
        hash ^= little_endian(word).wrapping_mul(p1);
        hash = hash.rotate_left(23).wrapping_mul(p2).wrapping_add(p3);
        rest = after;
    }
    for &byte in rest {
        hash ^= u64::from(byte).wrapping_mul(p5);
        hash = hash.rotate_left(11).wrapping_mul(p1);
    }
    // The final mix: every bit of the input changes about half of the result.
    hash = (hash ^ (hash >> 33)).wrapping_mul(p2);
    hash = (hash ^ (hash >> 29)).wrapping_mul(p3);
    hash ^ (hash >> 32)
}

fn round(lane: u64, word: u64) -> u64 {
    let [p1, p2, ..] = PRIMES;
    lane.wrapping_add(word.wrapping_mul(p2))
        .rotate_left(31)
        .wrapping_mul(p1)
}

fn little_endian(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .rev()
        .fold(0, |word, &byte| word << 8 | u64::from(byte))
}

#[cfg(test)]
mod tests {
    use super::xxh64;

    #[test]
    fn published_vectors() {
        assert_eq!(xxh64(b""), 0xEF46_DB37_51D8_E999);
        assert_eq!(xxh64(b"a"), 0xD24E_C4F1_A98C_6E5B);
        assert_eq!(xxh64(b"abc"), 0x44BC_2CF5_AD77_0999);
        let long = b"Nobody inspects the spammish repetition";
        assert_eq!(xxh64(long), 0xFBCE_A83C_8A37_8BF1);
    }
}
