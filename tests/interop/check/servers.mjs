// Servers that are written as the documentation of their library has it, each on a free port, which is printed:
// node servers.mjs ai-7 | mcp

import { createServer } from "node:http";
import { json } from "node:stream/consumers";

const TEXT = ["Tides follow ", "the moon", "."];

/** A page's server with the AI SDK, over a model that is in this file. */
async function aiSdk(name) {
  const sdk = await import(name);
  const { simulateReadableStream, ...models } = await import(`${name}/test`);
  const [Model] = Object.keys(models).filter((name) => /^MockLanguageModel/.test(name)).sort().reverse();
  const count = (total) => ({ total, text: total, noCache: total });
  const usage = Model === "MockLanguageModelV2" ? { inputTokens: 3, outputTokens: 4, totalTokens: 7 } : { inputTokens: count(3), outputTokens: count(4) };
  const chunks = [
    { type: "stream-start", warnings: [] },
    { type: "text-start", id: "1" },
    ...TEXT.map((delta) => ({ type: "text-delta", id: "1", delta })),
    { type: "text-end", id: "1" },
    { type: "finish", finishReason: Model === "MockLanguageModelV2" ? "stop" : { unified: "stop", raw: "stop" }, usage },
  ];
  const doStream = async () => ({ stream: simulateReadableStream({ chunks, initialDelayInMs: null, chunkDelayInMs: null }) });
  // Nothing is downloaded: the model takes every address as it is.
  const supportedUrls = { "*": [/.*/] };
  const model = new models[Model]({ doStream, supportedUrls });
  // The tool whose approval the recorded pages answer.
  const inputSchema = sdk.jsonSchema({ type: "object" });
  const confirm = sdk.dynamicTool({ description: "Asks.", inputSchema, needsApproval: true, execute: async () => "done" });
  return async (request, response) => {
    const { messages } = await json(request);
    const result = sdk.streamText({ model, tools: { confirm }, messages: await sdk.convertToModelMessages(messages) });
    await result.pipeUIMessageStreamToResponse(response);
  };
}

/** An MCP server with the official SDK, without sessions. */
async function mcp() {
  const { McpServer } = await import("@modelcontextprotocol/sdk/server/mcp.js");
  const { StreamableHTTPServerTransport } = await import("@modelcontextprotocol/sdk/server/streamableHttp.js");
  const { z } = await import("zod");
  return async (request, response) => {
    const server = new McpServer({ name: "tides", version: "1.0.0" });
    const inputSchema = { question: z.string() };
    server.registerTool("ask", { description: "Answers a question.", inputSchema }, async ({ question }) => ({
      content: [{ type: "text", text: `You asked: ${question}` }],
    }));
    const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined });
    response.on("close", () => server.close());
    await server.connect(transport);
    await transport.handleRequest(request, response);
  };
}

const [name] = process.argv.slice(2);
const [answer, path] = name === "mcp" ? [await mcp(), "/mcp"] : [await aiSdk(name), "/api/chat"];
const server = createServer((request, response) => {
  // As routers of frameworks do.
  if (request.url !== path || request.method !== "POST") {
    response.statusCode = request.url === path ? 405 : 404;
    return response.end();
  }
  answer(request, response).catch((error) => {
    // What Express does without a handler of errors.
    if (!response.headersSent) response.statusCode = 500;
    response.end(error.message);
  });
});
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
