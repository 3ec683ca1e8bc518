/**
 * `npm run coverage`: runs the tests of the layers, and prints the coverage of `src`, including child processes. The exit code
 * is 1 if the coverage is too low or a test fails. The system tests are not counted, because code that only they cover has no
 * test in its layer.
 */

import { spawn } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { runCommand } from './terminal/command-line.ts';
import { layerTests, runTests } from './test/test-files.ts';

const linesPercentMin = 90;
const codePattern =
  /^(?:export )?(?:default |async |abstract )*(?:const|let|var|function|class|enum)\b|^(?:await|for|if|try|process)\b|^\w[\w.]*\(/m;

/**
 * Prints the coverage of `src` by the processes that wrote into `coverageDir`. Files that none of them loaded count as not
 * covered. It merges all counts together, which takes 1.1 to 1.6 GB of memory but a third of the time.
 * @returns 0 if enough lines are covered
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

/** Files with types only. They have no code, and are never loaded. */
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
  const tests = await runTests(root, layerTests(root), coverageDir);
  const coverage = await coverageReport(root, coverageDir);
  return tests === 0 && coverage === 0 ? 0 : 1;
});
