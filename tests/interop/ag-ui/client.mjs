// Goes through every situation with both versions of the official client. Prints a JSON line for each.
import { VERSIONS, load, open, result, run, text, user } from './app.mjs';

const base = process.argv[2];
// The client logs every failure, and failures are among what is tested.
console.error = () => {};
const tools = [{ name: 'get_tide', description: 'The tide.', parameters: { type: 'object', properties: { port: { type: 'string' } } } }];
const WORDS =
  'Hello\n"quoted" \\ \u2028 é 🦀 |**T**\n\n| a |\n| --- |\n| 1 |\n\n\n\n**Error:** half of it\n\ndata: [DONE]\n\nend\n\n**Sources**\n\n- [Source](https://a.example)\n';

const same = (found, expected) => {
  const [one, two] = [JSON.stringify(found), JSON.stringify(expected)];
  if (one !== two) throw new Error(`${one} instead of ${two}`);
};
const failure = async (promise) => {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error('it did not fail');
};
/** Fetches, and passes on every byte alone: characters and frames are split. */
const byByte = async (input, init) => {
  const response = await fetch(input, init);
  const bytes = new Uint8Array(await response.arrayBuffer());
  const body = ReadableStream.from(Array.from(bytes, (byte) => Uint8Array.of(byte)));
  return new Response(body, { status: response.status, headers: response.headers });
};
const of = ({ events }, type) => events.filter((event) => event.type === type);
const results = ({ agent }, contents) =>
  agent.messages.at(-1).toolCalls.map(({ id }, at) => result(id, contents[at]));

/** What each version has read, by the situation: the same, but for the ids. */
const read = new Map();
const noted = (name, { bytes }) => {
  if (/\r/.test(bytes)) throw new Error('there is a CR');
  if (/":null[,}]/.test(bytes.replaceAll('"none":null', ''))) throw new Error('there is a null');
  const plain = bytes.replaceAll(': ping\n\n', '').replaceAll(/_[0-9a-f]{32}_/g, '_ID_');
  read.set(name, [...(read.get(name) ?? []), plain]);
};

// What a user types at a question, by the code on its line, and the first line of the answer to that.
const TYPED = [
  [(code) => `Yes ${code}.`, 'q1 true'],
  [() => 'no', 'q1 false'],
  [() => 'yes', 'Your answer does not have the code of the question, so nothing was done.'],
];
const codeOf = (asked) => asked.match(/ To agree, reply: yes (\d{6})\. To refuse, reply: no\. \(q1 cw\w{19}\)$/)[1];
const firstLine = (said) => said.split('\n')[0];

const cases = {
  words: async (app) => {
    const page = await run(app('words'), { say: 'Hello' });
    same(text(page), WORDS);
    same(of(page, 'STEP_STARTED').map(({ stepName }) => stepName), ['working']);
    same(of(page, 'CUSTOM')[0].value, [{ title: 'Source', url: 'https://a.example' }]);
    same(of(page, 'ACTIVITY_SNAPSHOT')[0].content, { name: 'T', rows: [{ a: 1 }] });
    same(of(page, 'RUN_STARTED')[0].threadId, 'thread-1');
    noted('words', page);
  },
  'a stream that comes byte by byte': async (app) => {
    const page = await run(app('words', { fetch: byByte }), { say: 'Hello' });
    same(text(page), WORDS);
  },
  'reasoning, tools of the agent, chart, usage': async (app) => {
    const page = await run(app('parts'), { say: 'Hello' });
    const [before, after] = page.agent.messages.filter(({ role, content }) => role === 'assistant' && content);
    same([before.content, after.content], ['Before.', '**Tides**\n\n| day | metres |\n| --- | --- |\n| Mon | 4.2 |\n\nAfter.']);
    const roles = page.agent.messages.map(({ role }) => role);
    same(roles, ['user', 'reasoning', 'assistant', 'tool', 'assistant', 'tool', 'assistant', 'activity', 'assistant']);
    same(page.agent.messages[3].content, '["a page"]');
    same(page.agent.messages[5].metadata, { failed: true });
    same(of(page, 'STEP_STARTED')[1].metadata, { level: 'warning', details: [{ name: 'host', value: 'a.example' }] });
    same(of(page, 'RUN_FINISHED')[0].usage[0].totalTokens, 29);
    noted('parts', page);
  },
  'history after that': async (app) => {
    const page = await run(app('parts'), { say: 'Hello' });
    page.agent.url = `${base}/agui/history`;
    await run(page, { say: 'And?' });
    same(text(page), 'User, Call search, Result, Call measure, Failure, Assistant, Assistant, User');
  },
  'tool call, there and back': async (app) => {
    const page = await run(app('tool'), { say: 'Tide?', tools });
    const call = page.agent.messages.at(-1);
    same([call.content, call.toolCalls.map(({ function: f }) => [f.name, f.arguments])], ['One moment. ', [['get_tide', '{"port":"Brest"}']]]);
    same(page.posts.length, 1);
    noted('tool', page);
    await run(page, { add: results(page, ['4.2']), tools });
    same([page.agent.messages.at(-1).content, page.posts.length], ['get_tide=4.2', 2]);
  },
  'two calls at once': async (app) => {
    const page = await run(app('calls'), { say: 'Tides?', tools });
    same(page.agent.messages.length, 2);
    same(page.agent.messages[1].toolCalls.map(({ function: f }) => f.arguments), ['{"port":"Brest"}', '{"port":"Calais"}']);
    page.agent.url = `${base}/agui/history`;
    await run(page, { add: results(page, ['4.2', '5.1']), tools });
    same(page.agent.messages.at(-1).content, 'User, Call get_tide, Call get_tide, Result, Result');
    same(page.posts.length, 2);
  },
  'a tool that is not offered': async (app) => {
    const page = await run(app('tool'), { say: 'Tide?' });
    same(page.types.at(-1), 'RUN_ERROR');
  },
  'shared state': async (app) => {
    const page = await run(app('state', { initialState: { count: 4 } }), { say: 'Count' });
    same(page.agent.state, { count: 5, none: null });
    await run(page, { say: 'Count' });
    same(page.agent.state, { count: 6, none: null });
    noted('state', page);
  },
  'confirmation in text, yes and no': async (app) => {
    for (const [typed, said] of TYPED) {
      const page = await run(app('confirm'), { say: 'Delete it' });
      await run(page, { say: typed(codeOf(text(page))) });
      same(firstLine(text(page)), said);
    }
  },
  'confirmation as interrupt, yes, no and cancelled': async (app) => {
    for (const [answer, accepted] of [
      [{ status: 'resolved', payload: { accepted: true } }, true],
      [{ status: 'resolved', payload: { accepted: false } }, false],
      [{ status: 'cancelled' }, false],
    ]) {
      const page = await run(app('interrupt'), { say: 'Delete it' });
      const [interrupt] = page.agent.pendingInterrupts;
      same([interrupt.id, interrupt.message, interrupt.metadata.title], ['q1', 'Delete?\n\nFor good.', 'Delete?']);
      noted('interrupt', page);
      // The client makes no run without the answer.
      const error = await failure(page.agent.runAgent({ runId: 'run-2' }));
      same([/interrupt/.test(error.message), page.posts.length], [true, 1]);
      await run(page, { resume: [{ interruptId: 'q1', ...answer }] });
      same([text(page), page.agent.pendingInterrupts.length], [`q1 ${accepted}`, 0]);
    }
  },
  'content as parts': async (app) => {
    const parts = [
      { type: 'text', text: 'This:' },
      { type: 'image', source: { type: 'url', value: 'https://a.example/a.png', mimeType: 'image/png' } },
    ];
    const page = await run(app('history'), { add: [user(parts)] });
    same(text(page), 'User, File');
  },
  'failure before any text': async (app) => {
    const page = await run(app('fails-at-once'), { say: 'Hello' });
    same(page.types, ['RUN_STARTED', 'RUN_ERROR']);
    same(of(page, 'RUN_ERROR')[0].message, 'It is away.');
    noted('fails-at-once', page);
  },
  'failure after text': async (app) => {
    const page = await run(app('fails'), { say: 'Hello' });
    same([text(page), page.types.at(-1), page.posts.length], ['Par', 'RUN_ERROR', 1]);
    noted('fails', page);
  },
  'panic after text': async (app) => {
    const page = await run(app('panics'), { say: 'Hello' });
    same([text(page), page.types.at(-1)], ['Par', 'RUN_ERROR']);
  },
  'keep-alive comments': async (app) => {
    const page = await run(app('slow'), { say: 'Hello' });
    same([text(page), page.bytes.includes(': ping\n\n')], ['one one one ', true]);
  },
  stop: async (app) => {
    const page = app('slow');
    page.agent.addMessage(user('Hello'));
    const stopped = page.agent.runAgent({ runId: 'run-1' }, { onTextMessageContentEvent: () => page.agent.abortRun() });
    await stopped.catch(() => {});
    same(text(page).startsWith('one '), true);
    same(text(await run(app('left'), { say: 'How many?' })), '1');
  },
  refusal: async (app) => {
    const page = app('words', {
      fetch: (input, init) => fetch(input, { ...init, body: '{"messages":7}' }),
    });
    const error = await failure(run(page, { say: 'Hello' }));
    same([error.status, /messages/.test(error.message)], [400, true]);
  },
};

for (const version of VERSIONS) {
  const client = await load(version);
  const app = (name, options) => open(client, `${base}/agui/${name}`, options);
  for (const [name, test] of Object.entries(cases)) {
    let fault = null;
    try {
      await test(app);
    } catch (error) {
      fault = `${error.message}`;
    }
    console.log(JSON.stringify({ name: `${name}, ${version}`, fault }));
  }
}
const differ = [...read].filter(([, all]) => new Set(all).size !== 1 || all.length < VERSIONS.length).map(([name]) => name);
console.log(JSON.stringify({ name: 'the same bytes for both versions', fault: differ.length > 0 ? differ.join(', ') : null }));
process.exit(0);
