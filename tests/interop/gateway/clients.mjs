// The official clients of every front end. Each asks one question, and returns what it has received in one form:
// texts, reasoning, calls, the end, the usage, and the failure if there is one.
import { HttpAgent } from '@ag-ui/client';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import Anthropic from '@anthropic-ai/sdk';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { DefaultChatTransport, jsonSchema, readUIMessageStream, streamText, tool } from 'ai';
import OpenAI from 'openai';
import { COMMON } from './types.mjs';

const KEY = { authorization: 'Bearer none' };
const SCHEMA = { type: 'object', properties: {} };
const nothing = () => ({ text: '', refusal: '', reasoning: '', seal: null, calls: [], natives: [], end: null, usage: null, failed: null });
const failure = (error) => ({ status: error?.status ?? error?.statusCode ?? error?.lastError?.statusCode ?? null, message: String(error?.message ?? error) });
const of = (options) => ({ maxRetries: 0, apiKey: 'none', ...options });

// The words of a front end that has no other place for the reason of an end.
const NOTICES = [
  ['length', 'The answer has reached its limit of tokens and is not complete.'],
  ['filter', 'The rest of the answer was withheld by the model.'],
];
/** The sentences that a failure of a model has. */
export const SENTENCE = /(?:^|\n\n|[\s"])((?:The model's (?:server|answer)|The model made a call|The prompt is too long)[^\n"]*\.)/;
/** Takes what a front end says at the end of a text for what it means. */
function noticed(seen) {
  for (const [end, words] of NOTICES) {
    const at = seen.text.indexOf(words);
    if (at >= 0) {
      seen.text = seen.text.slice(0, at).replace(/(\n\n)?\*\*\w+:\*\* $/, '');
      seen.end = end;
    }
  }
  return seen;
}

/** The blocks or items that only one dialect has. */
const natives = (list) =>
  list.filter(({ type }) => !COMMON.includes(type))
    // A document that is made from a stream leaves out what is null.
    .map((item) => Object.fromEntries(Object.entries(item).filter(([, value]) => value !== null)));

const CHAT_ENDS = { stop: 'stop', tool_calls: 'calls', length: 'length', content_filter: 'filter' };
const chatUsage = (usage) =>
  usage && {
    input: usage.prompt_tokens, output: usage.completion_tokens,
    cached: usage.prompt_tokens_details?.cached_tokens ?? 0, written: 0, reasoning: usage.completion_tokens_details?.reasoning_tokens ?? 0,
  };
/** The value of a call's arguments, or their text if it is no JSON. */
function parsed(text) {
  try {
    return JSON.parse(text || '{}');
  } catch {
    return text;
  }
}

async function chat(client, { model, prompt, tools }, seen) {
  const functions = tools.map((name) => ({ type: 'function', function: { name, description: 'One.', parameters: SCHEMA } }));
  const stream = client.chat.completions.stream({
    model, messages: [{ role: 'user', content: prompt }], ...(tools.length && { tools: functions }), stream_options: { include_usage: true },
  });
  for await (const { choices, usage } of stream) {
    seen.usage = chatUsage(usage) ?? seen.usage;
    for (const { index, delta } of choices) {
      if (index > 0) continue;
      seen.text += delta.content ?? '';
      seen.refusal += delta.refusal ?? '';
      seen.reasoning += delta.reasoning_content ?? '';
    }
  }
  const [choice] = (await stream.finalChatCompletion()).choices;
  seen.calls = (choice.message.tool_calls ?? []).map(({ id, function: { name, arguments: text } }) => [id, name, parsed(text)]);
  seen.end = CHAT_ENDS[choice.finish_reason] ?? choice.finish_reason;
  return seen;
}

async function wholeChat(client, { model, prompt, tools }, seen) {
  const functions = tools.map((name) => ({ type: 'function', function: { name, description: 'One.', parameters: SCHEMA } }));
  const answer = await client.chat.completions.create({ model, messages: [{ role: 'user', content: prompt }], ...(tools.length && { tools: functions }) });
  const [{ message, finish_reason }] = answer.choices;
  return Object.assign(seen, {
    text: message.content ?? '', refusal: message.refusal ?? '', reasoning: message.reasoning_content ?? '',
    calls: (message.tool_calls ?? []).map(({ id, function: { name, arguments: text } }) => [id, name, parsed(text)]),
    end: CHAT_ENDS[finish_reason] ?? finish_reason, usage: chatUsage(answer.usage) ?? null,
  });
}

function ofResponse(response, seen) {
  if (response.status === 'failed') throw Object.assign(new Error(response.error?.message), { status: null });
  const parts = response.output.filter(({ type }) => type === 'message').flatMap(({ content }) => content);
  const { usage } = response;
  const thought = response.output.filter(({ type }) => type === 'reasoning');
  const calls = response.output.filter(({ type }) => type === 'function_call');
  const reason = response.incomplete_details?.reason;
  return Object.assign(seen, {
    text: parts.map(({ text }) => text ?? '').join(''),
    refusal: parts.map(({ refusal }) => refusal ?? '').join(''),
    reasoning: thought.flatMap(({ summary, content }) => [...summary, ...(content ?? [])]).map(({ text }) => text).join(''),
    seal: thought.find(({ encrypted_content }) => encrypted_content)?.encrypted_content ?? null,
    calls: calls.map(({ call_id, name, arguments: text }) => [call_id, name, parsed(text)]),
    natives: natives(response.output),
    end: { max_output_tokens: 'length', content_filter: 'filter' }[reason] ?? reason ?? (calls.length ? 'calls' : 'stop'),
    usage: usage && {
      input: usage.input_tokens, output: usage.output_tokens, cached: usage.input_tokens_details?.cached_tokens ?? 0, written: 0,
      reasoning: usage.output_tokens_details?.reasoning_tokens ?? 0,
    },
  });
}

const responsesRequest = ({ model, prompt, tools }) => ({
  model, input: prompt, include: ['reasoning.encrypted_content'], store: false,
  ...(tools.length && { tools: tools.map((name) => ({ type: 'function', name, description: 'One.', parameters: SCHEMA, strict: false })) }),
});

async function responses(client, question, seen) {
  const stream = client.responses.stream(responsesRequest(question));
  const said = { text: '', refusal: '' };
  let ended;
  for await (const event of stream) {
    if (event.type === 'response.output_text.delta') seen.text += event.delta;
    if (event.type === 'response.refusal.delta') seen.refusal += event.delta;
    if (event.type === 'error') throw Object.assign(new Error(event.message), { status: null });
    if (['response.completed', 'response.incomplete', 'response.failed'].includes(event.type)) ended = event.response;
  }
  if (!ended) throw new Error('the stream has no end');
  Object.assign(said, { text: seen.text, refusal: seen.refusal });
  ofResponse(ended, seen);
  if (said.text !== seen.text || said.refusal !== seen.refusal) throw new Error(`the pieces are not the whole: ${JSON.stringify([said, seen])}`);
  return seen;
}

const MESSAGE_ENDS = { end_turn: 'stop', stop_sequence: 'stop', tool_use: 'calls', max_tokens: 'length', refusal: 'filter' };
const messagesRequest = ({ model, prompt, tools }) => ({
  model, max_tokens: 1024, messages: [{ role: 'user', content: prompt }],
  ...(tools.length && { tools: tools.map((name) => ({ name, description: 'One.', input_schema: SCHEMA })) }),
});
/** `texts` has the arguments of the calls of a stream, whose ends the client itself makes up. */
function ofMessage({ content, stop_reason, usage }, seen, texts = []) {
  const blocks = (kind) => content.filter(({ type }) => type === kind);
  const [cached, written] = [usage.cache_read_input_tokens ?? 0, usage.cache_creation_input_tokens ?? 0];
  const thought = blocks('thinking');
  return Object.assign(seen, {
    text: blocks('text').map(({ text }) => text).join(''),
    reasoning: thought.map(({ thinking }) => thinking).join(''),
    seal: thought.find(({ signature }) => signature)?.signature ?? null,
    calls: content.flatMap(({ type, id, name, input }, at) => (type === 'tool_use' ? [[id, name, at in texts ? parsed(texts[at]) : input]] : [])),
    natives: natives(content),
    end: MESSAGE_ENDS[stop_reason] ?? stop_reason,
    usage: { input: usage.input_tokens + cached + written, output: usage.output_tokens, cached, written, reasoning: 0 },
  });
}

async function messages(client, question, seen) {
  const stream = client.messages.stream(messagesRequest(question));
  stream.on('text', (piece) => (seen.text += piece));
  stream.on('thinking', (piece) => (seen.reasoning += piece));
  const texts = [];
  stream.on('streamEvent', ({ index, delta }) => {
    if (delta?.type === 'input_json_delta') texts[index] = (texts[index] ?? '') + delta.partial_json;
  });
  return ofMessage(await stream.finalMessage(), seen, texts);
}

const AI_ENDS = { stop: 'stop', 'tool-calls': 'calls', length: 'length', 'content-filter': 'filter' };
async function ai(model, { prompt, tools }, seen) {
  const offered = Object.fromEntries(tools.map((name) => [name, tool({ description: 'One.', inputSchema: jsonSchema(SCHEMA) })]));
  const { fullStream } = streamText({ model, prompt, tools: offered, maxRetries: 0, onError: () => {}, maxOutputTokens: 1024 });
  for await (const part of fullStream) {
    if (part.type === 'text-delta') seen.text += part.text;
    if (part.type === 'reasoning-delta') seen.reasoning += part.text;
    if (part.type === 'tool-call') seen.calls.push([part.toolCallId, part.toolName, part.input]);
    if (part.type === 'error') seen.failed ??= failure(part.error);
    if (part.type === 'finish') {
      const { inputTokens: input, outputTokens: output, inputTokenDetails: prompt_, outputTokenDetails: answer } = part.totalUsage;
      seen.end = AI_ENDS[part.finishReason] ?? part.finishReason;
      seen.usage = input === undefined ? null : { input, output, cached: prompt_?.cacheReadTokens ?? 0, written: prompt_?.cacheWriteTokens ?? 0, reasoning: answer?.reasoningTokens ?? 0 };
    }
  }
  return seen;
}

async function page({ base, prompt, tools }, seen) {
  const transport = new DefaultChatTransport({
    api: `${base}/api/chat`,
    headers: KEY,
    body: { tools: Object.fromEntries(tools.map((name) => [name, { description: 'One.', parameters: SCHEMA }])) },
  });
  const asked = [{ id: 'u1', role: 'user', parts: [{ type: 'text', text: prompt }] }];
  const stream = await transport.sendMessages({ chatId: 'chat-1', messages: asked, trigger: 'submit-message', abortSignal: undefined });
  let last;
  try {
    for await (const message of readUIMessageStream({ stream, terminateOnError: true })) last = message;
  } finally {
    const parts = last?.parts ?? [];
    const join = (kind) => parts.filter(({ type }) => type === kind).map(({ text }) => text).join('');
    Object.assign(seen, { text: join('text'), reasoning: join('reasoning') });
    const calls = parts.filter(({ state }) => state === 'input-available');
    seen.calls = calls.map((part) => [part.toolCallId, part.toolName ?? part.type.replace('tool-', ''), part.input]);
    const usage = last?.metadata?.usage;
    seen.usage = usage ? { input: usage.inputTokens, output: usage.outputTokens, cached: usage.cachedInputTokens, written: 0, reasoning: usage.reasoningTokens } : null;
    for (const { type, data } of parts) if (type === 'data-notice') seen.text += `**Note:** ${data.message}`;
  }
  seen.end = seen.calls.length ? 'calls' : 'stop';
  return noticed(seen);
}

async function app({ base, prompt, tools }, seen) {
  const agent = new HttpAgent({ url: `${base}/agui`, headers: KEY, threadId: 'thread-1', initialMessages: [{ id: 'u1', role: 'user', content: prompt }] });
  const parameters = { runId: 'run-1', context: [], tools: tools.map((name) => ({ name, description: 'One.', parameters: SCHEMA })) };
  let finished;
  let failed;
  try {
    await agent.runAgent(parameters, {
      onRunFinishedEvent: ({ event }) => void (finished = event),
      onRunErrorEvent: ({ event }) => void (failed = event),
    });
  } finally {
    const said = agent.messages.slice(1);
    const join = (kind) => said.filter(({ role }) => role === kind).map(({ content }) => content ?? '').join('');
    Object.assign(seen, { text: join('assistant'), reasoning: join('reasoning') });
  }
  if (failed) throw new Error(failed.message);
  if (!finished) throw new Error('the run has no end');
  const calls = agent.messages.flatMap(({ toolCalls }) => toolCalls ?? []);
  seen.calls = calls.map(({ id, function: { name, arguments: text } }) => [id, name, parsed(text)]);
  const [usage] = finished.usage ?? [];
  seen.usage = usage
    ? { input: usage.inputTokens, output: usage.outputTokens, cached: usage.cachedInputTokens ?? 0, written: 0, reasoning: usage.reasoningTokens ?? 0 }
    : null;
  seen.end = seen.calls.length ? 'calls' : 'stop';
  return noticed(seen);
}

async function mcp({ base, prompt }, seen) {
  const client = new Client({ name: 'interop', version: '1.0.0' });
  await client.connect(new StreamableHTTPClientTransport(new URL(`${base}/mcp`), { requestInit: { headers: KEY } }));
  try {
    const { content, isError } = await client.callTool({ name: 'ask', arguments: { question: prompt } });
    const said = content.filter(({ type }) => type === 'text').map(({ text }) => text).join('');
    seen.text = said.replace(/(\n\n)?To ask more about this, call again with `conversation`: "conv_\w+"\.$/, '');
    seen.end = 'stop';
    noticed(seen);
    if (isError) {
      const at = seen.text.lastIndexOf('\n\n');
      seen.failed = { status: null, message: seen.text.slice(at < 0 ? 0 : at + 2) };
      seen.text = seen.text.slice(0, Math.max(at, 0));
    }
    return seen;
  } finally {
    await client.close();
  }
}

/** The events of a stream, by the rules of the standard. */
async function* events(url, body) {
  const response = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json', ...KEY }, body: JSON.stringify(body) });
  const all = await response.text();
  if (!response.ok) throw Object.assign(new Error(all), { status: response.status });
  for (const event of all.split('\n\n')) {
    const field = (name) => event.split('\n').find((line) => line.startsWith(name))?.slice(name.length);
    const data = field('data: ');
    if (data && data !== '[DONE]') yield [field('event: '), JSON.parse(data)];
  }
}

/** There is no client of it but the Workspace itself: the events as its own package for Python defines them. */
async function workspace({ base, prompt, tools }, seen) {
  const offered = tools.map((name) => ({ server_id: 's', name, description: 'One.', url: 'http://127.0.0.1', input_schema: SCHEMA }));
  const widgets = { primary: [], secondary: [], extra: [] };
  seen.end = 'stop';
  const body = { messages: [{ role: 'human', content: prompt }], tools: offered, widgets, timezone: 'Europe/Paris', workspace_options: {} };
  for await (const [name, data] of events(`${base}/v1/query`, body)) {
    if (name === 'copilotMessageChunk') seen.text += data.delta;
    if (name === 'copilotFunctionCall') {
      const { tool_name, parameters } = data.input_arguments;
      seen.calls.push([null, tool_name, parameters]);
      seen.end = 'calls';
    }
    if (name === 'copilotStatusUpdate') seen.end = NOTICES.find(([, words]) => data.message?.includes(words))?.[0] ?? seen.end;
  }
  const failed = seen.text.match(SENTENCE);
  if (failed) {
    seen.failed = { status: null, message: failed[1] };
    seen.text = seen.text.slice(0, failed.index);
  }
  return seen;
}

/** GitHub's package reads no streams: they are chat completions with events besides. */
async function github({ base, prompt }, seen) {
  for await (const [name, data] of events(`${base}/github`, { messages: [{ role: 'user', content: prompt }] })) {
    for (const { message } of name === 'copilot_errors' ? data : []) {
      const notice = NOTICES.find(([, words]) => message === words);
      if (notice) seen.end = notice[0];
      else seen.failed = { status: null, message };
    }
    seen.text += data.choices?.[0]?.delta.content ?? '';
    seen.end ??= data.choices?.[0]?.finish_reason ?? null;
  }
  return seen;
}

/** The clients: `[name, dialect or front end, client]`. What they ask is `{ base, model, headers, prompt, tools }`. */
export const CLIENTS = [
  ['openai', 'chat', ({ base, headers, ...asked }, seen) => chat(new OpenAI(of({ baseURL: `${base}/v1`, defaultHeaders: headers })), asked, seen)],
  ['openai, whole', 'chat', ({ base, headers, ...asked }, seen) => wholeChat(new OpenAI(of({ baseURL: `${base}/v1`, defaultHeaders: headers })), asked, seen)],
  ['ai', 'chat', (asked, seen) => ai(createOpenAICompatible({ name: 'up', baseURL: `${asked.base}/v1`, headers: asked.headers, apiKey: 'none', includeUsage: true })(asked.model), asked, seen)],
  ['openai', 'responses', ({ base, headers, ...asked }, seen) => responses(new OpenAI(of({ baseURL: `${base}/v1`, defaultHeaders: headers })), asked, seen)],
  ['openai, whole', 'responses', async ({ base, headers, ...asked }, seen) => ofResponse(await new OpenAI(of({ baseURL: `${base}/v1`, defaultHeaders: headers })).responses.create(responsesRequest(asked)), seen)],
  ['ai', 'responses', (asked, seen) => ai(createOpenAI({ baseURL: `${asked.base}/v1`, headers: asked.headers, apiKey: 'none' }).responses(asked.model), asked, seen)],
  ['anthropic', 'messages', ({ base, headers, ...asked }, seen) => messages(new Anthropic(of({ baseURL: base, defaultHeaders: headers })), asked, seen)],
  ['anthropic, whole', 'messages', async ({ base, headers, ...asked }, seen) => ofMessage(await new Anthropic(of({ baseURL: base, defaultHeaders: headers })).messages.create(messagesRequest(asked)), seen)],
  ['ai', 'messages', (asked, seen) => ai(createAnthropic({ baseURL: `${asked.base}/v1`, headers: asked.headers, apiKey: 'none' })(asked.model), asked, seen)],
  ['ai', 'AI SDK pages', page],
  ['ag-ui', 'AG-UI', app],
  ['mcp', 'MCP', mcp],
  ['events', 'OpenBB', workspace],
  ['openai', 'Meilisearch', async ({ base, ...asked }, seen) => noticed(await chat(new OpenAI(of({ baseURL: `${base}/chats/default` })), { ...asked, tools: [] }, seen))],
  ['events', 'GitHub', github],
].map(([name, front, read]) => ({
  name,
  front,
  read: async (asked) => {
    const seen = nothing();
    try {
      await read(asked, seen);
    } catch (error) {
      seen.failed = failure(error);
    }
    // Of a failed answer no more counts than the text that came before, and that it failed.
    return seen.failed ? { ...nothing(), text: seen.text, failed: seen.failed } : seen;
  },
}));
