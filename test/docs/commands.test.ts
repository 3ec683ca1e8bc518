/** What a reader copies works: the shell blocks of documents are run one after the other, and their answers are as shown. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { describe, test } from 'node:test';
import { temporaryFolder } from '../cli/support/command.ts';
import { Platform } from '../cli/support/platform.ts';
import { textOf } from './support/markdown.ts';
import { answerPattern, perform, type Step, startsThePlatform, stepsOf } from './support/shell.ts';

/** The demo's 25,000 entities on a busy machine. */
const readyMs = 240_000;
const tools = ['bash', 'curl', 'awk', 'sed'];
const missing = tools.filter((tool) => spawnSync(tool, ['--version']).error !== undefined);
const skip = missing.length > 0 && `needs ${missing.join(', ')}`;

/** Pages that ask the demo which the README starts. */
const demoPages = ['docs/reference/indexes-and-queries.md', 'docs/guide/importing.md'];

/** The document's own `npm start`, with a port of its own and a home folder that is gone after the test. */
async function startAs(context: test.TestContext, step: Step | undefined, env: Record<string, string>) {
  assert.ok(step !== undefined, 'the document starts the platform');
  // As many partitions as whoever sets nothing has: the document's other commands ask for them too.
  const platform = await Platform.start(context, { PARTITIONS: '16', ...env }, [
    'bash',
    '-c',
    step.block.text,
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

  test('from "your first site" works', async (context) => {
    const HOME = await temporaryFolder(context);
    const steps = stepsOf(textOf('docs/guide/first-site.md'));
    const start = steps.findIndex(startsThePlatform);
    for (const step of steps.slice(0, start)) await perform(step, { port: '0', env: { HOME } });
    const { platform, port } = await startAs(context, steps[start], { HOME });
    const rest = steps.slice(start + 1);
    assert.ok(rest.length >= 9);
    for (const step of rest) await perform(step, { port, env: { HOME } });
    await platform.stop();
  });
});

test('an answer other than the one shown is found', () => {
  const shown = '{"status": 200, …, "results": [{"name": "a b", …}]}';
  assert.match('{"status":200,"totalResults":1,"results":[{"name":"a b","url":"/a"}]}', answerPattern(shown));
  assert.doesNotMatch('{"status":200,"results":[{"name":"ab"}]}', answerPattern(shown));
  assert.doesNotMatch('{"status":404,"results":[{"name":"a b"}]}', answerPattern(shown));
});
