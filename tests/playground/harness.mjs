// Starts the stage and a browser, runs cases, counts them.

import { spawn } from "node:child_process";
import { mkdtempSync, mkdirSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { chromium } from "playwright-core";

export const SHOTS = new URL("./screenshots/", import.meta.url).pathname;

const cases = [];

/** Registers a case: `check` gets a fresh page on the playground. */
export function test(name, check, options = {}) {
  cases.push({ name, check, options });
}

export function equal(found, expected, what = "value") {
  const [one, two] = [JSON.stringify(found), JSON.stringify(expected)];
  if (one !== two) throw new Error(`${what}: ${one} instead of ${two}`);
}

export function ok(condition, what) {
  if (!condition) throw new Error(what);
}

/** A server that must hear of nothing. */
export async function canary() {
  const heard = [];
  const server = createServer((request, response) => {
    heard.push(request.url);
    response.end("");
  });
  server.on("connection", () => heard.push("a connection"));
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { address: `http://127.0.0.1:${server.address().port}`, heard, close: () => server.close() };
}

async function stage() {
  const child = spawn(process.env.STAGE, { stdio: ["pipe", "pipe", "inherit"] });
  const lines = createInterface({ input: child.stdout });
  const { value } = await lines[Symbol.asyncIterator]().next();
  return { address: value, stop: () => child.stdin.end() };
}

/** One page of the playground, driven as a person would. */
export class Playground {
  constructor(page, address) {
    this.page = page;
    this.address = address;
    this.posts = [];
    this.faults = [];
    page.on("request", (request) => {
      if (request.method() === "POST") this.posts.push({ url: request.url(), headers: request.headers(), body: JSON.parse(request.postData()) });
    });
    page.on("pageerror", (error) => this.faults.push(error.message));
  }

  async open(front) {
    await this.page.goto(this.address);
    await this.page.getByLabel("Front end", { exact: true }).selectOption(front);
  }

  /** Answers every POST to `path` with these bytes, all at once. */
  async answers(path, body) {
    await this.page.route(`**${path}`, (route) => route.fulfill({ contentType: "text/event-stream", body }));
  }

  async send(text) {
    await this.page.getByLabel("Message", { exact: true }).fill(text);
    await this.page.keyboard.press("Enter");
  }

  /** Sends and waits for the end of the answer. */
  async ask(text) {
    await this.send(text);
    await this.done();
  }

  async done() {
    await this.page.locator('.answer[aria-busy="true"]').waitFor({ state: "detached" });
  }

  answer() {
    return this.page.locator(".answer").last();
  }

  said() {
    return this.answer().locator(".parts").innerText();
  }

  events() {
    return this.page.locator(".events li .name").allInnerTexts();
  }

  async shot(name) {
    await this.page.screenshot({ path: join(SHOTS, `${name}.png`) });
  }
}

export async function run() {
  mkdirSync(SHOTS, { recursive: true });
  const home = mkdtempSync(join(tmpdir(), "playground-"));
  const server = await stage();
  const context = await chromium.launchPersistentContext(home, {
    executablePath: process.env.CHROMIUM,
    headless: true,
    // No sandbox: CI runs as root. The rest keeps the browser from calling its maker.
    args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
  });
  const browser = context.browser();
  const only = process.argv[2];
  let [passed, failed] = [0, 0];
  for (const { name, check, options } of cases.filter(({ name }) => !only || name.includes(only))) {
    const own = await browser.newContext({ viewport: { width: 1360, height: 860 }, reducedMotion: "reduce", ...options });
    own.setDefaultTimeout(30_000);
    const page = await own.newPage();
    const playground = new Playground(page, server.address);
    try {
      await check(playground);
      equal(playground.faults, [], "errors on the page");
      passed += 1;
      console.log(`ok   ${name}`);
    } catch (error) {
      failed += 1;
      console.log(`FAIL ${name}\n     ${error.message}`);
      await playground.shot(`failed-${failed}`).catch(() => {});
    }
    await own.close();
  }
  await context.close();
  server.stop();
  rmSync(home, { recursive: true, force: true });
  console.log(`${passed} passed, ${failed} failed`);
  process.exit(failed > 0 || passed === 0 ? 1 : 0);
}
