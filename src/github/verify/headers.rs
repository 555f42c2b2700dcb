use http::{HeaderMap, HeaderName, HeaderValue};

use super::{KeyId, Signature, VerifyError, VerifyErrorKind};

/// A pair of header names: there are two pairs, with the same two values.
///
/// The platform sent both pairs in early 2025 and announced the end of the older one by 31 March
/// 2025.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum HeaderPair {
    /// `X-GitHub-Public-Key-Identifier` and `X-GitHub-Public-Key-Signature`.
    Newer,
    /// `Github-Public-Key-Identifier` and `Github-Public-Key-Signature`.
    Older,
}

impl HeaderPair {
    /// Returns the name of the header with the key identifier.
    pub fn identifier(self) -> HeaderName {
        HeaderName::from_static(match self {
            Self::Newer => "x-github-public-key-identifier",
            Self::Older => "github-public-key-identifier",
        })
    }

    /// Returns the name of the header with the signature.
    pub fn signature(self) -> HeaderName {
        HeaderName::from_static(match self {
            Self::Newer => "x-github-public-key-signature",
            Self::Older => "github-public-key-signature",
        })
    }
}

/// The signature headers of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignatureHeaders {
    key_identifier: KeyId,
    signature: Signature,
}

impl SignatureHeaders {
    /// Reads the newer pair if either of its headers is present, otherwise the older pair.
    ///
    /// An empty value counts as absent. Halves of two pairs are never combined, and the older pair
    /// is never used instead of a newer one that is incomplete or wrong.
    ///
    /// # Errors
    ///
    /// [`MissingSignature`](VerifyErrorKind::MissingSignature) or
    /// [`MissingKeyIdentifier`](VerifyErrorKind::MissingKeyIdentifier) if the pair is incomplete;
    /// [`UnknownKeyIdentifier`](VerifyErrorKind::UnknownKeyIdentifier) if the identifier is not a
    /// valid [`KeyId`]; [`MalformedSignature`](VerifyErrorKind::MalformedSignature) as in
    /// [`Signature::from_base64`]. A header that occurs twice is refused like an invalid value.
    pub fn from_headers(headers: &HeaderMap) -> Result<Self, VerifyError> {
        // Chosen once: falling back after a failed verification would let an attacker choose the
        // pair.
        let newer = Fields::of(headers, HeaderPair::Newer);
        let fields = if newer.is_absent() {
            Fields::of(headers, HeaderPair::Older)
        } else {
            newer
        };

        let signature = match fields.signature {
            Field::Missing => return Err(VerifyErrorKind::MissingSignature.into()),
            Field::One(value) => Some(value),
            // Which of several values a proxy in front has looked at is unknown, so none is used.
            Field::Several => None,
        };
        let identifier = match fields.identifier {
            Field::Missing => return Err(VerifyErrorKind::MissingKeyIdentifier.into()),
            Field::One(value) => Some(value),
            Field::Several => None,
        };
        let key_identifier = identifier
            .and_then(|value| value.to_str().ok())
            .and_then(|text| KeyId::new(text).ok())
            .ok_or(VerifyErrorKind::UnknownKeyIdentifier)?;
        let signature = signature.ok_or(VerifyErrorKind::MalformedSignature)?;
        Ok(Self {
            key_identifier,
            signature: Signature::from_base64(signature.as_bytes())?,
        })
    }

    /// Creates headers from values that were read by other means.
    pub fn new(key_identifier: KeyId, signature: Signature) -> Self {
        Self {
            key_identifier,
            signature,
        }
    }

    /// Returns the identifier of the signing key.
    pub(super) fn key_identifier(&self) -> &KeyId {
        &self.key_identifier
    }

    /// Returns the signature of the body.
    pub fn signature(&self) -> &Signature {
        &self.signature
    }
}

struct Fields<'a> {
    identifier: Field<'a>,
    signature: Field<'a>,
}

impl<'a> Fields<'a> {
    fn of(headers: &'a HeaderMap, pair: HeaderPair) -> Self {
        Self {
            identifier: Field::of(headers, pair.identifier()),
            signature: Field::of(headers, pair.signature()),
        }
    }

    fn is_absent(&self) -> bool {
        matches!(
            (&self.identifier, &self.signature),
            (Field::Missing, Field::Missing)
        )
    }
}

enum Field<'a> {
    Missing,
    One(&'a HeaderValue),
    Several,
}

impl<'a> Field<'a> {
    fn of(headers: &'a HeaderMap, name: HeaderName) -> Self {
        let mut values = headers
            .get_all(name)
            .into_iter()
            .filter(|value| !value.is_empty());
        match (values.next(), values.next()) {
            (None, _) => Self::Missing,
            (Some(value), None) => Self::One(value),
            (Some(_), Some(_)) => Self::Several,
        }
    }
}
