// The example "hello world" of GitHub's SDK, on a free port.

import { createServer } from "node:http";

import { createDoneEvent, createTextEvent } from "@copilot-extensions/preview-sdk";

const server = createServer((request, response) => {
  if (request.method === "GET") {
    return response.end("ok");
  }
  response.write(createTextEvent("Hello, world!"));
  response.end(createDoneEvent());
});
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
