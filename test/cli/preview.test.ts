import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { Platform, page } from '../jobs/support/platform.ts';
import { TestRedis } from '../support/redis.ts';
import { configurationFiles, groups } from '../verify/support/fixture.ts';
import { root, run, temporaryFolder } from './support/command.ts';

const redisUrl = (await TestRedis.start()).url;

test('preview: a folder is neither an entity nor a schema, and an unknown environment is named', async (context) => {
  const platform = await Platform.start(context, redisUrl);
  await platform.publish(configurationFiles);
  await platform.ingest([...groups, page('docs', { name: 'Docs' })]);
  const cwd = await temporaryFolder(context);
  for (const name of ['docs', 'empty', 'page.full.json']) await mkdir(path.join(cwd, name));
  await writeFile(path.join(cwd, 'text.json'), 'text');
  const env = platform.environment('config');
  const program = path.join(root, 'src/cli/millrace.mjs');
  const preview = (...words: string[]) => run(process.execPath, [program, 'preview', ...words], { cwd, env });

  const stored = await preview('page', 'docs');
  assert.equal(stored.code, 0, stored.stderr);
  for (const [words, expected] of [
    [['page', 'empty'], /^No entity in \w+ and no file is named "empty"\.\n$/],
    [['page.full.json', 'docs'], /^No schema or file is named "page\.full\.json"\./],
    [['page', 'text.json'], /^text\.json is not an entity\./],
    [
      ['page', 'docs', '--environment', 'none'],
      /^There is no environment "none"\. Choose one with --environment: /,
    ],
  ] as const) {
    const { code, stderr } = await preview(...words);
    assert.equal(code, 1);
    assert.match(stderr, expected);
  }
});
