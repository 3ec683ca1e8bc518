/** What happens to a sandbox when the process that monitors it is killed. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { typeScriptWords } from '../../src/typescript/clone-or-package.mjs';
import { isAlive } from '../support/is-alive.ts';
import { until } from '../support/until.ts';
import { childrenOf } from '../system/support/processes/children.ts';

const owner = fileURLToPath(new URL('./support/looping-owner.ts', import.meta.url));

test('owner gone: a schema that never ends does not outlive its killed worker', async () => {
  const child = spawn(process.execPath, [...typeScriptWords, owner], { stdio: 'ignore' });
  assert.ok(child.pid !== undefined);
  const { pid } = child;
  let sandboxes: readonly number[] = [];
  await until('the sandbox runs', () => {
    sandboxes = childrenOf(pid, 'sandbox');
    return sandboxes.length > 0;
  });
  child.kill('SIGKILL');
  await until('it is gone', () => !sandboxes.some(isAlive));
});
