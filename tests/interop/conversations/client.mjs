// Three turns with each client for Node at its defaults: client.mjs SERVER MODEL. Prints one JSON line for each.
import { createOpenAI } from '@ai-sdk/openai';
import Anthropic from '@anthropic-ai/sdk';
import { Agent, OpenAIConversationsSession, run as runAgent, setDefaultOpenAIClient, tool as agentTool } from '@openai/agents';
import { stepCountIs, streamText, tool } from 'ai';
import OpenAI from 'openai';
import { z } from 'zod';

import { INPUT, PROMPTS, SCHEMA, failure, getTide, run, same } from './expected.mjs';

const [server, model] = process.argv.slice(2);
const description = 'The tide.';

/** The requests to the agent. */
const sent = [];
const recording = (url, init) => {
  if (/\/(responses|messages)$/.test(new URL(url).pathname)) sent.push(JSON.parse(init.body));
  return fetch(url, init);
};
const openai = new OpenAI({ baseURL: `${server}/v1`, apiKey: 'any', fetch: recording });
setDefaultOpenAIClient(openai);

/** What a request has: the types of its items, or how many messages, and what it continues. */
const shape = ({ input, messages, thread, tools, system, previous_response_id, conversation }) => {
  if (thread) return `${thread.type}: ${messages.length}${tools && system ? ', tools' : ''}`;
  const items = typeof input === 'string' ? 'message' : input.map(({ type }) => type ?? 'message').join(' ');
  return (previous_response_id ? 'previous: ' : '') + (conversation ? 'conversation: ' : '') + items;
};

/** The shapes of requests each of which repeats the one before. */
const growing = (first, step, turn) => {
  const shapes = [first];
  while (shapes.length < 6) shapes.push(`${shapes.at(-1)} ${shapes.length % 2 ? step : turn}`);
  return shapes;
};

/**
 * Checks what the user has read and what was sent. `recall` calls the tool in each turn, and tells all that it knows;
 * `analyst` calls it in two turns, and tells in the third one how many messages it knows.
 */
const check = async (turns, shapes, { system = true, calls = true } = {}) => {
  sent.length = 0;
  const texts = await turns();
  if (model === 'analyst') {
    const told = ['Brest', 'Dover'].map((port) => `**get_tide** says: 4.2 at ${port}\n\n`);
    same(texts.slice(0, 2), told);
    const before = `There are ${system ? 5 : 4} messages before it.`;
    if (!texts[2].includes(before)) throw new Error(`${texts[2]} without ${before}`);
    same(sent.map(shape), shapes.slice(0, 5));
    return;
  }
  const turn = (prompt, has) => `u:${prompt}${has ? ' c:get_tide r:4.2 at Brest' : ''}`;
  const whole = (last) => PROMPTS.slice(0, last + 1).map((prompt, index) => turn(prompt, calls || index === last)).join(' a ');
  same(texts, PROMPTS.map((_, index) => (system ? 's:Be kind. ' : '') + whole(index)));
  same(sent.map(shape), shapes);
};

/** The turns of the Agents SDK. Without options each one is given the history of the last one. */
const agents = async (options) => {
  const execute = getTide;
  const tools = [agentTool({ name: 'get_tide', description, parameters: z.object({ port: z.string() }), execute })];
  const agent = new Agent({ name: 'Assistant', model, instructions: 'Be kind.', tools });
  const texts = [];
  let last;
  for (const content of PROMPTS) {
    const input = options ? content : [...(last?.history ?? []), { role: 'user', content }];
    last = await runAgent(agent, input, options?.(last));
    texts.push(last.finalOutput);
  }
  return texts;
};

/** The turns of the OpenAI client. `by` tells how a request continues the response before it. */
const responses = async (by) => {
  const tools = [{ type: 'function', name: 'get_tide', description, strict: true, parameters: SCHEMA }];
  const texts = [];
  let last;
  for (let input of PROMPTS) {
    for (;;) {
      last = await openai.responses.create({ model, tools, input, ...by(last) });
      const calls = last.output.filter(({ type }) => type === 'function_call');
      if (calls.length === 0) break;
      input = calls.map(({ call_id, arguments: text }) => ({ type: 'function_call_output', call_id, output: getTide(JSON.parse(text)) }));
    }
    texts.push(last.output_text);
  }
  const items = [];
  for await (const item of openai.responses.inputItems.list(last.id)) items.push(item.type);
  same(items, [model === 'analyst' ? 'message' : 'function_call_output']);
  same((await openai.responses.retrieve(last.id)).output_text, texts[2]);
  await openai.responses.delete(last.id);
  same((await failure(openai.responses.retrieve(last.id))).status, 404);
  return texts;
};

const aiSdk = async () => {
  const provider = createOpenAI({ baseURL: `${server}/v1`, apiKey: 'any', fetch: recording });
  const tools = { get_tide: tool({ description, inputSchema: INPUT, execute: getTide }) };
  const messages = [];
  const texts = [];
  for (const content of PROMPTS) {
    messages.push({ role: 'user', content });
    const result = streamText({ model: provider(model), system: 'Be kind.', messages, tools, stopWhen: stepCountIs(5) });
    texts.push(await result.text);
    messages.push(...(await result.responseMessages));
  }
  return texts;
};

const toolRunner = async () => {
  const client = new Anthropic({ baseURL: server, apiKey: 'any', fetch: recording });
  const tools = [{ type: 'custom', name: 'get_tide', description, input_schema: SCHEMA, run: getTide, parse: (input) => input }];
  const messages = [];
  const texts = [];
  for (const content of PROMPTS) {
    messages.push({ role: 'user', content });
    const said = await client.beta.messages.toolRunner({ model, max_tokens: 1024, system: 'Be kind.', messages, tools });
    texts.push(said.content.filter(({ type }) => type === 'text').map(({ text }) => text).join(''));
    messages.push({ role: 'assistant', content: said.content });
  }
  return texts;
};

const EVERYTHING = growing('message', 'reasoning function_call function_call_output', 'message message');
const continued = (by) => PROMPTS.flatMap(() => [`${by}: message`, `${by}: function_call_output`]);
const after = (first, shapes) => [...first, ...shapes.slice(first.length)];
const named = async () => (await openai.conversations.create()).id;

await run({
  'AI SDK, OpenAI provider': () => {
    const shapes = growing('message message', 'item_reference function_call function_call_output', 'item_reference message');
    return check(aiSdk, shapes);
  },
  'tool runner of Anthropic': () => {
    const shapes = ['create: 1, tools', 'continue: 1', 'create: 3, tools', 'continue: 1', 'create: 5, tools', 'continue: 1'];
    // The program keeps the last message of each turn alone.
    return check(toolRunner, shapes, { calls: false });
  },
  'openai, `previous_response_id`': () => {
    const turns = () => responses((last) => ({ previous_response_id: last?.id }));
    return check(turns, after(['message'], continued('previous')), { system: false });
  },
  'openai, `conversation`': async () => {
    const conversation = await named();
    return check(() => responses(() => ({ conversation })), continued('conversation'), { system: false });
  },
  'Agents SDK': () => check(() => agents(), EVERYTHING),
  'Agents SDK, previous response': () => {
    const turns = () => agents((last) => ({ previousResponseId: last?.lastResponseId }));
    // It has none in the first turn.
    return check(turns, after(EVERYTHING.slice(0, 2), continued('previous')));
  },
  'Agents SDK, conversation': async () => {
    const conversationId = await named();
    return check(() => agents(() => ({ conversationId })), continued('conversation'));
  },
  'Agents SDK, session': () => {
    const session = new OpenAIConversationsSession({ client: openai });
    return check(() => agents(() => ({ session })), EVERYTHING);
  },
});
