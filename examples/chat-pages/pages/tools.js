// The tools that run in the browser.

/** Their descriptions. The page on the AI SDK does not send them: there the server names them. */
export const TOOLS = [{ name: 'getTimeZone', description: 'Returns the time zone of the browser.', parameters: { type: 'object', properties: {} } }];

/** Runs a tool: its output, or why it failed. */
export function runTool(name) {
  if (name !== 'getTimeZone') return [];
  try {
    return [Intl.DateTimeFormat().resolvedOptions().timeZone];
  } catch (error) {
    return [undefined, error.message];
  }
}
