// Every conversation, in each of three dialects, read by the official client of the dialect at the server itself, and
// by clients of other front ends through a gateway.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { CLIENTS } from './clients.mjs';
import { CONVERSATIONS, TOOLS } from './conversations.mjs';
import { MODELS } from './losses.mjs';

const SDK = { chat: 'openai', responses: 'openai', messages: 'anthropic' };
/** The number of conversations at a time. */
const AT_ONCE = 24;

/** Starts `wire serve` before a server. Returns its URL, and stops it with this process. */
export async function wire(program, upstream, dialect) {
  const args = ['serve', '--json', '--listen', '127.0.0.1:0', '--upstream', upstream, '--dialect', dialect, '--model', 'up', '--keys-env', 'KEYS'];
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'ignore'], env: { ...process.env, KEYS: 'user=none' } });
  process.on('exit', () => child.kill());
  for await (const line of createInterface(child.stdout)) return JSON.parse(line).url;
  throw new Error('wire serve did not start');
}

/**
 * Reads all conversations, or each of the number `every`, and calls `judge` with `{ said, dialect, client, direct, seen }`.
 * `asks` returns what a client is asked with for a dialect: `{ base, model, headers }`.
 */
export async function read({ url, clients, asks, every, judge }) {
  const jobs = CONVERSATIONS.flatMap((said, at) => {
    const dialects = at % every === 0 ? MODELS.filter((dialect) => (said.dialect ?? dialect) === dialect) : [];
    return dialects.map((dialect) => async () => {
      const asked = { model: 'up', prompt: `case ${at}`, tools: said.tools ?? TOOLS };
      const official = CLIENTS.find(({ name, front }) => front === dialect && name === SDK[dialect]);
      const direct = await official.read({ ...asked, base: url });
      // The AI SDK checks the members of the types that it knows.
      for (const client of clients.filter(({ name }) => name !== 'ai' || !said.type)) {
        const how = asks(dialect, client);
        if (how) judge({ said, dialect, client, direct, seen: await client.read({ ...asked, ...how }) });
      }
    });
  });
  const left = jobs[Symbol.iterator]();
  const work = async () => {
    for (const job of left) await job();
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
}
