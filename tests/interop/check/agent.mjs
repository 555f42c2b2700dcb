// An agent for GitHub Copilot, written as the README of GitHub's SDK has it: it verifies, repeats the
// prompt, and passes on the stream of a model, which here is in this file.

import { createServer } from "node:http";

import {
  createAckEvent,
  createDoneEvent,
  createReferencesEvent,
  createTextEvent,
  getUserMessage,
  verifyAndParseRequest,
} from "@copilot-extensions/preview-sdk";

const keys = JSON.parse(process.argv[2]).public_keys;

// What `prompt.stream` hands out: the bytes of the model.
const MODEL = [{ role: "assistant", content: "" }, { content: "A closure" }, {}].map((delta, at) => {
  const choices = [{ index: 0, delta, finish_reason: at === 2 ? "stop" : null }];
  return `data: ${JSON.stringify({ id: "chatcmpl-1", object: "chat.completion.chunk", choices })}\n\n`;
});

async function answer(request, response) {
  if (request.method !== "POST") {
    return response.end("ok");
  }
  let body = "";
  for await (const chunk of request) body += chunk;
  const signature = String(request.headers["github-public-key-signature"]);
  const keyId = String(request.headers["github-public-key-identifier"]);
  const { isValidRequest, payload } = await verifyAndParseRequest(body, signature, keyId, {
    // In place of GitHub's key endpoint.
    request: async () => ({ headers: {}, data: { public_keys: keys } }),
  });
  if (!isValidRequest) {
    response.statusCode = 401;
    return response.end("Request could not be verified");
  }
  response.write(createAckEvent());
  const prompt = getUserMessage(payload);
  if (prompt.includes("closure")) {
    for (const chunk of MODEL) response.write(chunk);
    response.write("data: [DONE]\n\n");
  } else {
    response.write(createTextEvent(prompt));
    response.write(createReferencesEvent([{ type: "blackbeard.story", id: "snippet" }]));
  }
  response.end(createDoneEvent());
}

const server = createServer((request, response) => {
  answer(request, response).catch((error) => {
    if (!response.headersSent) response.statusCode = 500;
    response.end(error.message);
  });
});
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
