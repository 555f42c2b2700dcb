use std::sync::Arc;

use serde::{Deserialize, de::DeserializeOwned};
use serde_json::value::RawValue;

use super::{KeyId, PublicKey, SignatureHeaders, VerifyErrorKind};

/// The keys of one platform. Clones share one list.
#[derive(Debug, Clone, Default)]
pub struct KeySet(Arc<[PublicKey]>);

impl KeySet {
    /// Reads what `GET https://api.github.com/meta/public_keys/copilot_api` answers with:
    /// `{"public_keys":[{"key_identifier":"…","key":"-----BEGIN PUBLIC
    /// KEY-----\n…","is_current":true}]}`.
    ///
    /// Entries stand alone: one without a readable identifier is left out, one without a readable
    /// P-256 key is kept as an unsupported key, and neither harms the others. Unknown members
    /// are ignored.
    ///
    /// # Errors
    ///
    /// [`InvalidKeyDocument`] when this is not a JSON object with an array `public_keys`.
    pub fn from_json(document: &[u8]) -> Result<Self, InvalidKeyDocument> {
        let document: Document<'_> =
            serde_json::from_slice(document).map_err(|_| InvalidKeyDocument)?;
        Ok(document
            .public_keys
            .into_iter()
            .filter_map(read_key)
            .collect())
    }

    /// The key with this identifier.
    pub fn get(&self, identifier: &KeyId) -> Option<&PublicKey> {
        self.iter().find(|key| key.identifier() == identifier)
    }

    /// All keys, in the order of the document.
    pub fn iter(&self) -> impl Iterator<Item = &PublicKey> {
        self.0.iter()
    }

    /// How many keys there are, unsupported ones included.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is no key at all, so that every request is refused.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Only the keys that are marked as current. A request signed just before a rotation is then
    /// refused.
    #[must_use]
    pub fn current_only(&self) -> Self {
        self.iter()
            .filter(|key| key.is_current())
            .cloned()
            .collect()
    }

    pub(super) fn check(
        &self,
        body: &[u8],
        headers: &SignatureHeaders,
    ) -> Result<(), VerifyErrorKind> {
        self.get(headers.key_identifier())
            .ok_or(VerifyErrorKind::UnknownKeyIdentifier)?
            .check(body, headers.signature())
    }
}

impl FromIterator<PublicKey> for KeySet {
    fn from_iter<I: IntoIterator<Item = PublicKey>>(keys: I) -> Self {
        Self(keys.into_iter().collect())
    }
}

/// Bytes that are not a key document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a document of public keys")]
#[non_exhaustive]
pub struct InvalidKeyDocument;

#[derive(Deserialize)]
struct Document<'a> {
    #[serde(borrow)]
    public_keys: Vec<&'a RawValue>,
}

/// Members stay raw, so that one of an odd type spoils no other.
#[derive(Deserialize)]
struct Entry<'a> {
    #[serde(borrow)]
    key_identifier: &'a RawValue,
    #[serde(borrow)]
    key: Option<&'a RawValue>,
    #[serde(borrow)]
    is_current: Option<&'a RawValue>,
}

fn read_key(entry: &RawValue) -> Option<PublicKey> {
    let entry: Entry<'_> = serde_json::from_str(entry.get()).ok()?;
    let identifier = KeyId::new(&read::<String>(entry.key_identifier)?).ok()?;
    let is_current = entry.is_current.and_then(read).unwrap_or(false);
    Some(match entry.key.and_then(read::<String>) {
        Some(pem) => PublicKey::from_pem(identifier, &pem, is_current),
        None => PublicKey::unsupported(identifier, is_current),
    })
}

fn read<T: DeserializeOwned>(raw: &RawValue) -> Option<T> {
    serde_json::from_str(raw.get()).ok()
}
