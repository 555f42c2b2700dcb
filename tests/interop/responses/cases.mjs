// What the two clients for Node share.

export const HELLO = [{ role: 'user', content: 'Hello' }];
export const WORDS =
  'Hello\n"quoted" \\ \u2028 é 🦀 \n\n**T**\n\n| a |\n| --- |\n| 1 |\n\n\n\n**Error:** half of it\n\ndata: [DONE]\n\nend\n\n**Sources**\n\n- [Source](https://a.example)\n';
export const NOTHING = 'There is no answer.';
export const TIDE = { type: 'object', properties: { port: { type: 'string' } } };
export const TWO = [['call_A', 'get_tide', { n: 1 }], ['call_B', 'get_tide', { n: 2 }]];

export const failure = async (promise) => {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error('it did not fail');
};

export const same = (found, expected) => {
  const [one, two] = [JSON.stringify(found), JSON.stringify(expected)];
  if (one !== two) throw new Error(`${one} instead of ${two}`);
};

/** Asks one of the counting agents. */
export const count = async (baseURL, model) => {
  const response = await fetch(`${baseURL}/responses`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model, input: 'How many?' }),
  });
  return Number((await response.json()).output[0].content[0].text);
};

/** What `run` returns, after which the failing agent has run so many times. */
export const once = async (baseURL, run, times = 1) => {
  const before = await count(baseURL, 'runs');
  const found = await run();
  same((await count(baseURL, 'runs')) - before, times);
  return found;
};

/** Waits until an agent was dropped since `before`. */
export const dropped = async (baseURL, before) => {
  for (let tries = 0; tries < 50; tries += 1) {
    if ((await count(baseURL, 'left')) > before) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error('the agent was not dropped');
};

/** Runs all cases and prints one JSON line for each. */
export const run = async (cases) => {
  for (const [name, work] of Object.entries(cases)) {
    let fault = null;
    try {
      await work();
    } catch (error) {
      fault = String(error?.message ?? error);
    }
    console.log(JSON.stringify({ name, fault }));
  }
};
