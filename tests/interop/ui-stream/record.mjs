// Records what the clients post, as fixtures: node record.mjs FOLDER
import { writeFileSync } from 'node:fs';
import { VERSIONS, addOutput, load, open, quiet } from './page.mjs';

const folder = process.argv[2];
const stream = (...chunks) =>
  chunks.map((chunk) => `data: ${typeof chunk === 'string' ? chunk : JSON.stringify(chunk)}\n\n`).join('');
let replies = 0;
const reply = (...chunks) =>
  stream({ type: 'start', messageId: `m${(replies += 1)}` }, { type: 'start-step' }, ...chunks, { type: 'finish-step' }, { type: 'finish' }, '[DONE]');
const text = (text) => [{ type: 'text-start', id: 't1' }, { type: 'text-delta', id: 't1', delta: text }, { type: 'text-end', id: 't1' }];
const call = { type: 'tool-input-available', toolCallId: 'c1', toolName: 'getLocation', input: { exact: true } };
const ran = { type: 'tool-input-available', toolCallId: 'c0', toolName: 'search', input: { q: 'tides' }, providerExecuted: true };
const question = [
  { type: 'tool-input-available', toolCallId: 'c2', toolName: 'confirm', input: { title: 'Delete?', message: 'All of it.', data: { page: 7 } }, dynamic: true },
  { type: 'tool-approval-request', approvalId: 'q1', toolCallId: 'c2' },
];

const begin = () => (replies = 0);

/** A page that is given these replies, one after the other. */
function played(ai, replies, options) {
  const left = [...replies];
  return open(ai, {
    api: 'http://127.0.0.1/api/chat',
    fetch: async () => new Response(left.shift() ?? reply(...text('Done.')), { headers: { 'content-type': 'text/event-stream' } }),
    ...options,
  });
}

const save = (name, page) => writeFileSync(`${folder}/req-${name}.json`, page.posts.at(-1));

for (const version of VERSIONS) {
  const ai = await load(version);
  const whenTools = ai.lastAssistantMessageIsCompleteWithToolCalls;

  begin();
  let page = played(ai, [reply(...text('Hello.'))]);
  await page.chat.sendMessage({ text: 'Hi' });
  save(`text-${version}`, page);

  if (version === '7') {
    await page.chat.sendMessage({
      text: 'What is this?',
      files: [
        { type: 'file', mediaType: 'text/plain', filename: 'notes.txt', url: 'data:text/plain;base64,VGlkZXMgdHVybi4=' },
        { type: 'file', mediaType: 'image/png', url: 'https://example.com/a.png' },
      ],
    });
    save(`files-${version}`, page);
    await page.chat.regenerate();
    save(`regenerate-${version}`, page);
  }

  const answers = [
    ['output', { state: 'output-available', output: { place: 'Brest' } }],
    ['failure', { state: 'output-error', errorText: 'no permission' }],
  ];
  for (const [name, answer] of version === '5.0.0' ? answers.slice(0, 1) : answers) {
    begin();
    const first = [
      reply(
        ran,
        { type: 'tool-output-available', toolCallId: 'c0', output: ['a page'], providerExecuted: true },
        { type: 'finish-step' },
        { type: 'start-step' },
        ...text('One moment.'),
        { type: 'source-url', sourceId: '1', url: 'https://example.com/', title: 'A page' },
        { type: 'data-table', data: { name: 'T', rows: [] } },
        call,
      ),
    ];
    page = played(ai, first, { sendAutomaticallyWhen: whenTools });
    await page.chat.sendMessage({ text: 'Where am I?' });
    await addOutput(page, { tool: 'getLocation', toolCallId: 'c1', ...answer });
    await quiet(page);
    save(`tool-${name}-${version}`, page);
  }

  const whenApproved = ai.lastAssistantMessageIsCompleteWithApprovalResponses;
  for (const approved of whenApproved ? [true, false] : []) {
    begin();
    page = played(ai, [reply(...question)], { sendAutomaticallyWhen: whenApproved });
    await page.chat.sendMessage({ text: 'Delete it' });
    await page.chat.addToolApprovalResponse({ id: 'q1', approved });
    await quiet(page);
    save(`approval-${approved ? 'yes' : 'no'}-${version}`, page);
  }
}
