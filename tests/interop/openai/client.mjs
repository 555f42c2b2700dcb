// Goes through every situation with the official Node client. Prints one JSON line for each.
import OpenAI from 'openai';

const baseURL = process.argv[2];
const client = new OpenAI({ baseURL, apiKey: 'none', maxRetries: 0, timeout: 20_000 });
const messages = [{ role: 'user', content: 'Hello' }];
const tools = [{ type: 'function', function: { name: 'get_tide', description: 'The tide.', parameters: { type: 'object', properties: { port: { type: 'string' } } } } }];
const WORDS =
  'Hello\n"quoted" \\ \u2028 é 🦀 \n\n**T**\n\n| a |\n| --- |\n| 1 |\n\n\n\n**Error:** half of it\n\ndata: [DONE]\n\nend\n\n**Sources**\n\n- [Source](https://a.example)\n';

const iterate = async (model, extra = {}) => {
  const stream = await client.chat.completions.create({ model, messages, stream: true, ...extra });
  const chunks = [];
  for await (const chunk of stream) chunks.push(chunk);
  return chunks;
};
const helper = (model, extra = {}) => client.chat.completions.stream({ model, messages, ...extra });
const whole = (model, extra = {}) => client.chat.completions.create({ model, messages, ...extra });
const text = (chunks) => chunks.map((chunk) => chunk.choices[0]?.delta?.content ?? '').join('');
const calls = (message) => message.tool_calls.map((call) => [call.id, call.function.name, call.function.arguments]);
const failure = async (promise) => {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error('it did not fail');
};
/** How often a client with its own retries posts for one failing turn. */
const posted = async (model, stream) => {
  let posts = 0;
  const counting = (...args) => {
    posts += 1;
    return fetch(...args);
  };
  const retrying = new OpenAI({ baseURL, apiKey: 'none', timeout: 20_000, fetch: counting });
  const ask = async () => {
    const answer = await retrying.chat.completions.create({ model, messages, stream });
    if (stream) for await (const _ of answer);
  };
  await failure(ask());
  return posts;
};
const same = (found, expected) => {
  const [one, two] = [JSON.stringify(found), JSON.stringify(expected)];
  if (one !== two) throw new Error(`${one} instead of ${two}`);
};
const TWO = [['call_A', 'get_tide', '{"n":1}'], ['call_B', 'get_tide', '{"n":2}']];
const both = [...tools, { type: 'function', function: { name: 'get_weather', parameters: { type: 'object', properties: { city: { type: 'string' } } } } }];
const RELAYED = [['call_A', 'get_weather', '{"city":"Brest"}'], ['call_B', 'get_tide', '{"port":"Brest"}']];

// What a user types at a question, by the code on its line, and the first line of the answer to that.
const TYPED = [
  [(code) => `Yes ${code}.`, 'q1 true'],
  [() => 'no', 'q1 false'],
  [() => 'yes', 'Your answer does not have the code of the question, so nothing was done.'],
];
const codeOf = (asked) => asked.match(/ To agree, reply: yes (\d{6})\. To refuse, reply: no\. \(q1 cw\w{19}\)$/)[1];
const firstLine = (said) => said.split('\n')[0];

const cases = {
  'text, iterated': async () => {
    const chunks = await iterate('words');
    same(text(chunks), WORDS);
    same([...new Set(chunks.map((chunk) => `${chunk.object} ${chunk.model}`))], ['chat.completion.chunk words']);
    same(new Set(chunks.map((chunk) => chunk.id)).size, 1);
    same(chunks.at(-1).choices[0].finish_reason, 'stop');
  },
  'text, helper': async () => {
    same(await helper('words').finalContent(), WORDS);
  },
  'text, whole': async () => {
    const completion = await whole('words');
    same([completion.object, completion.choices[0].message.content, completion.choices[0].finish_reason], ['chat.completion', WORDS, 'stop']);
  },
  'keep-alive comments': async () => {
    same(text(await iterate('slow')), 'one two three');
    same(await helper('slow').finalContent(), 'one two three');
  },
  'tool call, iterated': async () => {
    const chunks = await iterate('tool', { tools });
    same(chunks.at(-1).choices[0].finish_reason, 'tool_calls');
    const fragments = chunks.flatMap((chunk) => chunk.choices[0].delta.tool_calls ?? []);
    same(fragments.map((call) => call.function.name), ['get_tide']);
  },
  'tool call, helper': async () => {
    const message = await helper('tool', { tools }).finalMessage();
    same([message.tool_calls[0].function.name, message.tool_calls[0].function.arguments], ['get_tide', '{"port":"Brest"}']);
  },
  'tool call, whole': async () => {
    const { choices: [choice] } = await whole('tool', { tools });
    same([choice.finish_reason, choice.message.tool_calls[0].function.arguments], ['tool_calls', '{"port":"Brest"}']);
  },
  'tool call, there and back': async () => {
    const runner = (stream) =>
      client.chat.completions.runTools({
        model: 'tool', messages, stream,
        tools: [{ type: 'function', function: { ...tools[0].function, function: ({ port }) => `4.2 at ${port}`, parse: JSON.parse } }],
      });
    same(await runner(true).finalContent(), 'get_tide=4.2 at Brest');
    same(await runner(false).finalContent(), 'get_tide=4.2 at Brest');
  },
  'tool not on offer': async () => {
    const error = await failure(iterate('tool'));
    same(error.constructor.name, 'APIError');
  },
  'two calls, iterated': async () => {
    const chunks = await iterate('calls', { tools });
    const starts = chunks.flatMap((chunk) => chunk.choices[0].delta.tool_calls ?? []).filter((call) => call.id);
    same(starts.map((call) => [call.index, call.id]), [[0, 'call_A'], [1, 'call_B']]);
  },
  'two calls, helper': async () => {
    same(calls(await helper('calls', { tools }).finalMessage()), TWO);
  },
  'mixed calls, helper': async () => {
    same(calls(await helper('mixed-calls', { tools }).finalMessage()), TWO);
  },
  'two calls, whole': async () => {
    same(calls((await whole('calls', { tools })).choices[0].message), TWO);
  },
  'usage, iterated': async () => {
    const chunks = await iterate('usage', { stream_options: { include_usage: true } });
    same(chunks.slice(0, -1).map((chunk) => chunk.usage), chunks.slice(0, -1).map(() => null));
    same([chunks.at(-1).choices, chunks.at(-1).usage.total_tokens], [[], 29]);
    same((await iterate('usage')).some((chunk) => 'usage' in chunk), false);
  },
  'usage, helper': async () => {
    const usage = await helper('usage', { stream_options: { include_usage: true } }).totalUsage();
    same([usage.prompt_tokens, usage.completion_tokens, usage.total_tokens], [19, 10, 29]);
  },
  'usage, whole': async () => {
    const { usage } = await whole('usage');
    same([usage.total_tokens, usage.prompt_tokens_details.cached_tokens, usage.completion_tokens_details.reasoning_tokens], [29, 3, 7]);
  },
  'reasoning': async () => {
    const thought = 'Two and two "is" \u2028 four.\nOr is it?';
    const chunks = await iterate('reasoning');
    same(text(chunks), 'Four.');
    same(chunks.map((chunk) => chunk.choices[0].delta.reasoning_content ?? '').join(''), thought);
    same(chunks.at(-1).choices[0].finish_reason, 'stop');
    same(await helper('reasoning').finalContent(), 'Four.');
    const { message } = (await whole('reasoning')).choices[0];
    same([message.content, message.reasoning_content], ['Four.', thought]);
    same((await failure(iterate('reasoning-fails'))).message, 'The model is away.');
    same((await failure(whole('reasoning-fails'))).status, 400);
  },
  'refusal': async () => {
    same((await helper('refusal').finalMessage()).refusal, "I can't help.");
    same((await whole('refusal')).choices[0].message.refusal, "I can't help.");
  },
  'length and filter': async () => {
    same((await helper('length').finalChatCompletion()).choices[0].finish_reason, 'length');
    same((await helper('filter').finalChatCompletion()).choices[0].finish_reason, 'content_filter');
    same((await iterate('length')).at(-1).choices[0].finish_reason, 'length');
  },
  'two choices with log probabilities': async () => {
    const { choices } = await helper('choices', { n: 2, logprobs: true }).finalChatCompletion();
    same(choices.map((choice) => [choice.message.content, choice.logprobs.content.map((one) => one.token), choice.finish_reason]),
      [['a', ['a'], 'stop'], ['bé', ['b', 'é'], 'stop']]);
  },
  'failure on the way, iterated': async () => {
    const error = await failure(iterate('fails'));
    same([error.constructor.name, error.message, error.type], ['APIError', 'The model is away.', 'invalid_request_error']);
    same((await failure(iterate('panics'))).constructor.name, 'APIError');
  },
  'failure on the way, helper': async () => {
    same((await failure(helper('fails').finalContent())).message, 'The model is away.');
  },
  'failure at once': async () => {
    const error = await failure(iterate('fails-at-once'));
    same([error.status, error.error.message], [400, 'The model is away.']);
  },
  'failure, whole': async () => {
    const error = await failure(whole('fails'));
    same([error.constructor.name, error.status, error.error.message], ['BadRequestError', 400, 'The model is away.']);
  },
  "failure, one request with the client's own retries": async () => {
    for (const model of ['fails', 'fails-at-once', 'panics']) {
      for (const stream of [true, false]) same([model, stream, await posted(model, stream)], [model, stream, 1]);
    }
  },
  'relayed stream': async () => {
    const stream = helper('relay/calls', { tools: both });
    same(calls(await stream.finalMessage()), RELAYED);
    same((await stream.finalChatCompletion()).model, 'relay/calls');
    same(calls((await whole('relay/calls', { tools: both })).choices[0].message), RELAYED);
  },
  'relayed stream, cut': async () => {
    same((await failure(iterate('relay/cut', { tools: both }))).constructor.name, 'BadRequestError');
  },
  'question and answer': async () => {
    for (const [typed, said] of TYPED) {
      const asked = (await helper('confirm').finalMessage()).content;
      const turn = [...messages, { role: 'assistant', content: asked }, { role: 'user', content: typed(codeOf(asked)) }];
      same(firstLine(await helper('confirm', { messages: turn }).finalContent()), said);
    }
  },
  'models': async () => {
    const list = await client.models.list();
    same(list.data.slice(0, 2).map((model) => [model.id, model.object]), [['words', 'model'], ['tool', 'model']]);
    same((await client.models.retrieve('relay/calls')).id, 'relay/calls');
  },
  'refused requests': async () => {
    const missing = await failure(iterate('nobody'));
    same([missing.constructor.name, missing.code, missing.param], ['NotFoundError', 'model_not_found', 'model']);
    const empty = await failure(client.chat.completions.create({ model: 'words', messages: [] }));
    same([empty.constructor.name, empty.type, empty.param], ['BadRequestError', 'invalid_request_error', 'messages']);
  },
  'a client that leaves': async () => {
    const stream = await client.chat.completions.create({ model: 'slow', messages, stream: true });
    for await (const chunk of stream) if (chunk.choices[0].delta.content) break;
    same(text(await iterate('slow')), 'one two three');
  },
};

for (const [name, run] of Object.entries(cases)) {
  let fault = null;
  try {
    await run();
  } catch (error) {
    fault = String(error?.message ?? error);
  }
  console.log(JSON.stringify({ name, fault }));
}
