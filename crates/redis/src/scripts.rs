//! The scripts that Redis runs: each is atomic.
//!
//! A log is a stream. Its first entry, `0-1`, has the facts about the reply: its process, the retention in
//! milliseconds, and the key of the latest reply of its conversation, if there is one. Like all entries but the
//! end it has one field, `d`: Redis stores the names of the fields once then. The entry with the events
//! from number `first` on has the id `(first + 1)-count`; so ids ascend, the last id says how many events
//! there are, and Redis itself refuses what was appended before. The end has the highest id that there is,
//! after which Redis refuses every other entry.

use redis::Script;

/// The id of the entry that has the end.
pub(crate) const END: &str = "18446744073709551615-18446744073709551615";

/// Creates a log.
///
/// Keys: the log, and the latest reply of the conversation if there is one. Arguments: process, lifetime,
/// retention, the id of the reply. Returns `ok` or `exists`.
const CREATE: &str = "\
local head = ARGV[1] .. ' ' .. ARGV[3] .. ' ' .. (KEYS[2] or '')
local added = redis.pcall('XADD', KEYS[1], '0-1', 'd', head)
if type(added) == 'table' and added.err then
  if redis.call('EXISTS', KEYS[1]) == 1 then return 'exists' end
  return added
end
redis.call('PEXPIRE', KEYS[1], ARGV[2])
if KEYS[2] then redis.call('SET', KEYS[2], ARGV[4], 'PX', ARGV[2]) end
return 'ok'";

/// Appends events, whatever the log contains.
///
/// Keys: the log, which is the channel too. Arguments: number of the first event, id, events, the id
/// of the end. Returns the number of the next event, the end, or `gone`.
const APPEND: &str = "\
local last = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)[1]
if not last then return 'gone' end
if last[1] == ARGV[4] then return last[2][2] end
local first, count = string.match(last[1], '^(%d+)-(%d+)$')
local next = 0
if first ~= '0' then next = first - 1 + count end
local wanted = tonumber(ARGV[1])
if wanted > next then return 'gone' end
if wanted == next then
  redis.call('XADD', KEYS[1], ARGV[2], 'd', ARGV[3])
  redis.call('PUBLISH', KEYS[1], '')
  next = next + tonumber(string.match(ARGV[2], '%d+$'))
end
return string.format('%.0f', next)";

/// Returns the state of a log.
///
/// Keys: the log, the mark of its readers. Arguments: the id of the end. Returns the number of the next event, the
/// end or `-`, and 1 if a reader is there; or `gone`.
const STATE: &str = "\
local last = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 2)
if not last[1] then return 'gone' end
local ended = '-'
if last[1][1] == ARGV[1] then ended = table.remove(last, 1)[2][2] end
local first, count = string.match(last[1][1], '^(%d+)-(%d+)$')
local next = 0
if first ~= '0' then next = first - 1 + count end
return string.format('%.0f %s %d', next, ended, redis.call('EXISTS', KEYS[2]))";

/// Notes a reader.
///
/// Keys: the log, the mark of its readers. Arguments: for how many milliseconds a reader counts as there. Returns `ok`
/// or `gone`.
const NOTE: &str = "\
local left = redis.call('PTTL', KEYS[1])
if left < 0 then return 'gone' end
redis.call('SET', KEYS[2], '', 'PX', math.max(math.min(left, ARGV[1]), 1))
return 'ok'";

/// Writes the end of a log. Where there is no space for it, the log is deleted: its readers get a failure
/// rather than nothing for ever.
///
/// Keys: the log, the mark of a cancelled reply, the mark of its readers. Arguments: the id and the word of the
/// end, channel, the id of the reply. Returns the end, or `gone`.
const SEAL: &str = "\
local added = redis.pcall('XADD', KEYS[1], 'NOMKSTREAM', ARGV[1], 'end', ARGV[2])
if not added then return 'gone' end
if type(added) == 'table' and added.err then
  local last = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)[1]
  if last[1] == ARGV[1] then return last[2][2] end
  redis.call('PUBLISH', ARGV[3], '')
  redis.call('DEL', KEYS[1], KEYS[2], KEYS[3])
  return 'gone'
end
redis.call('PUBLISH', ARGV[3], '')
local head = redis.call('XRANGE', KEYS[1], '0-1', '0-1')[1][2][2]
local retention, latest = string.match(head, '^%S+ (%d+) (.*)$')
redis.call('PEXPIRE', KEYS[1], retention)
redis.call('DEL', KEYS[2])
if latest ~= '' and redis.call('GET', latest) == ARGV[4] then
  redis.call('PEXPIRE', latest, retention)
end
return ARGV[2]";

/// Marks a reply as cancelled, and notifies the process that runs it.
///
/// Keys: the log, the mark. Arguments: the id of the end, the id of the reply, the prefix of the
/// channels of processes. Returns `ok` or `gone`.
const CANCEL: &str = "\
local last = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)[1]
if not last then return 'gone' end
if last[1] == ARGV[1] then return 'ok' end
local head = redis.call('XRANGE', KEYS[1], '0-1', '0-1')[1][2][2]
redis.call('PUBLISH', ARGV[3] .. string.match(head, '^%S+'), 'cancel ' .. ARGV[2])
redis.call('SET', KEYS[2], '', 'PX', math.max(redis.call('PTTL', KEYS[1]), 1))
return 'ok'";

/// Returns the reply that a conversation had last.
///
/// Keys: the latest reply of the conversation. Arguments: the prefix of all logs.
const LATEST: &str = "\
local id = redis.call('GET', KEYS[1])
if id and redis.call('EXISTS', ARGV[1] .. id) == 1 then return id end
return ''";

/// Tells the process that writes a log that somebody reads it elsewhere, and finds out whether it still lives.
///
/// Keys: the log. Arguments: the prefix of all leases, what is in a lease that was given up, the prefix of the
/// channels of processes, the id of the reply. Returns `alive`, `dead` if there is no lease, `ended` if it was given
/// up, or `gone`.
const FOLLOW: &str = "\
local head = redis.call('XRANGE', KEYS[1], '0-1', '0-1')[1]
if not head then return 'gone' end
local process = string.match(head[2][2], '^%S+')
redis.call('PUBLISH', ARGV[3] .. process, 'read ' .. ARGV[4])
local lease = redis.call('GET', ARGV[1] .. process)
if not lease then return 'dead' end
if lease == ARGV[2] then return 'ended' end
return 'alive'";

/// All scripts, with their digests.
pub(crate) struct Scripts {
    pub(crate) create: Script,
    pub(crate) append: Script,
    pub(crate) state: Script,
    pub(crate) note: Script,
    pub(crate) seal: Script,
    pub(crate) cancel: Script,
    pub(crate) latest: Script,
    pub(crate) follow: Script,
}

impl Scripts {
    pub(crate) fn new() -> Self {
        Self {
            create: Script::new(CREATE),
            append: Script::new(APPEND),
            state: Script::new(STATE),
            note: Script::new(NOTE),
            seal: Script::new(SEAL),
            cancel: Script::new(CANCEL),
            latest: Script::new(LATEST),
            follow: Script::new(FOLLOW),
        }
    }
}
