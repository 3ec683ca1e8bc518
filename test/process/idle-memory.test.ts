import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { typeScriptWords } from '../../src/typescript/clone-or-package.mjs';
import { root } from '../cli/support/command.ts';

const mebibyte = 1024 ** 2;

/** Fills the young generation, idles until it is small, and prints both sizes. */
const program = `
import { getHeapSpaceStatistics } from 'node:v8';
import { releaseMemoryWhileIdle } from './src/process/idle-memory.ts';
const young = () => getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space').space_size;
const kept = [];
for (let turn = 0; young() < 16 * ${mebibyte}; turn += 1) {
  kept.push(...Array.from({ length: 1000 }, (_, at) => ({ at })));
  if (kept.length > 400_000) kept.splice(0, 200_000);
}
console.log(young());
releaseMemoryWhileIdle(100);
setInterval(() => {
  if (young() > 4 * ${mebibyte}) return;
  console.log(young());
  process.exit();
}, 100);
`;

test('idle memory: an idle process releases the young generation that a load left', {
  timeout: 60_000,
}, async (context) => {
  const words = ['--expose-gc', '--max-semi-space-size=32', ...typeScriptWords, '--input-type=module', '-e'];
  const child = spawn(process.execPath, [...words, program], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  context.after(() => child.kill('SIGKILL'));
  let said = '';
  child.stdout.on('data', (piece: Buffer) => {
    said += piece.toString();
  });
  assert.deepEqual(await once(child, 'close'), [0, null]);
  const [loaded = 0, idle = 0] = said.trim().split('\n').map(Number);
  assert.ok(loaded >= 16 * mebibyte && idle > 0 && idle <= 4 * mebibyte, said);
});
