//! Conversations with their own ids: lists of entries, to which turns are appended.

use super::user::{Chain, ChainError, PARENTS, UserConversations, entry};
use super::{ListTurn, RecordError, TurnRecord};
use crate::json::Json;

/// The time by which later entries outlive the first entry: a list that has lost an entry has also lost its first.
const LATER: std::time::Duration = std::time::Duration::from_secs(60);

impl UserConversations {
    /// Begins a turn in a conversation with its own id. Returns `None` if another turn of this process is running in
    /// the conversation.
    #[must_use]
    pub fn begin(&self, list: &str) -> Option<ListTurn> {
        self.running.begin(self.key(&entry(list, 0)), list)
    }

    /// Returns the entries of a conversation with its own id, in the place of turns.
    ///
    /// # Errors
    ///
    /// [`ChainError`] if the conversation is unknown, has lost an entry, or has reached its limit.
    pub async fn list(&self, list: &str) -> Result<Chain, ChainError> {
        let limits = self.limits;
        let first = self.records(&[entry(list, 0)], limits.keep).await?;
        let mut chain = Chain::default();
        let mut records = first;
        let mut bytes = 0;
        loop {
            let is_last = records.iter().any(Option::is_none);
            let mut records_of_page = records.into_iter();
            for record in records_of_page.by_ref().map_while(|record| record) {
                bytes += record.size;
                chain.turns.push(record.data);
            }
            if chain.turns.is_empty() || records_of_page.any(|record| record.is_some()) {
                return Err(ChainError::Unknown);
            }
            if chain.turns.len() >= limits.turns || bytes >= limits.bytes {
                return Err(ChainError::TooLong);
            }
            if is_last {
                break;
            }
            let numbers = chain.turns.len()..chain.turns.len() + PARENTS;
            let ids: Vec<_> = numbers.map(|number| entry(list, number)).collect();
            records = self
                .records(&ids, limits.keep.saturating_add(LATER))
                .await?;
        }
        chain.parents = parents(list, chain.turns.len());
        Ok(chain)
    }

    /// Appends an entry to a conversation with its own id, after the first `entries` entries and any that were added
    /// since. The first entry creates the conversation, whose id must be new. Returns the number of the new entry.
    ///
    /// # Errors
    ///
    /// [`RecordError`] if nothing was added.
    pub async fn append(
        &self,
        list: &str,
        entries: usize,
        data: &Json,
    ) -> Result<usize, RecordError> {
        let limits = self.limits;
        let keep = match entries {
            0 => limits.keep,
            _ => limits.keep.saturating_add(LATER),
        };
        // Other servers may have added entries meanwhile: entries are in the order in which their turns ended.
        for number in entries..limits.turns {
            let parents = parents(list, number);
            if self.put(&entry(list, number), &parents, data, keep).await? {
                return Ok(number);
            }
        }
        Err(RecordError::Full)
    }

    /// Deletes a conversation with its own id. Its turns can still be read by the turns' ids, until their records
    /// expire. Returns `false` if the id of the conversation is unknown.
    ///
    /// # Errors
    ///
    /// [`RecordError`] if the store fails.
    pub async fn delete_list(&self, list: &str) -> Result<bool, RecordError> {
        self.delete(&entry(list, 0)).await
    }

    /// Stores the record of a turn: as an entry of its conversation, if that has its own id, and under the turn's id,
    /// if it has one, with links to it from the ids of its items.
    ///
    /// Returns `false` if the id of the turn is known already. Another server may give an id twice, and nobody can tell
    /// which of the two turns a later request continues: such a request is refused.
    pub(super) async fn record(
        &self,
        turn: Option<&ListTurn>,
        id: Option<&str>,
        parents: &[String],
        recorded: &TurnRecord,
    ) -> Result<bool, RecordError> {
        let keep = self.limits.keep;
        let entry = match turn {
            Some(turn) => {
                let number = self.append(&turn.list, turn.entries, &recorded.data);
                Some(entry(&turn.list, number.await?))
            }
            None => None,
        };
        let Some(id) = id else { return Ok(true) };
        // A record under another id contains only the id of the record of the turn.
        let link = Json::object(|link| {
            link.str("entry", entry.as_deref().unwrap_or(id));
        });
        let is_new = match &entry {
            Some(_) => self.put(id, &[], &link, keep).await?,
            None => self.put(id, parents, &recorded.data, keep).await?,
        };
        if !is_new {
            self.forget(id).await?;
        }
        for item in &recorded.items {
            if !self.put(item, &[], &link, keep).await? {
                self.forget(item).await?;
            }
        }
        Ok(is_new)
    }
}

/// Returns the ids of up to 32 entries before entry `number`, the last one first.
fn parents(list: &str, number: usize) -> Vec<String> {
    let parents = (0..number).rev().take(PARENTS);
    parents.map(|number| entry(list, number)).collect()
}
