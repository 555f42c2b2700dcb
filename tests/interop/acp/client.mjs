// Goes through every situation with the official client for Node. Prints one JSON line for each.
import { strict as assert } from "node:assert";
import { spawn } from "node:child_process";
import { Readable, Writable } from "node:stream";
import { client, methods, ndJsonStream, PROTOCOL_VERSION } from "@agentclientprotocol/sdk";

const [program, store] = process.argv.slice(2);

// Starts the agent, and runs a situation with it.
async function withAgent(run, permission = () => "yes") {
  const agent = spawn(program, [store], { stdio: ["pipe", "pipe", "ignore"] });
  const ended = new Promise((resolve) => agent.on("exit", resolve));
  const seen = [];
  const app = client({ name: "interop" });
  app.onNotification(methods.client.session.update, ({ params }) => {
    seen.push(params);
  });
  app.onRequest(methods.client.session.requestPermission, async ({ params }) => {
    seen.push({ permission: params });
    const optionId = await permission(params);
    return { outcome: optionId ? { outcome: "selected", optionId } : { outcome: "cancelled" } };
  });
  const stream = ndJsonStream(Writable.toWeb(agent.stdin), Readable.toWeb(agent.stdout));
  try {
    await app.connectWith(stream, async (context) => {
      const hello = await context.request(methods.agent.initialize, {
        protocolVersion: PROTOCOL_VERSION,
        clientCapabilities: {},
      });
      assert.equal(hello.protocolVersion, 1);
      const editor = {
        seen,
        hello,
        request: (method, params) => context.request(method, params),
        notify: (method, params) => context.notify(method, params),
        session: async () => {
          const folders = { cwd: process.cwd(), mcpServers: [] };
          return (await context.request(methods.agent.session.new, folders)).sessionId;
        },
        prompt: (sessionId, text) =>
          context.request(methods.agent.session.prompt, { sessionId, prompt: [{ type: "text", text }] }),
        text: (sessionId) =>
          seen
            .filter((it) => it.sessionId === sessionId && it.update.sessionUpdate === "agent_message_chunk")
            .map((it) => it.update.content.text)
            .join(""),
        until: async (found) => {
          while (!seen.some(found)) await new Promise((resolve) => setTimeout(resolve, 5));
        },
      };
      await run(editor);
    });
  } finally {
    agent.stdin.end();
    await ended;
  }
}

const kinds = (editor) => editor.seen.filter((it) => it.update).map((it) => it.update.sessionUpdate);
const cases = {
  "a turn": () =>
    withAgent(async (editor) => {
      const id = await editor.session();
      assert.equal((await editor.prompt(id, "hi")).stopReason, "end_turn");
      assert.equal(editor.text(id), "You said: hi");
    }),
  "steps and tools": () =>
    withAgent(async (editor) => {
      const id = await editor.session();
      await editor.prompt(id, "tool");
      for (const kind of ["agent_thought_chunk", "tool_call", "tool_call_update", "agent_message_chunk"]) {
        assert.ok(kinds(editor).includes(kind), kind);
      }
      const run = editor.seen.find((it) => it.update?.rawInput).update;
      assert.deepEqual([run.rawInput, run.rawOutput, run.status], [{ symbol: "A" }, { price: 1 }, "completed"]);
    }),
  "permission granted": () => permission("yes", "deleted"),
  "permission refused": () => permission("no", "kept"),
  "permission cancelled": () => permission(null, "The question was not answered, so nothing was done."),
  "cancelled in mid-answer": () =>
    withAgent(async (editor) => {
      const id = await editor.session();
      const turn = editor.prompt(id, "hang");
      await editor.until((it) => it.update?.content?.text === "half");
      await editor.notify(methods.agent.session.cancel, { sessionId: id });
      assert.equal((await turn).stopReason, "cancelled");
    }),
  "two sessions at once": () =>
    withAgent(async (editor) => {
      const [first, second] = [await editor.session(), await editor.session()];
      const turn = editor.prompt(first, "hang");
      await editor.prompt(second, "hi");
      assert.equal(editor.text(second), "You said: hi");
      await editor.notify(methods.agent.session.cancel, { sessionId: first });
      assert.equal((await turn).stopReason, "cancelled");
    }),
  "loaded after a restart": async () => {
    let id;
    await withAgent(async (editor) => {
      id = await editor.session();
      await editor.prompt(id, "tool");
    });
    await withAgent(async (editor) => {
      const folders = { sessionId: id, cwd: process.cwd(), mcpServers: [] };
      await editor.request(methods.agent.session.load, folders);
      assert.equal(editor.text(id), "It costs 1.");
      assert.ok(kinds(editor).includes("user_message_chunk"));
      const { sessions } = await editor.request(methods.agent.session.list, {});
      assert.equal(sessions.find((it) => it.sessionId === id).title, "tool");
    });
    await withAgent(async (editor) => {
      const folders = { sessionId: id, cwd: process.cwd(), mcpServers: [] };
      await editor.request(methods.agent.session.resume, folders);
      assert.deepEqual(editor.seen, []);
      await editor.prompt(id, "history");
      assert.equal(editor.text(id), "tool|It costs 1.|history");
      await editor.request(methods.agent.session.delete, { sessionId: id });
    });
  },
  "failure before an answer": () => failure("fail", ""),
  "failure in an answer": () => failure("fail late", "half"),
  "output of the agent itself": () =>
    withAgent(async (editor) => {
      const id = await editor.session();
      await editor.prompt(id, "print");
      assert.equal(editor.text(id), "printed");
    }),
};

function permission(answer, text) {
  const run = async (editor) => {
    const id = await editor.session();
    const turn = await editor.prompt(id, "delete");
    assert.equal(turn.stopReason, "end_turn");
    assert.equal(editor.text(id), text);
    const asked = editor.seen.find((it) => it.permission).permission;
    assert.equal(asked.toolCall.title, "Delete the log? It is lost for ever.");
  };
  return withAgent(run, () => answer);
}

function failure(prompt, text) {
  return withAgent(async (editor) => {
    const id = await editor.session();
    await assert.rejects(editor.prompt(id, prompt), /The market is closed\./);
    assert.equal(editor.text(id), text);
    await editor.prompt(id, "hi");
  });
}

for (const [name, run] of Object.entries(cases)) {
  let fault = null;
  try {
    await Promise.race([
      run(),
      new Promise((_, reject) => setTimeout(() => reject(new Error("no end within 20 s")), 20_000).unref()),
    ]);
  } catch (error) {
    fault = String(error.message ?? error).slice(0, 300);
  }
  console.log(JSON.stringify({ name, fault }));
}
process.exit(0);
