// Turns that continue something else than the last answer: situations.mjs USERS AGENTS OTHER, an axum-server with
// `--resumable` and two users, and two servers of agents. Prints one JSON line for each.
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';

import { SCHEMA, failure, getTide, run, same } from './expected.mjs';

const [users, agents, other] = process.argv.slice(2);
const client = (baseURL, apiKey) => new OpenAI({ baseURL, apiKey, timeout: 20_000 });
const ali = client(`${users}/agents/analyst/v1`, 'sesame').responses;
const dorothy = client(`${users}/agents/analyst/v1`, 'poppy');
const conversations = client(`${users}/agents/analyst/v1`, 'sesame').conversations;

// In `And what?` is no word that the analyst could look up in the guide: it tells how many messages it knows.
const model = 'analyst';
const say = (input, previous_response_id, responses = ali) => responses.create({ model, input, previous_response_id });
const inside = (conversation, input, responses = ali) => responses.create({ model, input, conversation });
/** Checks how many messages the agent has seen. */
const knows = ({ output_text }, count) => {
  const told = { 0: 'That is the first message', 1: 'There is one message before', 2: 'There are 2 messages before', 4: 'There are 4 messages before' };
  if (!output_text.includes(told[count])) throw new Error(`${output_text} without ${count} messages`);
};
const refused = async (request, status, code) => {
  const error = await failure(request);
  same([error.status, error.code], [status, code]);
};
const unknown = (request) => refused(request, 400, 'previous_response_not_found');
/** Sends a request while a turn runs, and once more if that turn was over first, as on a busy machine. */
const meanwhile = async (attempt, status, code) => {
  for (let tries = 0; tries < 5; tries++) {
    const error = await attempt().then(() => null, (error) => error);
    if (error) return same([error.status, error.code], [status, code]);
  }
  throw new Error('it was not refused while a turn ran');
};
const missing = async (request) => same((await failure(request)).status, 404);

await run({
  'two turns continue one response: two branches': async () => {
    const { id } = await say('Hello.');
    const branches = await Promise.all(['Zebra.', 'Yak.'].map((words) => say(words, id)));
    for (const branch of branches) knows(branch, 2);
    for (const branch of branches) knows(await say('Goodbye.', branch.id), 4);
  },
  'an earlier response is continued': async () => {
    const first = await say('Hello.');
    await say('Zebra.', first.id);
    knows(await say('Yak.', first.id), 2);
  },
  'an unknown id': async () => {
    await unknown(say('Hello.', 'resp_none'));
    await refused(inside('conv_none', 'Hello.'), 404, 'conversation_not_found');
    await missing(ali.retrieve('resp_none'));
  },
  "another user's id": async () => {
    const { id } = await say('Hello.');
    await unknown(say('What was said?', id, dorothy.responses));
    await missing(dorothy.responses.retrieve(id));
    await missing(dorothy.responses.inputItems.list(id));
    await missing(dorothy.responses.delete(id));
    const conversation = (await conversations.create()).id;
    await refused(inside(conversation, 'Hello.', dorothy.responses), 404, 'conversation_not_found');
    await missing(dorothy.conversations.retrieve(conversation));
    knows(await say('Goodbye.', id), 2);
  },
  'a deleted response': async () => {
    const first = await say('Hello.');
    const second = await say('And what?', first.id);
    await ali.delete(first.id);
    await missing(ali.retrieve(first.id));
    await unknown(say('Goodbye.', first.id));
    // What follows it can be read, and is not continued.
    same((await ali.retrieve(second.id)).output_text, second.output_text);
    await unknown(say('Goodbye.', second.id));
  },
  'a turn that failed': async () => {
    const { responses, conversations } = client(`${agents}/v1`, 'any');
    const conversation = (await conversations.create()).id;
    for (const given of [{}, { conversation }]) {
      const events = [];
      for await (const event of await responses.create({ model: 'late', input: 'Lost.', stream: true, ...given })) events.push(event);
      same([events[0].type, events.at(-1).type], ['response.created', 'response.failed']);
      await unknown(responses.create({ model: 'recall', input: 'Hello.', previous_response_id: events[0].response.id }));
    }
    same((await conversations.items.list(conversation)).data, []);
    same((await responses.create({ model: 'recall', input: 'Hello.', conversation })).output_text, 'u:Hello.');
  },
  'a turn in the background that still runs': async () => {
    let id, response;
    await meanwhile(async () => {
      response = await ali.create({ model, input: 'Hello.', background: true });
      same(response.status, 'in_progress');
      id = response.id;
      await say('And what?', id);
    }, 400, 'previous_response_not_found');
    do {
      await new Promise((resolve) => setTimeout(resolve, 100));
      response = await ali.retrieve(id);
    } while (response.status === 'in_progress');
    knows(response, 0);
    knows(await say('And what?', id), 2);
  },
  'a second turn in a conversation while one runs': async () => {
    let id;
    await meanwhile(async () => {
      ({ id } = await conversations.create());
      const stream = await ali.create({ model, input: 'Hello.', conversation: id, stream: true });
      let second;
      for await (const { type } of stream) if (type === 'response.output_text.delta') await (second ??= inside(id, 'And what?').then(() => null, (error) => error));
      if (await second) throw await second;
    }, 400, 'conversation_locked');
    knows(await inside(id, 'And what?'), 2);
  },
  'a thread that is lost between two requests': async () => {
    // The second request reaches a server that has never heard of the thread.
    const bodies = [];
    const fetching = (url, init) => {
      bodies.push(JSON.parse(init.body));
      return fetch(bodies.length > 1 ? url.replace(agents, other) : url, init);
    };
    const anthropic = new Anthropic({ baseURL: agents, apiKey: 'any', fetch: fetching });
    const tools = [{ type: 'custom', name: 'get_tide', input_schema: SCHEMA, run: getTide, parse: (input) => input }];
    const messages = [{ role: 'user', content: 'Hello.' }];
    const said = await anthropic.beta.messages.toolRunner({ model: 'recall', max_tokens: 1024, messages, tools });
    same(said.content.at(-1).text, 'u:Hello. c:get_tide r:4.2 at Brest');
    same(bodies.map(({ thread, messages }) => [thread?.type, messages.length]), [['create', 1], ['continue', 1], ['create', 3]]);
  },
});
