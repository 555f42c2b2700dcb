//! Helpers of the tests of both protocols.

/// Calls `test` with 2,000 texts, each a seed in which up to five bytes are replaced, removed or inserted. The same
/// texts every time.
pub fn mutations(seeds: &[&[u8]], mut test: impl FnMut(&[u8])) {
    let mut random = 0x5EED_u64;
    let mut below = |bound: usize| {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (random >> 33) as usize % bound
    };
    for round in 0..2000 {
        let mut bytes = seeds[round % seeds.len()].to_vec();
        for _ in 0..below(6) {
            let at = below(bytes.len());
            match below(3) {
                0 => bytes[at] = below(256) as u8,
                1 => drop(bytes.remove(at)),
                _ => bytes.insert(at, below(256) as u8),
            }
        }
        test(&bytes);
    }
}
