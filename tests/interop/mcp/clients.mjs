// A client of the Node libraries that a script drives: JSON lines in and out, see cases.py. `clients.mjs NAME`
import { createInterface } from 'node:readline';

const info = { name: 'interop', version: '1.0.0' };
const response = (action) => ({ action, ...(action === 'accept' && { content: {} }) });
const capabilities = (elicit) => (elicit ? { elicitation: {} } : {});

const sdk2 = (options) => async ({ url, headers, elicit }) => {
  const { Client, StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client');
  const client = new Client(info, { capabilities: capabilities(elicit), ...options });
  if (elicit) client.setRequestHandler('elicitation/create', async () => response(elicit));
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
  return {
    list: async () => (await client.listTools()).tools,
    call: (name, args, options) => client.callTool({ name, arguments: args }, options),
    close: () => client.close(),
  };
};

const clients = {
  'TypeScript 1': async ({ url, headers, elicit }) => {
    const { Client } = await import('@modelcontextprotocol/sdk/client/index.js');
    const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/sdk/client/streamableHttp.js');
    const { ElicitRequestSchema } = await import('@modelcontextprotocol/sdk/types.js');
    const client = new Client(info, { capabilities: capabilities(elicit) });
    if (elicit) client.setRequestHandler(ElicitRequestSchema, async () => response(elicit));
    await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
    return {
      list: async () => (await client.listTools()).tools,
      call: (name, args, options) => client.callTool({ name, arguments: args }, undefined, options),
      close: () => client.close(),
    };
  },
  'TypeScript 2': sdk2({}),
  'TypeScript 2, auto': sdk2({ versionNegotiation: { mode: 'auto' } }),
  'AI SDK': async ({ url, headers, elicit }) => {
    const { createMCPClient, ElicitationRequestSchema } = await import('@ai-sdk/mcp');
    const client = await createMCPClient({ transport: { type: 'http', url, headers }, capabilities: capabilities(elicit) });
    if (elicit) client.onElicitationRequest(ElicitationRequestSchema, () => response(elicit));
    return {
      list: async () => (await client.listTools()).tools,
      // It sends no token for progress.
      call: (name, args, { signal }) => client.callTool({ name, arguments: args, options: { signal } }),
      close: () => client.close(),
    };
  },
};

const connect = clients[process.argv[2]];
const connections = new Map();
const calls = new Map();
const write = (message) => process.stdout.write(`${JSON.stringify(message)}\n`);

const work = {
  async connect(message) {
    connections.set(message.id, await connect(message));
  },
  list: ({ on }) => connections.get(on).list(),
  async call({ id, on, tool, arguments: args }) {
    const abort = new AbortController();
    calls.set(id, abort);
    const onprogress = ({ progress, message }) => write({ id, progress, message });
    const { content, isError } = await connections.get(on).call(tool, args, { onprogress, signal: abort.signal });
    return { parts: content, is_error: isError ?? false };
  },
  cancel: ({ call }) => calls.get(call).abort('enough'),
  close: ({ on }) => connections.get(on).close(),
};

createInterface({ input: process.stdin })
  .on('line', async (line) => {
    const message = JSON.parse(line);
    try {
      write({ id: message.id, result: (await work[message.do](message)) ?? null });
    } catch (error) {
      write({ id: message.id, error: String(error?.message ?? error) });
    }
  })
  .on('close', () => process.exit());
