// Goes through every situation with the AI SDK. Prints one JSON line for each.
import { execFile } from 'node:child_process';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';

import { createOpenAI } from '@ai-sdk/openai';
import { Output, generateText, jsonSchema, stepCountIs, streamText, tool } from 'ai';

import { NOTHING, TIDE, TWO, WORDS, count, dropped, failure, once, run, same } from './cases.mjs';

const baseURL = process.argv[2];
const openai = createOpenAI({ baseURL, apiKey: 'none' });
const get_tide = tool({ description: 'The tide.', inputSchema: jsonSchema(TIDE) });
const tools = { get_tide };
const runs = (work, times) => once(baseURL, work, times);

/** Streams an answer to its end. With the retries that the SDK has by default. */
const stream = async (model, extra = {}) => {
  const parts = [];
  const result = streamText({ model: openai(model), prompt: 'Hello', onError: () => {}, ...extra });
  for await (const part of result.fullStream) parts.push(part);
  return parts;
};
const whole = (model, extra = {}) => generateText({ model: openai(model), prompt: 'Hello', ...extra });
const of = (parts, kind) => parts.filter(({ type }) => type === kind);
const text = (parts) => of(parts, 'text-delta').map((part) => part.text).join('');
const calls = (list) => list.map(({ toolCallId, toolName, input }) => [toolCallId, toolName, input]);
const finish = (parts) => of(parts, 'finish')[0]?.finishReason;
/** What an error part says, wherever the SDK keeps it. */
const said = (parts) => {
  const [{ error }] = of(parts, 'error');
  return [error?.message, JSON.stringify(error)].join(' ');
};
const holds = (found, piece) => {
  if (!found.includes(piece)) throw new Error(`${piece} is not in ${found}`);
};

// What a user types at a question, by the code on its line, and the first line of the answer to that.
const TYPED = [
  [(code) => `Yes ${code}.`, 'q1 true'],
  [() => 'no', 'q1 false'],
  [() => 'yes', 'Your answer does not have the code of the question, so nothing was done.'],
];
const codeOf = (asked) => asked.match(/ To agree, reply: yes (\d{6})\. To refuse, reply: no\. \(q1 cw\w{19}\)$/)[1];
const firstLine = (said) => said.split('\n')[0];

/** Runs the program in the guide as it stands: two turns with a tool. */
const theGuidesSnippet = async () => {
  const guide = await readFile(new URL('../../../src/guide/responses.md', import.meta.url), 'utf8');
  const snippet = guide.match(/```js\n(.*?)```/s)[1];
  const program = snippet.replace('http://127.0.0.1:7777/v1', baseURL);
  if (program === snippet) throw new Error('the snippet has another base URL');
  // Here, where its packages are found.
  const file = new URL('snippet.mjs', import.meta.url);
  await writeFile(file, program);
  const running = promisify(execFile)(process.execPath, [file.pathname], { timeout: 20_000 });
  const { stdout } = await running.finally(() => rm(file));
  same(stdout, 'One moment. get_tide=4.2 m at BrestOne moment. get_tide=4.2 m at Brest');
};

await run({
  'text, streamed': async () => {
    const parts = await stream('words');
    same([text(parts), finish(parts), of(parts, 'error').length], [WORDS, 'stop', 0]);
  },
  'text, helper': async () => {
    same(await streamText({ model: openai('words'), prompt: 'Hello', system: 'Be kind.' }).text, WORDS);
  },
  'text, whole': async () => {
    const { text, finishReason } = await whole('words');
    same([text, finishReason], [WORDS, 'stop']);
  },
  'reasoning and sources': async () => {
    const parts = await stream('words');
    same(of(parts, 'reasoning-delta').map((part) => part.text), ['working']);
    same(of(parts, 'source').map(({ url, title }) => [url, title]), [['https://a.example', 'Source']]);
    const { reasoningText, sources } = await whole('words');
    same([reasoningText, sources.length], ['working', 1]);
    same(of(await stream('thinks'), 'reasoning-delta').map((part) => part.text).join(''), 'I should look.');
  },
  'keep-alive events': async () => {
    const parts = await stream('slow');
    same([text(parts), finish(parts)], ['one two three', 'stop']);
  },
  'tool call, streamed': async () => {
    const parts = await stream('tool', { tools });
    same(calls(of(parts, 'tool-call')).map(([, ...call]) => call), [['get_tide', { port: 'Brest' }]]);
    same(finish(parts), 'tool-calls');
  },
  'tool call, whole': async () => {
    const { toolCalls, finishReason } = await whole('tool', { tools });
    same([calls(toolCalls).map(([, ...call]) => call), finishReason], [[['get_tide', { port: 'Brest' }]], 'tool-calls']);
  },
  'tool call, there and back': async () => {
    const running = { tools: { get_tide: { ...get_tide, execute: ({ port }) => `4.2 at ${port}` } }, stopWhen: stepCountIs(3) };
    // The history is sent whole, and nothing is kept by the server.
    const store = { providerOptions: { openai: { store: false } } };
    same(text(await stream('tool', { ...running, ...store })), 'One moment. get_tide=4.2 at Brest');
    same((await whole('tool', { ...running, ...store })).text, 'get_tide=4.2 at Brest');
    await theGuidesSnippet();
  },
  'tool not on offer': async () => {
    same(of(await stream('tool'), 'error').length, 1);
  },
  'two calls': async () => {
    same(calls(of(await stream('calls', { tools }), 'tool-call')), TWO);
    same(calls((await whole('calls', { tools })).toolCalls), TWO);
  },
  usage: async () => {
    const [{ totalUsage }] = of(await stream('usage'), 'finish');
    for (const usage of [totalUsage, (await whole('usage')).usage]) {
      same([usage.inputTokens, usage.outputTokens, usage.totalTokens], [19, 10, 29]);
      same([usage.inputTokenDetails.cacheReadTokens, usage.outputTokenDetails.reasoningTokens], [3, 7]);
    }
  },
  incomplete: async () => {
    const parts = await stream('length');
    same([text(parts), finish(parts)], ['cut off', 'length']);
    same((await whole('length')).finishReason, 'length');
  },
  'a wanted form': async () => {
    const schema = jsonSchema({ type: 'object', properties: { height: { type: 'number' } }, required: ['height'], additionalProperties: false });
    same((await whole('formed', { output: Output.object({ schema }) })).output, { height: 4.2 });
  },
  'nothing said': async () => {
    const parts = await stream('nothing');
    same([text(parts), finish(parts)], [NOTHING, 'stop']);
  },
  'failure on the way: one run': async () => {
    const parts = await runs(() => stream('fails'));
    same(text(parts), 'Par');
    holds(said(parts), 'The model is away.');
    same(of(await runs(() => stream('panics')), 'error').length, 1);
  },
  'failure at once: one run': async () => {
    holds(said(await runs(() => stream('fails-at-once'))), 'The model is away.');
  },
  'failure, whole: one run': async () => {
    const error = await runs(() => failure(whole('fails')));
    same([error.statusCode, error.message], [400, 'The model is away.']);
  },
  'failure that may be retried': async () => {
    const error = await runs(() => failure(whole('away')), 3);
    holds(error.message, 'Try again.');
    // It starts such a stream again as well.
    holds(said(await runs(() => stream('away'), 3)), 'Try again.');
  },
  'relayed stream': async () => {
    const parts = await stream('relay', { tools });
    same(calls(of(parts, 'tool-call')).map(([, ...call]) => call), [['get_tide', { port: 'Br"est' }]]);
  },
  'relayed stream, cut': async () => {
    same(of(await stream('relay/cut', { tools }), 'error').length, 1);
  },
  'question and answer': async () => {
    for (const [typed, said] of TYPED) {
      const asked = (await whole('confirm')).text;
      const messages = [
        { role: 'user', content: 'Hello' },
        { role: 'assistant', content: asked },
        { role: 'user', content: typed(codeOf(asked)) },
      ];
      same(firstLine((await generateText({ model: openai('confirm'), messages })).text), said);
    }
  },
  models: async () => {
    // The SDK does not ask for the list; it names a model, slashes and all.
    same(text(await stream('relay', { tools })).startsWith('Let me look.'), true);
  },
  'refused requests': async () => {
    const missing = await failure(whole('nobody'));
    same(missing.statusCode, 404);
    const providerOptions = { openai: { previousResponseId: 'resp_1' } };
    const stored = await failure(whole('words', { providerOptions }));
    same([stored.statusCode, stored.data.error.code], [400, 'previous_response_not_found']);
  },
  'a client that leaves': async () => {
    const before = await count(baseURL, 'left');
    const abort = new AbortController();
    const result = streamText({ model: openai('slow'), prompt: 'Hello', abortSignal: abort.signal, onError: () => {} });
    for await (const part of result.fullStream) if (part.type === 'text-delta') abort.abort();
    await dropped(baseURL, before);
  },
});
