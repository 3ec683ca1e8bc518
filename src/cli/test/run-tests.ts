import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { typeScriptWords } from '../../typescript/words.ts';

const runFiles = fileURLToPath(new URL('run-files.ts', import.meta.url));
/** Processes of test files take it over with all options of node. */
const openAtEnd = `--import=${new URL('open-at-end.mjs', import.meta.url).href}`;
/** A test that hangs must not hang the suite. */
const testTimeoutMs = 600_000;
/** More than there are processors, because many wait: for leases to end, for processes to start, for a disk. */
const filesAtOnce = availableParallelism() + 2;
/** Takes every option of node's test runner. */
const nodesRunner = ['--test', '--test-reporter=spec', `--test-concurrency=${availableParallelism()}`];

/**
 * Runs tests in a process of node's test runner, and prints what it prints.
 * @param root the repository
 * @param words test files; with options of node's test runner among them, it alone runs them
 * @param coverageDir folder for the coverage of every process; absent: none
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
        // Within a test, node's runner would take itself for a part of that test and run nothing.
        NODE_TEST_CONTEXT: undefined,
      },
    },
  );
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return code ?? 1;
}
