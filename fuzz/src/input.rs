//! Takes the fuzzer's bytes apart.

/// Reads decisions off the front of the input. At its end every decision is 0.
pub struct Input<'a>(pub &'a [u8]);

impl<'a> Input<'a> {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn byte(&mut self) -> u8 {
        match self.0.split_first() {
            Some((&byte, rest)) => {
                self.0 = rest;
                byte
            }
            None => 0,
        }
    }

    /// Reads a number below `bound` from one byte.
    pub fn below(&mut self, bound: u8) -> u8 {
        self.byte() % bound
    }

    pub fn flag(&mut self) -> bool {
        self.byte() & 1 == 1
    }

    pub fn bytes(&mut self) -> &'a [u8] {
        let length = usize::from(self.byte()).min(self.0.len());
        let (bytes, rest) = self.0.split_at(length);
        self.0 = rest;
        bytes
    }

    /// Reads text: a byte of length and as many bytes, with replacement characters for invalid UTF-8.
    pub fn text(&mut self) -> String {
        String::from_utf8_lossy(self.bytes()).into_owned()
    }
}

/// Cuts a stream into chunks: whole for 0, byte by byte for 1, else at random, empty ones included.
pub struct Chunks<'a> {
    rest: &'a [u8],
    how: u8,
    state: u64,
    done: bool,
}

impl<'a> Chunks<'a> {
    pub fn new(stream: &'a [u8], how: u8) -> Self {
        Self {
            rest: stream,
            how,
            state: u64::from(how) + 1,
            done: false,
        }
    }
}

impl<'a> Iterator for Chunks<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        if self.done {
            return None;
        }
        let size = match self.how {
            0 => self.rest.len(),
            1 => 1,
            _ => {
                // splitmix64
                self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
                let mut z = self.state;
                z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
                z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
                let most = [3, 8, 40, 300][(z >> 60) as usize & 3];
                (z ^ (z >> 31)) as usize % most
            }
        };
        let (chunk, rest) = self.rest.split_at(size.min(self.rest.len()));
        self.rest = rest;
        self.done = rest.is_empty();
        Some(chunk)
    }
}
