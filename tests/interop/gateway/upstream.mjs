// A server of models that plays conversations in three dialects. The question says which: "case 7".
import http from 'node:http';
import { CONVERSATIONS, cut } from './conversations.mjs';

const sse = (data) => `data: ${JSON.stringify(data)}\n\n`;
const named = (data) => `event: ${data.type}\n${sse(data)}`;
const written = ({ text, arguments: value }) => text ?? JSON.stringify(value);
/** Of a call that is cut off, the last argument has lost its end. */
const pieces = (said, call) => {
  const text = written(call);
  const cutOff = said.fault?.cutCall && call === said.calls.at(-1);
  return cut(cutOff ? text.slice(0, -1) : text, call.piece);
};

/** Each writer returns the events of an answer; the last ones are its end. */
const WRITERS = {
  chat(said) {
    const chunk = (delta, finish_reason = null) =>
      sse({ id: 'chatcmpl-up', object: 'chat.completion.chunk', created: 1, model: 'up', choices: [{ index: 0, delta, finish_reason }] });
    const ends = { stop: said.calls.length ? 'tool_calls' : 'stop', length: 'length', filter: 'content_filter' };
    const { usage } = said;
    return {
      events: [
        chunk({ role: 'assistant', content: '' }),
        ...said.reasoning.map((reasoning_content) => chunk({ reasoning_content })),
        ...said.text.map((content) => chunk({ content })),
        ...said.refusal.map((refusal) => chunk({ refusal })),
        ...said.calls.flatMap((call, index) => [
          chunk({ tool_calls: [{ index, id: call.id, type: 'function', function: { name: call.name, arguments: '' } }] }),
          ...pieces(said, call).map((piece) => chunk({ tool_calls: [{ index, function: { arguments: piece } }] })),
        ]),
      ],
      end: [
        chunk({}, ends[said.end]),
        usage &&
          sse({
            id: 'chatcmpl-up', object: 'chat.completion.chunk', created: 1, model: 'up', choices: [],
            usage: {
              prompt_tokens: usage.input, completion_tokens: usage.output, total_tokens: usage.input + usage.output,
              prompt_tokens_details: { cached_tokens: usage.cached }, completion_tokens_details: { reasoning_tokens: usage.reasoning },
            },
          }),
        'data: [DONE]\n\n',
      ].filter(Boolean),
      error: sse({ error: { message: 'sk-secret', type: 'server_error', param: null, code: null } }),
    };
  },

  responses(said) {
    let number = 0;
    const event = (type, rest) => named({ type, sequence_number: number++, ...rest });
    const ends = { stop: 'completed', length: 'incomplete', filter: 'incomplete' };
    const details = { stop: null, length: { reason: 'max_output_tokens' }, filter: { reason: 'content_filter' } };
    const response = (rest) => ({
      id: 'resp_up', object: 'response', created_at: 1, model: 'up', status: 'in_progress', error: null, incomplete_details: null, instructions: null,
      metadata: {}, output: [], parallel_tool_calls: true, temperature: 1, tool_choice: 'auto', tools: [], top_p: 1, usage: null, ...rest,
    });
    const output = [];
    const events = [event('response.created', { response: response({}) }), event('response.in_progress', { response: response({}) })];
    const item = (begin, inside, done) => {
      const output_index = output.push(done) - 1;
      events.push(event('response.output_item.added', { output_index, item: begin }));
      for (const [type, rest] of inside) events.push(event(type, { item_id: done.id, output_index, ...rest }));
      events.push(event('response.output_item.done', { output_index, item: done }));
    };
    if (said.reasoning.length) {
      const part = { type: 'summary_text', text: said.reasoning.join('') };
      const base = { id: 'rs_1', type: 'reasoning', encrypted_content: 'ZW5j' };
      item(
        { ...base, summary: [] },
        [
          ['response.reasoning_summary_part.added', { summary_index: 0, part: { ...part, text: '' } }],
          ...said.reasoning.map((delta) => ['response.reasoning_summary_text.delta', { summary_index: 0, delta }]),
          ['response.reasoning_summary_text.done', { summary_index: 0, text: part.text }],
          ['response.reasoning_summary_part.done', { summary_index: 0, part }],
        ],
        { ...base, summary: [part] },
      );
    }
    const message = (kind, member, deltas, extra) => {
      const part = { type: kind, ...extra, [member]: deltas.join('') };
      const base = { id: `msg_${member}`, type: 'message', role: 'assistant' };
      item(
        { ...base, status: 'in_progress', content: [] },
        [
          ['response.content_part.added', { content_index: 0, part: { ...part, [member]: '' } }],
          ...deltas.map((delta) => [`response.${kind}.delta`, { content_index: 0, delta, ...(kind === 'output_text' && { logprobs: [] }) }]),
          [`response.${kind}.done`, { content_index: 0, [member]: part[member], ...(kind === 'output_text' && { logprobs: [] }) }],
          ['response.content_part.done', { content_index: 0, part }],
        ],
        { ...base, status: ends[said.end], content: [part] },
      );
    };
    if (said.text.length) message('output_text', 'text', said.text, { annotations: [], logprobs: [] });
    if (said.refusal.length) message('refusal', 'refusal', said.refusal, {});
    for (const call of said.calls) {
      const all = pieces(said, call);
      const base = { id: `fc_${call.id}`, type: 'function_call', call_id: call.id, name: call.name };
      const cutOff = said.fault?.cutCall && call === said.calls.at(-1);
      item(
        { ...base, status: 'in_progress', arguments: '' },
        [
          ...all.map((delta) => ['response.function_call_arguments.delta', { delta }]),
          ['response.function_call_arguments.done', { arguments: all.join(''), name: call.name }],
        ],
        { ...base, status: cutOff ? 'incomplete' : 'completed', arguments: all.join('') },
      );
    }
    const { usage } = said;
    const last = response({
      status: ends[said.end], incomplete_details: details[said.end], output,
      usage: usage && {
        input_tokens: usage.input, input_tokens_details: { cached_tokens: usage.cached },
        output_tokens: usage.output, output_tokens_details: { reasoning_tokens: usage.reasoning }, total_tokens: usage.input + usage.output,
      },
    });
    return {
      events,
      end: [event(`response.${ends[said.end]}`, { response: last })],
      error: event('error', { code: 'server_error', message: 'sk-secret', param: null }),
    };
  },

  messages(said) {
    // A refusal has no words of its own there.
    const text = [...said.text, ...said.refusal];
    const usage = said.usage ?? { input: 0, cached: 0, written: 0, output: 0 };
    const ends = { stop: said.refusal.length ? 'refusal' : said.calls.length ? 'tool_use' : 'end_turn', length: 'max_tokens', filter: 'refusal' };
    const prompt = { input_tokens: usage.input - usage.cached - usage.written, cache_read_input_tokens: usage.cached, cache_creation_input_tokens: usage.written };
    const events = [
      named({
        type: 'message_start',
        message: { id: 'msg_up', type: 'message', role: 'assistant', model: 'up', content: [], stop_reason: null, stop_sequence: null, usage: { ...prompt, output_tokens: 1 } },
      }),
      named({ type: 'ping' }),
    ];
    let index = 0;
    const block = (content_block, deltas) => {
      events.push(named({ type: 'content_block_start', index, content_block }));
      for (const delta of deltas) events.push(named({ type: 'content_block_delta', index, delta }));
      events.push(named({ type: 'content_block_stop', index: index++ }));
    };
    const { reasoning } = said;
    if (reasoning.length) {
      block({ type: 'thinking', thinking: '', signature: '' }, [
        ...reasoning.map((thinking) => ({ type: 'thinking_delta', thinking })),
        { type: 'signature_delta', signature: 'c2lnbmVk' },
      ]);
    }
    if (text.length) block({ type: 'text', text: '' }, text.map((piece) => ({ type: 'text_delta', text: piece })));
    for (const call of said.calls) {
      block(
        { type: 'tool_use', id: call.id, name: call.name, input: {} },
        pieces(said, call).map((partial_json) => ({ type: 'input_json_delta', partial_json })),
      );
    }
    return {
      events,
      end: [
        named({ type: 'message_delta', delta: { stop_reason: ends[said.end], stop_sequence: null }, usage: { ...prompt, output_tokens: usage.output } }),
        named({ type: 'message_stop' }),
      ],
      error: named({ type: 'error', error: { type: 'api_error', message: 'sk-secret' } }),
    };
  },
};

const TYPES = {
  400: 'invalid_request_error', 401: 'authentication_error', 403: 'permission_error', 404: 'not_found_error', 408: 'timeout_error',
  422: 'invalid_request_error', 429: 'rate_limit_error', 529: 'overloaded_error',
};
const errorOf = (dialect, status, message = 'sk-secret', code = null) => {
  const type = TYPES[status] ?? (dialect === 'messages' ? 'api_error' : 'server_error');
  return dialect === 'messages' ? { type: 'error', error: { type, message } } : { error: { message, type, param: null, code } };
};

/** What a server sends: status, type and the pieces of the body, and whether the connection breaks. */
function play(said, dialect) {
  if (said.bytes) return { pieces: [said.bytes] };
  const { fault = {} } = said;
  if (fault.status) return { status: fault.status, type: 'application/json', pieces: [JSON.stringify(errorOf(dialect, fault.status))] };
  if (fault.tooLong) {
    const error = dialect === 'messages' ? errorOf(dialect, 400, 'prompt is too long: 210000 tokens > 200000 maximum') : errorOf(dialect, 400, 'too many tokens', 'context_length_exceeded');
    return { status: 400, type: 'application/json', pieces: [JSON.stringify(error)] };
  }
  if (fault.html) return { type: 'text/html', pieces: ['<!DOCTYPE html><html><body>502 Bad Gateway</body></html>'] };
  if (fault.document) return { type: 'application/json', pieces: [JSON.stringify(errorOf(dialect, 500))] };
  if (fault.nothing) return { pieces: [] };
  const { events, end, error } = WRITERS[dialect](said);
  if (fault.after === undefined) return { pieces: [...events, ...end] };
  const part = events.slice(0, Math.ceil(events.length * fault.after));
  return { pieces: fault.error ? [...part, error] : part, breaks: fault.breaks };
}

const DIALECTS = { '/chat/completions': 'chat', '/responses': 'responses', '/messages': 'messages' };
/** A server below `/only/DIALECT` has no other one, as many servers do. */
const dialectOf = (path) => {
  const [, only, rest] = path.match(/^(?:\/only\/(\w+))?(?:\/v1)?(\/.*)$/) ?? [];
  const dialect = DIALECTS[rest];
  return only && only !== dialect ? undefined : dialect;
};

/** Starts the server. Returns it, and the bodies that it was sent. */
export function serve() {
  const server = http.createServer(async (request, response) => {
    let body = '';
    for await (const piece of request.setEncoding('utf8')) body += piece;
    const dialect = dialectOf(new URL(request.url, 'http://up').pathname);
    if (!dialect) return response.writeHead(404).end('{}');
    const at = body.match(/case (\d+)/)?.[1];
    const said = CONVERSATIONS[at];
    if (!said) return response.writeHead(400).end('{"error":{"message":"no case"}}');
    const { status = 200, type = 'text/event-stream', pieces: all, breaks } = play(said, dialect);
    response.writeHead(status, { 'content-type': type });
    const bytes = Buffer.concat(all.map((piece) => Buffer.from(piece)));
    // Not byte by byte all along: a write is a piece of its own.
    const size = Math.max(said.piece ?? 4096, Math.ceil(bytes.length / 40));
    for (let start = 0; start < bytes.length; start += size) {
      response.write(bytes.subarray(start, start + size));
      if (start % 3 === 0) await new Promise(setImmediate);
    }
    if (!breaks) return response.end();
    // What was written has to go first.
    await new Promise((resolve) => setTimeout(resolve, 20));
    response.destroy();
  });
  // Longer than a busy machine may let a connection wait that is to be used again.
  server.keepAliveTimeout = 60_000;
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve({ server, url: `http://127.0.0.1:${server.address().port}` })));
}
