import assert from 'node:assert/strict';
import { test } from 'node:test';
import { run } from './support/command.ts';
import { Platform } from './support/platform.ts';

const check = `"${process.execPath}" src/cli/bootstrap.mjs check`;

test('closed output: a command whose reader is gone ends without a stack trace', async () => {
  const { stdout, stderr } = await run('bash', ['-c', `${check} | true; echo "\${PIPESTATUS[0]}"`]);
  assert.deepEqual([stdout, stderr], ['141\n', '']);
});

test('closed output: a full disk is reported in one line', async () => {
  const { code, stderr } = await run('sh', ['-c', `${check} > /dev/full`]);
  assert.equal(code, 1);
  assert.match(stderr, /^The output cannot be written: ENOSPC.*\n$/);
});

test('closed output: start stops its processes in order', async (context) => {
  const platform = await Platform.start(context);
  await platform.ready();
  platform.process.stdout?.destroy();
  // It prints a line about that.
  platform.process.kill('SIGHUP');
  assert.equal(await platform.ended, 0, platform.output);
});
