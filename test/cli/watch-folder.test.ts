import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { watchFolder } from '../../src/cli/site/watch-folder.ts';
import { until } from '../support/until.ts';
import { temporaryFolder } from './support/command.ts';

test('watch folder: reports a change once, after the file is written completely', async (context) => {
  const folder = await temporaryFolder(context);
  const file = path.join(folder, 'schema.json');
  await writeFile(file, 'first');
  const stop = new AbortController();
  context.after(() => stop.abort());
  const seen: string[] = [];
  const onChange = async () => void seen.push(await readFile(file, 'utf8'));
  void watchFolder(folder, stop.signal, onChange, { pollMs: 10, quietMs: 1_000 });
  await sleep(100);
  for (const text of ['second', 'the third']) {
    await writeFile(file, '');
    await sleep(30);
    await writeFile(file, text);
    await until(`${text} is seen`, () => seen.includes(text));
  }
  assert.deepEqual(seen, ['second', 'the third']);
});
