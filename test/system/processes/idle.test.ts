import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { temporaryFolder } from '../../cli/support/command.ts';
import { Platform } from '../../cli/support/platform.ts';
import { oneRedisOnly, System } from '../support/processes/system.ts';
import { siteFiles } from '../support/site.ts';

/** Maximum that an idle platform may append to Redis' file per second. */
const bytesPerSecondMax = 1_000;
/** Long enough to count what is renewed every few seconds. */
const idleMs = 12_000;
/** Until jobs, layouts and the first statistics are done. */
const settleMs = 4_000;

/** Path of the append-only file of Redis. */
function appendedFile(folder: string): string {
  const appended = readdirSync(path.join(folder, 'appendonlydir')).filter((name) =>
    name.endsWith('.incr.aof'),
  );
  assert.equal(appended.length, 1);
  return path.join(folder, 'appendonlydir', appended[0] ?? '');
}

/** Commands appended while idle, with their key, and the total bytes. */
async function appendedWhileIdle(folder: string): Promise<{ bytes: number; commands: string[] }> {
  await sleep(settleMs);
  const file = appendedFile(folder);
  const before = statSync(file).size;
  await sleep(idleMs);
  const added = readFileSync(file).subarray(before).toString('latin1');
  const commands = added.split(/^\*\d+\r\n/m).map((command) =>
    command
      .split('\r\n')
      .filter((_, line) => line === 1 || line === 3)
      .join(' '),
  );
  return { bytes: added.length, commands };
}

function summaryOf(commands: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const command of commands) counts.set(command, (counts.get(command) ?? 0) + 1);
  return [...counts]
    .sort(([, a], [, b]) => b - a)
    .map(([command, count]) => `${count} ${command}`)
    .slice(0, 12)
    .join(', ');
}

function check({ bytes, commands }: { bytes: number; commands: string[] }): string {
  const perSecond = Math.round(bytes / (idleMs / 1000));
  const text = `${perSecond} bytes a second: ${summaryOf(commands)}`;
  assert.ok(perSecond < bytesPerSecondMax, text);
  return text;
}

const schemas = { page: { triggers: { cms: ['page'] }, properties: { title: '{p.title}' } } };

// Both mostly wait.
describe('idle platforms', { concurrency: true }, () => {
  test(
    'idle: an idle platform on one Redis appends almost nothing to its file',
    oneRedisOnly,
    async (context) => {
      const files = siteFiles({ schemas });
      const system = await System.start({ web: 1, workers: 1, jobs: 1, partitions: 16, files });
      context.after(() => system.stop());
      context.diagnostic(check(await appendedWhileIdle(system.redisDir)));
    },
  );

  test('idle: the processes of npm start append almost nothing to the file of Redis', async (context) => {
    const dataDir = await temporaryFolder(context);
    const platform = await Platform.start(context, { DATA_DIR: dataDir, PARTITIONS: '16' });
    await platform.ready();
    context.diagnostic(check(await appendedWhileIdle(path.join(dataDir, 'redis'))));
    await platform.stop();
  });
});
