// The same conversations and clients, through other gateways: how many each relays right, and what goes wrong. Of what
// the clients receive less is compared than for this crate: not ids, signatures, statuses and sentences.
// `peers.mjs WIRE FOLDER [EVERY] [NAME]`: FOLDER has the other gateways installed, as `full` does it. With EVERY, only
// each conversation of that number; with NAME, only that gateway.
import { spawn } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { CLIENTS } from './clients.mjs';
import { MODELS, expected } from './losses.mjs';
import { read, wire } from './matrix.mjs';
import { serve } from './upstream.mjs';

const [program, folder, every = '1', gateway = ''] = process.argv.slice(2);
const { server, url } = await serve();
const only = (dialect) => `${url}/only/${dialect}`;

const freePort = () =>
  new Promise((resolve) => {
    const probe = net.createServer().listen(0, '127.0.0.1', () => {
      const { port } = probe.address();
      probe.close(() => resolve(port));
    });
  });

/** Starts a gateway, and waits until it answers. */
async function start(command, args, port, env) {
  const child = spawn(command, args, { stdio: ['ignore', 'ignore', 'ignore'], env: { ...process.env, ...env } });
  process.on('exit', () => child.kill());
  for (let round = 0; round < 1200; round += 1) {
    const answer = await fetch(`http://127.0.0.1:${port}/`).catch(() => null);
    if (answer) return `http://127.0.0.1:${port}`;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`${command} did not start`);
}

const GATEWAYS = {
  'wire serve': async () => {
    const bases = Object.fromEntries(await Promise.all(MODELS.map(async (dialect) => [dialect, await wire(program, `${only(dialect)}/v1`, dialect)])));
    return (dialect) => ({ base: bases[dialect] });
  },
  LiteLLM: async () => {
    // One for each dialect: the settings that keep to chat completions apply to all models.
    const settings = {
      chat: { litellm_params: { model: 'openai/up', use_chat_completions_api: true }, litellm_settings: { use_chat_completions_url_for_anthropic_messages: true } },
      responses: { litellm_params: { model: 'openai/responses/up' } },
      messages: { litellm_params: { model: 'anthropic/up' } },
    };
    const env = { LITELLM_LOCAL_MODEL_COST_MAP: 'True', LITELLM_LOG: 'ERROR', LITELLM_DANGEROUSLY_PERMIT_WEAK_OR_UNSET_MASTER_KEY: 'true' };
    const bases = {};
    for (const dialect of MODELS) {
      const { litellm_params, litellm_settings } = settings[dialect];
      const api_base = dialect === 'messages' ? only(dialect) : `${only(dialect)}/v1`;
      // JSON is YAML.
      const config = join(mkdtempSync(join(tmpdir(), 'litellm-')), 'config.yaml');
      writeFileSync(config, JSON.stringify({
        model_list: [{ model_name: 'up', litellm_params: { ...litellm_params, api_base, api_key: 'none' } }],
        litellm_settings: { ...litellm_settings, num_retries: 0 },
        router_settings: { num_retries: 0, disable_cooldowns: true },
      }));
      const port = await freePort();
      bases[dialect] = await start(`${folder}/.venv/bin/litellm`, ['--config', config, '--host', '127.0.0.1', '--port', `${port}`, '--telemetry', 'False'], port, env);
    }
    return (dialect) => ({ base: bases[dialect] });
  },
  Portkey: async () => {
    const port = await freePort();
    const base = await start('node', [`${folder}/node_modules/@portkey-ai/gateway/build/start-server.js`, `--port=${port}`, '--headless'], port, {});
    // It translates chat completions for servers of other dialects, and passes the others on.
    const offered = { chat: ['chat'], responses: ['responses'], messages: ['chat', 'messages'] };
    return (dialect, { front }) => {
      const provider = dialect === 'messages' ? 'anthropic' : 'openai';
      const headers = { 'x-portkey-provider': provider, 'x-portkey-custom-host': `${only(dialect)}/v1`, authorization: 'Bearer none' };
      return offered[dialect].includes(front) ? { base, headers } : null;
    };
  },
};

/** Names what is wrong; `null` if nothing is. */
function fault(wanted, seen, said) {
  const { fault: how = {} } = said;
  // A client that says so in place of an error has understood as well.
  const failed = seen.failed || !['stop', 'calls', 'length', 'filter'].includes(seen.end);
  const knows = ['length', 'filter'].includes(seen.end) || (how.badCall && seen.calls.some(([, , value]) => value === how.badCall || JSON.stringify(value) === how.badCall));
  if (wanted.failed && !failed) {
    if (how.ends || how.breaks || how.nothing) return 'a stream without its end is reported as a complete answer';
    if (how.cutCall || how.badCall) return knows ? null : 'a call that is cut or no object is reported as complete';
    return 'an error is reported as a complete answer';
  }
  if (wanted.failed) return null;
  if (failed) return 'a complete answer fails';
  const words = ({ text, refusal }) => text + refusal;
  if (words(wanted) !== words(seen) && words(seen) !== '') return 'text changed';
  if (words(wanted) !== words(seen) && words(wanted) !== 'There is no answer.') return 'text lost';
  if (!isDeepStrictEqual(wanted.calls.map(([, ...call]) => call), seen.calls.map(([, ...call]) => call))) return 'calls lost or changed';
  // A refusal has words in one dialect, and an end in another.
  if (wanted.end !== seen.end && !(said.refusal?.length && seen.end === 'filter')) return 'the reason of the end changed';
  if (wanted.reasoning !== seen.reasoning) return 'reasoning lost or changed';
  // Where the server has sent none, an estimate is no fault.
  const usage = (name) => !said.usage || (wanted.usage?.[name] ?? 0) === (seen.usage?.[name] ?? 0);
  if (!usage('input') || !usage('output')) return 'usage lost or changed';
  if (!usage('cached')) return 'cached tokens lost or changed';
  return null;
}

// Of those that stream.
const clients = CLIENTS.filter(({ front, name }) => MODELS.includes(front) && !name.includes('whole'));
const results = {};
for (const [name, begin] of Object.entries(GATEWAYS)) {
  if (!name.includes(gateway)) continue;
  const asks = await begin();
  const result = (results[name] = { cells: {}, faults: {} });
  await read({
    url,
    clients,
    asks,
    every: Number(every),
    judge: ({ said, dialect, client, direct, seen }) => {
      // What becomes in another dialect of a type that only one has is each gateway's own choice.
      if (said.type && dialect !== client.front) return;
      const whys = [direct, expected(direct, said, dialect, client, new Set())].map((wanted) => fault(wanted, seen, said));
      const why = whys.includes(null) ? null : whys[1];
      const cell = (result.cells[`${dialect} to ${client.front}`] ??= [0, 0]);
      cell[0] += why ? 0 : 1;
      cell[1] += 1;
      if (why) {
        const where = (result.faults[why] ??= { count: 0, first: {} });
        where.count += 1;
        where.first[`${dialect} to ${client.front} (${client.name})`] ??= `${said.name}: ${JSON.stringify(seen).slice(0, 400)}`;
      }
    },
  });
}
server.closeAllConnections();
server.close();

const names = Object.keys(results);
const cells = [...new Set(names.flatMap((name) => Object.keys(results[name].cells)))];
console.log(`| upstream to front end | ${names.join(' | ')} |\n|---|${'---|'.repeat(names.length)}`);
for (const cell of cells) {
  const of = names.map((name) => results[name].cells[cell]);
  console.log(`| ${cell} | ${of.map((count) => (count ? `${count[0]} of ${count[1]}` : 'not offered')).join(' | ')} |`);
}
const sum = (name, at) => Object.values(results[name].cells).reduce((total, count) => total + count[at], 0);
console.log(`| all | ${names.map((name) => `${sum(name, 0)} of ${sum(name, 1)}`).join(' | ')} |\n`);
console.log(`| what goes wrong | ${names.join(' | ')} |\n|---|${'---|'.repeat(names.length)}`);
for (const why of new Set(names.flatMap((name) => Object.keys(results[name].faults)))) {
  console.log(`| ${why} | ${names.map((name) => results[name].faults[why]?.count ?? 0).join(' | ')} |`);
}
for (const name of names) {
  for (const [why, { count, first }] of Object.entries(results[name].faults)) {
    console.error(`${name}: ${count} times ${why}`);
    for (const [pair, what] of Object.entries(first)) console.error(`    ${pair}: ${what}`);
  }
}
process.exit(0);
