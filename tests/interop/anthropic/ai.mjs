// Goes through what the AI SDK makes of every situation. Prints one JSON line for each.
import { createAnthropic } from '@ai-sdk/anthropic';
import { generateText, jsonSchema, stepCountIs, streamText, tool } from 'ai';

import { WORDS, counting, failure, run, same } from './expected.mjs';

globalThis.AI_SDK_LOG_WARNINGS = false;
const baseURL = `${process.argv[2]}/v1`;
const fetch = counting();
const anthropic = createAnthropic({ baseURL, apiKey: 'none', fetch });
const inputSchema = jsonSchema({ type: 'object', properties: { port: { type: 'string' } } });
const tools = { get_tide: tool({ description: 'The tide.', inputSchema, execute: async ({ port }) => `4.2 at ${port}` }) };

/** The parts of a stream, and how many requests it took. */
const parts = async (model, options = {}) => {
  fetch.posts = 0;
  const all = [];
  for await (const part of streamText({ model: anthropic(model), prompt: 'Hello', onError: () => {}, ...options }).fullStream) all.push(part);
  return { all, posts: fetch.posts };
};
const of = ({ all }, kind) => all.filter(({ type }) => type === kind);
const text = (found) => of(found, 'text-delta').map((part) => part.text).join('');

await run({
  'text': async () => {
    const found = await parts('words');
    same(text(found), WORDS);
    same([of(found, 'error'), of(found, 'finish').map((part) => part.finishReason)], [[], ['stop']]);
  },
  'sources': async () => {
    same(of(await parts('words'), 'source').map(({ url, title }) => [url, title]), [['https://a.example', 'Source']]);
  },
  'reasoning and status': async () => {
    same(of(await parts('thinks'), 'reasoning-delta').map((part) => part.text).join(''), 'I should look.\nLooking\n');
  },
  'keep-alive': async () => {
    same(text(await parts('slow')), 'one two three');
  },
  'an agent that says nothing': async () => {
    same(text(await parts('silent')), 'There is no answer.');
  },
  'a tool that the SDK runs': async () => {
    const found = await parts('tool', { tools, stopWhen: stepCountIs(3) });
    same(of(found, 'tool-call').map(({ toolName, input }) => [toolName, input]), [['get_tide', { port: 'Brest' }]]);
    same(text(found), 'One moment. get_tide=4.2 at Brest');
    same(found.posts, 2);
  },
  'two calls': async () => {
    const found = await parts('calls', { tools: { get_tide: tool({ inputSchema: jsonSchema({ type: 'object' }) }) } });
    same(of(found, 'tool-call').map(({ toolCallId, input }) => [toolCallId, input]), [['toolu_A', { n: 1 }], ['toolu_B', { n: 2 }]]);
  },
  'whole': async () => {
    const { text: said, finishReason } = await generateText({ model: anthropic('words'), prompt: 'Hello' });
    same([said, finishReason], [WORDS, 'stop']);
  },
  'usage': async () => {
    const [{ totalUsage }] = of(await parts('usage'), 'finish');
    same([totalUsage.inputTokens, totalUsage.outputTokens], [19, 10]);
  },
  'failures: an error part, one request': async () => {
    for (const model of ['fails', 'fails-at-once', 'panics', 'overloaded', 'relay/cut']) {
      const found = await parts(model);
      same([model, of(found, 'error').length, found.posts], [model, 1, 1]);
    }
  },
  'failure, whole: one request': async () => {
    fetch.posts = 0;
    const error = await failure(generateText({ model: anthropic('fails'), prompt: 'Hello' }));
    same([fetch.posts, error.statusCode, error.message], [1, 424, 'The model is away.']);
  },
  'failure, whole, that may be retried: three requests': async () => {
    fetch.posts = 0;
    await failure(generateText({ model: anthropic('busy'), prompt: 'Hello' }));
    same(fetch.posts, 3);
  },
  'a client that leaves': async () => {
    const left = async () => Number(text(await parts('left')));
    const before = await left();
    const abort = new AbortController();
    for await (const part of streamText({ model: anthropic('waits'), prompt: 'Hello', abortSignal: abort.signal }).fullStream) {
      if (part.type === 'text-delta') abort.abort();
    }
    for (let tries = 0; (await left()) === before; tries += 1) {
      if (tries === 100) throw new Error('the agent runs on');
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  },
});
