// Goes through every situation with the official Node client. Prints one JSON line for each.
import OpenAI from 'openai';

import { HELLO, NOTHING, TIDE, TWO, WORDS, count, dropped, failure, once, run, same } from './cases.mjs';

const baseURL = process.argv[2];
// With the retries that it has by default.
const client = new OpenAI({ baseURL, apiKey: 'none', timeout: 20_000 });
const tools = [{ type: 'function', name: 'get_tide', description: 'The tide.', strict: false, parameters: TIDE }];

const iterate = async (model, extra = {}) => {
  const events = [];
  for await (const event of await client.responses.create({ model, input: HELLO, stream: true, ...extra })) events.push(event);
  return events;
};
const helper = (model, extra = {}) => client.responses.stream({ model, input: HELLO, ...extra }).finalResponse();
const whole = (model, extra = {}) => client.responses.create({ model, input: HELLO, ...extra });
const text = (events) => events.filter(({ type }) => type === 'response.output_text.delta').map(({ delta }) => delta).join('');
const calls = ({ output }) => output.filter(({ type }) => type === 'function_call').map((call) => [call.call_id, call.name, JSON.parse(call.arguments)]);
const numbered = (events) => same(events.map((event) => event.sequence_number), events.map((_, index) => index));
const runs = (work, times) => once(baseURL, work, times);

// What a user types at a question, by the code on its line, and the first line of the answer to that.
const TYPED = [
  [(code) => `Yes ${code}.`, 'q1 true'],
  [() => 'no', 'q1 false'],
  [() => 'yes', 'Your answer does not have the code of the question, so nothing was done.'],
];
const codeOf = (asked) => asked.match(/ To agree, reply: yes (\d{6})\. To refuse, reply: no\. \(q1 cw\w{19}\)$/)[1];
const firstLine = (said) => said.split('\n')[0];

await run({
  'text, streamed': async () => {
    const events = await iterate('words');
    numbered(events);
    same([text(events), events[0].type, events.at(-1).type], [WORDS, 'response.created', 'response.completed']);
    same(events.filter(({ type }) => type === 'response.output_text.done').map((event) => event.text), [WORDS]);
  },
  'text, helper': async () => {
    const response = await helper('words', { instructions: 'Be kind.' });
    same([response.output_text, response.status, response.model], [WORDS, 'completed', 'words']);
  },
  'text, whole': async () => {
    same((await whole('words', { input: 'Hello' })).output_text, WORDS);
  },
  'reasoning and sources': async () => {
    const [reasoning, message] = (await whole('words')).output;
    same([reasoning.type, reasoning.summary[0].text], ['reasoning', 'working']);
    const [source] = message.content[0].annotations;
    same([source.type, source.url, source.title], ['url_citation', 'https://a.example', 'Source']);
    const thinks = await iterate('thinks');
    same(thinks.filter(({ type }) => type === 'response.reasoning_summary_text.delta').map(({ delta }) => delta).join(''), 'I should look.');
  },
  'keep-alive events': async () => {
    const events = await iterate('slow');
    numbered(events);
    same(events.filter(({ type }) => type === 'response.in_progress').length > 3, true);
    same([text(events), (await helper('slow')).output_text], ['one two three', 'one two three']);
  },
  'tool call, streamed': async () => {
    const response = await helper('tool', { tools });
    same(calls(response).map(([, ...call]) => call), [['get_tide', { port: 'Brest' }]]);
    const done = (await iterate('tool', { tools })).filter(({ type }) => type === 'response.function_call_arguments.done');
    same(done.map((event) => event.arguments), ['{"port":"Brest"}']);
  },
  'tool call, whole': async () => {
    same(calls(await whole('tool', { tools })).map(([, ...call]) => call), [['get_tide', { port: 'Brest' }]]);
  },
  'tool call, there and back': async () => {
    const { output } = await helper('tool', { tools });
    const input = [...HELLO, ...output, { type: 'function_call_output', call_id: output.at(-1).call_id, output: '4.2 at Brest' }];
    same((await helper('tool', { tools, input })).output_text, 'get_tide=4.2 at Brest');
  },
  'tool not on offer': async () => {
    same((await iterate('tool')).at(-1).type, 'response.failed');
  },
  'two calls': async () => {
    same([calls(await helper('calls', { tools })), calls(await whole('calls', { tools }))], [TWO, TWO]);
  },
  usage: async () => {
    for (const { usage } of [await helper('usage'), await whole('usage')]) {
      same([usage.input_tokens, usage.output_tokens, usage.total_tokens], [19, 10, 29]);
      same([usage.input_tokens_details.cached_tokens, usage.output_tokens_details.reasoning_tokens], [3, 7]);
    }
  },
  incomplete: async () => {
    const response = await whole('length');
    same([response.status, response.incomplete_details.reason], ['incomplete', 'max_output_tokens']);
    same((await iterate('length')).at(-1).type, 'response.incomplete');
  },
  'a wanted form': async () => {
    const schema = { type: 'object', properties: { height: { type: 'number' } }, required: ['height'], additionalProperties: false };
    const format = { type: 'json_schema', name: 'tide', strict: true, schema };
    same(JSON.parse((await client.responses.parse({ model: 'formed', input: HELLO, text: { format } })).output_text), { height: 4.2 });
  },
  'nothing said': async () => {
    same([(await helper('nothing')).output_text, (await whole('nothing')).output_text], [NOTHING, NOTHING]);
  },
  'failure on the way: one run': async () => {
    const events = await runs(() => iterate('fails'));
    const { response, type } = events.at(-1);
    same([text(events), type, response.error], ['Par', 'response.failed', { code: 'invalid_prompt', message: 'The model is away.' }]);
    same((await runs(() => helper('fails'))).status, 'failed');
    same((await runs(() => iterate('panics'))).at(-1).type, 'response.failed');
  },
  'failure at once: one run': async () => {
    const error = await runs(() => failure(iterate('fails-at-once')));
    same([error.status, error.error.message], [400, 'The model is away.']);
  },
  'failure, whole: one run': async () => {
    const error = await runs(() => failure(whole('fails')));
    same([error.constructor.name, error.code, error.error.message], ['BadRequestError', 'agent_failed', 'The model is away.']);
  },
  'failure that may be retried': async () => {
    const error = await runs(() => failure(whole('away')), 3);
    same([error.constructor.name, error.status, error.code], ['InternalServerError', 503, 'overloaded']);
    same((await runs(() => failure(iterate('away')), 3)).status, 503);
  },
  'relayed stream': async () => {
    const response = await helper('relay', { tools });
    same([calls(response).map(([, ...call]) => call), response.model], [[['get_tide', { port: 'Br"est' }]], 'relay']);
  },
  'relayed stream, cut': async () => {
    same((await iterate('relay/cut', { tools })).at(-1).type, 'response.failed');
  },
  'question and answer': async () => {
    for (const [typed, said] of TYPED) {
      const asked = (await helper('confirm')).output_text;
      const input = [...HELLO, { role: 'assistant', content: asked }, { role: 'user', content: typed(codeOf(asked)) }];
      same(firstLine((await helper('confirm', { input })).output_text), said);
    }
  },
  models: async () => {
    const ids = (await client.models.list()).data.map(({ id }) => id);
    same(['words', 'thinks'].map((name) => ids.filter((id) => id === name).length), [1, 1]);
    same((await client.models.retrieve('relay/cut')).object, 'model');
  },
  'refused requests': async () => {
    const missing = await failure(iterate('nobody'));
    same([missing.constructor.name, missing.code, missing.param], ['NotFoundError', 'model_not_found', 'model']);
    const stored = await failure(iterate('words', { previous_response_id: 'resp_1' }));
    same([stored.constructor.name, stored.code], ['BadRequestError', 'previous_response_not_found']);
  },
  'a client that leaves': async () => {
    const before = await count(baseURL, 'left');
    for await (const { type } of await client.responses.create({ model: 'slow', input: HELLO, stream: true })) {
      if (type === 'response.output_text.delta') break;
    }
    await dropped(baseURL, before);
  },
});
