// What a model says, in a form from which every dialect is written: invented with a seed, recorded streams, and streams
// with each type of block and item.
import { readFileSync, readdirSync } from 'node:fs';
import { typed } from './types.mjs';

export const TOOLS = ['get_tide', 'get_wind'];

/** Numbers that are the same in every run. */
function numbers(seed) {
  let state = BigInt(seed) * 2862933555777941757n + 3037000493n;
  return (limit) => {
    state = BigInt.asUintN(64, state * 6364136223846793005n + 1442695040888963407n);
    return Number((state >> 33n) % BigInt(Math.ceil(limit)));
  };
}

const WORDS = [
  'high ', 'water', ' at six\n', '"quoted" ', '\\', '\\n', '\\u0041', '🌊', 'é', 'e\u0301', '👩‍👩‍👧', '\u2028', '\u0085', '</p>', 'data: x\n\n', 'event: y\r\n',
  '[DONE]', '```rust\n', '\t', '\u0001', '潮汐は六時です。', '六点涨潮', 'น้ำขึ้น', 'מים', ': ping\n\n', '**Note:** ', '{"a":', '}', "it's", '\n\n\n', '  ', '\u{1f3f4}', '\ufeff', '-', '0',
];

const words = (below, most) => Array.from({ length: below(most) + 1 }, () => WORDS[below(WORDS.length)]);

/** Cuts a text into pieces of this many characters. */
export const cut = (text, size) => {
  const all = [...text];
  return Array.from({ length: Math.ceil(all.length / size) }, (_, at) => all.slice(at * size, (at + 1) * size).join(''));
};

function call(below, id) {
  const kinds = [
    {},
    { port: words(below, 4).join('') },
    { port: 'Brest', depth: 1.5, deep: { list: [1, null, true, words(below, 3).join('')], big: 12345678901 } },
    { port: words(below, 40).join('') },
  ];
  return { id, name: TOOLS[below(2)], arguments: kinds[below(4)], piece: [1, 3, 7, 100000][below(4)] };
}

/** An answer without a fault, of one of twelve kinds. */
function invented(at) {
  const below = numbers(at);
  const said = { name: `answer ${at}`, reasoning: [], text: words(below, 12), refusal: [], calls: [], end: 'stop', piece: [1, 7, 64, 4096, 65536][below(5)] };
  const calls = (count) => Array.from({ length: count }, (_, number) => call(below, `call_${at}_${number}`));
  const kinds = [
    () => {},
    () => (said.calls = calls(1)),
    () => (said.reasoning = words(below, 6)),
    () => (said.end = 'length'),
    () => Object.assign(said, { text: [], calls: calls(below(4) + 2) }),
    () => (said.end = 'filter'),
    () => Object.assign(said, { text: [], refusal: words(below, 5) }),
    () => Object.assign(said, { reasoning: words(below, 6), calls: calls(below(3) + 1) }),
    () => (said.text = cut(words(below, 300).join(''), below(5) + 1)),
    () => Object.assign(said, { text: [], calls: calls(1) }),
    () => Object.assign(said, { reasoning: words(below, 3), end: 'length' }),
    () => (said.text = [WORDS[below(WORDS.length)]]),
  ];
  kinds[at % kinds.length]();
  const input = below(5000) + 20;
  const output = below(900) + 5;
  const [cached, written, reasoning] = [below(3) && below(input / 2), below(4) === 0 ? below(input / 3) : 0, said.reasoning.length && below(output)];
  // Some servers send none.
  said.usage = at % 17 === 16 ? null : { input, cached, written, output, reasoning };
  return said;
}

const STATUSES = [400, 401, 403, 404, 408, 422, 429, 500, 502, 503, 529];

/** Answers that fail, and how. `after` is the part of the events that come before the fault. */
function faulty() {
  const faults = [
    ...STATUSES.map((status) => ({ status })),
    { tooLong: true }, { html: true }, { document: true }, { nothing: true },
    ...[0.01, 0.3, 0.6, 0.95].flatMap((after) => [{ error: true, after }, { ends: true, after }, { breaks: true, after }]),
  ];
  // Where the answer has text, text and calls, and calls only.
  const whole = faults.map((fault, at) => ({ ...invented(12 * at), fault }));
  const calling = faults.filter(({ after }) => after).flatMap((fault, at) => [1, 4].map((kind) => ({ ...invented(1200 + 12 * at + kind), fault })));
  const cuts = ['length', 'filter'].flatMap((end) => [1, 4, 7].map((kind) => ({ ...invented(2400 + kind), end, fault: { cutCall: true } })));
  const arguments_ = ['[1]', 'port', '{"port":', '7'].map((text) => {
    const said = invented(2401);
    said.calls[0] = { ...said.calls[0], text };
    return { ...said, fault: { badCall: text } };
  });
  const all = [...whole, ...calling, ...cuts, ...arguments_];
  return all.map((said, at) => ({ ...said, name: `fault ${at}: ${JSON.stringify(said.fault)}` }));
}

const empty = [
  { name: 'an empty answer', text: [] },
  { name: 'an empty piece', text: [''] },
  { name: 'no text but reasoning', text: [], reasoning: ['Hm'] },
  { name: 'an empty answer at its limit', text: [], end: 'length' },
  { name: 'an empty answer of a filter', text: [], end: 'filter' },
].map((said) => ({ reasoning: [], refusal: [], calls: [], end: 'stop', piece: 64, usage: { input: 9, cached: 0, written: 0, output: 0, reasoning: 0 }, ...said }));

/** Streams of the fixtures, each in its own dialect. */
function recorded() {
  const folder = new URL('../../../fixtures/', import.meta.url);
  const streams = (dialect, under) =>
    readdirSync(new URL(under, folder))
      .filter((name) => name.endsWith('.sse'))
      .map((name) => ({ name: `${under}${name}`, dialect, bytes: readFileSync(new URL(under + name, folder)), piece: 100 }));
  const all = [...streams('chat', 'openai/'), ...streams('responses', 'responses/'), ...streams('messages', 'anthropic/')];
  return all.map((said) => ({ ...said, tools: [...new Set([...`${said.bytes}`.matchAll(/"name":\s*"(\w+)"/g)].map(([, name]) => name))] }));
}

export const CONVERSATIONS = [...Array.from({ length: 192 }, (_, at) => invented(at)), ...empty, ...faulty(), ...recorded(), ...typed()];
