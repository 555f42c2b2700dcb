// Starts the server, serves the pages from another origin, and goes through the cases with each page.
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { chromium } from 'playwright-core';
import { cases, PAGES } from './cases.mjs';

const [program, folder, only = ''] = process.argv.slice(2);
const shots = new URL('./screenshots/', import.meta.url).pathname;
mkdirSync(shots, { recursive: true });

const agent = spawn(program, ['0'], { stdio: ['ignore', 'pipe', 'inherit'] });
process.on('exit', () => agent.kill());
const [line] = await createInterface({ input: agent.stdout })[Symbol.asyncIterator]().next().then(({ value }) => [value]);
const port = Number(line.match(/:(\d+)$/)[1]);

const TYPES = { html: 'text/html', css: 'text/css', js: 'text/javascript' };
const files = createServer((request, response) => {
  const name = new URL(request.url, 'http://localhost').pathname.slice(1);
  try {
    response.setHeader('content-type', TYPES[name.split('.').at(-1)]);
    response.end(readFileSync(join(folder, name)));
  } catch {
    response.writeHead(404).end();
  }
});
await new Promise((resolve) => files.listen(0, '127.0.0.1', resolve));

// Both ports are free ones. The browser finds them under the addresses that are written in the pages.
const rules = `MAP 127.0.0.1:7777 127.0.0.1:${port},MAP localhost:3000 127.0.0.1:${files.address().port}`;
const home = mkdtempSync(join(tmpdir(), 'chat-pages-'));
const context = await chromium.launchPersistentContext(home, {
  executablePath: process.env.CHROMIUM,
  // No sandbox: CI runs as root. The rest stops the browser's own requests.
  args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync', `--host-resolver-rules=${rules}`],
});

/** One page, used as a person would. */
class Tab {
  constructor(page, { path, post }, name) {
    Object.assign(this, { page, path, post, name, posts: [], faults: [] });
    page.on('request', (request) => {
      if (request.method() === 'POST') this.posts.push(JSON.parse(request.postData()));
    });
    page.on('pageerror', (error) => this.faults.push(error.message));
  }

  /** Sends and waits for the end of the answer. */
  async ask(text) {
    await this.send(text);
    await this.done();
  }

  async send(text) {
    await this.page.getByLabel('Message').fill(text);
    await this.page.keyboard.press('Enter');
  }

  async done() {
    await this.page.getByRole('button', { name: 'Send' }).waitFor();
  }

  text() {
    return this.page.getByRole('log').innerText();
  }

  async shows(text) {
    await this.page.getByRole('log').getByText(text).waitFor();
  }

  async shot(name) {
    await this.page.screenshot({ path: join(shots, `${this.name}-${name}.png`) });
  }
}

const found = new Map();
for (const [name, place] of Object.entries(PAGES)) {
  for (const [title, { options, run }] of Object.entries(cases)) {
    if (!title.includes(only)) continue;
    const own = await context.browser().newContext({ viewport: { width: 900, height: 760 }, timezoneId: 'Europe/Paris', ...options });
    own.setDefaultTimeout(20_000);
    const tab = new Tab(await own.newPage(), place, name);
    let fault = null;
    try {
      await tab.page.goto(`http://localhost:3000/${place.path}`);
      await run(tab);
      if (tab.faults.length > 0) throw new Error(`errors on the page: ${tab.faults}`);
    } catch (error) {
      fault = error.message.split('\n')[0];
      await tab.shot('failed').catch(() => {});
    }
    await own.close();
    found.set(title, [...(found.get(title) ?? []), fault]);
  }
}
await context.close();
files.close();
rmSync(home, { recursive: true, force: true });

console.log(`| situation | ${Object.keys(PAGES).join(' | ')} |\n|---|---|---|`);
for (const [title, faults] of found) console.log(`| ${title} | ${faults.map((fault) => (fault ? `NO: ${fault}` : 'yes')).join(' | ')} |`);
const all = [...found.values()].flat();
const failed = all.filter(Boolean).length;
console.log(`\n${all.length - failed} passed, ${failed} failed`);
process.exit(failed > 0 || all.length === 0 ? 1 : 0);
