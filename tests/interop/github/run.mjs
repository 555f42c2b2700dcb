// GitHub's SDK and Node's crypto against this crate: signatures in both directions, requests that
// this crate has written, events byte for byte.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createHash, createSign, generateKeyPairSync, randomBytes } from "node:crypto";
import { readFileSync, readdirSync } from "node:fs";
import { createInterface } from "node:readline";
import * as sdk from "@copilot-extensions/preview-sdk";

const fixtures = new URL("../../../fixtures/github-copilot/", import.meta.url);
const read = (name) => readFileSync(new URL(name, fixtures), "utf8");

const peer = spawn(process.argv[2], [], {
  stdio: ["pipe", "pipe", "inherit"],
});
const lines = createInterface({ input: peer.stdout })[Symbol.asyncIterator]();

/** Has the crate do something. */
async function ask(command) {
  peer.stdin.write(`${JSON.stringify(command)}\n`);
  const { value, done } = await lines.next();
  assert(!done, "the crate's side is gone");
  const answer = JSON.parse(value);
  if (answer?.error) throw new Error(answer.error);
  return answer;
}

/** A key endpoint for the SDK, in place of api.github.com. */
const endpoint = (document) => {
  const request = async () => ({ status: 200, headers: { etag: '"1"' }, data: document });
  request.defaults = () => request;
  return request;
};

const requests = readdirSync(fixtures)
  .filter((name) => name.startsWith("req-") && name !== "req-expected.json")
  .map((name) => [name, read(name)]);
const bodies = [
  ...requests,
  ["unicode", JSON.stringify({ messages: [{ role: "user", content: "h\u00e9llo \u2028 \u{1f3f4}\u0000" }] })],
  ["large", JSON.stringify({ messages: [{ role: "user", content: "x".repeat(1 << 20) }] })],
];

let seed = 7;
const random = (below) => {
  seed = (seed * 1103515245 + 12345) % 2147483648;
  return seed % below;
};
const word = () => {
  const alphabet = ["a", "Z", "0", "9", '"', "\\", "/", "\n", "\r", "\t", "\u0001", "\u007f", "\u2028", "\u00e9", "\u{1f3f4}", " "];
  return Array.from({ length: random(8) }, () => alphabet[random(alphabet.length)]).join("");
};
const key = () => [word, () => String(random(20)), () => "id", () => `0${random(9)}`][random(4)]();
const value = (depth) => {
  const kinds = [word, () => random(1000), () => true, () => null];
  if (depth > 0) {
    kinds.push(() => Array.from({ length: random(3) }, () => value(depth - 1)));
    kinds.push(() => object(depth - 1));
  }
  return kinds[random(kinds.length)]();
};
const object = (depth) =>
  Object.fromEntries(Array.from({ length: random(5) }, () => [key(), value(depth)]));

const tests = {
  async "the SDK verifies what the crate signs"() {
    const keys = await ask({ do: "keys" });
    const [entry] = keys.public_keys;
    assert.equal(entry.key_identifier, createHash("sha256").update(entry.key).digest("hex"));
    for (const [name, body] of bodies) {
      const { identifier, signature, pem } = await ask({ do: "sign", body });
      assert.equal(pem, entry.key);
      assert.equal(await sdk.verifyRequest(body, signature, pem), true, name);
      assert.equal(await sdk.verifyRequest(`${body} `, signature, pem), false, name);
      const request = endpoint(keys);
      const both = await sdk.verifyAndParseRequest(body, signature, identifier, { request });
      assert.equal(both.isValidRequest, true, name);
      assert.deepEqual(both.payload, JSON.parse(body), name);
    }
  },

  async "the crate verifies what Node signs"() {
    const pair = () => {
      const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "prime256v1" });
      const pem = publicKey.export({ type: "spki", format: "pem" });
      return { pem, privateKey, identifier: createHash("sha256").update(pem).digest("hex") };
    };
    const sign = (body, { privateKey }) => createSign("SHA256").update(body).sign(privateKey, "base64");
    const [one, two] = [pair(), pair()];
    const keys = JSON.stringify({
      public_keys: [one, two].map(({ pem, identifier }) => ({
        key_identifier: identifier,
        key: pem,
        is_current: false,
      })),
    });
    const verify = (body, { identifier }, signature) =>
      ask({ do: "verify", body, identifier, signature, keys });
    for (const [name, body] of bodies) {
      const signature = sign(body, one);
      assert.equal(await verify(body, one, signature), "accepted", name);
      assert.equal(await verify(`${body} `, one, signature), "signature-mismatch", name);
      assert.equal(await verify(body, two, signature), "signature-mismatch", name);
      assert.equal(await verify(body, pair(), signature), "unknown-key-identifier", name);
    }
    // High and low s, short integers: some of each come up in this many.
    for (let round = 0; round < 500; round += 1) {
      const body = randomBytes(32).toString("hex");
      assert.equal(await verify(body, two, sign(body, two)), "accepted", body);
    }
  },

  async "the SDK reads the requests that the crate writes"() {
    // What the SDK throws on, it throws on before and after.
    const attempt = (call) => {
      try {
        return { value: call() };
      } catch (error) {
        return { error: error.message };
      }
    };
    const functions = [
      sdk.getUserMessage,
      sdk.getUserConfirmation,
      sdk.transformPayloadForOpenAICompatibility,
    ];
    for (const [name, body] of bodies) {
      const { written, openai } = await ask({ do: "request", body });
      const [before, after] = [sdk.parseRequestBody(body), sdk.parseRequestBody(written)];
      assert.deepEqual(after, before, name);
      for (const call of functions) {
        assert.deepEqual(attempt(() => call(after)), attempt(() => call(before)), name);
      }
      // What the SDK keeps for a model, the crate keeps.
      const theirs = JSON.parse(JSON.stringify(sdk.transformPayloadForOpenAICompatibility(before)));
      JSON.parse(openai).messages.forEach((message, index) => {
        for (const [member, wanted] of Object.entries(theirs.messages[index])) {
          assert.deepEqual(message[member], wanted, `${name}: ${member}`);
        }
      });
    }
  },

  async "text events have the same bytes"() {
    for (let round = 0; round < 300; round += 1) {
      const text = word() + word();
      assert.equal(await ask({ do: "text", text }), sdk.createTextEvent(text));
    }
    assert.equal(await ask({ do: "text", text: "" }), sdk.createAckEvent());
  },

  async "confirmation events have the same bytes"() {
    for (let round = 0; round < 300; round += 1) {
      const question = { id: `q${word()}`, title: `t${word()}`, message: `m${word()}` };
      if (random(4) > 0) question.metadata = object(2);
      const metadata = question.metadata && JSON.stringify(question.metadata);
      const event = await ask({ do: "confirmation", ...question, metadata });
      assert.equal(event, sdk.createConfirmationEvent(question));
    }
  },

  async "references and the ending have the same bytes"() {
    const names = ["One", 'Two "quoted"'];
    const references = names.map((display_name, id) => ({
      type: "interop.test",
      id: String(id),
      data: {},
      is_implicit: false,
      metadata: { display_name },
    }));
    assert.equal(await ask({ do: "references", names }), sdk.createReferencesEvent(references));
    assert.equal(await ask({ do: "done" }), sdk.createDoneEvent());
  },
};

let [passed, failed] = [0, 0];
for (const [name, test] of Object.entries(tests)) {
  try {
    await test();
    passed += 1;
    console.log(`ok      ${name}`);
  } catch (error) {
    failed += 1;
    console.log(`FAILED  ${name}\n${error.stack}`);
  }
}
peer.stdin.end();
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 ? 1 : 0;
