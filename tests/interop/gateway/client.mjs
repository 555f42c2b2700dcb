// Asks `wire serve` with the official clients at their defaults. Prints one JSON line for each situation.
import Anthropic from '@anthropic-ai/sdk';
import * as ai from 'ai';
import OpenAI from 'openai';
import { addOutput, open, quiet } from '../ui-stream/page.mjs';

const base = process.argv[2];
const openai = new OpenAI({ baseURL: `${base}/v1`, apiKey: 'none' });
const anthropic = new Anthropic({ baseURL: base, apiKey: 'none' });
const model = 'analyst';
const QUESTION = 'call get_tide {"port":"Brest"}';
const SAYS = /says: calm at Brest/;
const messages = [{ role: 'user', content: QUESTION }];
const schema = { type: 'object', properties: { port: { type: 'string' } } };
const run = ({ port }) => `calm at ${port}`;
const matches = (text, pattern) => {
  if (!pattern.test(text)) throw new Error(`${JSON.stringify(text)} instead of ${pattern}`);
};
const failure = async (promise) => {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error('it did not fail');
};

const cases = {
  'openai: the models': async () => {
    const names = [];
    for await (const { id } of openai.models.list()) names.push(id);
    matches(names.join(), /^analyst$/);
  },
  'openai: a tool in chat completions': async () => {
    const tool = { type: 'function', function: { name: 'get_tide', description: 'The tide.', parameters: schema, function: run, parse: JSON.parse } };
    for (const stream of [true, false]) {
      const runner = openai.chat.completions.runTools({ model, messages, stream, tools: [tool] });
      matches(await runner.finalContent(), SAYS);
    }
  },
  'openai: a tool in Responses, continued by id': async () => {
    const tools = [{ type: 'function', name: 'get_tide', parameters: schema, strict: false }];
    const first = await openai.responses.stream({ model, input: QUESTION, tools }).finalResponse();
    const call = first.output.find(({ type }) => type === 'function_call');
    const output = run(JSON.parse(call.arguments));
    const input = [{ type: 'function_call_output', call_id: call.call_id, output }];
    const last = await openai.responses.create({ model, previous_response_id: first.id, input, tools });
    matches(last.output_text, SAYS);
  },
  'openai: an unknown model': async () => {
    const error = await failure(openai.chat.completions.create({ model: 'gpt-9', messages }));
    matches(`${error.status} ${error.code}`, /^404 model_not_found$/);
  },
  'anthropic: a tool runner': async () => {
    const tool = { type: 'custom', name: 'get_tide', description: 'The tide.', input_schema: schema, run, parse: (input) => input };
    const asked = { model, max_tokens: 1024, messages, tools: [tool] };
    const said = ({ content }) => content.findLast(({ type }) => type === 'text').text;
    matches(said(await anthropic.beta.messages.toolRunner(asked)), SAYS);
    let last;
    for await (const stream of anthropic.beta.messages.toolRunner({ ...asked, stream: true })) last = await stream.finalMessage();
    matches(said(last), SAYS);
  },
  'anthropic: a stream': async () => {
    const last = await anthropic.messages.stream({ model, max_tokens: 1024, messages }).finalMessage();
    matches(last.content[0].text, /There is no tool/);
    matches(last.stop_reason, /^end_turn$/);
  },
  'useChat: a tool of the page': async () => {
    const page = open(ai, {
      api: `${base}/api/chat`,
      body: { tools: { get_tide: { description: 'The tide.', parameters: schema } } },
      sendAutomaticallyWhen: ai.lastAssistantMessageIsCompleteWithToolCalls,
      onToolCall: (opened, { toolName, toolCallId, input }) => {
        addOutput(opened, { tool: toolName, toolCallId, output: run(input) });
      },
    });
    await page.chat.sendMessage({ text: QUESTION });
    await quiet(page);
    matches(page.errors.join(), /^$/);
    const texts = page.chat.messages.at(-1).parts.filter(({ type }) => type === 'text');
    matches(texts.at(-1)?.text ?? '', SAYS);
  },
};

for (const [name, situation] of Object.entries(cases)) {
  let fault = null;
  try {
    await situation();
  } catch (error) {
    fault = String(error?.message ?? error).slice(0, 200);
  }
  console.log(JSON.stringify({ name, fault }));
}
