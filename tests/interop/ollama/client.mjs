// Goes through every situation with the official Node client. Prints one JSON line for each.
import net from 'node:net';
import { Ollama } from 'ollama';

const URL = process.argv[2];
const client = new Ollama({ host: URL });
const MESSAGES = [{ role: 'user', content: 'Hello' }];
const tools = [{ type: 'function', function: { name: 'get_tide', description: 'The tide.', parameters: { type: 'object', properties: { port: { type: 'string' } } } } }];
const WORDS =
  'Hello\n"quoted" \\ \u2028 é 🦀 \n\n**T**\n\n| a |\n| --- |\n| 1 |\n\n\n\n**Error:** half of it\n\ndata: [DONE]\n\nend\n\n**Sources**\n\n- [Source](https://a.example)\n';

// The client tells a line that is no JSON, and goes on.
const odd = [];
console.warn = (...args) => odd.push(args.join(' '));

const stream = async (model, extra = {}, using = client) => {
  const pieces = [];
  for await (const piece of await using.chat({ model, messages: MESSAGES, stream: true, ...extra })) pieces.push(piece);
  same(odd, []);
  return pieces;
};
const whole = (model, extra = {}) => client.chat({ model, messages: MESSAGES, ...extra });
const text = (pieces) => pieces.map((piece) => piece.message.content).join('');
const thinking = (pieces) => pieces.map((piece) => piece.message.thinking ?? '').join('');
const asking = (pieces) => pieces.find((piece) => piece.message.tool_calls)?.message;
const calls = (pieces) => (asking(pieces)?.tool_calls ?? []).map((call) => [call.function.name, call.function.arguments]);
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
const told = (error, status, message = 'The model is away.') => same([error.status_code, error.message], [status, message]);

/** A proxy whose connections are cut after this number of bytes. */
const cutting = (size) =>
  new Promise((ready) => {
    const { port } = new globalThis.URL(URL);
    const server = net.createServer((near) => {
      const far = net.connect(port, '127.0.0.1');
      let left = size;
      near.on('error', () => {}).pipe(far.on('error', () => {}));
      far.on('data', (piece) => {
        near.write(piece.subarray(0, left));
        left -= piece.length;
        if (left <= 0) for (const socket of [near, far]) socket.end();
      });
    });
    server.listen(0, '127.0.0.1', () => ready(server));
  });

// What a user types at a question, by the code on its line, and the first line of the answer to that.
const TYPED = [
  [(code) => `Yes ${code}.`, 'q1 true'],
  [() => 'no', 'q1 false'],
  [() => 'yes', 'Your answer does not have the code of the question, so nothing was done.'],
];
const codeOf = (asked) => asked.match(/ To agree, reply: yes (\d{6})\. To refuse, reply: no\. \(q1 cw\w{19}\)$/)[1];

const cases = {
  'text, streamed': async () => {
    const pieces = await stream('words');
    same(text(pieces), WORDS);
    same([...new Set(pieces.map((piece) => `${piece.model} ${piece.message.role}`))], ['words assistant']);
    same(pieces.filter((piece) => piece.done).length, 1);
    same([pieces.at(-1).done_reason, pieces.at(-1).total_duration > 0], ['stop', true]);
  },
  'text, whole': async () => {
    const answer = await whole('words');
    same([answer.message.content, answer.done, answer.done_reason], [WORDS, true, 'stop']);
  },
  'keep-alive': async () => {
    const pieces = await stream('slow');
    same(text(pieces), 'one two three');
    same(pieces.some((piece) => !piece.done && !piece.message.content), true);
  },
  'tool call, there and back, streamed and whole': async () => {
    for (const ask of [(extra) => stream('tool', extra), async (extra) => [await whole('tool', extra)]]) {
      const pieces = await ask({ tools });
      same([text(pieces), calls(pieces)], ['One moment. ', [['get_tide', { port: 'Brest' }]]]);
      const result = { role: 'tool', tool_name: 'get_tide', content: '4.2 at Brest' };
      same(text(await ask({ tools, messages: [...MESSAGES, asking(pieces), result] })), 'get_tide=4.2 at Brest');
    }
  },
  'two calls of one tool, with results': async () => {
    const pieces = await stream('calls', { tools });
    same(calls(pieces), [['get_tide', { n: 1 }], ['get_tide', { n: 2 }]]);
    const results = ['low', 'high'].map((content) => ({ role: 'tool', tool_name: 'get_tide', content }));
    const messages = [...MESSAGES, asking(pieces), ...results];
    same(text(await stream('calls', { tools, messages })), 'get_tide{"n":1}=low get_tide{"n":2}=high');
  },
  'reasoning': async () => {
    const pieces = await stream('thinks', { think: true });
    same([thinking(pieces), text(pieces)], ['Two and two is four.', 'Four.']);
    const { message } = await whole('thinks', { think: 'high' });
    same([message.thinking, message.content], ['Two and two is four.', 'Four.']);
    same(thinking(await stream('thinks', { think: false })), '');
  },
  'images': async () => {
    const messages = [{ role: 'user', content: 'What is it?', images: [new TextEncoder().encode('hi'), 'aG8='] }];
    same(text(await stream('sees', { messages })), 'aGk=aG8=');
  },
  'usage and length': async () => {
    const last = (await stream('usage')).at(-1);
    same([last.prompt_eval_count, last.eval_count], [19, 10]);
    same((await whole('usage')).eval_count, 10);
    same([(await stream('length')).at(-1).done_reason, (await whole('length')).done_reason], ['length', 'length']);
  },
  'a wanted form': async () => {
    const format = { type: 'object', properties: { height: { type: 'number' } } };
    same(text(await stream('formed', { format, options: { temperature: 0 } })), '{"height":4.2}');
  },
  'failure in the stream': async () => {
    same((await failure(stream('fails'))).message, 'The model is away.');
    same((await failure(stream('panics'))).constructor.name, 'Error');
  },
  'failure before the stream': async () => {
    told(await failure(stream('fails-at-once')), 400);
    told(await failure(stream('busy')), 503, 'Busy.');
  },
  'failure, whole': async () => {
    told(await failure(whole('fails')), 400);
  },
  'refused requests': async () => {
    told(await failure(stream('nobody')), 404, 'model: no such model');
    told(await failure(whole('nobody')), 404, 'model: no such model');
    same((await failure(stream('tool'))).constructor.name, 'Error');
  },
  'a connection that is cut': async () => {
    const server = await cutting(500);
    const using = new Ollama({ host: `http://127.0.0.1:${server.address().port}` });
    same((await failure(stream('slow', {}, using))).message, 'terminated');
    server.close();
  },
  'question and answer': async () => {
    for (const [typed, said] of TYPED) {
      const asked = text(await stream('confirm'));
      const messages = [...MESSAGES, { role: 'assistant', content: asked }, { role: 'user', content: typed(codeOf(asked)) }];
      same(text(await stream('confirm', { messages })).split('\n')[0], said);
    }
  },
  'list, show and version': async () => {
    same(typeof (await client.version()).version, 'string');
    const { models } = await client.list();
    same(models.slice(0, 2).map((model) => model.name), ['words', 'tool']);
    same((await client.show({ model: 'words:latest' })).capabilities.includes('tools'), true);
    told(await failure(client.show({ model: 'nobody' })), 404, 'model: no such model');
  },
  'a client that leaves': async () => {
    const pieces = await client.chat({ model: 'slow', messages: MESSAGES, stream: true });
    for await (const piece of pieces) if (piece.message.content) break;
    pieces.abort();
    same(text(await stream('slow')), 'one two three');
  },
};

for (const [name, run] of Object.entries(cases)) {
  let fault = null;
  odd.length = 0;
  try {
    await run();
  } catch (error) {
    fault = String(error?.message ?? error);
  }
  console.log(JSON.stringify({ name, fault }));
}
