/** Lists the test files in the order in which they run, and runs them with Node's test runner. */
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { typeScriptWords } from '../../typescript/clone-or-package.mjs';
import { CommandStop } from '../terminal/command-line.ts';

/** System tests. They do not count for the coverage, because code that only they cover has no test in its layer. */
const systemTestPattern = /^test\/(?:system|hostile|cluster|simulator|cli\/package\.test\.ts$)/;
/** The slowest files, the slowest first. A run of the suite prints them at its end. */
export const longest: readonly string[] = [
  'test/cli/package.test.ts',
  'test/docs/commands.test.ts',
  'test/console/console.test.ts',
  'test/cli/configuration/forgotten-folder.test.ts',
  'test/hostile/code-schemas.test.ts',
  'test/system/processes/snapshots.test.ts',
  'test/docs/writing-schemas.test.ts',
  'test/system/failures/redis-restarts.test.ts',
  'test/system/failures/alerts.test.ts',
  'test/system/processes/rolling-restart.test.ts',
  'test/hostile/slow-code.test.ts',
  'test/hostile/slow-readers.test.ts',
  'test/system/processes/shard-copies.test.ts',
  'test/system/truth/truth.test.ts',
  'test/system/failures/crash.test.ts',
  'test/system/failures/power-cut.test.ts',
  'test/system/processes/idle.test.ts',
  'test/system/processes/start.test.ts',
  'test/system/failures/full-redis.test.ts',
  'test/system/interfaces/query.test.ts',
  'test/cluster/cluster.test.ts',
  'test/cluster/backup.test.ts',
  'test/sandbox/code-schemas.test.ts',
  'test/hostile/fuzz.test.ts',
  'test/system/failures/pressure.test.ts',
  'test/system/failures/changes-crash.test.ts',
  'test/system/truth/read-your-writes.test.ts',
  'test/system/processes/ownership.test.ts',
  'test/system/failures/promotion.test.ts',
  'test/hostile/bombs.test.ts',
  'test/system/truth/case-insensitive-urls.test.ts',
  'test/system/interfaces/changes.test.ts',
  'test/http/management/management.test.ts',
  'test/hostile/unread-answers.test.ts',
  'test/system/interfaces/large-bodies.test.ts',
  'test/system/processes/fairness.test.ts',
  'test/system/interfaces/import.test.ts',
  'test/system/truth/cities.test.ts',
  'test/system/failures/network.test.ts',
  'test/hostile/connections.test.ts',
  'test/cluster/reshard.test.ts',
  'test/actors/ownership/keeper.test.ts',
  'test/jobs/dry-run/dry-run.test.ts',
  'test/query/worker/costly.test.ts',
  'test/sandbox/sandbox.test.ts',
  'test/cli/import.test.ts',
  'test/process/no-redis.test.ts',
  'test/cli/apply.test.ts',
  'test/actors/runtime.test.ts',
  'test/jobs/rebuild-job.test.ts',
  'test/jobs/layout-change.test.ts',
  'test/jobs/purge-job.test.ts',
  'test/cli/backup.test.ts',
  'test/cli/bootstrap.test.ts',
  'test/simulator/simulator.test.ts',
  'test/jobs/jobs-process.test.ts',
  'test/cli/start.test.ts',
];

/** The tests of the layers, without those of the whole system. */
export function layerTests(root: string): string[] {
  return testFiles(root).filter((file) => !systemTestPattern.test(file.split(path.sep).join('/')));
}

/** All tests, the longest first. Paths are relative to the repository. */
export function testFiles(root: string): string[] {
  return readdirSync(path.join(root, 'test'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.test.ts'))
    .map((file) => path.join('test', file))
    .sort((a, b) => placeOf(a) - placeOf(b) || (a < b ? -1 : 1));
}

/**
 * The arguments, with folders replaced by their tests.
 * @param words files, folders, and options of node's test runner
 * @throws CommandStop if a file does not exist
 */
export function namedFiles(root: string, words: readonly string[]): string[] {
  return words.flatMap((word) => {
    const place = path.resolve(root, word);
    if (!existsSync(place)) {
      if (!word.endsWith('.test.ts')) return [word];
      throw new CommandStop(
        `${word} does not exist. Give a test file or a folder, such as test/http/delivery`,
      );
    }
    if (!statSync(place).isDirectory()) return [word];
    return testFiles(root).filter((file) => path.resolve(root, file).startsWith(place + path.sep));
  });
}

function placeOf(file: string): number {
  const place = longest.indexOf(file.split(path.sep).join('/'));
  return place < 0 ? longest.length : place;
}

const runFiles = fileURLToPath(new URL('run-files.ts', import.meta.url));
/** Processes of test files inherit all options of Node. */
const openAtEnd = `--import=${new URL('open-at-end.mjs', import.meta.url).href}`;
/** So that a hanging test does not block the suite. */
const testTimeoutMs = 600_000;
/** More than processors, because many tests wait: for leases to expire, for processes to start, for the disk. */
const filesAtOnce = availableParallelism() + 3;
/** Node's test runner, which accepts all its options. */
const nodesRunner = ['--test', '--test-reporter=spec', `--test-concurrency=${availableParallelism()}`];

/**
 * Runs tests in a process of Node's test runner, and prints its output.
 * @param root the repository
 * @param words test files; with options of Node's test runner among them, it runs the files directly
 * @param coverageDir folder for the coverage of every process; absent for no coverage
 * @returns its exit code
 */
export async function runTests(
  root: string,
  words: readonly string[],
  coverageDir?: string,
): Promise<number> {
  const isFiles = words.every((word) => word.endsWith('.ts'));
  const runner = isFiles ? [runFiles, String(filesAtOnce), String(testTimeoutMs)] : nodesRunner;
  const child = spawn(
    process.execPath,
    [...typeScriptWords, openAtEnd, `--test-timeout=${testTimeoutMs}`, ...runner, ...words],
    {
      cwd: root,
      stdio: ['ignore', 'inherit', 'inherit'],
      env: {
        ...process.env,
        ...(coverageDir !== undefined && { NODE_V8_COVERAGE: coverageDir }),
        // With this variable, Node's runner would consider itself part of a test and run nothing.
        NODE_TEST_CONTEXT: undefined,
      },
    },
  );
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return code ?? 1;
}
