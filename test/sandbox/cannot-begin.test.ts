/** A machine that cannot start another process: calls are rejected, the owner of the sandbox survives, and later calls succeed. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { typeScriptWords } from '../../src/typescript/clone-or-package.mjs';

const owner = fileURLToPath(new URL('./support/without-files.ts', import.meta.url));

test('cannot begin: without a free file descriptor the sandbox rejects calls, and recovers when there is one', async () => {
  const command = 'ulimit -n 100; exec "$0" "$@"';
  const { stdout } = await promisify(execFile)('sh', [
    '-c',
    command,
    process.execPath,
    ...typeScriptWords,
    owner,
  ]);
  assert.equal(stdout.trim(), 'rejected rejected made');
});
