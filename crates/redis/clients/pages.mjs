// Pages on the AI SDK that are reloaded in the middle of an answer, on another server: pages.mjs ONE OTHER.
import { load, open, until } from '../../../tests/interop/ui-stream/page.mjs';

const [one, other] = process.argv.slice(2);
const same = (found, expected) => {
  const [left, right] = [JSON.stringify(found), JSON.stringify(expected)];
  if (left !== right) throw new Error(`${left} instead of ${right}`);
};
const text = ({ chat }) => {
  const parts = chat.messages.at(-1)?.parts ?? [];
  return parts.filter(({ type }) => type === 'text').map((part) => part.text).join('');
};
/** A page of one user. */
const page = (ai, server, user) => {
  const asUser = (input, init) => {
    const headers = new Headers(init.headers);
    headers.set('authorization', `Bearer ${user}`);
    return fetch(input, { ...init, headers });
  };
  return open(ai, { api: `${server}/api/chat`, fetch: asUser });
};
const numbers = (count) => Array.from({ length: count }, (_, number) => ` ${number}`).join('');
const ready = ({ chat }) => until(() => chat.status === 'ready' || chat.status === 'error');

const cases = {
  'reloaded, the question is stored': async (ai, user) => {
    const first = page(ai, one, user);
    first.chat.sendMessage({ text: 'count 40 25' });
    await until(() => text(first).includes(' 9'));
    await first.chat.stop();
    const run = text(first).slice(0, 13);
    const second = page(ai, other, user);
    second.chat.messages = first.chat.messages.slice(0, 1);
    await second.chat.resumeStream();
    await ready(second);
    same([second.errors, second.chat.status, second.chat.messages.length], [[], 'ready', 2]);
    same(text(second), run + numbers(40));
    same(second.chat.messages[1].id, first.chat.messages[1].id);
    // It was read to its end.
    const third = page(ai, one, user);
    third.chat.messages = second.chat.messages;
    await third.chat.resumeStream();
    same([third.chat.status, text(third)], ['ready', text(second)]);
  },
  'reloaded, half of the answer is stored': async (ai, user) => {
    const first = page(ai, one, user);
    first.chat.sendMessage({ text: 'count 40 25' });
    await until(() => text(first).includes(' 9'));
    await first.chat.stop();
    const second = page(ai, other, user);
    second.chat.messages = structuredClone(first.chat.messages);
    await second.chat.resumeStream();
    await ready(second);
    same([second.errors, second.chat.messages.length], [[], 2]);
    same(text(second), text(first).slice(0, 13) + numbers(40));
  },
  'stopped after the reload': async (ai, user) => {
    const first = page(ai, one, user);
    first.chat.sendMessage({ text: 'count 100000 10' });
    await until(() => text(first).includes(' 9'));
    const second = page(ai, other, user);
    second.chat.messages = first.chat.messages.slice(0, 1);
    const resumed = second.chat.resumeStream();
    await until(() => text(second).includes(' 20'));
    const headers = { authorization: `Bearer ${user}`, 'content-type': 'application/json' };
    await fetch(`${other}/api/chat/chat-1/stop`, { method: 'POST', headers, body: '{}' });
    await resumed;
    await Promise.all([ready(first), ready(second)]);
    same([first.errors, second.errors], [[], []]);
    same(text(first), text(second));
  },
  'nothing to resume': async (ai, user) => {
    const only = page(ai, other, user);
    await only.chat.resumeStream();
    same([only.chat.status, only.errors, only.chat.messages], ['ready', [], []]);
  },
};

let failed = 0;
for (const version of ['5', '6', '7']) {
  const ai = await load(version);
  for (const [name, run] of Object.entries(cases)) {
    const fault = await run(ai, `${version} ${name}`.replaceAll(' ', '-')).then(() => null, (error) => error);
    console.log(`ai ${version}, ${name}: ${fault ? `NO: ${fault.stack}` : 'yes'}`);
    failed += fault !== null;
  }
}
process.exit(failed ? 1 : 0);
