// The Vercel AI SDK, with both of its providers for chat completions.
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { jsonSchema, streamText, tool } from "ai";
import { cases, fault, report, tools } from "./expected.mjs";

const settings = { name: "films", baseURL: `${process.argv[2]}/chats/films`, apiKey: "key" };
const providers = {
  "ai-openai": (model) => createOpenAI(settings).chat(model),
  "ai-compatible": (model) => createOpenAICompatible(settings).chatModel(model),
};
// Tools without `execute` are handed out and not run.
const declared = Object.fromEntries(
  tools.map(({ function: { name, description } }) => [
    name,
    tool({ description, inputSchema: jsonSchema({ type: "object" }) }),
  ]),
);
// This SDK knows no refusals: one provider hands them out as text that a filter ended, the other
// drops them.
const adapt = {
  "ai-openai": (wanted) =>
    wanted.refusal ? { ...wanted, text: wanted.refusal, finish: "content_filter" } : wanted,
  "ai-compatible": (wanted) => wanted,
};
const reasons = { stop: "stop", length: "length", "tool-calls": "tool_calls", "content-filter": "content_filter" };

async function ask(model) {
  const got = { text: "", notifications: [], finish: null, failed: false };
  const result = streamText({ model, prompt: "Which films are about robots?", tools: declared, maxRetries: 0, onError() {} });
  for await (const part of result.fullStream) {
    if (part.type === "text-delta") got.text += part.text;
    if (part.type === "tool-call") got.notifications.push({ name: part.toolName, arguments: part.input });
    if (part.type === "error") got.failed = true;
    if (part.type === "finish-step") got.finish = reasons[part.finishReason] ?? null;
  }
  return got;
}

for (const [client, provider] of Object.entries(providers)) {
  for (const name of cases) {
    try {
      report(client, name, fault(name, await ask(provider(name)), ["refusal"], adapt[client]));
    } catch (error) {
      report(client, name, String(error));
    }
  }
}
