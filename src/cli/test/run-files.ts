/**
 * `node run-files.ts CONCURRENCY TIMEOUT_MS FILE …`: runs test files with node's test runner. Many share processes. Each
 * other has one of its own, in the order given. `node --test` would sort them by their names. The exit code is 1 when a
 * test fails.
 */
import path from 'node:path';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { fileURLToPath } from 'node:url';
import { canShare, writeSharing } from './shared-processes.ts';

const [concurrency = '1', timeoutMs = '0', ...files] = process.argv.slice(2);
const shownFiles = 40;
const tookMs = new Map<string, number>();

function count(file: string | undefined, nesting: number, ms: number): void {
  if (file !== undefined && nesting === 0) tookMs.set(file, (tookMs.get(file) ?? 0) + ms);
}

const root = fileURLToPath(new URL('../../../', import.meta.url));
const sharing = files.filter((file) => canShare(root, file));
const shared = writeSharing(root, sharing);
const alone = files.filter((file) => !sharing.includes(file));
const tests = run({
  files: [...alone, ...shared.modules],
  concurrency: Number(concurrency),
  timeout: Number(timeoutMs),
});
tests.on('test:pass', ({ file, nesting, details }) => count(file, nesting, details.duration_ms));
tests.on('test:fail', ({ file, nesting, details }) => {
  process.exitCode = 1;
  count(file, nesting, details.duration_ms);
});
tests.on('end', () => {
  shared.remove();
  const longest = [...tookMs].sort(([, a], [, b]) => b - a).slice(0, shownFiles);
  process.on('exit', () => {
    const lines = longest.map(([file, ms]) => `  ${(ms / 1000).toFixed(0)} s ${path.relative('', file)}`);
    console.log(`The longest files:\n${lines.join('\n')}`);
  });
});
tests.compose(new spec()).pipe(process.stdout);
