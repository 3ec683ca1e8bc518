import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { typeScriptWords } from '../../src/typescript/clone-or-package.mjs';

const background = pathToFileURL('src/process/run-process.ts').href;
const onlyOnLinux = { skip: process.platform === 'linux' ? false : 'only Linux has these classes' };
/** See sched(7); as in /proc. */
const policies = { other: '0', idle: '5' };

/** Niceness and class of each thread of a process with lowered priority. */
function afterSteppingBack(niceness: string): [niceness: string, policy: string][] {
  const program = `
    import { readdirSync, readFileSync } from 'node:fs';
    import { lowerPriority } from ${JSON.stringify(background)};
    lowerPriority(${niceness});
    for (const task of readdirSync('/proc/self/task')) console.log(readFileSync('/proc/self/task/' + task + '/stat', 'utf8').trim());
  `;
  const words = [...typeScriptWords, '--input-type=module', '--eval', program];
  const { status, stdout, stderr } = spawnSync(process.execPath, words, { encoding: 'utf8' });
  assert.equal(status, 0, stderr);
  return stdout
    .trim()
    .split('\n')
    .map((line) => {
      // After the name, which may contain anything: proc(5) counts from 3 there.
      const fields = line.slice(line.lastIndexOf(')') + 2).split(' ');
      return [fields[19 - 3] ?? '', fields[41 - 3] ?? ''];
    });
}

test('background: idle is a separate scheduling class, for every thread of the process', onlyOnLinux, () => {
  const threads = afterSteppingBack("'idle'");
  assert.ok(threads.length > 1);
  for (const [, policy] of threads) assert.equal(policy, policies.idle);
});

test('background: a niceness is set, and 0 changes nothing', onlyOnLinux, () => {
  assert.deepEqual(afterSteppingBack('7')[0], ['7', policies.other]);
  const [before] = afterSteppingBack('0');
  assert.equal(before?.[1], policies.other);
});
