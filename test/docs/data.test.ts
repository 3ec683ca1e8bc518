/** The page about the data names every key in Redis, by the word after its tag. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { root, textOf } from './support/markdown.ts';

test('data: docs/design/data.md names every key', () => {
  const source = readFileSync(path.join(root, 'src/store/keys.ts'), 'utf8');
  const kinds = [
    ...source.matchAll(/`(?:\$\{(?:tag|platformTag|tagOf\(list\))\}|\{process:\S+\}):([a-z-]+)/g),
  ].map(([, kind = '']) => kind);
  assert.ok(kinds.length > 40, 'keys are found at all');
  const page = textOf('docs/design/data.md');
  const missing = kinds.filter((kind) => !page.includes(`\`${kind}\``));
  assert.deepEqual(missing, []);
});
