// Goes through situations with acpx, a command line for agents of editors. Prints one JSON line for each.
import { strict as assert } from "node:assert";
import { execFile } from "node:child_process";
import { createServer } from "node:http";
import { fileURLToPath } from "node:url";

const [player, wire, home] = process.argv.slice(2);
const acpx = fileURLToPath(import.meta.resolve("acpx"));

// Asks an agent once, and returns what acpx shows.
function ask(agent, prompt, ...options) {
  const args = [acpx, "--cwd", home, "--agent", agent, ...options, "exec", prompt];
  const env = { ...process.env, HOME: home };
  return new Promise((resolve) => {
    execFile(process.execPath, args, { env, timeout: 30_000 }, (_, out, error) => resolve(out + error));
  });
}

// A server of a model, which says what it was asked.
const upstream = createServer(async (request, response) => {
  if (request.method === "GET") {
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ object: "list", data: [{ id: "m", object: "model" }] }));
    return;
  }
  let body = "";
  for await (const piece of request) body += piece;
  const asked = JSON.parse(body).messages.at(-1).content;
  const words = typeof asked === "string" ? asked : asked.map((part) => part.text).join("");
  response.setHeader("content-type", "text/event-stream");
  for (const delta of [{ role: "assistant", content: "The model read: " }, { content: words }]) {
    const choices = [{ index: 0, delta, finish_reason: null }];
    response.write(`data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", model: "m", choices })}\n\n`);
  }
  const choices = [{ index: 0, delta: {}, finish_reason: "stop" }];
  response.write(`data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", model: "m", choices })}\n\n`);
  response.end("data: [DONE]\n\n");
});
await new Promise((resolve) => upstream.listen(0, "127.0.0.1", resolve));
const base = `http://127.0.0.1:${upstream.address().port}/v1`;

const cases = {
  "a turn": async () => assert.match(await ask(player, "hi"), /You said: hi/),
  "steps and tools": async () => assert.match(await ask(player, "tool"), /get_price \(completed\)/),
  "permission granted": async () => assert.match(await ask(player, "delete", "--approve-all"), /deleted/),
  "permission refused": async () => assert.match(await ask(player, "delete", "--deny-all"), /kept/),
  "failure before an answer": async () => assert.match(await ask(player, "fail"), /The market is closed\./),
  "wire acp with a model": async () => {
    const shown = await ask(`${wire} acp --upstream ${base} --dialect chat`, "hi");
    assert.match(shown, /The model read: hi/);
  },
  "wire acp with an endpoint": async () => {
    const shown = await ask(`${wire} acp --endpoint ${base}/chat/completions --protocol openai --model m`, "hi");
    assert.match(shown, /The model read: hi/);
  },
};

for (const [name, run] of Object.entries(cases)) {
  let fault = null;
  try {
    await run();
  } catch (error) {
    fault = String(error.message ?? error).slice(0, 300);
  }
  console.log(JSON.stringify({ name, fault }));
}
upstream.close();
