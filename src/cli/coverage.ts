/**
 * `npm run coverage`: runs the tests of the rooms, and prints how much of `src` ran, in every process that they started too.
 * Too little of it, or a test that fails, is exit code 1. What the tests of the system run is not counted: code that they
 * alone run has no test in its room.
 */
import { mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { runCommand } from './terminal/command-stop.ts';
import { coverageReport } from './test/coverage-report.ts';
import { runTests } from './test/run-tests.ts';
import { roomTests } from './test/test-files.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const coverageDir = path.join(root, 'coverage', 'v8');

await runCommand(async () => {
  rmSync(coverageDir, { recursive: true, force: true });
  mkdirSync(coverageDir, { recursive: true });
  const tests = await runTests(root, roomTests(root), coverageDir);
  const coverage = await coverageReport(root, coverageDir);
  return tests === 0 && coverage === 0 ? 0 : 1;
});
