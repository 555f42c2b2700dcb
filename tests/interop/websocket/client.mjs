// Goes through every situation with the official Node clients over WebSockets. Prints one JSON line for each.
import { WebSocketChatTransport } from 'ai';
import OpenAI from 'openai';
import { ResponsesWS } from 'openai/resources/responses/ws';
import { WebSocket } from 'ws';

const base = process.argv[2];
const same = (found, expected) => {
  if (JSON.stringify(found) !== JSON.stringify(expected)) throw new Error(`${JSON.stringify(found)} instead of ${JSON.stringify(expected)}`);
};
const run = async (cases) => {
  for (const [name, work] of Object.entries(cases)) {
    let fault = null;
    try {
      await Promise.race([work(), new Promise((_, fail) => setTimeout(() => fail(new Error('took 20 s')), 20_000).unref())]);
    } catch (error) {
      fault = String(error?.message ?? error).split('\n')[0];
    }
    console.log(JSON.stringify({ name, fault }));
  }
};

const client = new OpenAI({ baseURL: `${base}/v1`, apiKey: 'none' });
const connect = () => {
  const socket = new ResponsesWS(client);
  const errors = [];
  let listener = () => {};
  socket.on('event', (event) => listener(event));
  socket.on('error', (error) => errors.push(error));
  const turn = (message) => new Promise((resolve) => {
    const events = [];
    listener = (event) => {
      events.push(event);
      if (['response.completed', 'response.incomplete', 'response.failed', 'error'].includes(event.type)) resolve(events);
    };
    socket.send({ type: 'response.create', ...message });
  });
  return { socket, turn, errors };
};
const text = (events) => events.at(-1).response.output_text ?? events.filter(({ type }) => type === 'response.output_text.delta').map(({ delta }) => delta).join('');

const say = (words) => [{ id: 'u1', role: 'user', parts: [{ type: 'text', text: words }] }];
const send = (chatId, words, abortSignal) => ({ trigger: 'submit-message', chatId, messages: say(words), abortSignal });
const chunks = async (stream) => {
  const all = [];
  for await (const chunk of stream) all.push(chunk);
  return all;
};
const said = (all) => all.filter(({ type }) => type === 'text-delta').map(({ delta }) => delta).join('');
const chat = () => new WebSocketChatTransport({ url: `${base}/ui/words`, webSocket: WebSocket });

await run({
  'Responses: two turns on one socket, continued by id': async () => {
    const { socket, turn } = connect();
    const first = await turn({ model: 'recall', input: 'My name is Ann.' });
    same(first.map((event) => event.sequence_number), first.map((_, index) => index));
    const second = await turn({ model: 'recall', input: 'And now?', previous_response_id: first.at(-1).response.id });
    if (!text(second).includes('Ann')) throw new Error(text(second));
    socket.close();
  },
  'Responses: an unknown id is an error, and the socket goes on': async () => {
    const { socket, turn } = connect();
    const [event] = (await turn({ model: 'words', input: 'hi', previous_response_id: 'resp_none' })).slice(-1);
    same([event.type, event.error.code], ['error', 'previous_response_not_found']);
    same((await turn({ model: 'words', input: 'hi' })).at(-1).type, 'response.completed');
    socket.close();
  },
  'Responses: a failing agent runs once': async () => {
    const { socket, turn } = connect();
    const [event] = (await turn({ model: 'fails', input: 'hi' })).slice(-1);
    if (!['error', 'response.failed'].includes(event.type)) throw new Error(event.type);
    socket.close();
  },
  'UI stream: two chats on one socket': async () => {
    const transport = chat();
    const streams = await Promise.all(['a', 'b'].map((id) => transport.sendMessages(send(id, 'Hello'))));
    for (const all of await Promise.all(streams.map(chunks))) {
      same([all[0].type, all.at(-1).type], ['start', 'finish']);
      if (!said(all)) throw new Error('no text');
    }
    transport.close();
  },
  'UI stream: abort, and the next turn on the same socket': async () => {
    const transport = chat();
    const abort = new AbortController();
    const stream = await transport.sendMessages(send('c', 'Hello', abort.signal));
    abort.abort();
    await chunks(stream).catch(() => []);
    same((await chunks(await transport.sendMessages(send('c', 'Hello')))).at(-1).type, 'finish');
    transport.close();
  },
  'UI stream: nothing to resume': async () => {
    const transport = chat();
    same(await transport.reconnectToStream({ chatId: 'nobody' }), null);
    transport.close();
  },
});
