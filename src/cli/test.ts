/**
 * `npm test [-- FILE …]`: runs the whole suite, or the given files and folders, with options of Node's test runner, or with
 * `--changed` the tests that a change affects. Many files share processes. The longest run first, so that none is left alone at
 * the end. Coverage is a separate command, `npm run coverage`, because it takes a fifth more processor time.
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
