// Goes through every situation with one version of the SDK. Prints one JSON line for each.
import { readFileSync, readdirSync } from 'node:fs';
import { addOutput, load, open, quiet, until } from './page.mjs';

const [base, version] = process.argv.slice(2);
const ai = await load(version);
// Every version must make the same of the golden streams as this one does.
const reference = await load('7');
const approvals = Boolean(ai.lastAssistantMessageIsCompleteWithApprovalResponses);
const whenTools = ai.lastAssistantMessageIsCompleteWithToolCalls;
const whenEither = (chat) => whenTools(chat) || (approvals && ai.lastAssistantMessageIsCompleteWithApprovalResponses(chat));

// Version 5.0.0 rejects a `finishReason`, so a server with such pages does not send it.
const strict = version === '5.0.0';
const below = `${base}/${strict ? 'ui-5.0.0' : 'ui'}`;
const page = (name, options) => open(ai, { api: `${below}/${name}`, sendAutomaticallyWhen: whenEither, ...options });
const say = async (name, text, options) => {
  const opened = page(name, options);
  await opened.chat.sendMessage({ text });
  await quiet(opened);
  return opened;
};
const last = ({ chat }) => chat.messages.at(-1);
const texts = (message) => message.parts.filter(({ type }) => type === 'text').map(({ text }) => text);
const kinds = (message) => message.parts.map(({ type }) => type);
const same = (found, expected) => {
  const [one, two] = [JSON.stringify(found), JSON.stringify(expected)];
  if (one !== two) throw new Error(`${one} instead of ${two}`);
};
/** Nothing went wrong, and the page posted so often. */
const fine = (opened, posts) => same([opened.errors, opened.chat.status, opened.posts.length], [[], 'ready', posts]);

/** What a situation is for a version that does not have it. */
const SKIPPED = '-';

const TIDE = { tool: 'getTide', state: 'output-available', output: '4.2' };

/** What a version makes of a recorded stream. */
async function made(sdk, stream, messages) {
  const headers = { 'content-type': 'text/event-stream' };
  const opened = open(sdk, { api: `${base}/`, fetch: async () => new Response(stream, { headers }) });
  opened.chat.messages = messages;
  await opened.chat.sendMessage(messages.at(-1)?.role === 'assistant' ? undefined : { text: 'Hi' });
  const message = last(opened);
  for (const part of message.parts) for (const name of Object.keys(part)) if (part[name] === undefined) delete part[name];
  return { message, data: opened.data, errors: opened.errors, status: opened.chat.status };
}

const fixtures = new URL('../../../fixtures/ui-stream/', import.meta.url);
const golden = readdirSync(fixtures).filter((name) => name.endsWith('.sse'));
const sorted = (value) => JSON.parse(JSON.stringify(value, (_, each) => (each && typeof each === 'object' && !Array.isArray(each) ? Object.fromEntries(Object.entries(each).sort()) : each)));

// What a user types at a question, by the code on its line, and the first line of the answer to that.
const TYPED = [
  [(code) => `Yes ${code}.`, 'q1 true'],
  [() => 'no', 'q1 false'],
  [() => 'yes', 'Your answer does not have the code of the question, so nothing was done.'],
];
const codeOf = (asked) => asked.match(/ To agree, reply: yes (\d{6})\. To refuse, reply: no\. \(q1 cw\w{19}\)$/)[1];
const firstLine = (said) => said.split('\n')[0];

const cases = {
  'text, status, source, table': async () => {
    const opened = await say('words', 'Hello');
    fine(opened, 1);
    same(kinds(last(opened)), ['step-start', 'source-url', 'text', 'data-table', 'text']);
    same(texts(last(opened)), ['Hello\n"quoted" \\ \u2028 é 🦀 ', '**T**\n\n| a |\n| --- |\n| 1 |\n\n\n\n**Error:** half of it\n\ndata: [DONE]\n\nend']);
    same(last(opened).parts[1].url, 'https://a.example');
    same(last(opened).parts[3].data, { name: 'T', rows: [{ a: 1 }] });
    same(opened.data.filter(({ type }) => type === 'data-status').map(({ data }) => data.message), ['working']);
    same(opened.finished, 1);
  },
  'a stream that comes byte by byte': async () => {
    const fetched = async (url, init) => {
      const response = await fetch(url, init);
      const bytes = new Uint8Array(await response.arrayBuffer());
      const body = ReadableStream.from(Array.from(bytes, (byte) => Uint8Array.of(byte)));
      return new Response(body, { status: response.status, headers: response.headers });
    };
    const opened = await say('words', 'Hello', { fetch: fetched });
    fine(opened, 1);
    same(texts(last(opened))[0], 'Hello\n"quoted" \\ \u2028 é 🦀 ');
  },
  'golden streams are read as by version 7': async () => {
    for (const name of golden) {
      if (name.startsWith('approval') && !approvals) continue;
      const written = readFileSync(new URL(name, fixtures), 'utf8');
      const stream = strict ? written.replace(/,"finishReason":"[a-z-]+"/, '') : written;
      const request = { 'call-answered.sse': 'req-tool-output-7', 'approval-yes.sse': 'req-approval-yes-7', 'approval-no.sse': 'req-approval-no-7' }[name];
      const messages = () => (request ? JSON.parse(readFileSync(new URL(`${request}.json`, fixtures))).messages : []);
      const found = await made(ai, stream, messages());
      same(found.errors, name.startsWith('failed') ? ['The model is away.'] : []);
      const [one, two] = [found, await made(reference, stream, messages())].map(sorted);
      // Version 5.0.0 keeps neither the ids of blocks nor who ran a dynamic tool.
      if (version === '5.0.0') for (const each of [...one.message.parts, ...two.message.parts]) each.type.startsWith('data-') || (delete each.providerExecuted, delete each.id);
      same(one, two);
    }
  },
  'every chunk passes the schema': async () => {
    const schema = ai.uiMessageChunkSchema && (typeof ai.uiMessageChunkSchema === 'function' ? ai.uiMessageChunkSchema() : ai.uiMessageChunkSchema);
    // Version 5.0.0 does not export it; its chat checks every chunk by it, in all other situations.
    if (!schema) return SKIPPED;
    for (const name of golden.filter((name) => approvals || !name.startsWith('approval'))) {
      const stream = readFileSync(new URL(name, fixtures), 'utf8');
      for (const frame of stream.trim().split('\n\n').slice(0, -1)) {
        const chunk = JSON.parse(frame.slice(6));
        const { success } = schema.validate ? await schema.validate(chunk) : schema.safeParse(chunk);
        if (!success) throw new Error(`${name}: ${frame}`);
      }
    }
  },
  'keep-alive comments': async () => {
    const opened = await say('slow', 'Hi');
    fine(opened, 1);
    same(texts(last(opened)), ['one two three']);
  },
  'a tool of the page: two posts, one message': async () => {
    const opened = await say('tool', 'Hi', {
      onToolCall: (opened, call) => void setTimeout(() => addOutput(opened, { ...TIDE, toolCallId: call.toolCallId })),
    });
    await until(() => opened.posts.length > 1);
    await quiet(opened);
    fine(opened, 2);
    same(opened.chat.messages.length, 2);
    same(kinds(last(opened)), ['step-start', 'text', 'tool-getTide', 'step-start', 'text']);
    same(texts(last(opened)), ['One moment. ', 'getTide=4.2']);
  },
  'a tool of the page that fails': async () => {
    // Version 5.0.0 does not send failures by itself.
    if (version === '5.0.0') return SKIPPED;
    const opened = await say('tool', 'Hi');
    const { toolCallId } = last(opened).parts[2];
    await addOutput(opened, { tool: 'getTide', toolCallId, state: 'output-error', errorText: 'no sea' });
    await quiet(opened);
    fine(opened, 2);
    same(texts(last(opened))[1], 'getTide=no sea');
  },
  'tools that the agent ran: one post': async () => {
    const called = [];
    const opened = await say('runs', 'Hi', { onToolCall: (_, call) => void called.push(call) });
    fine(opened, 1);
    same(called, []);
    const { parts, metadata } = last(opened);
    same(kinds(last(opened)), ['step-start', 'reasoning', 'tool-search', 'step-start', 'data-chart', 'text', 'tool-search', 'step-start', 'text']);
    same([parts[1].text, parts[2].state, parts[2].output], ['Where was it? In the index.', 'output-available', ['a page']]);
    same([parts[6].state, parts[6].errorText], ['output-error', 'no such index']);
    same([metadata.usage.inputTokens, metadata.usage.totalTokens], [19, 29]);
  },
  'a question in text, yes and no': async () => {
    for (const [typed, said] of TYPED) {
      const opened = await say('question', 'Delete it');
      await opened.chat.sendMessage({ text: typed(codeOf(texts(last(opened))[0])) });
      fine(opened, 2);
      same(firstLine(texts(last(opened))[0]), said);
    }
  },
  'an approval request, yes and no': async () => {
    if (!approvals) return SKIPPED;
    for (const approved of [true, false]) {
      const opened = await say('approval', 'Delete it');
      const { parts } = last(opened);
      same([parts[1].state, parts[1].input.title], ['approval-requested', 'Delete?']);
      await opened.chat.addToolApprovalResponse({ id: parts[1].approval.id, approved });
      await quiet(opened);
      fine(opened, 2);
      same(opened.chat.messages.length, 2);
      same(last(opened).parts[1].state, approved ? 'output-available' : 'output-denied');
      same(texts(last(opened)), [`q1 ${approved}`]);
      // The page talks on, and the question is settled.
      await opened.chat.sendMessage({ text: 'thanks' });
      fine(opened, 3);
      same(last(opened).parts[1].state, 'approval-requested');
    }
  },
  'a failure before and after text': async () => {
    for (const [prompt, text] of [['early', []], ['late', ['Par']]]) {
      const opened = await say('fails', prompt);
      same([opened.errors, opened.chat.status, opened.posts.length], [['The model is away.'], 'error', 1]);
      same(texts(last(opened)), prompt === 'early' ? texts(last(opened)).filter(() => last(opened).role === 'user') : text);
    }
  },
  'a failure after the result of a tool: no more posts': async () => {
    const parts = [{ type: 'step-start' }, { type: 'tool-getTide', toolCallId: 'c1', state: 'input-available', input: {} }];
    const opened = page('fails');
    opened.chat.messages = [{ id: 'u1', role: 'user', parts: [{ type: 'text', text: 'Hi' }] }, { id: 'a1', role: 'assistant', parts }];
    await addOutput(opened, { ...TIDE, toolCallId: 'c1' });
    await until(() => opened.posts.length > 0);
    await quiet(opened);
    same([opened.errors, opened.chat.status, opened.posts.length], [['The model is away.'], 'error', 1]);
  },
  'stop': async () => {
    const dropped = async () => Number(texts(last(await say('dropped', 'Hi')))[0]);
    const before = await dropped();
    const opened = page('slow');
    const sent = opened.chat.sendMessage({ text: 'Hi' });
    await until(() => last(opened)?.role === 'assistant' && texts(last(opened)).join('').startsWith('one'));
    await opened.chat.stop();
    await sent;
    same([opened.errors, opened.chat.status], [[], 'ready']);
    let after = before;
    for (let round = 0; round < 100 && after === before; round += 1) after = await dropped();
    same(after, before + 1);
  },
  'a refusal is shown as it is': async () => {
    const opened = open(ai, { api: `${below}/words`, fetch: (url, init) => fetch(url, { ...init, body: '{"id":"c","message":{}}' }) });
    await opened.chat.sendMessage({ text: 'Hi' });
    same([opened.errors, opened.chat.status], [['messages: must be a list with the messages of the conversation'], 'error']);
  },
  'regenerate': async () => {
    const opened = await say('question', 'Delete it');
    await opened.chat.regenerate();
    fine(opened, 2);
    same(opened.chat.messages.length, 2);
  },
  'nothing to resume': async () => {
    const opened = await say('question', 'Delete it');
    await opened.chat.resumeStream();
    // Version 5.0.0 stays in this state, whatever a server answers.
    if (version === '5.0.0') opened.chat.setStatus({ status: 'ready' });
    fine(opened, 1);
  },
  'members of the page\'s own': async () => {
    const opened = await say('words', 'Hello', { body: { model: 'tide-1', temperature: 0.5 } });
    fine(opened, 1);
    same(JSON.parse(opened.posts[0]).model, 'tide-1');
  },
};

for (const [name, run] of Object.entries(cases)) {
  let fault = null;
  try {
    fault = (await run()) ?? null;
  } catch (error) {
    fault = error.message.slice(0, 4000);
  }
  console.log(JSON.stringify({ name, fault }));
}
