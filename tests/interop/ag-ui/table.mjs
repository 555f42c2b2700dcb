// Prints what was found, one row a situation, and fails if anything did.
import { readFileSync, readdirSync } from 'node:fs';

const folder = process.argv[2];
const kinds = readdirSync(folder).sort();
const lines = (kind) => readFileSync(`${folder}/${kind}`, 'utf8').split('\n').filter(Boolean).map((line) => JSON.parse(line));
const found = kinds.map((kind) => new Map(lines(kind).map(({ name, fault }) => [name, fault])));
const names = [...new Set(found.flatMap((faults) => [...faults.keys()]))];
console.log(`| situation | ${kinds.join(' | ')} |\n|---|${'---|'.repeat(kinds.length)}`);
let failed = 0;
for (const name of names) {
  const cells = found.map((faults) => {
    const fault = faults.has(name) ? faults.get(name) : 'did not run';
    failed += fault !== null;
    return fault === null ? 'yes' : `NO: ${fault}`;
  });
  console.log(`| ${name} | ${cells.join(' | ')} |`);
}
console.log(`\n${names.length * kinds.length - failed} passed, ${failed} failed`);
process.exit(failed > 0 || names.length === 0 ? 1 : 0);
