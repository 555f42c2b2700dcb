// Answers with every type of block and item that the official packages define for the answers of their dialect.
import { readFileSync } from 'node:fs';

const named = (data) => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;

/** The simplest value of a type: of several texts one that says that the value is complete. */
function simplest(type) {
  const texts = [...type.matchAll(/'([^']*)'/g)].map(([, text]) => text);
  if (type.startsWith("'")) return texts.includes('completed') ? 'completed' : texts[0];
  if (/\bnull\b/.test(type)) return null;
  if (/^Array<|\[\]$/.test(type)) return [];
  return { string: 'x', number: 1, boolean: true }[type] ?? {};
}

/** A value of each type of a union, with the members that the type requires. */
function values(path, union) {
  const text = readFileSync(new URL(`../node_modules/${path}.d.ts`, import.meta.url), 'utf8').replace(/\/\*[^]*?\*\//g, '');
  const [, names] = text.match(new RegExp(`^export type ${union} = ([^;]+);`, 'm'));
  const required = (name, scope = text) => {
    const declared = new RegExp(`^( *)(?:export )?interface ${name}(?: extends (\\w+))? \\{\\n([^]*?)\\n\\1\\}`, 'm');
    const [, indent, base, body] = scope.match(declared);
    const members = [...body.matchAll(new RegExp(`^${indent}    (\\w+): ([^;]+);`, 'gm'))];
    return { ...(base && required(base)), ...Object.fromEntries(members.map(([, member, type]) => [member, simplest(type)])) };
  };
  return names.split('|').map((name) => {
    const [space, inner] = name.trim().split('.');
    return inner ? required(inner, text.slice(text.search(new RegExp(`^export declare namespace ${space} `, 'm')))) : required(space);
  });
}

/** A text, the value, and another text, as each dialect sends them. */
const STREAMS = {
  messages(value) {
    const usage = { input_tokens: 9, output_tokens: 5 };
    const text = (text) => [{ type: 'text', text: '' }, [{ type: 'text_delta', text }]];
    const blocks = [text('one '), [value, []], text('two')].flatMap(([content_block, deltas], index) => [
      { type: 'content_block_start', index, content_block },
      ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
      { type: 'content_block_stop', index },
    ]);
    return [
      { type: 'message_start', message: { id: 'msg_up', type: 'message', role: 'assistant', model: 'up', content: [], stop_reason: null, stop_sequence: null, usage } },
      ...blocks,
      { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage },
      { type: 'message_stop' },
    ];
  },
  responses(value) {
    const response = (status, output) => ({
      id: 'resp_up', object: 'response', created_at: 1, model: 'up', status, error: null, incomplete_details: null, instructions: null, metadata: {}, output,
      parallel_tool_calls: true, temperature: 1, tool_choice: 'auto', tools: [], top_p: 1, usage: { input_tokens: 9, output_tokens: 5, total_tokens: 14 },
    });
    const message = (id, text) => ({ id, type: 'message', role: 'assistant', status: 'completed', content: [{ type: 'output_text', text, annotations: [], logprobs: [] }] });
    const output = [message('msg_1', 'one '), { ...value, id: 'item_1' }, message('msg_2', 'two')];
    const items = output.flatMap((item, output_index) => {
      const at = { item_id: item.id, output_index, content_index: 0 };
      const inside = (item.type === 'message' ? item.content : []).flatMap((part) => [
        { type: 'response.content_part.added', ...at, part: { ...part, text: '' } },
        { type: 'response.output_text.delta', ...at, delta: part.text, logprobs: [] },
        { type: 'response.output_text.done', ...at, text: part.text, logprobs: [] },
        { type: 'response.content_part.done', ...at, part },
      ]);
      const begun = item.type === 'message' ? { ...item, content: [] } : item;
      return [{ type: 'response.output_item.added', output_index, item: begun }, ...inside, { type: 'response.output_item.done', output_index, item }];
    });
    const events = [
      { type: 'response.created', response: response('in_progress', []) },
      ...items,
      { type: 'response.completed', response: response('completed', output) },
    ];
    return events.map((event, sequence_number) => ({ ...event, sequence_number }));
  },
};

/** The types that the other conversations have. */
export const COMMON = ['text', 'thinking', 'tool_use', 'message', 'reasoning', 'function_call'];

const UNIONS = [
  ['messages', '@anthropic-ai/sdk/resources/messages/messages', 'ContentBlock'],
  ['messages', '@anthropic-ai/sdk/resources/beta/messages/messages', 'BetaContentBlock'],
  ['responses', 'openai/resources/responses/responses', 'ResponseOutputItem'],
];

export function typed() {
  const all = UNIONS.flatMap(([dialect, path, union]) => values(path, union).map((value) => ({ dialect, value })));
  const said = all.map(({ dialect, value }) => ({
    name: `${dialect} ${value.type}`, dialect, type: value.type, tools: [], piece: 100, bytes: STREAMS[dialect](value).map(named).join(''),
  }));
  // The beta has the types of the API too.
  return [...new Map(said.map((it) => [it.name, it])).values()].filter(({ type }) => !COMMON.includes(type));
}
