// Streams one answer with a library at its defaults, and prints the text or the error.

import Anthropic from '@anthropic-ai/sdk';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { streamText } from 'ai';
import OpenAI from 'openai';

const [name, baseURL, model, apiKey, prompt] = process.argv.slice(2);
const messages = [{ role: 'user', content: prompt }];

async function print(stream) {
  for await (const event of stream) console.log(JSON.stringify(event));
}

async function printText(provider) {
  const result = streamText({ model: provider(model), prompt, onError: ({ error }) => console.log(String(error)) });
  await result.consumeStream();
}

const run = {
  openai: async () => print(await new OpenAI({ baseURL, apiKey }).chat.completions.create({ model, messages, stream: true })),
  'openai responses': async () => print(await new OpenAI({ baseURL, apiKey }).responses.create({ model, input: prompt, stream: true })),
  anthropic: async () => print(await new Anthropic({ baseURL, apiKey }).messages.create({ model, messages, max_tokens: 99, stream: true })),
  'ai openai': () => printText(createOpenAI({ baseURL, apiKey })),
  'ai openai-compatible': () => printText(createOpenAICompatible({ name: 'lab', baseURL, apiKey })),
  'ai anthropic': () => printText(createAnthropic({ baseURL, apiKey })),
};
try {
  await run[name]();
} catch (error) {
  console.log(String(error));
}
