// Prints the types of the parts of requests, as the official TypeScript packages define them, like `unions.py`.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { InputContentSchema, MessageSchema } from '@ag-ui/core';

const require = createRequire(import.meta.url);

/** The types of the parts of a page's message in one version of the AI SDK, from its declarations. */
function parts(name) {
  const folder = require.resolve(name).replace(/dist.*/, 'dist/');
  const text = readFileSync(`${folder}index.d.ts`, 'utf8');
  const union = text.match(/^(?:export )?type UIMessagePart<[^=]*= ([^;]+);/m)[1];
  return union.split('|').map((part) => {
    const type = part.trim().replace(/<.*/, '');
    const body = text.slice(text.search(new RegExp(`^(?:export )?type ${type}\\b`, 'm')));
    // A page names the types of its tools and data itself.
    const [, quoted, template] = body.match(/\btype: (?:'([^']+)'|`([^$`]*)\$)/);
    return quoted ?? `${template}*`;
  });
}

const word = (schema, member) => schema.shape[member].value;
const lines = [
  ...['ai-5', 'ai-6', 'ai-7'].flatMap((name) => parts(name).map((part) => `ui type ${part}`)),
  ...MessageSchema.options.map((option) => `agui role ${word(option, 'role')}`),
  ...InputContentSchema.innerType().options.map((option) => `agui type ${word(option, 'type')}`),
];
console.log([...new Set(lines)].join('\n'));
