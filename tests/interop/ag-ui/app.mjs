// An app without a browser: the official client, and what it reports.
export const VERSIONS = ['0.0.59', '1.0.0'];

// Version 1.0.0 says on the console what it does for older agents; there is nothing to say here.
export const load = (version) => import(`client-${version}`);

let ids = 0;
export const user = (content) => ({ id: `u${(ids += 1)}`, role: 'user', content });
export const result = (toolCallId, content, rest = {}) => ({ id: `t${(ids += 1)}`, role: 'tool', toolCallId, content, ...rest });
export const begin = () => (ids = 0);

/** An app of that version of the client. */
export function open({ HttpAgent }, url, options = {}) {
  const app = { posts: [], types: [], bytes: '', events: [] };
  app.agent = new HttpAgent({
    url,
    threadId: 'thread-1',
    initialMessages: [],
    ...options,
    fetch: async (input, init) => {
      app.posts.push(init.body);
      const response = await (options.fetch ?? fetch)(input, init);
      if (!response.ok || !response.body) return response;
      const [one, two] = response.body.tee();
      app.read = new Response(two).text().catch((error) => `${error}`);
      return new Response(one, { status: response.status, headers: response.headers });
    },
  });
  return app;
}

/** One run: the types of its events and the text that the app has afterwards. */
export async function run(app, { say, add = [], ...parameters } = {}) {
  if (say !== undefined) app.agent.addMessage(user(say));
  for (const message of add) app.agent.addMessage(message);
  app.events = [];
  await app.agent.runAgent(
    { runId: `run-${app.posts.length + 1}`, tools: [], context: [], ...parameters },
    { onEvent: ({ event }) => void app.events.push(event) },
  );
  app.types = app.events.map(({ type }) => type);
  app.bytes = await app.read;
  return app;
}

/** The text that the assistant has said since the user's last message. */
export const text = ({ agent }) => {
  const since = agent.messages.slice(agent.messages.findLastIndex(({ role }) => role === 'user') + 1);
  return since.filter(({ role }) => role === 'assistant').map(({ content }) => content ?? '').join('|');
};
