//! The rules of a store for conversations.

use std::future::Future;
use std::time::Duration;

use bytes::Bytes;
use copilot_wire::conversations::{ConversationStore, RecordError, RecordKey};

use super::{Pause, all, random_key, rule, same};
use crate::BoxError;

/// Checks that a store follows the rules of [`ConversationStore`].
///
/// `stores` are two connections to one store, as two servers have them; both may be the same connection. `sleep` waits
/// on the clock of the store. Every check uses its own users, so the store need not be empty; it needs space for 4
/// MiB, and for 2 MiB of one user.
///
/// # Errors
///
/// The first rule that was broken, and how.
pub async fn check_conversation_store<F>(
    stores: [&dyn ConversationStore; 2],
    sleep: impl Fn(Duration) -> F + Sync,
) -> Result<(), BoxError>
where
    F: Future<Output = ()> + Send,
{
    let [one, other] = stores;
    let sleep = |time| -> Pause<'_> { Box::pin(sleep(time)) };
    let pair = Pair {
        one,
        other,
        sleep: &sleep,
    };
    let limit = || sleep(Duration::from_secs(30));
    rule("records are returned", pair.returned(), limit()).await?;
    rule("any bytes are a record", pair.bytes(), limit()).await?;
    rule("records come in order", pair.order(), limit()).await?;
    rule("the first record stays", pair.again(), limit()).await?;
    rule("a record is deleted", pair.deleted(), limit()).await?;
    rule("other keys lead nowhere", pair.apart(), limit()).await?;
    rule("many calls at a time", pair.racing(), limit()).await?;
    rule("records expire", pair.expires(), limit()).await?;
    rule("records that are read are kept", pair.kept(), limit()).await?;
    rule("times have no limit", pair.times(), limit()).await
}

/// Checks that a store limits the bytes of one user, and that other users lose nothing when the limit is reached.
///
/// `bytes` is the limit of one user, of at least 100,000. The store needs space for twice as much. Under a smaller limit
/// the check may report a store without a fault, because what stores add to each record then counts for more.
///
/// # Errors
///
/// The way in which the rule was broken.
pub async fn check_user_limit(store: &dyn ConversationStore, bytes: usize) -> Result<(), BoxError> {
    let (user, other) = (text(), key(&text(), "other"));
    put(store, &other, "other").await?;
    let size = bytes / 20;
    let keys: Vec<_> = (0..60).map(|id| key(&user, &id.to_string())).collect();
    for key in &keys {
        put(store, key, vec![b'x'; size]).await?;
    }
    let left = || async {
        let records = get(store, &keys).await?;
        Ok::<_, BoxError>(records.iter().map(Option::is_some).collect::<Vec<_>>())
    };
    let before = left().await?;
    let count = before.iter().filter(|found| **found).count();
    if count * size > bytes {
        return Err(format!("a user has {count} records of {size} bytes").into());
    }
    if count < 10 {
        return Err(format!("a user has only {count} records of {size} bytes").into());
    }
    same("the last record", &before.last(), &Some(&true))?;
    let large = key(&user, "large");
    match store
        .put(&large, vec![b'x'; bytes + 1].into(), MINUTE)
        .await
    {
        Err(RecordError::Full) => {}
        got => return Err(format!("a record beyond the limit returned {got:?}").into()),
    }
    same(
        "the records after one that does not fit",
        &left().await?,
        &before,
    )?;
    same(
        "what another user has",
        &get(store, &[other, large]).await?,
        &vec![Some("other".into()), None],
    )
}

const MINUTE: Duration = Duration::from_secs(60);
const SECOND: Duration = Duration::from_secs(1);

/// Returns a random text, which no other check uses.
fn text() -> String {
    random_key()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

/// Returns the key of a record of one user.
fn key(user: &str, id: &str) -> RecordKey {
    RecordKey::new(user, "/check", id)
}

async fn put(
    store: &dyn ConversationStore,
    key: &RecordKey,
    record: impl Into<Bytes>,
) -> Result<bool, RecordError> {
    store.put(key, record.into(), MINUTE).await
}

async fn get(
    store: &dyn ConversationStore,
    keys: &[RecordKey],
) -> Result<Vec<Option<Bytes>>, RecordError> {
    store.get(keys, MINUTE).await
}

struct Pair<'a> {
    one: &'a dyn ConversationStore,
    other: &'a dyn ConversationStore,
    sleep: &'a (dyn Fn(Duration) -> Pause<'a> + Sync),
}

impl Pair<'_> {
    /// Checks which records the other server returns.
    async fn finds(&self, keys: &[RecordKey], wanted: &[Option<&str>]) -> Result<(), BoxError> {
        let found = get(self.other, keys).await?;
        let wanted: Vec<_> = wanted
            .iter()
            .map(|it| it.map(|it| Bytes::from(it.to_owned())))
            .collect();
        same("what is found", &found, &wanted)
    }

    async fn returned(&self) -> Result<(), BoxError> {
        let key = key(&text(), "1");
        self.finds(&[key], &[None]).await?;
        put(self.one, &key, "record").await?;
        // Read twice: reading removes nothing.
        for _ in 0..2 {
            self.finds(&[key], &[Some("record")]).await?;
        }
        let own = get(self.one, &[key]).await?;
        same("what the writer finds", &own, &vec![Some("record".into())])
    }

    async fn bytes(&self) -> Result<(), BoxError> {
        let user = text();
        let all: Vec<u8> = (0..=255).collect();
        // An answer with files may have a megabyte.
        let records = [Vec::new(), all.clone(), b"\r\n".to_vec(), all.repeat(4096)];
        for (number, record) in records.into_iter().enumerate() {
            let (key, size) = (key(&user, &number.to_string()), record.len());
            put(self.one, &key, record.clone()).await?;
            let found = get(self.other, &[key]).await?;
            if found != [Some(Bytes::from(record))] {
                return Err(format!("a record of {size} bytes is not what was stored").into());
            }
        }
        Ok(())
    }

    async fn order(&self) -> Result<(), BoxError> {
        let user = text();
        self.finds(&[], &[]).await?;
        // As many turns as a conversation may have by default, newest first, every third one without a record.
        let (mut keys, mut wanted) = (Vec::new(), Vec::new());
        for number in (0..1000).rev() {
            let key = key(&user, &number.to_string());
            let record = (number % 3 != 0).then(|| number.to_string());
            if let Some(record) = &record {
                put(self.one, &key, record.clone()).await?;
            }
            keys.push(key);
            wanted.push(record);
        }
        let wanted: Vec<_> = wanted.iter().map(Option::as_deref).collect();
        self.finds(&keys, &wanted).await?;
        let [first, second] = [key(&user, "1"), key(&user, "2")];
        let twice = [second, first, second, key(&user, "3")];
        self.finds(&twice, &[Some("2"), Some("1"), Some("2"), None])
            .await
    }

    async fn again(&self) -> Result<(), BoxError> {
        let key = key(&text(), "1");
        // Of servers that store under one key at the same time, exactly one succeeds.
        let racing = (0..20).map(|at| {
            let (store, record) = (
                if at % 2 == 0 { self.one } else { self.other },
                at.to_string(),
            );
            async move { (put(store, &key, record.clone()).await, record) }
        });
        let mut stored = Vec::new();
        for (answer, record) in all(racing).await {
            if answer? {
                stored.push(record);
            }
        }
        let [first] = stored.as_slice() else {
            return Err(format!("{} of 20 records are stored under one key", stored.len()).into());
        };
        self.finds(&[key], &[Some(first)]).await?;
        for store in [self.one, self.other] {
            same("`put` again", &put(store, &key, "other").await?, &false)?;
        }
        self.finds(&[key], &[Some(first)]).await?;
        same("the first `delete`", &self.one.delete(&key).await?, &true)?;
        self.finds(&[key], &[None]).await?;
        same(
            "`put` after that",
            &put(self.other, &key, "new").await?,
            &true,
        )
    }

    async fn deleted(&self) -> Result<(), BoxError> {
        let user = text();
        let (record, bystander) = (key(&user, "1"), key(&user, "2"));
        let early = self.other.delete(&record).await?;
        same("`delete` of what is not there", &early, &false)?;
        put(self.one, &record, "record").await?;
        put(self.one, &bystander, "bystander").await?;
        same("`delete`", &self.other.delete(&record).await?, &true)?;
        self.finds(&[record, bystander], &[None, Some("bystander")])
            .await?;
        same("`delete` again", &self.one.delete(&record).await?, &false)?;
        put(self.one, &record, "new").await?;
        self.finds(&[record, bystander], &[Some("new"), Some("bystander")])
            .await
    }

    async fn apart(&self) -> Result<(), BoxError> {
        let (user, other) = (text(), text());
        let own = RecordKey::new(&user, "/check", "1");
        put(self.one, &own, "own").await?;
        let others = [
            RecordKey::new(&other, "/check", "1"),
            RecordKey::new(&user, "/other", "1"),
            RecordKey::new(&user, "/check", "2"),
            RecordKey::new("", "/check", "1"),
        ];
        self.finds(&others, &[None; 4]).await?;
        for key in &others {
            same(
                "`delete` by another key",
                &self.other.delete(key).await?,
                &false,
            )?;
        }
        self.finds(&[own], &[Some("own")]).await
    }

    async fn racing(&self) -> Result<(), BoxError> {
        let user = text();
        let turns = (0..200_usize).map(|number| {
            let (key, record) = (key(&user, &number.to_string()), number.to_string());
            let (writer, reader) = match number % 2 {
                0 => (self.one, self.other),
                _ => (self.other, self.one),
            };
            async move {
                put(writer, &key, record.clone()).await?;
                let found = get(reader, &[key]).await?;
                same("what is found", &found, &vec![Some(record.into())])?;
                same("`delete`", &reader.delete(&key).await?, &true)?;
                let found = get(writer, &[key]).await?;
                same("what is found", &found, &vec![None])
            }
        });
        all(turns).await.into_iter().collect()
    }

    async fn expires(&self) -> Result<(), BoxError> {
        let user = text();
        let (short, long) = (key(&user, "1"), key(&user, "2"));
        self.one.put(&short, "short".into(), 2 * SECOND).await?;
        put(self.one, &long, "long").await?;
        self.finds(&[long], &[Some("long")]).await?;
        (self.sleep)(3 * SECOND).await;
        self.finds(&[short, long], &[None, Some("long")]).await?;
        let late = self.one.delete(&short).await?;
        same("`delete` of an expired record", &late, &false)?;
        put(self.one, &short, "new").await?;
        self.finds(&[short], &[Some("new")]).await
    }

    async fn kept(&self) -> Result<(), BoxError> {
        let user = text();
        let (read, long, other) = (key(&user, "1"), key(&user, "2"), key(&user, "3"));
        for key in [read, other] {
            self.one.put(&key, "record".into(), 4 * SECOND).await?;
        }
        put(self.one, &long, "long").await?;
        // The time counts from the last read; a read with a shorter time does not shorten it.
        (self.sleep)(2 * SECOND).await;
        self.other.get(&[read, long], 4 * SECOND).await?;
        (self.sleep)(3 * SECOND).await;
        let found = self.other.get(&[read, long, other], SECOND).await?;
        let wanted = vec![Some("record".into()), Some("long".into()), None];
        same("what is found", &found, &wanted)?;
        (self.sleep)(3 * SECOND).await;
        self.finds(&[read, long], &[None, Some("long")]).await
    }

    async fn times(&self) -> Result<(), BoxError> {
        let user = text();
        let years = Duration::from_secs(200 * 365 * 24 * 3600);
        let keys = [key(&user, "1"), key(&user, "2")];
        for (key, time) in keys.into_iter().zip([years, Duration::MAX]) {
            self.one.put(&key, "record".into(), time).await?;
            let found = self.other.get(&[key], time).await?;
            same("what is found", &found, &vec![Some("record".into())])?;
        }
        // A time of zero extends nothing, but the records are returned.
        for _ in 0..2 {
            let found = self.other.get(&keys, Duration::ZERO).await?;
            same("what is found", &found, &vec![Some("record".into()); 2])?;
        }
        Ok(())
    }
}
