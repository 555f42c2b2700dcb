//! Compressed request bodies (RFC 9110, section 8.4).

use http::header::{ACCEPT_ENCODING, CONTENT_ENCODING};
use http::{HeaderMap, HeaderValue, StatusCode};

use crate::protocol::Refusal;

/// A content coding that this router decodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Coding {
    #[cfg(feature = "compression")]
    Gzip,
    #[cfg(feature = "compression")]
    Deflate,
    #[cfg(feature = "compression")]
    Brotli,
    #[cfg(feature = "compression")]
    Zstd,
}

#[cfg(feature = "compression")]
const KNOWN: [(&str, Coding); 5] = [
    ("gzip", Coding::Gzip),
    ("x-gzip", Coding::Gzip),
    ("deflate", Coding::Deflate),
    ("br", Coding::Brotli),
    ("zstd", Coding::Zstd),
];
#[cfg(feature = "compression")]
const ACCEPTED: &str = "gzip, deflate, br, zstd";

#[cfg(not(feature = "compression"))]
const KNOWN: [(&str, Coding); 0] = [];
#[cfg(not(feature = "compression"))]
const ACCEPTED: &str = "identity";

/// Returns the coding of a body; `None` if it is not encoded.
///
/// # Errors
///
/// A [`Refusal`] with status 415 for a coding that is not known, or more than one.
pub(super) fn of(headers: &HeaderMap) -> Result<Option<Coding>, Refusal> {
    let values = headers.get_all(CONTENT_ENCODING).iter();
    let names = values.flat_map(|value| value.as_bytes().split(|byte| *byte == b','));
    let names = names.map(<[u8]>::trim_ascii);
    let mut names =
        names.filter(|name| !name.is_empty() && !name.eq_ignore_ascii_case(b"identity"));
    let (Some(name), more) = (names.next(), names.next()) else {
        return Ok(None);
    };
    let mut known = KNOWN.into_iter();
    let known = known.find(|(known, _)| name.eq_ignore_ascii_case(known.as_bytes()));
    match (known, more) {
        (Some((_, coding)), None) => Ok(Some(coding)),
        _ => {
            let message = format!("content-encoding must be one of: {ACCEPTED}");
            let refusal = Refusal::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, message);
            let accepted = HeaderValue::from_static(ACCEPTED);
            let refusal = refusal.code("invalid_content_encoding");
            Err(refusal.header(ACCEPT_ENCODING, accepted))
        }
    }
}

impl Coding {
    /// Decodes a body, and passes its bytes on in pieces of bounded size. Stops at the first error of `push`, so `push`
    /// limits the memory and the time that a small body can need. The decoders themselves need at most as much memory
    /// as the decoded bytes, and 16 MiB.
    ///
    /// # Errors
    ///
    /// The error of `push`, or a [`Refusal`] with status 400 if the body is not complete and valid.
    pub(super) fn decode(
        self,
        body: &[u8],
        push: impl FnMut(&[u8]) -> Result<(), Refusal>,
    ) -> Result<(), Refusal> {
        #[cfg(feature = "compression")]
        return decoders::decode(self, body, push);
        #[cfg(not(feature = "compression"))]
        {
            let _ = (body, push);
            match self {}
        }
    }
}

#[cfg(feature = "compression")]
mod decoders {
    use std::io::Read;

    use brotli_decompressor::{BrotliDecompressStream, BrotliResult, BrotliState, StandardAlloc};
    use flate2::bufread::GzDecoder;
    use flate2::{Decompress, FlushDecompress, Status};
    use http::StatusCode;
    use ruzstd::decoding::StreamingDecoder;

    use super::Coding;
    use crate::protocol::Refusal;

    /// The size of a piece in bytes.
    const PIECE: usize = 16 * 1024;

    /// The maximum window of zstd in bytes, which every decoder should support (RFC 8878, section 3.1.1.1.2).
    const WINDOW: u64 = 8 * 1024 * 1024;

    type Buffer = [u8; PIECE];

    fn invalid(name: &str) -> Refusal {
        let message = format!("the request body is not complete and valid {name}");
        Refusal::new(StatusCode::BAD_REQUEST, message).code("invalid_content_encoding")
    }

    pub(super) fn decode(
        coding: Coding,
        mut body: &[u8],
        mut push: impl FnMut(&[u8]) -> Result<(), Refusal>,
    ) -> Result<(), Refusal> {
        let mut buffer = [0; PIECE];
        match coding {
            // Both have one or more members or frames (RFC 1952, section 2.2; RFC 8878, section 3.1).
            Coding::Gzip => loop {
                let member = GzDecoder::new(&mut body);
                read(member, &mut buffer, "gzip", &mut push)?;
                if body.is_empty() {
                    return Ok(());
                }
            },
            Coding::Zstd => loop {
                let frame = StreamingDecoder::new_with_max_window_size(&mut body, WINDOW);
                read(
                    frame.map_err(|_| invalid("zstd"))?,
                    &mut buffer,
                    "zstd",
                    &mut push,
                )?;
                if body.is_empty() {
                    return Ok(());
                }
            },
            Coding::Deflate => inflate(body, &mut buffer, push),
            Coding::Brotli => brotli(body, &mut buffer, push),
        }
    }

    fn read(
        mut decoder: impl Read,
        buffer: &mut Buffer,
        name: &str,
        push: &mut impl FnMut(&[u8]) -> Result<(), Refusal>,
    ) -> Result<(), Refusal> {
        loop {
            let count = decoder.read(buffer).map_err(|_| invalid(name))?;
            if count == 0 {
                return Ok(());
            }
            push(buffer.get(..count).unwrap_or_default())?;
        }
    }

    /// Decodes `deflate`, which is the zlib format (RFC 9110, section 8.4.1.2).
    fn inflate(
        body: &[u8],
        buffer: &mut Buffer,
        mut push: impl FnMut(&[u8]) -> Result<(), Refusal>,
    ) -> Result<(), Refusal> {
        let mut decoder = Decompress::new(true);
        loop {
            let (read, written) = (decoder.total_in(), decoder.total_out());
            let rest = body.get(read as usize..).unwrap_or_default();
            let status = decoder.decompress(rest, buffer, FlushDecompress::None);
            let count = (decoder.total_out() - written) as usize;
            push(buffer.get(..count).unwrap_or_default())?;
            match status {
                Ok(Status::StreamEnd) if decoder.total_in() == body.len() as u64 => return Ok(()),
                // Without progress, the body has ended too early.
                Ok(Status::Ok) if count > 0 || decoder.total_in() > read => {}
                _ => return Err(invalid("deflate")),
            }
        }
    }

    fn brotli(
        body: &[u8],
        buffer: &mut Buffer,
        mut push: impl FnMut(&[u8]) -> Result<(), Refusal>,
    ) -> Result<(), Refusal> {
        // Strict: without the windows of up to 1 GiB that RFC 7932 does not have.
        let mut state = BrotliState::<StandardAlloc, StandardAlloc, StandardAlloc>::new_strict(
            StandardAlloc::default(),
            StandardAlloc::default(),
            StandardAlloc::default(),
        );
        let (mut available, mut read) = (body.len(), 0);
        loop {
            let (mut room, mut count, mut total) = (buffer.len(), 0, 0);
            let result = BrotliDecompressStream(
                &mut available,
                &mut read,
                body,
                &mut room,
                &mut count,
                buffer,
                &mut total,
                &mut state,
            );
            push(buffer.get(..count).unwrap_or_default())?;
            match result {
                BrotliResult::ResultSuccess if available == 0 => return Ok(()),
                BrotliResult::NeedsMoreOutput => {}
                _ => return Err(invalid("br")),
            }
        }
    }
}
