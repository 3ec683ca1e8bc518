import assert from 'node:assert/strict';
import { appendFileSync, cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { codeDigest } from '../../../../src/query/worker/snapshots/code-digest.ts';

const repository = fileURLToPath(new URL('../../../../', import.meta.url));
const copy = mkdtempSync(path.join(tmpdir(), 'millrace-code-'));
after(() => rmSync(copy, { recursive: true }));
for (const part of ['package.json', 'src']) {
  cpSync(path.join(repository, part), path.join(copy, part), { recursive: true });
}

test('a snapshot of other code is another one: of the search, or of anything that it runs', () => {
  assert.equal(codeDigest(copy), codeDigest());
  const files = ['search/text/words.ts', 'contract/limits.ts', 'lib/code-points.ts', '../package.json'];
  for (const file of files) {
    const before = codeDigest(copy);
    appendFileSync(path.join(copy, 'src', file), ' ');
    assert.notEqual(codeDigest(copy), before, file);
  }
});

test('code that only stores or serves items leaves snapshots as good as they were', () => {
  const before = codeDigest(copy);
  for (const file of ['http/query/query.ts', 'store/keys.ts']) {
    appendFileSync(path.join(copy, 'src', file), ' ');
    assert.equal(codeDigest(copy), before, file);
  }
});
