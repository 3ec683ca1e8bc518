/**
 * `node run-files.ts CONCURRENCY TIMEOUT_MS FILE …`: runs test files with Node's test runner. Many files share processes; each
 * of the others gets its own, in the given order, because `node --test` would sort them by name. Files that fail are run once
 * more, alone. The exit code is 1 if a test fails again.
 */
import { once } from 'node:events';
import path from 'node:path';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { fileURLToPath } from 'node:url';
import { canShare, writeSharing } from './shared-processes.ts';

const [concurrency = '1', timeoutMs = '0', ...files] = process.argv.slice(2);
const shownFiles = 5;
/** Only a few failures can be due to a slow machine. */
const retriedMax = 5;
const tookMs = new Map<string, number>();

const root = fileURLToPath(new URL('../../../', import.meta.url));
const sharing = files.filter((file) => canShare(root, file));
const shared = writeSharing(root, sharing);
const alone = files.filter((file) => !sharing.includes(file));

/** @returns the files with failed tests */
async function runTests(modules: readonly string[], runSync: number): Promise<string[]> {
  const tests = run({ files: [...modules], concurrency: runSync, timeout: Number(timeoutMs) });
  const failed = new Set<string>();
  tests.on('test:pass', ({ file, name, nesting, details }) => {
    if (nesting === 0) count(fileOf(name, file), details.duration_ms);
  });
  tests.on('test:fail', ({ file, name, nesting, details }) => {
    if (nesting > 0) return;
    failed.add(fileOf(name, file));
    count(fileOf(name, file), details.duration_ms);
  });
  const report = tests.compose(new spec());
  report.pipe(process.stdout, { end: false });
  await once(report, 'end');
  return [...failed];
}

/** The file of a test that is within no other. A file that takes its turn on a platform is a suite with its name. */
function fileOf(name: string, file: string | undefined): string {
  return sharing.includes(name) ? path.resolve(root, name) : (file ?? name);
}

function count(file: string, ms: number): void {
  tookMs.set(file, (tookMs.get(file) ?? 0) + ms);
}

/** Paths relative to the current folder, one per line. */
function listOf(paths: readonly string[]): string {
  return paths.map((file) => `  ${path.relative('', file)}`).join('\n');
}

const failed = await runTests([...shared.modules, ...alone], Number(concurrency));
const isRetried = files.length > 1 && failed.length > 0 && failed.length <= retriedMax;
if (isRetried)
  console.log(`\nThese files failed while others ran. They run once more, alone:\n${listOf(failed)}\n`);
const failedAgain = isRetried ? await runTests(failed, 1) : failed;
shared.remove();
process.exitCode = failedAgain.length > 0 ? 1 : 0;
process.on('exit', () => {
  if (isRetried && failedAgain.length === 0) {
    console.log(
      `Failed while others ran, and passed alone. Find out why; it may be a race:\n${listOf(failed)}`,
    );
  }
  const longest = [...tookMs].sort(([, a], [, b]) => b - a).slice(0, shownFiles);
  const lines = longest.map(([file, ms]) => `  ${(ms / 1000).toFixed(0)} s ${path.relative('', file)}`);
  console.log(`The longest files:\n${lines.join('\n')}`);
});
