/**
 * `npm run coverage`: runs the tests of the rooms, and prints how much of `src` ran, in every process that they started too.
 * Too little of it, or a test that fails, is exit code 1. What the tests of the system run is not counted: code that they
 * alone run has no test in its room.
 */

import { spawn } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { runCommand } from './terminal/command-line.ts';
import { roomTests, runTests } from './test/test-files.ts';

const linesPercentMin = 90;
const codePattern =
  /^(?:export )?(?:default |async |abstract )*(?:const|let|var|function|class|enum)\b|^(?:await|for|if|try|process)\b|^\w[\w.]*\(/m;

/**
 * Prints how much of `src` ran in the processes that wrote into `coverageDir`. Files that none of them loaded count as not run.
 * It merges all counts at once, with 1.1 to 1.6 GB of memory: one by one they take three times as long.
 * @returns 0 when enough lines ran
 */
async function coverageReport(root: string, coverageDir: string): Promise<number> {
  const c8 = createRequire(import.meta.url).resolve('c8/bin/c8.js');
  const child = spawn(
    process.execPath,
    [
      c8,
      'report',
      `--temp-directory=${coverageDir}`,
      '--all',
      '--src=src',
      '--include=src/**',
      // The entries are there as one module each, with what they import from src.
      '--include=workers/**',
      '--exclude=test/**',
      ...filesWithoutCode(root).map((file) => `--exclude=${file}`),
      '--reporter=text',
      '--reporter=text-summary',
      '--check-coverage',
      `--lines=${linesPercentMin}`,
    ],
    { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] },
  );
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return code ?? 1;
}

/** Files that hold only types. They have nothing to run, and are never loaded. */
function filesWithoutCode(root: string): string[] {
  return readdirSync(path.join(root, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => path.join('src', file))
    .filter((file) => !codePattern.test(readFileSync(path.join(root, file), 'utf8')));
}

const root = fileURLToPath(new URL('../../', import.meta.url));
const coverageDir = path.join(root, 'coverage', 'v8');

await runCommand(async () => {
  rmSync(coverageDir, { recursive: true, force: true });
  mkdirSync(coverageDir, { recursive: true });
  const tests = await runTests(root, roomTests(root), coverageDir);
  const coverage = await coverageReport(root, coverageDir);
  return tests === 0 && coverage === 0 ? 0 : 1;
});
