// All clients receive through `wire serve` what the official client of the server's dialect receives from the server,
// but for the losses of the table. `differential.mjs WIRE [EVERY]`: with EVERY, only each conversation of that number.
import { readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { CLIENTS, SENTENCE } from './clients.mjs';
import { LOSSES, MODELS, expected, table } from './losses.mjs';
import { read, wire } from './matrix.mjs';
import { serve } from './upstream.mjs';

const [program, every = '1'] = process.argv.slice(2);
const noted = new Set();

/** What a client has received, in the form in which it is compared. */
const plain = ({ calls, failed, ...seen }, front) => ({
  ...seen,
  calls: calls.map(([id, ...call]) => [MODELS.includes(front) ? id : null, ...call]),
  failed: failed && { status: failed.status },
});

function fault({ said, dialect, client, direct, seen }) {
  // The official client of Messages itself fails at arguments that are not an object.
  if (dialect === 'messages' && said.fault?.badCall) return null;
  if (JSON.stringify(seen).includes('sk-secret')) return 'it has the text of the error of the server';
  if (seen.failed && !SENTENCE.test(seen.failed.message)) return `not a sentence: ${seen.failed.message}`;
  const wanted = plain(expected(direct, said, dialect, client, noted), client.front);
  const got = plain(seen, client.front);
  // Which status a failure in the stream has depends on whether it was the first that was sent.
  if (wanted.failed && wanted.failed.status === null) got.failed &&= wanted.failed;
  // Reasoning of another dialect has the signature of this crate, which is recognized when it comes back.
  if (dialect !== client.front) got.seal = null;
  const members = Object.keys(wanted).filter((name) => !isDeepStrictEqual(got[name], wanted[name]));
  const told = members.map((name) => `${name}: ${JSON.stringify(got[name])} instead of ${JSON.stringify(wanted[name])}`);
  return told.length === 0 ? null : [...told, seen.failed?.message ?? ''].join('; ');
}

const { server, url } = await serve();
const bases = Object.fromEntries(await Promise.all(MODELS.map(async (dialect) => [dialect, await wire(program, url, dialect)])));
const title = ({ front, name }) => `${front} (${name})`;
const counts = Object.fromEntries(CLIENTS.map((client) => [title(client), Object.fromEntries(MODELS.map((dialect) => [dialect, [0, 0]]))]));
const faults = [];
await read({
  url,
  clients: CLIENTS,
  asks: (dialect) => ({ base: bases[dialect] }),
  every: Number(every),
  judge: (exchange) => {
    const why = fault(exchange);
    const { said, dialect, client } = exchange;
    const cell = counts[title(client)][dialect];
    cell[why ? 1 : 0] += 1;
    if (why) faults.push(`${dialect} to ${title(client)}: ${said.name}: ${why}`);
  },
});
server.closeAllConnections();
server.close();

console.log(`| front end (client) | ${MODELS.map((dialect) => `upstream of ${dialect}`).join(' | ')} |\n|---|---|---|---|`);
for (const [row, cells] of Object.entries(counts)) {
  console.log(`| ${row} | ${Object.values(cells).map(([passed, failed]) => `${passed} of ${passed + failed}`).join(' | ')} |`);
}
let passed = Object.values(counts).flatMap(Object.values).reduce((sum, [right]) => sum + right, 0);
const check = (holds, why) => {
  if (holds) passed += 1;
  else faults.push(why);
};
const guide = readFileSync(new URL('../../../src/guide/models.md', import.meta.url), 'utf8');
check(guide.includes(table()), `the guide has another table than\n${table()}`);
if (every === '1') LOSSES.forEach(([what, , to], at) => check(noted.has(at), `never seen: ${what}, to ${to.join(', ')}`));
console.log(faults.slice(0, 40).join('\n'));
console.log(`\n${passed} passed, ${faults.length} failed`);
// The servers that it has started are still there.
process.exit(faults.length ? 1 : 0);
