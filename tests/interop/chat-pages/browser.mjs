// Starts the server, serves the pages from another origin, and goes through the cases with each page.
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { chromium } from 'playwright-core';
import { cases, PAGES, SHUTDOWN } from './cases.mjs';

const [program, folder, only = ''] = process.argv.slice(2);
const shots = new URL('./screenshots/', import.meta.url).pathname;
mkdirSync(shots, { recursive: true });

const agent = spawn(program, ['0'], { stdio: ['ignore', 'pipe', 'inherit'] });
process.on('exit', () => agent.kill());
const stopped = new Promise((resolve) => agent.once('exit', resolve));
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

// nginx in front, with the location of the guide.
const home = mkdtempSync(join(tmpdir(), 'chat-pages-'));
const free = createServer().listen(0, '127.0.0.1');
await new Promise((resolve) => free.once('listening', resolve));
const front = free.address().port;
await new Promise((resolve) => free.close(resolve));
const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${home}/${name};`).join(' ');
// As in the guide's chapters on servers and WebSockets.
const location = `proxy_pass http://127.0.0.1:${port}; proxy_http_version 1.1; client_max_body_size 32m; proxy_set_header host $http_host; proxy_set_header upgrade $http_upgrade; proxy_set_header connection $connection_upgrade;`;
const map = 'map $http_upgrade $connection_upgrade { default upgrade; "" ""; }';
writeFileSync(join(home, 'nginx.conf'), `daemon off; pid ${home}/nginx.pid; error_log ${home}/error.log; events {} http { ${temporary} access_log off; ${map} server { listen 127.0.0.1:${front}; location / { ${location} } } }`);
const nginx = spawn(process.env.PROXY, ['-p', home, '-c', join(home, 'nginx.conf')], { stdio: 'inherit' });
process.on('exit', () => nginx.kill());

// Both ports are free ones. The browser finds them under the addresses that are written in the pages.
const rules = `MAP 127.0.0.1:7777 127.0.0.1:${front},MAP localhost:3000 127.0.0.1:${files.address().port}`;
const context = await chromium.launchPersistentContext(join(home, 'browser'), {
  executablePath: process.env.CHROMIUM,
  // No sandbox: CI runs as root. The rest stops the browser's own requests.
  args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync', `--host-resolver-rules=${rules}`],
});

/** One page, used as a person would. */
class Tab {
  constructor(page, { path, post, socket = false }, name) {
    // `posts` has the messages with which a socket sends a turn, too.
    Object.assign(this, { page, path, post, socket, name, posts: [], sockets: [], aborts: 0, faults: [] });
    page.on('request', (request) => {
      if (request.method() === 'POST') this.posts.push(JSON.parse(request.postData()));
    });
    page.on('websocket', (opened) => {
      this.sockets.push(opened);
      opened.on('framesent', ({ payload }) => {
        const message = JSON.parse(payload);
        if (message.type === 'send') this.posts.push(message);
        if (message.type === 'abort') this.aborts += 1;
      });
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

/** Opens a page in a browser context of its own. */
async function open(name, place, options) {
  const own = await context.browser().newContext({ viewport: { width: 900, height: 760 }, timezoneId: 'Europe/Paris', ...options });
  own.setDefaultTimeout(20_000);
  const tab = new Tab(await own.newPage(), place, name);
  await tab.page.goto(`http://localhost:3000/${place.path}`);
  return tab;
}

/** Runs a case with an open page, and notes its fault. */
async function judge(title, tab, run) {
  let fault = null;
  try {
    await run(tab);
    if (tab.faults.length > 0) throw new Error(`errors on the page: ${tab.faults}`);
  } catch (error) {
    fault = error.message.split('\n')[0];
    await tab.shot('failed').catch(() => {});
  }
  await tab.page.context().close();
  found.set(title, [...(found.get(title) ?? []), fault]);
}

const found = new Map();
for (const [name, place] of Object.entries(PAGES)) {
  for (const [title, { options, run, socket = run }] of Object.entries(cases)) {
    if (title.includes(only)) await judge(title, await open(name, place, options), place.socket ? socket : run);
  }
}
// Last, and on both pages at once: the server is gone then.
if (SHUTDOWN.title.includes(only)) {
  const tabs = await Promise.all(Object.entries(PAGES).map(([name, place]) => open(name, place)));
  await Promise.all(tabs.map(SHUTDOWN.begin));
  agent.kill('SIGTERM');
  await Promise.all(tabs.map((tab) => judge(SHUTDOWN.title, tab, SHUTDOWN.run)));
  console.log(`the server ended with status ${await stopped}`);
}
await context.close();
files.close();
rmSync(home, { recursive: true, force: true });

console.log(`| situation | ${Object.keys(PAGES).join(' | ')} |\n|---|---|---|---|`);
for (const [title, faults] of found) console.log(`| ${title} | ${faults.map((fault) => (fault ? `NO: ${fault}` : 'yes')).join(' | ')} |`);
const all = [...found.values()].flat();
const failed = all.filter(Boolean).length;
console.log(`\n${all.length - failed} passed, ${failed} failed`);
process.exit(failed > 0 || all.length === 0 ? 1 : 0);
