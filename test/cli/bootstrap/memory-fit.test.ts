import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import {
  fittedSettings,
  fittedWords,
  memoryBytes,
  privateRedisBytesMax,
  startShareBytes,
} from '../../../src/cli/bootstrap/memory-fit.mjs';
import { procfileWords } from '../../../src/cli/bootstrap/procfile-entry.mjs';
import { readSettings } from '../../../src/config/settings/settings.ts';
import { listSettings } from '../../../src/config/settings/table.ts';
import { root } from '../support/command.ts';

const mebibyte = 1024 ** 2;
const worker = ['--max-semi-space-size=64', 'workers/partition.ts'];

/** `--max-semi-space-size` of a worker, in MiB. */
function semiSpaceOf(bytes: number): number {
  const [word = '', script] = fittedWords(worker, bytes);
  assert.equal(script, worker[1]);
  return Number(word.split('=')[1]);
}

test('young generation: takes at most a tenth of the memory, and never more than the Procfile allows', () => {
  assert.equal(semiSpaceOf(64 * 1024 * mebibyte), 64);
  assert.equal(semiSpaceOf(2048 * mebibyte), 64);
  assert.equal(semiSpaceOf(1024 * mebibyte), 32);
  assert.equal(semiSpaceOf(512 * mebibyte), 16);
  assert.equal(semiSpaceOf(100 * mebibyte), 3);
  assert.equal(semiSpaceOf(16 * mebibyte), 2);
  for (let megabytes = 64; megabytes < 2048; megabytes += 37) {
    assert.ok(3 * semiSpaceOf(megabytes * mebibyte) <= megabytes / 10 + 1, `${megabytes} MiB`);
  }
});

test('memory fit: other words than the young generation are unchanged', () => {
  const words = ['--expose-gc', '--no-parallel-scavenge', 'workers/web.ts'];
  assert.deepEqual(fittedWords(words, mebibyte), words);
});

test('npm start divides the memory: one of three processes gets a quarter, a single one half', () => {
  assert.equal(startShareBytes('full', 1024), 256);
  assert.equal(startShareBytes('small', 1024), 512);
});

test('private Redis: gets a quarter of less than 4 GiB, and no limit on a larger machine', () => {
  assert.equal(privateRedisBytesMax(512 * mebibyte), 128 * mebibyte);
  assert.equal(privateRedisBytesMax(4095 * mebibyte), Math.floor((4095 * mebibyte) / 4));
  assert.equal(privateRedisBytesMax(4096 * mebibyte), null);
});

test('settings of a front: a small machine has smaller defaults, any other the documented ones', () => {
  const documented = listSettings().map(({ variable, default: written }) => [variable, written]);
  for (const entry of Object.entries(fittedSettings(4608 * mebibyte))) {
    assert.ok(
      documented.some(([name, written]) => name === entry[0] && written === entry[1]),
      String(entry),
    );
  }
  const settings = readSettings(fittedSettings(512 * mebibyte));
  assert.equal(settings.deliveryCacheBytes, 32 * mebibyte);
  assert.equal(settings.bodiesInFlightBytes, 16 * mebibyte);
  assert.equal(settings.unsentAnswersBytes, 32 * mebibyte);
});

test('memory: is at most that of the machine, whatever limit a system without one reports', () => {
  assert.ok(memoryBytes() > 0 && memoryBytes() <= os.totalmem());
});

test('memory fit: a role is a line of the Procfile or of workers/Procfile.small; any other word is not', () => {
  for (const role of ['web', 'worker', 'jobs', 'small']) {
    const script = procfileWords(role)?.at(-1) ?? '';
    assert.ok(readFileSync(path.join(root, script), 'utf8').includes(`runProcess('${role}'`), role);
  }
  assert.equal(procfileWords('check'), null);
  assert.equal(procfileWords('.*'), null);
});
