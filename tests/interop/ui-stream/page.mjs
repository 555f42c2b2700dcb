// A page without a browser: the SDK's own chat, with the state that its bindings give it.
export const VERSIONS = ['5.0.0', '5', '6', '7'];

// Version 7 warns that it wants a newer Node.js.
export const load = (version) => import(`ai-${version}`);

/** A chat of that version of the SDK, and what it reports. */
export function open(ai, options) {
  const state = {
    status: 'ready',
    error: undefined,
    messages: [],
    pushMessage: (message) => (state.messages = [...state.messages, message]),
    popMessage: () => (state.messages = state.messages.slice(0, -1)),
    replaceMessage: (at, message) => (state.messages = state.messages.with(at, structuredClone(message))),
    snapshot: (value) => structuredClone(value),
  };
  let ids = 0;
  const page = { data: [], errors: [], posts: [], finished: 0 };
  const counted = (input, init) => {
    if (init.method === 'POST') page.posts.push(init.body);
    // A page that posts for ever must not keep the test from failing: this one is never answered.
    if (page.posts.length > 6) return new Promise(() => {});
    return (options.fetch ?? fetch)(input, init);
  };
  class Page extends ai.AbstractChat {}
  page.chat = new Page({
    id: 'chat-1',
    state,
    generateId: () => `id-${++ids}`,
    transport: new ai.DefaultChatTransport({ api: options.api, fetch: counted, body: options.body }),
    onData: (part) => page.data.push(part),
    onError: (error) => page.errors.push(error.message),
    onFinish: () => (page.finished += 1),
    onToolCall: options.onToolCall && (({ toolCall }) => options.onToolCall(page, toolCall)),
    sendAutomaticallyWhen: options.sendAutomaticallyWhen,
  });
  return page;
}

/** Gives the result of a tool, as the version calls it. */
export const addOutput = ({ chat }, output) => (chat.addToolOutput ?? chat.addToolResult).call(chat, output);

/** Waits until a condition holds. */
export async function until(holds) {
  for (let round = 0; round < 300 && !holds(); round += 1) await new Promise((resolve) => setTimeout(resolve, 10));
  if (!holds()) throw new Error(`still waiting: ${holds}`);
}

/** Waits until nothing goes on any more. */
export async function quiet(page) {
  let seen = -1;
  await until(() => page.chat.status === 'ready' || page.chat.status === 'error');
  while (seen !== page.posts.length) {
    seen = page.posts.length;
    await new Promise((resolve) => setTimeout(resolve, 50));
    await until(() => page.chat.status === 'ready' || page.chat.status === 'error');
  }
}
