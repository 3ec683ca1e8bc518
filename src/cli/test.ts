/**
 * `npm test [-- FILE …]`: runs the whole suite, or the files and options of node's test runner that are named. The tests of
 * the rooms run first, then those of the system; many share processes. The longest run first, so that none is left alone at
 * the end. After the whole suite it prints how much of `src` the tests of the rooms ran, in every process that they started
 * too. Too little of it fails the suite. What the tests of the system run is not counted: counting costs them a fifth to two
 * fifths more processor time, and code that they alone run has no test in its room.
 */
import { spawn } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { typeScriptWords } from '../typescript/words.ts';
import { runCommand } from './terminal/command-stop.ts';
import { hasColours } from './terminal/log-text.ts';
import { coverageReport } from './test/coverage.ts';
import { roomTests, systemTests } from './test/test-files.ts';
import { Totals } from './test/totals.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const runFiles = path.join(root, 'src/cli/test/run-files.ts');
const coverageDir = path.join(root, 'coverage', 'v8');
/** A test that hangs must not hang the suite. */
const testTimeoutMs = 600_000;
/** Many wait for a Redis or a process that they start: three at once left a third of two processors idle. */
const roomTestsAtOnce = 2 * availableParallelism();
/** Fewer, because each starts many processes. They wait as well: for leases to end, for processes to start. */
const systemTestsAtOnce = availableParallelism() + 1;
/** Takes every option of node's test runner. */
const nodesRunner = ['--test', '--test-reporter=spec', `--test-concurrency=${availableParallelism()}`];

async function main(): Promise<number> {
  const totals = new Totals();
  const chosen = process.argv.slice(2);
  const together = (atOnce: number) => [runFiles, String(atOnce), String(testTimeoutMs)];
  if (chosen.length > 0) {
    const isFiles = chosen.every((word) => word.endsWith('.ts'));
    return runTests(isFiles ? together(availableParallelism()) : nodesRunner, chosen, totals);
  }
  rmSync(coverageDir, { recursive: true, force: true });
  mkdirSync(coverageDir, { recursive: true });
  const rooms = await runTests(together(roomTestsAtOnce), roomTests(root), totals, coverageDir);
  const [system, coverage] = await Promise.all([
    runTests(together(systemTestsAtOnce), systemTests(root), totals),
    coverageReport(root, coverageDir),
  ]);
  console.log(`${coverage.text}\nThe whole suite:\n${totals.lines()}`);
  return [rooms, system, coverage.code].every((code) => code === 0) ? 0 : 1;
}

/**
 * Runs node's test runner on some files, and passes on its output.
 * @param how the runner's words
 * @param noteDir folder for the coverage of every process; absent: none
 * @returns its exit code
 */
async function runTests(
  how: readonly string[],
  files: readonly string[],
  totals: Totals,
  noteDir?: string,
): Promise<number> {
  if (files.length === 0) return 0;
  const child = spawn(
    process.execPath,
    [...typeScriptWords, `--test-timeout=${testTimeoutMs}`, ...how, ...files],
    {
      cwd: root,
      stdio: ['ignore', 'pipe', 'inherit'],
      env: {
        ...process.env,
        ...(noteDir !== undefined && { NODE_V8_COVERAGE: noteDir }),
        // Within a test, node's runner would take itself for a part of that test and run nothing.
        NODE_TEST_CONTEXT: undefined,
        ...(hasColours(process.stdout) && { FORCE_COLOR: '1' }),
      },
    },
  );
  child.stdout.setEncoding('utf8');
  child.stdout.on('data', (text: string) => {
    process.stdout.write(text);
    totals.read(text);
  });
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  totals.endRun();
  return code ?? 1;
}

await runCommand(main);
