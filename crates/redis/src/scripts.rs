//! The scripts that Redis runs: each is atomic, and names all keys that it uses, which are in one slot of a cluster.
//!
//! A log is a stream. Its first entry, `0-1`, has the facts about the reply: its process, the retention in
//! milliseconds, and the key of the latest reply of its conversation, if it has one. All entries but the end have one
//! field, `d`, so that Redis stores the name of the field only once. The entry with the events from number `first` on
//! has the id `(first + 1)-count`: ids ascend, the last id gives the number of events, and Redis itself refuses a
//! repeated append. The end has the highest possible id, after which Redis refuses every other entry.

use redis::{Cmd, ToRedisArgs};

/// The id of the entry that has the end.
pub(crate) const END: &str = "18446744073709551615-18446744073709551615";

/// Creates a log. Succeeds again for the same process while the log has no event: then the first answer was lost.
///
/// Keys: the log. Arguments: process, lifetime, retention, the key of the latest reply of the conversation or an empty
/// text. Returns `ok` or `exists`.
const CREATE: &str = "\
local head = ARGV[1] .. ' ' .. ARGV[3] .. ' ' .. ARGV[4]
local added = redis.pcall('XADD', KEYS[1], '0-1', 'd', head)
if type(added) == 'table' and added.err then
  if redis.call('EXISTS', KEYS[1]) == 0 then return added end
  local last = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)[1]
  if last[1] ~= '0-1' or last[2][2] ~= head then return 'exists' end
end
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 'ok'";

/// Appends events to a log whose next number the caller does not know.
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
/// Keys: the log, the mark of its readers. Arguments: the id of the end. Returns the number of the next event, the end
/// or `-`, and 1 if a reader is present, else 0; or `gone`.
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
/// Keys: the log, the mark of its readers. Arguments: for how many milliseconds a reader counts as present. Returns
/// `ok` or `gone`.
const NOTE: &str = "\
local left = redis.call('PTTL', KEYS[1])
if left < 0 then return 'gone' end
redis.call('SET', KEYS[2], '', 'PX', math.max(math.min(left, ARGV[1]), 1))
return 'ok'";

/// Writes the end of a log. If Redis has no space for the end, the log is deleted: its readers get a failure instead
/// of waiting for ever.
///
/// Keys: the log, the mark of a cancelled reply, the mark of its readers. Arguments: the id and the word of the end,
/// channel. Returns the end or `gone`. A new end is followed by the retention and the key of the latest reply, if the
/// reply has a conversation.
const SEAL: &str = "\
local added = redis.pcall('XADD', KEYS[1], 'NOMKSTREAM', ARGV[1], 'end', ARGV[2])
if not added then return 'gone' end
if type(added) == 'table' and added.err then
  local last = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)[1]
  -- Redis refuses to write where it is full, before it looks whether there is a log.
  if not last then return 'gone' end
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
if latest == '' then return ARGV[2] end
return ARGV[2] .. ' ' .. retention .. ' ' .. latest";

/// Makes the key of the latest reply of a conversation expire with the log, which has ended.
///
/// Keys: the latest reply of the conversation. Arguments: the id of the reply, retention.
const RETAIN: &str = "\
if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
return 'ok'";

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

/// Notifies the process that writes a log of a reader elsewhere.
///
/// Keys: the log. Arguments: the prefix of the channels of processes, the id of the reply. Returns the process, or
/// `gone`.
const FOLLOW: &str = "\
local head = redis.call('XRANGE', KEYS[1], '0-1', '0-1')[1]
if not head then return 'gone' end
local process = string.match(head[2][2], '^%S+')
redis.call('PUBLISH', ARGV[1] .. process, 'read ' .. ARGV[2])
return process";

/// Stores a record, unless there is one with this name. If it would exceed the limit of its user, the records that
/// expire first are deleted, up to a thousand at a time.
///
/// Keys: the records of the user, the times at which they expire. Arguments: the record's name, the record, for how
/// many milliseconds to keep it, the limit, the size of a record without its bytes. Returns `ok`, also if the same
/// record exists: the client of a cluster repeats a command whose answer was lost. Returns `exists` for another
/// record, and `again` if it only deleted records: a script that has deleted could write to a full Redis.
const PUT: &str = "\
local name, limit, overhead = ARGV[1], tonumber(ARGV[4]), tonumber(ARGV[5])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local size = tonumber(redis.call('HGET', KEYS[1], 'size') or 0)
local more = #ARGV[2] + overhead
if redis.call('HEXISTS', KEYS[1], name) == 1 then
  if tonumber(redis.call('ZSCORE', KEYS[2], name) or 0) > now then
    return redis.call('HGET', KEYS[1], name) == ARGV[2] and 'ok' or 'exists'
  end
  more = more - redis.call('HSTRLEN', KEYS[1], name) - overhead
end
if size + more > limit then
  local first, place = redis.call('ZRANGE', KEYS[2], 0, 999), {}
  for _, other in ipairs(first) do
    if size + more <= limit then break end
    if other ~= name then
      size = size - redis.call('HSTRLEN', KEYS[1], other) - overhead
      place[#place + 1] = other
    end
  end
  if #place == 0 then
    redis.call('DEL', KEYS[1], KEYS[2])
  else
    redis.call('ZREM', KEYS[2], unpack(place))
    redis.call('HDEL', KEYS[1], unpack(place))
    redis.call('HINCRBY', KEYS[1], 'size', size - tonumber(redis.call('HGET', KEYS[1], 'size') or 0))
  end
  return 'again'
end
redis.call('HSET', KEYS[1], name, ARGV[2])
redis.call('HINCRBY', KEYS[1], 'size', more)
redis.call('ZADD', KEYS[2], string.format('%.0f', now + ARGV[3]), name)
for _, key in ipairs(KEYS) do
  if redis.call('PTTL', key) < tonumber(ARGV[3]) then redis.call('PEXPIRE', key, ARGV[3]) end
end
for _, other in ipairs(redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', string.format('%.0f', now), 'LIMIT', 0, 10)) do
  local less = redis.call('HSTRLEN', KEYS[1], other) + overhead
  redis.call('ZREM', KEYS[2], other)
  if redis.call('HDEL', KEYS[1], other) == 1 then redis.call('HINCRBY', KEYS[1], 'size', -less) end
end
return 'ok'";

/// Returns records, and extends the time for which they are kept.
///
/// Keys: the records of the user, the times at which they expire. Arguments: for how many milliseconds to keep them,
/// the records' names. Returns a list of records.
const GET: &str = "\
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
for _, key in ipairs(KEYS) do
  local left = redis.call('PTTL', key)
  -- Always, because it lets the commands below pass where Redis is full.
  if left >= 0 then redis.call('PEXPIRE', key, string.format('%.0f', math.max(left, ARGV[1]))) end
end
local found = {}
for number = 2, #ARGV do
  local expires = redis.call('ZSCORE', KEYS[2], ARGV[number])
  found[number - 1] = expires and tonumber(expires) > now and redis.call('HGET', KEYS[1], ARGV[number])
  if found[number - 1] and tonumber(expires) < now + ARGV[1] then
    redis.call('ZADD', KEYS[2], string.format('%.0f', now + ARGV[1]), ARGV[number])
  end
end
return found";

/// Deletes a record.
///
/// Keys: the records of the user, the times at which they expire. Arguments: the record's name, the size of a record
/// without its bytes. Returns `ok` or `gone`.
const DELETE: &str = "\
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local expires = redis.call('ZSCORE', KEYS[2], ARGV[1])
local size = redis.call('HSTRLEN', KEYS[1], ARGV[1]) + ARGV[2]
redis.call('ZREM', KEYS[2], ARGV[1])
if redis.call('HDEL', KEYS[1], ARGV[1]) == 0 then return 'gone' end
redis.call('HINCRBY', KEYS[1], 'size', string.format('%.0f', -size))
if not expires or tonumber(expires) <= now then return 'gone' end
return 'ok'";

/// A script, with its digest.
pub(crate) struct Script {
    text: &'static str,
    digest: String,
}

impl Script {
    fn new(text: &'static str) -> Self {
        let digest = redis::Script::new(text).get_hash().to_owned();
        Self { text, digest }
    }

    /// Creates a call with these keys, which must be in one slot of a cluster.
    pub(crate) fn on<const N: usize>(&self, keys: [String; N]) -> Call<'_> {
        let mut arguments = vec![N.to_string().into_bytes()];
        arguments.extend(keys.map(String::into_bytes));
        Call {
            script: self,
            arguments,
        }
    }
}

/// A call of a script.
pub(crate) struct Call<'a> {
    script: &'a Script,
    /// The number of keys, the keys, and the other arguments.
    arguments: Vec<Vec<u8>>,
}

impl Call<'_> {
    /// Adds an argument.
    pub(crate) fn arg(mut self, argument: impl ToRedisArgs) -> Self {
        argument.write_redis_args(&mut self.arguments);
        self
    }

    /// Returns the command for a server that has the script.
    pub(crate) fn by_digest(&self) -> Cmd {
        self.command("EVALSHA", &self.script.digest)
    }

    /// Returns the command for a server without the script.
    pub(crate) fn by_text(&self) -> Cmd {
        self.command("EVAL", self.script.text)
    }

    fn command(&self, name: &str, script: &str) -> Cmd {
        let mut command = redis::cmd(name);
        command.arg(script).arg(&self.arguments);
        command
    }
}

/// All scripts, with their digests.
pub(crate) struct Scripts {
    pub(crate) create: Script,
    pub(crate) append: Script,
    pub(crate) state: Script,
    pub(crate) note: Script,
    pub(crate) seal: Script,
    pub(crate) retain: Script,
    pub(crate) cancel: Script,
    pub(crate) follow: Script,
    pub(crate) put: Script,
    pub(crate) get: Script,
    pub(crate) delete: Script,
}

impl Scripts {
    pub(crate) fn new() -> Self {
        Self {
            create: Script::new(CREATE),
            append: Script::new(APPEND),
            state: Script::new(STATE),
            note: Script::new(NOTE),
            seal: Script::new(SEAL),
            retain: Script::new(RETAIN),
            cancel: Script::new(CANCEL),
            follow: Script::new(FOLLOW),
            put: Script::new(PUT),
            get: Script::new(GET),
            delete: Script::new(DELETE),
        }
    }
}
