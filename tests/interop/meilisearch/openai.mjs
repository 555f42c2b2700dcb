// The official Node client: plain iteration over the chunks.
import OpenAI from "openai";
import { cases, fault, report, tools } from "./expected.mjs";

const client = new OpenAI({ baseURL: `${process.argv[2]}/chats/films`, apiKey: "key", maxRetries: 0 });

async function ask(name) {
  const got = { text: "", refusal: "", notifications: [], finish: null, failed: false };
  const messages = [{ role: "user", content: "Which films are about robots?" }];
  try {
    const stream = await client.chat.completions.create({ model: name, messages, tools, stream: true });
    for await (const chunk of stream) {
      const [choice] = chunk.choices;
      got.text += choice.delta.content ?? "";
      got.refusal += choice.delta.refusal ?? "";
      for (const call of choice.delta.tool_calls ?? []) {
        got.notifications.push({ name: call.function.name, arguments: JSON.parse(call.function.arguments) });
      }
      got.finish = choice.finish_reason ?? got.finish;
    }
  } catch (error) {
    if (!(error instanceof OpenAI.APIError)) throw error;
    got.failed = true;
  }
  return got;
}

for (const name of cases) {
  try {
    report("openai-node", name, fault(name, await ask(name)));
  } catch (error) {
    report("openai-node", name, String(error));
  }
}
