// What a Node agent for GitHub Copilot looks like: node:http and preview-sdk.
//
//     WORDS=words.json node node_server.mjs 8000

import { createServer } from "node:http";
import { readFileSync } from "node:fs";
import { createAckEvent, createDoneEvent, createTextEvent, parseRequestBody } from "@copilot-extensions/preview-sdk";

const words = JSON.parse(readFileSync(process.env.WORDS, "utf8"));

createServer((request, response) => {
  const pieces = [];
  request.on("data", (piece) => pieces.push(piece));
  request.on("end", () => {
    parseRequestBody(Buffer.concat(pieces).toString());
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(createAckEvent());
    for (const word of words) response.write(createTextEvent(word));
    response.end(createDoneEvent());
  });
}).listen(Number(process.argv[2]), "127.0.0.1");
