// Goes through every situation with the official Node client. Prints one JSON line for each.
import Anthropic from '@anthropic-ai/sdk';

import { WORDS, counting, failure, run, same } from './expected.mjs';

const baseURL = process.argv[2];
const client = new Anthropic({ baseURL, apiKey: 'none', timeout: 20_000 });
const base = { max_tokens: 1024, messages: [{ role: 'user', content: 'Hello' }] };
const tools = [{ name: 'get_tide', description: 'The tide.', input_schema: { type: 'object', properties: { port: { type: 'string' } } } }];

const iterate = async (model, extra = {}) => {
  const events = [];
  for await (const event of await client.messages.create({ model, stream: true, ...base, ...extra })) events.push(event);
  return events;
};
const helper = (model, extra = {}) => client.messages.stream({ model, ...base, ...extra });
const final = (model, extra = {}) => helper(model, extra).finalMessage();
const whole = (model, extra = {}) => client.messages.create({ model, ...base, ...extra });
const text = (message) => message.content.filter(({ type }) => type === 'text').map((block) => block.text).join('');
const kinds = (message) => message.content.map(({ type }) => type);
const calls = (message) => message.content.filter(({ type }) => type === 'tool_use').map(({ id, name, input }) => [id, name, input]);

/** How often a client with its own retries posts for one failing turn, and the error. */
const posted = async (model, ask) => {
  const fetch = counting();
  const retrying = new Anthropic({ baseURL, apiKey: 'none', timeout: 20_000, fetch });
  const error = await failure(ask(retrying.messages, { model, ...base }));
  return [fetch.posts, error];
};
const streamed = (messages, body) => messages.stream(body).finalMessage();

// What a user types at a question, by the code on its line, and the first line of the answer to that.
const TYPED = [
  [(code) => `Yes ${code}.`, 'q1 true'],
  [() => 'no', 'q1 false'],
  [() => 'yes', 'Your answer does not have the code of the question, so nothing was done.'],
];
const codeOf = (asked) => asked.match(/ To agree, reply: yes (\d{6})\. To refuse, reply: no\. \(q1 cw\w{19}\)$/)[1];
const firstLine = (said) => said.split('\n')[0];

await run({
  'text, iterated': async () => {
    const events = await iterate('words');
    const pieces = events.filter(({ delta }) => delta?.type === 'text_delta').map(({ delta }) => delta.text);
    same(pieces.join(''), WORDS);
    same([events[0].type, events[0].message.model, events.at(-1).type], ['message_start', 'words', 'message_stop']);
  },
  'text, helper': async () => {
    const message = await final('words');
    same([kinds(message), text(message), message.stop_reason], [['thinking', 'text'], WORDS, 'end_turn']);
    same(message.content[1].citations.map(({ url, title }) => [url, title]), [['https://a.example', 'Source']]);
  },
  'text, whole': async () => {
    const message = await whole('words');
    same([message.type, kinds(message), text(message), message.stop_reason], ['message', ['thinking', 'text'], WORDS, 'end_turn']);
  },
  'reasoning and status': async () => {
    const message = await final('thinks');
    same(message.content[0].thinking, 'I should look.\nLooking\n');
    // What was thought goes back with the next turn.
    const messages = [...base.messages, { role: 'assistant', content: message.content }, { role: 'user', content: 'And?' }];
    same(text(await final('thinks', { messages })), '3 messages');
  },
  'keep-alive': async () => {
    same(text(await final('slow')), 'one two three');
    const alive = (await iterate('slow')).filter(({ type, delta }) => type === 'message_delta' && delta.stop_reason === null);
    if (alive.length === 0) throw new Error('nothing was sent in the silence');
  },
  'a tool runner': async () => {
    const run = async (input) => `${4.2} at ${input.port}`;
    const tool = { type: 'custom', ...tools[0], run, parse: (input) => input };
    const runner = client.beta.messages.toolRunner({ model: 'tool', ...base, tools: [tool] });
    same(text(await runner), 'get_tide=4.2 at Brest');
  },
  'a wanted form': async () => {
    const schema = { type: 'object', properties: { height: { type: 'number' } }, required: ['height'], additionalProperties: false };
    const format = { type: 'json_schema', schema, parse: JSON.parse };
    same((await client.messages.parse({ model: 'formed', ...base, output_config: { format } })).parsed_output, { height: 4.2 });
  },
  'a list of models': async () => {
    const models = [];
    for await (const model of client.models.list()) models.push(model);
    const found = models.find(({ id }) => id === 'words');
    same([found.type, found.display_name, found.created_at], ['model', 'words', '1970-01-01T00:00:00Z']);
    same((await client.models.retrieve('words')).id, 'words');
    same((await failure(client.models.retrieve('nobody'))).status, 404);
  },
  'an agent that says nothing': async () => {
    same(text(await final('silent')), 'There is no answer.');
  },
  'tool call, helper': async () => {
    const message = await final('tool', { tools });
    same([message.stop_reason, kinds(message), calls(message)[0].slice(1)], ['tool_use', ['text', 'tool_use'], ['get_tide', { port: 'Brest' }]]);
  },
  'tool call, whole': async () => {
    const message = await whole('tool', { tools });
    same([message.stop_reason, calls(message)[0].slice(1)], ['tool_use', ['get_tide', { port: 'Brest' }]]);
  },
  'tool call, there and back': async () => {
    const message = await final('tool', { tools });
    const result = { type: 'tool_result', tool_use_id: calls(message)[0][0], content: '4.2 at Brest' };
    const messages = [...base.messages, { role: 'assistant', content: message.content }, { role: 'user', content: [result] }];
    same(text(await final('tool', { tools, messages })), 'get_tide=4.2 at Brest');
    same(text(await whole('tool', { tools, messages })), 'get_tide=4.2 at Brest');
  },
  'two calls': async () => {
    const two = [['toolu_A', 'get_tide', { n: 1 }], ['toolu_B', 'get_tide', { n: 2 }]];
    same(calls(await final('calls', { tools })), two);
    same(calls(await whole('calls', { tools })), two);
  },
  'tool not on offer': async () => {
    const error = await failure(final('tool'));
    same(error.constructor.name, 'APIError');
  },
  'usage': async () => {
    const { usage } = await final('usage');
    same([usage.input_tokens, usage.output_tokens], [19, 10]);
    same((await whole('usage')).usage.output_tokens, 10);
  },
  'length and refusal': async () => {
    same((await final('length')).stop_reason, 'max_tokens');
    same((await final('refusal')).stop_reason, 'refusal');
  },
  'failure on the way: one request': async () => {
    const [posts, error] = await posted('fails', streamed);
    same([posts, error.constructor.name, error.type], [1, 'APIError', 'invalid_request_error']);
    if (!error.message.includes('The model is away.')) throw new Error(error.message);
    same((await posted('panics', streamed))[0], 1);
    same((await posted('overloaded', streamed))[0], 1);
  },
  'failure at once: one request': async () => {
    same((await posted('fails-at-once', streamed))[0], 1);
  },
  'failure, whole: one request': async () => {
    const [posts, error] = await posted('fails', (messages, body) => messages.create(body));
    same([posts, error.constructor.name, error.status, error.error.error.message], [1, 'APIError', 424, 'The model is away.']);
    if (!error.requestID?.startsWith('req_')) throw new Error('no request id');
  },
  'failure, whole, that may be retried: three requests': async () => {
    const [posts, error] = await posted('busy', (messages, body) => messages.create(body));
    same([posts, error.status], [3, 503]);
  },
  'relayed stream': async () => {
    same(calls(await final('relay/calls', { tools })).map(([, ...rest]) => rest), [['get_tide', { port: 'Brest' }]]);
    same(calls(await whole('relay/calls', { tools })).length, 1);
  },
  'relayed stream, cut: one request': async () => {
    same((await posted('relay/cut', streamed))[0], 1);
  },
  'question and answer': async () => {
    for (const [typed, said] of TYPED) {
      const asked = text(await final('confirm'));
      const messages = [...base.messages, { role: 'assistant', content: asked }, { role: 'user', content: typed(codeOf(asked)) }];
      same(firstLine(text(await final('confirm', { messages }))), said);
    }
  },
  'tokens are counted': async () => {
    const { input_tokens } = await client.messages.countTokens({ model: 'words', messages: base.messages });
    same(input_tokens, 2);
  },
  'refused requests: one request': async () => {
    const [posts, missing] = await posted('nobody', streamed);
    same([posts, missing.constructor.name, missing.error.error.type], [1, 'NotFoundError', 'not_found_error']);
    const empty = await failure(client.messages.create({ model: 'words', max_tokens: 9, messages: [] }));
    same([empty.constructor.name, empty.error.error.type], ['BadRequestError', 'invalid_request_error']);
  },
  'a client that leaves': async () => {
    const left = async () => Number(text(await final('left')));
    const before = await left();
    const stream = await client.messages.create({ model: 'waits', stream: true, ...base });
    for await (const event of stream) if (event.type === 'content_block_delta') break;
    for (let tries = 0; (await left()) === before; tries += 1) {
      if (tries === 100) throw new Error('the agent runs on');
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  },
});
