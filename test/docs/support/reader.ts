/** Follows documents as a reader does: the platform that a document starts, and the blocks around it. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import os from 'node:os';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { Platform } from '../../cli/support/platform.ts';
import { textOf } from './markdown.ts';
import { leftBehind, perform, type Step, startsThePlatform, stepsOf } from './shell.ts';

/** Time to load the demo's 25,000 entities on a busy machine. */
const readyMs = 240_000;
const tools = ['bash', 'curl', 'awk', 'sed'];
const missing = tools.filter((tool) => spawnSync(tool, ['--version']).error !== undefined);
/** Why documents cannot be followed here, as the option `skip` of a test. */
export const readersTools = missing.length > 0 && `needs ${missing.join(', ')}`;

/** npm's own folder and settings, which a test's temporary home folder lacks. */
export function npmFolders(): Record<string, string> {
  const home = os.homedir();
  return { npm_config_cache: path.join(home, '.npm'), npm_config_userconfig: path.join(home, '.npmrc') };
}

/** Starts the processes of a document, with a separate port and a temporary home folder. */
export async function startAs(
  context: TestContext,
  step: Step | undefined,
  env: Record<string, string>,
  before = '',
) {
  assert.ok(step !== undefined, 'the document starts the platform');
  // The default number of partitions, because the document's other commands use it too.
  const platform = await Platform.start(context, { PARTITIONS: '16', ...env }, [
    'bash',
    '-c',
    // A terminal sends Ctrl-C to npx and to its child; here it is sent to one process.
    before + step.block.text.replace(/^npx /m, 'exec ../node_modules/.bin/'),
  ]);
  await platform.ready(readyMs);
  return { platform, port: new URL(platform.url).port };
}

export interface PageReader {
  readonly env: Record<string, string>;
  /** The folder in which the reader begins. Defaults to the repository. */
  readonly cwd?: string;
}

/**
 * Runs all blocks of a page that starts its own site, and stops the site.
 * @returns the number of blocks below the one that starts the site
 */
export async function followPage(
  context: TestContext,
  page: string,
  { env, cwd }: PageReader,
): Promise<number> {
  const steps = stepsOf(textOf(page));
  const start = steps.findIndex(startsThePlatform);
  // The processes must find their configuration like those of a reader.
  const ownFolder = { ...env, CONFIG_DIR: '', DATA_DIR: '' };
  let before = '';
  const performNext = async (step: Step, port: string) => {
    await perform(step, { port, env, before, ...(cwd !== undefined && { cwd }) });
    before += leftBehind(step);
  };
  for (const step of steps.slice(0, start)) await performNext(step, '0');
  const { platform, port } = await startAs(context, steps[start], ownFolder, before);
  const rest = steps.slice(start + 1);
  for (const step of rest) await performNext(step, port);
  await platform.stop();
  return rest.length;
}
