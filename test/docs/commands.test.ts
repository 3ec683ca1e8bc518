/** What a reader copies works: the shell blocks of documents are run one after the other, and their answers are as shown. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import os from 'node:os';
import path from 'node:path';
import { describe, test } from 'node:test';
import { temporaryFolder } from '../cli/support/command.ts';
import { Platform } from '../cli/support/platform.ts';
import { textOf } from './support/markdown.ts';
import {
  answerPattern,
  leftBehind,
  perform,
  type Step,
  startsThePlatform,
  stepsOf,
} from './support/shell.ts';

/** The demo's 25,000 entities on a busy machine. */
const readyMs = 240_000;
const tools = ['bash', 'curl', 'awk', 'sed'];
const missing = tools.filter((tool) => spawnSync(tool, ['--version']).error !== undefined);
const skip = missing.length > 0 && `needs ${missing.join(', ')}`;

/** Pages that ask the demo which the README starts. */
const demoPages = [
  'docs/reference/indexes-and-queries.md',
  'docs/guide/schemas.md',
  'docs/guide/importing.md',
];

/** npm's own folder and settings, which a home folder of the test's does not have. */
function npmOf(): Record<string, string> {
  const home = os.homedir();
  return { npm_config_cache: path.join(home, '.npm'), npm_config_userconfig: path.join(home, '.npmrc') };
}

/** What the document starts, with a port of its own and a home folder that is gone after the test. */
async function startAs(
  context: test.TestContext,
  step: Step | undefined,
  env: Record<string, string>,
  before = '',
) {
  assert.ok(step !== undefined, 'the document starts the platform');
  // As many partitions as whoever sets nothing has: the document's other commands ask for them too.
  const platform = await Platform.start(context, { PARTITIONS: '16', ...env }, [
    'bash',
    '-c',
    // A terminal sends Ctrl-C to npx and to what it runs; here it goes to one process.
    before + step.block.text.replace(/^npx /m, 'exec ../node_modules/.bin/'),
  ]);
  await platform.ready(readyMs);
  return { platform, port: new URL(platform.url).port };
}

describe('what a reader copies', { skip, concurrency: 1 }, () => {
  test('from the README, and from pages that ask its demo, works', async (context) => {
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

  for (const [page, stepsAtLeast] of [
    ['docs/guide/first-site.md', 8],
    ['docs/guide/moving.md', 5],
  ] as const) {
    test(`from ${page}, which starts a site of its own, works`, async (context) => {
      const env = { HOME: await temporaryFolder(context), ...npmOf() };
      const steps = stepsOf(textOf(page));
      const start = steps.findIndex(startsThePlatform);
      // What it starts finds its configuration as a reader's does.
      const ownFolder = { ...env, CONFIG_DIR: '', DATA_DIR: '' };
      let before = '';
      const performNext = async (step: Step, port: string) => {
        await perform(step, { port, env, before });
        before += leftBehind(step);
      };
      for (const step of steps.slice(0, start)) await performNext(step, '0');
      const { platform, port } = await startAs(context, steps[start], ownFolder, before);
      const rest = steps.slice(start + 1);
      assert.ok(rest.length >= stepsAtLeast);
      for (const step of rest) await performNext(step, port);
      await platform.stop();
    });
  }
});

test('an answer other than the one shown is found', () => {
  const shown = '{"status": 0, …, "results": [{"name": "a b", …}]}';
  assert.match('{"status":0,"totalResults":1,"results":[{"name":"a b","url":"/a"}]}', answerPattern(shown));
  assert.doesNotMatch('{"status":200,"results":[{"name":"ab"}]}', answerPattern(shown));
  assert.doesNotMatch('{"status":404,"results":[{"name":"a b"}]}', answerPattern(shown));
});
