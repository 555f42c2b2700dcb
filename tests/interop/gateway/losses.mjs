// What an answer loses between a dialect and a front end, and nothing else is lost. Each loss says where it applies,
// and changes what the client of the dialect has received to what the client of the front end must receive. They are
// the rows of the table in the guide. An answer of the same dialect loses nothing but the statuses.
export const MODELS = ['chat', 'responses', 'messages'];
const pages = ['AI SDK pages', 'AG-UI'];
const plain = ['OpenBB', 'MCP', 'Meilisearch', 'GitHub'];
const all = [...MODELS, ...pages, ...plain];
const but = (...names) => all.filter((name) => !names.includes(name));
const fails = (seen) => ({ ...seen, refusal: '', reasoning: '', seal: null, calls: [], natives: [], end: null, usage: null, failed: { status: null } });
/** The text that this library wrote has the list already; a relay has read the links only. */
const links = (seen) => {
  const list = seen.text.slice(seen.text.lastIndexOf('\n\n**Sources**'));
  return { ...seen, text: seen.text + list.split('\n').filter((line) => !line.startsWith('- ') || line.includes('](')).join('\n') };
};
const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);

/** The types of calls whose tools run at the client. */
const CALLS = ['apply_patch_call', 'computer_call', 'custom_tool_call', 'local_shell_call', 'shell_call'];

const STATUS = 'the status of a refused request';

/** `[what, from, to, becomes, when, change]`; without `from` and `to` it applies to all of them. */
export const LOSSES = [
  ['a call that is cut off', MODELS, all, 'the turn fails; unchanged in the same dialect', (_, said) => said.fault?.cutCall, fails],
  ['arguments of a call that are not an object', MODELS, [...pages, ...plain], 'the turn fails',
    (seen, said) => said.fault?.badCall || seen.calls.some(([, , value]) => !isObject(value)), fails],
  ['arguments of a call that are not an object', ['chat', 'responses'], ['messages'], 'an object: that in a text, else `invalid_json` with them',
    (seen) => seen.calls.some(([, , value]) => !isObject(value)),
    (seen, said) => ({ ...seen, calls: seen.calls.map(([id, name, value]) => [id, name, isObject(value) ? value : { invalid_json: said.fault.badCall }]) })],
  ['calls', MODELS, ['MCP', 'Meilisearch', 'GitHub'], 'the turn fails: these front ends have no tools of their own', (seen) => seen.calls.length, fails],
  ['several calls in one answer', MODELS, ['OpenBB'], 'one at a time: the others follow its result', (seen) => seen.calls.length > 1,
    (seen) => ({ ...seen, calls: seen.calls.slice(0, 1) })],
  ['ids of calls', MODELS, [...pages, 'OpenBB'], 'those of the reply', (seen) => seen.calls.length,
    (seen) => ({ ...seen, calls: seen.calls.map(([, ...call]) => [null, ...call]) })],
  ['words of a refusal', ['chat', 'responses'], all, 'text; unchanged in the same dialect',
    (seen, _, from, to) => seen.refusal && from !== to, (seen) => ({ ...seen, refusal: '', text: seen.text + seen.refusal })],
  ['reasoning', MODELS, plain, 'left out', (seen) => seen.reasoning, (seen) => ({ ...seen, reasoning: '' })],
  ['signature or encrypted content of reasoning', ['responses', 'messages'], all, 'left out; unchanged in the same dialect',
    (seen, _, from, to) => seen.seal && from !== to, (seen) => ({ ...seen, seal: null })],
  ['an answer that is complete without text and calls', MODELS, MODELS, '"There is no answer.", without which coding clients ask again',
    (seen) => !seen.failed && !seen.text && !seen.refusal && !seen.calls.length && seen.end === 'stop', (seen) => ({ ...seen, text: 'There is no answer.' })],
  ['calls of types that only Responses has', ['responses'], all, 'the turn fails; unchanged in the same dialect',
    (_, said, from, to) => CALLS.includes(said.type) && from !== to, fails],
  ['blocks and items of types that only one dialect has', ['responses', 'messages'], all, 'left out; unchanged in the same dialect',
    (seen, _, from, to) => seen.natives.length && from !== to, (seen) => ({ ...seen, natives: [] })],
  ['citations of web pages', MODELS, ['AG-UI', 'MCP', 'Meilisearch'], 'a list of links at the end of the text', (_, said) => said.name.endsWith('/words.sse') && /url_citation|web_search_result_location/.test(said.bytes), links],
  ['line ends before the text', MODELS, ['MCP'], 'left out', (seen) => /^[\n\r]/.test(seen.text), (seen) => ({ ...seen, text: seen.text.replace(/^[\n\r]+/, '') })],
  ['an answer that is blank', MODELS, ['MCP'], 'followed by "There is no answer."',
    (seen) => !seen.failed && !seen.calls.length && seen.end === 'stop' && /^\p{White_Space}*$/u.test(seen.text),
    (seen) => ({ ...seen, text: `${seen.text}There is no answer.` })],
  ['usage', MODELS, plain, 'left out', (seen) => seen.usage, (seen) => ({ ...seen, usage: null })],
  ['no usage', MODELS, ['responses', 'messages'], 'zeros', (seen) => !seen.usage && !seen.failed,
    (seen) => ({ ...seen, usage: { input: 0, output: 0, cached: 0, written: 0, reasoning: 0 } })],
  ['tokens of reasoning', ['chat', 'responses'], ['messages'], 'counted as tokens of the answer', (seen) => seen.usage?.reasoning,
    (seen) => ({ ...seen, usage: { ...seen.usage, reasoning: 0 } })],
  ['tokens written to a cache', ['messages'], but('messages'), 'counted as tokens of the prompt', (seen) => seen.usage?.written,
    (seen) => ({ ...seen, usage: { ...seen.usage, written: 0 } })],
  [STATUS, MODELS, [...pages, ...plain], 'a sentence in the answer', (seen) => seen.failed?.status,
    (seen) => ({ ...seen, failed: { status: null } })],
  [STATUS, MODELS, MODELS, '400, for Messages 424, which no client repeats; 429 remains, 503 and 529 become 503, with `retry-after`. So does any other from 500 on that has `retry-after` or `x-should-retry: true`',
    (seen) => seen.failed?.status,
    (seen, { fault }, from, to) => ({ ...seen, failed: { status: STATUSES[seen.failed.status] ?? (to === 'messages' && !fault.tooLong ? 424 : 400) } })],
];

const STATUSES = { 429: 429, 503: 503, 529: 503 };

/** What the clients themselves do not show of a dialect. */
const CLIENTS = [
  [({ name, front }, seen) => name === 'ai' && front !== 'messages' && seen.refusal, (seen) => ({ ...seen, text: seen.refusal, refusal: '', end: 'filter' })],
  [({ name }) => name === 'ai', (seen) => ({ ...seen, refusal: '', seal: null, natives: [] })],
  // It takes the text of all choices for one.
  [({ name, front }, _, said) => name === 'ai' && front === 'chat' && said.name.includes('two-choices'), (seen) => ({ ...seen, text: 'Aé', end: 'length' })],
  // An answer that is not streamed is all or nothing.
  [({ name }, seen) => name.endsWith('whole') && seen.failed, (seen) => ({ ...seen, text: '' })],
];

/** Returns what the client must receive, and notes the losses that were seen. */
export function expected(direct, said, from, client, noted) {
  let seen = direct;
  const isPassed = from === client.front;
  for (const [at, [what, dialects, fronts, , when, change]] of LOSSES.entries()) {
    if (isPassed && what !== STATUS) continue;
    if (dialects.includes(from) && fronts.includes(client.front) && when(seen, said, from, client.front)) {
      seen = change(seen, said, from, client.front);
      noted.add(at);
    }
  }
  for (const [is, change] of CLIENTS) if (is(client, seen, said)) seen = change(seen);
  return seen;
}

/** Returns the table of the guide. */
export function table() {
  const titles = (names) => names.map((name) => TITLES[name] ?? name).join(', ');
  const names = (list, whole) => {
    const rest = whole.filter((name) => !list.includes(name));
    if (rest.length === 0) return 'all';
    return rest.length === 1 ? `all but ${titles(rest)}` : titles(list);
  };
  const rows = LOSSES.map(([what, from, to, becomes]) => `| ${what} | ${names(from, MODELS)} | ${names(to, all)} | ${becomes} |`);
  return ['| In the answer | from | to | becomes |', '|---|---|---|---|', ...rows].join('\n');
}

const TITLES = { chat: 'chat completions', responses: 'Responses', messages: 'Messages' };
