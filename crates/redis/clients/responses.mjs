// openai-node, cut off in the middle of a response: it reads on from another server: responses.mjs ONE OTHER.
import { createRequire } from 'node:module';

const OpenAI = createRequire(new URL('../../../tests/interop/responses/', import.meta.url))('openai').default;
const [one, other] = process.argv.slice(2).map((server) => new OpenAI({ baseURL: `${server}/v1`, apiKey: 'node' }));

const begun = { model: 'counter', input: 'count 40 25', background: true };
const seen = [];
const stream = await one.responses.create({ ...begun, stream: true });
for await (const event of stream) {
  seen.push(event);
  if (event.sequence_number === 20) break;
}
const { id } = seen[0].response;
const rest = await other.responses.retrieve(id, { stream: true, starting_after: 20 });
for await (const event of rest) seen.push(event);
seen.forEach((event, number) => {
  if (event.sequence_number !== number) throw new Error(`event ${event.sequence_number} in place of ${number}`);
});
const text = seen.filter(({ type }) => type === 'response.output_text.delta').map(({ delta }) => delta).join('');
if (!text.endsWith(' 38 39') || seen.at(-1).type !== 'response.completed') throw new Error(text);
const whole = await other.responses.retrieve(id);
if (whole.status !== 'completed' || whole.output_text !== text) throw new Error(JSON.stringify(whole));

// Without a stream: asked for until it is done, and cancelled elsewhere.
const long = await one.responses.create({ ...begun, input: 'count 10000 10' });
if (!['queued', 'in_progress'].includes(long.status)) throw new Error(long.status);
await other.responses.cancel(long.id);
for (let round = 0; (await one.responses.retrieve(long.id)).status !== 'cancelled'; round += 1) {
  if (round > 100) throw new Error('it goes on');
  await new Promise((resolve) => setTimeout(resolve, 50));
}
console.log('openai-node: yes');
