/** `npm run bench -- all`: every benchmark, one after the other. Exit code 1 if one of them failed. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { typeScriptWords } from '../src/typescript/clone-or-package.mjs';

const names = [
  'delivery',
  'delivery-cold',
  'delivery-writes',
  'own-write',
  'ingest',
  'feed',
  'fairness',
  'schedule',
  'query',
  'query-overhead',
  'search-rounds',
  'lists',
  'postings',
  'relevance',
  'rebuild',
  'rebuild-delivery',
  'dry-run',
  'growth',
  'start',
  'scale',
  'capacity',
];

const broken: string[] = [];
for (const name of names) {
  const file = fileURLToPath(new URL(`${name}.ts`, import.meta.url));
  const words = [...typeScriptWords, file, ...process.argv.slice(2)];
  const { status } = spawnSync(process.execPath, words, { stdio: 'inherit' });
  if (status === 130) process.exit(130);
  if (status !== 0) broken.push(name);
}
if (broken.length > 0) console.error(`These broke: ${broken.join(', ')}`);
process.exitCode = broken.length > 0 ? 1 : 0;
