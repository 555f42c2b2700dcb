// Records what the clients post, as fixtures: node record.mjs FOLDER
import { writeFileSync } from 'node:fs';
import { VERSIONS, begin, load, open, result, run, user } from './app.mjs';

const folder = process.argv[2];
const stream = (...events) => {
  const all = [{ type: 'RUN_STARTED', threadId: 'thread-1', runId: 'run-1' }, ...events];
  if (events.at(-1)?.type !== 'RUN_FINISHED') all.push({ type: 'RUN_FINISHED', threadId: 'thread-1', runId: 'run-1' });
  return all.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');
};
const text = (messageId, delta) => [
  { type: 'TEXT_MESSAGE_START', messageId, role: 'assistant' },
  { type: 'TEXT_MESSAGE_CONTENT', messageId, delta },
  { type: 'TEXT_MESSAGE_END', messageId },
];
const call = (toolCallId, toolCallName, args, parentMessageId) => [
  { type: 'TOOL_CALL_START', toolCallId, toolCallName, parentMessageId },
  { type: 'TOOL_CALL_ARGS', toolCallId, delta: JSON.stringify(args) },
  { type: 'TOOL_CALL_END', toolCallId },
];
const reasoning = [
  { type: 'REASONING_START', messageId: 'r1' },
  { type: 'REASONING_MESSAGE_START', messageId: 'r1', role: 'reasoning' },
  { type: 'REASONING_MESSAGE_CONTENT', messageId: 'r1', delta: 'The tides, then.' },
  { type: 'REASONING_MESSAGE_END', messageId: 'r1' },
  { type: 'REASONING_END', messageId: 'r1' },
];
const interrupt = {
  type: 'RUN_FINISHED', threadId: 'thread-1', runId: 'run-1',
  outcome: { type: 'interrupt', interrupts: [{ id: 'q1', reason: 'confirm', message: 'Delete?' }] },
};
const tools = [{ name: 'getLocation', description: 'Where the user is.', parameters: { type: 'object', properties: { exact: { type: 'boolean' } } } }];
const context = [{ description: 'Current page', value: '{"page":7}' }];

/** An app that is given these replies, one after the other. */
const played = (client, replies) => {
  begin();
  const left = [...replies];
  return open(client, 'http://127.0.0.1/agui', {
    fetch: async () => new Response(left.shift() ?? stream(), { headers: { 'content-type': 'text/event-stream' } }),
  });
};

for (const version of VERSIONS) {
  const client = await load(version);
  const save = (name, app) => writeFileSync(`${folder}/req-${name}-${version}.json`, app.posts.at(-1));

  let app = played(client, []);
  save('text', await run(app, { say: 'Hi', tools, context, forwardedProps: { locale: 'en' } }));

  const parts = [
    { type: 'text', text: 'What is this?' },
    { type: 'image', source: { type: 'url', value: 'https://example.com/a.png', mimeType: 'image/png' } },
    { type: 'document', source: { type: 'data', value: 'VGlkZXMgdHVybi4=', mimeType: 'text/plain' } },
    { type: 'binary', mimeType: 'image/gif', data: 'R0lGODlhAQABAAAAACw=', filename: 'dot.gif' },
  ];
  app = played(client, []);
  save('parts', await run(app, { add: [user(parts)] }));

  // Reasoning, a step, a tool of the agent's and an activity, then a call of the app's tool.
  const first = stream(
    ...reasoning,
    { type: 'STEP_STARTED', stepName: 'Looking' }, { type: 'STEP_FINISHED', stepName: 'Looking' },
    ...call('c0', 'search', { q: 'tides' }, 'm0'),
    { type: 'TOOL_CALL_RESULT', messageId: 't0', toolCallId: 'c0', content: '["a page"]', role: 'tool', metadata: { failed: true } },
    { type: 'ACTIVITY_SNAPSHOT', messageId: 'a1', activityType: 'table', content: { rows: [] } },
    { type: 'STATE_SNAPSHOT', snapshot: { count: 1 } }, { type: 'STATE_DELTA', delta: [{ op: 'replace', path: '/count', value: 2 }] },
    ...text('m1', 'One moment.'),
    ...call('c1', 'getLocation', { exact: true }, 'm1'), ...call('c2', 'getLocation', {}, 'm1'),
  );
  app = await run(played(client, [first]), { say: 'Where am I?', tools });
  save('results', await run(app, { add: [result('c1', '{"place":"Brest"}'), result('c2', '', { error: 'no permission' })], tools }));

  for (const [name, answer] of [
    ['yes', { status: 'resolved', payload: { accepted: true } }],
    ['no', { status: 'resolved', payload: { accepted: false } }],
    ['cancelled', { status: 'cancelled' }],
  ]) {
    app = await run(played(client, [stream(...text('m1', 'Well.'), interrupt)]), { say: 'Delete it' });
    save(`interrupt-${name}`, await run(app, { resume: [{ interruptId: 'q1', ...answer }] }));
  }

  const question = 'Question: All of it. To agree, reply: yes 482193. To refuse, reply: no. (q1 cw007h68634v5ff7z2pdq)';
  app = await run(played(client, [stream(...text('m1', question))]), { say: 'Delete it' });
  save('question', await run(app, { say: 'yes 482193' }));
}
