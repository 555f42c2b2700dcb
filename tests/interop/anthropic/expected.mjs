// What every client sees in the situations that it shares with the others.

export const WORDS =
  'Hello\n"quoted" \\ \u2028 é 🦀 \n\n**T**\n\n| a |\n| --- |\n| 1 |\n\n\n\n**Error:** half of it\n\ndata: [DONE]\n\nend\n\n**Sources**\n\n- [Source](https://a.example)\n';

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

/** A `fetch` that counts: with their own retries, clients show how often they run a turn. */
export const counting = () => {
  const counted = async (...args) => {
    counted.posts += 1;
    return fetch(...args);
  };
  counted.posts = 0;
  return counted;
};

/** Runs every case and prints one JSON line for each. */
export const run = async (cases) => {
  for (const [name, each] of Object.entries(cases)) {
    let fault = null;
    try {
      await each();
    } catch (error) {
      fault = String(error?.message ?? error);
    }
    console.log(JSON.stringify({ name, fault }));
  }
};
