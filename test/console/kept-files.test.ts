import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm, utimes } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { keepFiles, keptFiles } from '../../src/console/kept-files.mjs';

const digestOf = (digit: string) => digit.repeat(64);
const filesOf = (text: string) => {
  const bytes = Buffer.from(text);
  return [
    { name: 'index.html', plain: bytes, gzip: bytes, br: bytes },
    { name: `console-${text}.js`, plain: bytes, gzip: bytes, br: bytes },
  ];
};

test('kept files: each build finds its own files, and those of the newest four builds are kept', async () => {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'millrace-console-'));
  try {
    assert.equal(await keptFiles(folder, digestOf('a')), null);
    await Promise.all(['a', 'b', 'c'].map((name) => keepFiles(folder, digestOf(name), filesOf(name))));
    await keepFiles(folder, digestOf('b'), filesOf('b'));
    for (const name of ['a', 'b', 'c']) {
      const found = await keptFiles(folder, digestOf(name));
      assert.deepEqual(found?.map((file) => file.name).sort(), [`console-${name}.js`, 'index.html']);
      assert.ok(found?.every(({ plain, br }) => plain.equals(br) && plain.toString() === name));
    }
    const names = ['f', 'e', 'd', '9'];
    for (const [at, name] of names.entries()) {
      await keepFiles(folder, digestOf(name), filesOf(name));
      await utimes(path.join(folder, digestOf(name)), at, 2_000_000_000 + at);
    }
    assert.deepEqual((await readdir(folder)).sort(), names.map(digestOf).sort(), 'the newest four');
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
