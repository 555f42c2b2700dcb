// What must work on both pages, and on the one on the AI SDK over a WebSocket too.

export const PAGES = {
  'ai-sdk': { path: 'ai-sdk.html', post: 'http://127.0.0.1:7777/api/chat' },
  'ai-sdk over a WebSocket': { path: 'ai-sdk.html?socket', post: 'http://127.0.0.1:7777/api/chat', socket: true },
  'ag-ui': { path: 'ag-ui.html', post: 'http://127.0.0.1:7777/agui' },
};

const same = (found, expected) => {
  const [one, two] = [JSON.stringify(found), JSON.stringify(expected)];
  if (one !== two) throw new Error(`${one} instead of ${two}`);
};
const ok = (holds, what) => {
  if (!holds) throw new Error(what);
};

/** Table, chart and source of the tides. */
async function tides(tab) {
  await tab.send('What are the tides?');
  await tab.shows('Reading the gauge');
  await tab.done();
  same(await tab.page.locator('table tbody tr').count(), 4);
  same(await tab.page.locator('table tbody tr').first().innerText(), '05:10\thigh\t6.1');
  const points = await tab.page.locator('svg polyline').getAttribute('points');
  same(points.split(' ').length, 24);
  same(await tab.page.getByRole('link', { name: 'Tide tables of the year' }).getAttribute('href'), 'https://example.com/tides');
  const text = await tab.text();
  ok(text.includes('High water is at 05:10 and at 17:35.'), text);
  ok(text.includes('The next spring tide is on Friday.'), text);
  // Markdown is rendered, and the rows are shown once.
  ok(!text.includes('**') && !text.includes('| ---'), text);
  ok(!text.includes('Drawing the curve'), 'a step is left');
  same(tab.posts.length, 1);
}

/** Asks for a deletion and answers with a button. */
async function answer(tab, button, reply) {
  await tab.ask('Delete the log');
  await tab.shows('Delete the log?');
  if (button === 'Yes') await tab.shot('question');
  await tab.page.getByRole('button', { name: button }).click();
  await tab.shows(reply);
  same(await tab.page.getByRole('button', { name: 'Yes' }).count(), 0);
  same(tab.posts.length, 2);
  // The chat goes on.
  await tab.ask('Hello');
  await tab.shows('This is the harbour office.');
  same(tab.posts.length, 3);
}

export const cases = {
  'text in words, with Markdown': {
    run: async (tab) => {
      await tab.ask('Hello');
      same(await tab.page.locator('.text li').count(), 5);
      same(await tab.page.locator('.user').allInnerTexts(), ['Hello']);
      await tab.ask('Hello again');
      same(tab.sockets.length, tab.socket ? 1 : 0);
      same(tab.posts.at(-1).messages.map(({ role }) => role), ['user', 'assistant', 'user']);
    },
  },
  'steps, table, chart, source': {
    run: async (tab) => {
      await tides(tab);
      await tab.shot('tides');
    },
  },
  'the same on a phone, in the dark': {
    options: { viewport: { width: 360, height: 740 }, deviceScaleFactor: 2, colorScheme: 'dark' },
    run: async (tab) => {
      await tides(tab);
      same(await tab.page.evaluate(() => document.documentElement.scrollWidth), 360);
      await tab.shot('phone');
    },
  },
  'a tool that runs in the browser: two posts': {
    run: async (tab) => {
      await tab.ask('Read my clock');
      await tab.shows('Your clock is set to');
      await tab.done();
      ok((await tab.text()).includes('Your clock is set to Europe/Paris.'), await tab.text());
      await tab.shot('tool');
      await new Promise((resolve) => setTimeout(resolve, 300));
      same(tab.posts.length, 2);
    },
  },
  'a tool that fails in the browser': {
    run: async (tab) => {
      await tab.page.evaluate(() => {
        Intl.DateTimeFormat = () => {
          throw new Error('no clock here');
        };
      });
      await tab.ask('Read my clock');
      await tab.shows('Your browser did not say: no clock here');
      same(tab.posts.length, 2);
    },
  },
  'confirmation: yes': { run: (tab) => answer(tab, 'Yes', 'The log is deleted.') },
  'confirmation: no': { run: (tab) => answer(tab, 'No', 'The log stays as it is.') },
  'stop, and go on': {
    run: async (tab) => {
      const gone = tab.socket || tab.page.waitForEvent('requestfailed', (request) => request.method() === 'POST');
      await tab.send('Count the ships');
      await tab.shows(/^1 2 3/);
      await tab.shot('running');
      await tab.page.getByRole('button', { name: 'Stop' }).click();
      if (!tab.socket) same((await gone).url(), tab.post);
      await tab.done();
      same([tab.aborts, tab.sockets.length], tab.socket ? [1, 1] : [0, 0]);
      const counted = await tab.page.locator('.text').innerText();
      await new Promise((resolve) => setTimeout(resolve, 600));
      same(await tab.page.locator('.text').innerText(), counted);
      same(await tab.page.getByRole('alert').allInnerTexts(), []);
      await tab.ask('Hello');
      await tab.shows('This is the harbour office.');
    },
  },
  'a failure after text is shown, and the chat goes on': {
    run: async (tab) => {
      await tab.ask('Fail');
      same(await tab.page.getByRole('alert').innerText(), 'The gauge does not answer.');
      await tab.shows('Reading the gauge at the pier,');
      await tab.shot('failure');
      same(tab.posts.length, 1);
      await tab.ask('Hello');
      await tab.shows('This is the harbour office.');
      same(await tab.page.getByRole('alert').count(), 0);
    },
  },
  'a refusal is shown': {
    run: async (tab) => {
      const headers = { 'content-type': 'text/plain', 'access-control-allow-origin': 'http://localhost:3000' };
      await tab.page.route(tab.post, (route) => route.fulfill({ status: 429, headers, body: 'Too many questions.' }), { times: 1 });
      await tab.ask('Hello');
      ok((await tab.page.getByRole('alert').innerText()).includes('Too many questions.'), await tab.text());
    },
    // A page cannot see why a handshake is refused.
    socket: async (tab) => {
      await tab.page.routeWebSocket(/api\/chat/, (socket) => socket.close({ code: 1008 }));
      await tab.ask('Hello');
      await tab.page.getByRole('alert').waitFor();
    },
  },
  'a server that is not there is an error': {
    run: async (tab) => {
      await tab.page.route(tab.post, (route) => route.abort());
      await tab.ask('Hello');
      await tab.page.getByRole('alert').waitFor();
    },
    socket: async (tab) => {
      await tab.page.context().setOffline(true);
      await tab.ask('Hello');
      await tab.page.getByRole('alert').waitFor();
    },
  },
};

/** The server is asked to stop after `begin`. */
export const SHUTDOWN = {
  title: 'a shutdown in a long answer is shown',
  begin: async (tab) => {
    await tab.send('Count the ships');
    await tab.shows(/^1 2 3/);
  },
  run: async (tab) => {
    await tab.done();
    same(await tab.page.getByRole('alert').innerText(), 'The server is shutting down, and the answer is incomplete.');
    await tab.shows(/^1 2 3/);
    await tab.shot('shutdown');
    await new Promise((resolve) => setTimeout(resolve, 3000));
    same(tab.posts.length, 1);
  },
};
