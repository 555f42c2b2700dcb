// Pages in Chromium that are reloaded in the middle of an answer, or whose connections the servers break, as the option
// `reconnect=1` of the servers does: browser.mjs ONE OTHER [broken]. Every request goes to the other server than the one before.
import { mkdirSync } from 'node:fs';
import { createServer, request } from 'node:http';
import { build } from 'esbuild';
import { chromium } from 'playwright-core';

const servers = process.argv.slice(2, 4);
const isBroken = process.argv[4] === 'broken';
const shots = new URL('./screenshots/', import.meta.url).pathname;
mkdirSync(shots, { recursive: true });
const same = (found, expected) => {
  const [left, right] = [JSON.stringify(found), JSON.stringify(expected)];
  if (left !== right) throw new Error(`${left} instead of ${right}`);
};
const numbers = (count) => Array.from({ length: count }, (_, number) => ` ${number}`).join('');

/** A page of a user of its own, and the answers that its requests got. */
class Tab {
  constructor(page, name) {
    Object.assign(this, { page, name, answers: [], faults: [] });
    page.on('pageerror', (error) => this.faults.push(error.message));
    page.on('response', (response) => {
      const { pathname } = new URL(response.url());
      if (pathname !== '/') this.answers.push(`${response.request().method()} ${pathname} ${response.status()}`);
    });
  }

  async send(prompt) {
    await this.ready();
    await this.page.locator('input').fill(prompt);
    await this.page.keyboard.press('Enter');
  }

  ready() {
    return this.page.locator('output', { hasText: 'ready' }).waitFor();
  }

  /** Waits until the answer has come to a number or beyond, and returns where it is. */
  async counts(number) {
    const last = await this.page.waitForFunction((number) => {
      const last = Number(document.querySelector('.assistant')?.textContent.split(' ').at(-1));
      return last >= number && last;
    }, number);
    return last.jsonValue();
  }

  /** Waits for the end of the answer, the only one, and returns it. */
  async answer() {
    await this.ready();
    same(await this.page.getByRole('alert').allInnerTexts(), []);
    const [answer, ...more] = await this.page.locator('.assistant').allTextContents();
    same(more, []);
    return answer;
  }

  /** Waits for some answers, and a moment for one too many. */
  async requests(count) {
    for (let round = 0; this.answers.length < count && round < 100; round += 1) await this.page.waitForTimeout(50);
    await this.page.waitForTimeout(300);
    return this.answers;
  }

  shot(name) {
    return this.page.screenshot({ path: `${shots}${this.name}-${name}.png`.replaceAll(/,? /g, '-') });
  }
}

const GET = 'GET /api/chat/c/stream';

/** Reloads in the middle of an answer, a few times, and then after its end. */
async function reload(tab, times) {
  const count = 75 * (times + 1);
  await tab.send(`count ${count} 40`);
  let last = await tab.counts(9);
  const run = (await tab.page.locator('.assistant').textContent()).slice(0, 13);
  for (let time = 1; time <= times; time += 1) {
    await tab.page.reload();
    last = await tab.counts(last + 10);
  }
  await tab.shot('resumed');
  same(await tab.answer(), run + numbers(count));
  const resumed = Array(times).fill(`${GET} 200`);
  same(await tab.requests(2 + times), [`${GET} 204`, 'POST /api/chat 200', ...resumed]);
  // The reply is sent again, and shown once.
  await tab.page.reload();
  same((await tab.requests(3 + times)).slice(2 + times), [`${GET} 200`]);
  same(await tab.answer(), run + numbers(count));
  await tab.shot('after the end');
}

/** Resumes after each broken connection, without being reloaded. */
async function broken(tab) {
  await tab.send('count 100 40');
  await tab.counts(9);
  const run = (await tab.page.locator('.assistant').textContent()).slice(0, 13);
  await tab.counts(99);
  same(await tab.answer(), run + numbers(100));
  const [first, posted, ...resumed] = await tab.requests(4);
  same([first, posted], [`${GET} 204`, 'POST /api/chat 200']);
  if (resumed.length < 2 || resumed.some((answer) => answer !== `${GET} 200`)) throw new Error(`${resumed}`);
  await tab.shot('broken');
}

const cases = isBroken ? {
  'broken every second, the question is stored': { run: broken },
  'broken every second, half of the answer is stored': { stores: 'parts', run: broken },
} : {
  'reloaded, the question is stored': { run: (tab) => reload(tab, 1) },
  'reloaded, half of the answer is stored': { stores: 'parts', run: (tab) => reload(tab, 1) },
  'reloaded five times': { stores: 'parts', run: (tab) => reload(tab, 5) },
  'stopped after the reload': {
    run: async (tab) => {
      await tab.send('count 100000 40');
      const last = await tab.counts(9);
      await tab.page.reload();
      await tab.counts(last + 10);
      await tab.page.getByRole('button', { name: 'Stop' }).click();
      const stopped = await tab.answer();
      await tab.shot('stopped');
      const answers = [`${GET} 204`, 'POST /api/chat 200', `${GET} 200`, 'POST /api/chat/c/stop 204'];
      same(await tab.requests(4), answers);
      same(await tab.answer(), stopped);
      // Where the page closed its connection before the end, it gets what the agent had said until then.
      await tab.page.reload();
      await tab.requests(5);
      const whole = await tab.answer();
      if (!whole.startsWith(stopped) || whole.length > stopped.length + 100) throw new Error(`${stopped}, then ${whole}`);
      await tab.page.reload();
      same((await tab.requests(6)).slice(4), [`${GET} 200`, `${GET} 200`]);
      same(await tab.answer(), whole);
    },
  },
};

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM,
  // No sandbox: CI runs as root. The rest stops the browser's own requests.
  args: ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
});

// The one address of all pages, in front of both servers.
let html;
const turns = new Map();
const front = createServer((asked, answer) => {
  if (!asked.url.startsWith('/api/')) return answer.setHeader('content-type', 'text/html').end(html);
  const { method, headers } = asked;
  const turn = turns.get(headers.authorization) ?? 0;
  turns.set(headers.authorization, turn + 1);
  const sent = request(servers[turn % 2] + asked.url, { method, headers }, (answered) => {
    answer.writeHead(answered.statusCode, answered.headers).flushHeaders();
    answered.on('error', () => answer.destroy()).pipe(answer);
  });
  sent.on('error', () => answer.destroy());
  answer.on('close', () => sent.destroy());
  asked.pipe(sent);
});
await new Promise((resolve) => front.listen(0, '127.0.0.1', resolve));
const address = `http://127.0.0.1:${front.address().port}/`;

let failed = 0;
for (const version of ['5', '6', '7']) {
  const { outputFiles: [{ text }] } = await build({
    // Aliases are resolved there.
    absWorkingDir: new URL('.', import.meta.url).pathname,
    entryPoints: ['page.jsx'],
    bundle: true,
    write: false,
    jsx: 'automatic',
    alias: { '@ai-sdk/react': `ai-${version}` },
    define: { 'process.env.NODE_ENV': '"production"' },
  });
  html = `<!doctype html><meta charset="utf-8"><body></body><script>${text.replaceAll('</script', '<\\/script')}</script>`;
  await Promise.all(
    Object.entries(cases).map(async ([name, { stores = 'whole', run }]) => {
      const authorization = `Bearer ${version} ${name}`;
      const own = await browser.newContext({ viewport: { width: 700, height: 400 }, extraHTTPHeaders: { authorization } });
      const tab = new Tab(await own.newPage(), `ai ${version} ${name}`);
      const open = tab.page.goto(`${address}?c&${stores}`).then(() => run(tab));
      let fault = await open.then(() => null, (error) => error);
      if (tab.faults.length > 0) fault ??= new Error(`errors on the page: ${tab.faults}`);
      if (fault) await tab.shot('failed');
      console.log(`Chromium, ai ${version}, ${name}: ${fault ? `NO: ${fault.stack}` : 'yes'}`);
      failed += fault !== null;
      await own.close();
    }),
  );
}
await browser.close();
front.close();
process.exit(failed ? 1 : 0);
