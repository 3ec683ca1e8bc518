/**
 * The commands that a reader copies work: the shell blocks of documents are run in order, and their output is as shown.
 * `docs/guide/first-site.md` is followed in `test/cli/package.test.ts`, which tests the package that the page installs.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { temporaryFolder } from '../cli/support/command.ts';
import { textOf } from './support/markdown.ts';
import { followPage, npmFolders, readersTools, startAs } from './support/reader.ts';
import { answerPattern, perform, startsThePlatform, stepsOf } from './support/shell.ts';

/** Pages that use the demo which the README starts. */
const demoPages = [
  'docs/reference/indexes-and-queries.md',
  'docs/guide/schemas.md',
  'docs/guide/importing.md',
];

/** Pages that start a site of their own, with the number of blocks after its start. */
const ownSites = { 'docs/guide/moving.md': 5, 'docs/guide/drafts-and-previews.md': 3 };

describe('commands', { skip: readersTools, concurrency: 1 }, () => {
  test('in the README, and in pages that use its demo, work', async (context) => {
    const HOME = await temporaryFolder(context);
    const steps = stepsOf(textOf('README.md'));
    const { platform, port } = await startAs(context, steps.find(startsThePlatform), { HOME, DEMO: 'on' });
    const calls = steps.filter((step) => !startsThePlatform(step));
    assert.equal(calls.filter(({ answer }) => answer !== null).length, 6);
    for (const step of calls) await perform(step, { port, env: { HOME } });
    for (const page of demoPages) {
      const steps = stepsOf(textOf(page));
      assert.ok(steps.length > 0, page);
      for (const step of steps) await perform(step, { port, env: { HOME } });
    }
    await platform.stop();
  });

  for (const [page, blockCount] of Object.entries(ownSites)) {
    test(`in ${page}, which starts its own site, work`, async (context) => {
      const env = { HOME: await temporaryFolder(context), ...npmFolders() };
      assert.equal(await followPage(context, page, { env }), blockCount);
    });
  }
});

test('commands: an output other than the one shown is found', () => {
  const shown = '{"status": 0, …, "results": [{"name": "a b", …}]}';
  assert.match('{"status":0,"totalResults":1,"results":[{"name":"a b","url":"/a"}]}', answerPattern(shown));
  assert.doesNotMatch('{"status":200,"results":[{"name":"ab"}]}', answerPattern(shown));
  assert.doesNotMatch('{"status":404,"results":[{"name":"a b"}]}', answerPattern(shown));
});
