// What the clients for Node share.
import { jsonSchema } from 'ai';

export const PROMPTS = ['How high is the tide at Brest?', 'And the tide at Dover?', 'Goodbye.'];
export const SCHEMA = { type: 'object', properties: { port: { type: 'string' } }, required: ['port'], additionalProperties: false };
export const INPUT = jsonSchema(SCHEMA);
export const getTide = ({ port }) => `4.2 at ${port}`;

export const same = (found, expected) => {
  const [one, two] = [JSON.stringify(found), JSON.stringify(expected)];
  if (one !== two) throw new Error(`${one} instead of ${two}`);
};

export const failure = async (promise) => {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error('it did not fail');
};

/** Runs every case and prints one JSON line for each. */
export const run = async (cases) => {
  for (const [name, work] of Object.entries(cases)) {
    let fault = null;
    try {
      await Promise.race([work(), new Promise((_, fail) => setTimeout(() => fail(new Error('took 60 s')), 60_000).unref())]);
    } catch (error) {
      fault = String(error?.message ?? error).split('\n')[0];
    }
    console.log(JSON.stringify({ name, fault }));
  }
};
