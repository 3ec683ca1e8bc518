/**
 * `npm test [-- FILE …]`: runs the whole suite, or the files, folders and options of node's test runner that are named, or with
 * `--changed` what a change touches. Many files share processes. The longest run first, so that none is left alone at the
 * end. How much of `src` ran is asked by `npm run coverage`: to count it costs a fifth more processor time.
 */
import { fileURLToPath } from 'node:url';
import { CommandStop, runCommand } from './terminal/command-line.ts';
import { changedTests } from './test/affected-tests.ts';
import { namedFiles, runTests, testFiles } from './test/test-files.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

const changedPattern = /^--changed(?:=(.*))?$/;

await runCommand(async () => {
  const words = process.argv.slice(2);
  const changed = words.map((word) => changedPattern.exec(word)).find((match) => match !== null);
  if (changed === undefined) {
    return await runTests(root, words.length > 0 ? namedFiles(root, words) : testFiles(root));
  }
  if (words.length > 1)
    throw new CommandStop('--changed chooses the tests itself. Leave the other arguments out.');
  const { tests, summary } = await changedTests(root, testFiles(root), changed[1] ?? null);
  console.log(summary);
  return tests.length === 0 ? 0 : await runTests(root, tests);
});
