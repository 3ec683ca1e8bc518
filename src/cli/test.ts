/**
 * `npm test [-- FILE …]`: runs the whole suite, or the files, folders and options of node's test runner that are named. Many files
 * share processes. The longest run first, so that none is left alone at the end. How much of `src` ran is asked by
 * `npm run coverage`: to count it costs a fifth more processor time.
 */
import { fileURLToPath } from 'node:url';
import { runCommand } from './terminal/command-stop.ts';
import { runTests } from './test/run-tests.ts';
import { namedFiles, testFiles } from './test/test-files.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

await runCommand(async () => {
  const chosen = process.argv.slice(2);
  return await runTests(root, chosen.length > 0 ? namedFiles(root, chosen) : testFiles(root));
});
