use std::slice;
use std::sync::Arc;

use serde::{Deserialize, de::DeserializeOwned};
use serde_json::value::RawValue;

use super::{KeyError, KeyErrorKind, KeyId, PublicKey, SignatureHeaders, VerifyErrorKind};

/// A set of keys. Clones share the same list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KeySet(Arc<[PublicKey]>);

impl KeySet {
    /// Reads the response of `GET https://api.github.com/meta/public_keys/copilot_api`:
    /// `{"public_keys":[{"key_identifier":"…","key":"-----BEGIN PUBLIC KEY-----\n…","is_current":true}]}`.
    ///
    /// An invalid entry does not affect the others: one without a valid identifier is skipped, and
    /// one without a valid P-256 key is retained as an unsupported key. Unknown members are
    /// ignored.
    ///
    /// # Errors
    ///
    /// [`KeyErrorKind::Document`] if the document is not a JSON object with an array `public_keys`.
    pub fn from_json(document: &[u8]) -> Result<Self, KeyError> {
        let document: Document<'_> =
            serde_json::from_slice(document).map_err(|_| KeyError::new(KeyErrorKind::Document))?;
        Ok(document
            .public_keys
            .into_iter()
            .filter_map(read_key)
            .collect())
    }

    /// Returns the key with this identifier.
    pub fn get(&self, identifier: &KeyId) -> Option<&PublicKey> {
        self.iter().find(|key| key.identifier() == identifier)
    }

    /// Returns an iterator over all keys, in the order of the document.
    pub fn iter(&self) -> slice::Iter<'_, PublicKey> {
        self.0.iter()
    }

    /// Returns the number of keys, unsupported ones included.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns `true` if there are no keys, so that every request is refused.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns only the keys that are marked as current. Requests signed just before a rotation are
    /// then refused.
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

impl<'a> IntoIterator for &'a KeySet {
    type Item = &'a PublicKey;
    type IntoIter = slice::Iter<'a, PublicKey>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl FromIterator<PublicKey> for KeySet {
    fn from_iter<I: IntoIterator<Item = PublicKey>>(keys: I) -> Self {
        Self(keys.into_iter().collect())
    }
}

#[derive(Deserialize)]
struct Document<'a> {
    #[serde(borrow)]
    public_keys: Vec<&'a RawValue>,
}

/// An entry with raw members, so that a member with a wrong type does not invalidate the others.
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
        // Kept, so that a request with this identifier is told apart from one with an unknown
        // identifier, and causes no fetch.
        None => PublicKey::unsupported(identifier, is_current),
    })
}

fn read<T: DeserializeOwned>(raw: &RawValue) -> Option<T> {
    serde_json::from_str(raw.get()).ok()
}
