import assert from 'node:assert/strict';
import { test } from 'node:test';
import { keys, viewField } from '../../src/store/keys.ts';
import { environmentId, Platform, page, tenant } from '../jobs/support/platform.ts';
import { TestRedis } from '../support/redis.ts';
import { configurationFiles, groups, pageEntity, pages } from '../verify/support/fixture.ts';
import { runCommand } from './support/command.ts';

const redisUrl = (await TestRedis.start()).url;

test('verify: differences are listed by view id with exit code 1; --repair fixes them with exit code 0', async (context) => {
  const platform = await Platform.start(context, redisUrl);
  const env = platform.environment('config');
  const early = await runCommand('verify', [], { env });
  assert.deepEqual([early.code, /no active configuration/.test(early.stderr)], [1, true]);
  await platform.publish(configurationFiles);
  await platform.startWorker();
  await platform.startJobs();
  await platform.ingest([...groups, ...pages]);
  await platform.settle();
  const sound = await runCommand('verify', [], { env });
  assert.equal(sound.code, 0, sound.stderr);
  assert.match(
    sound.stdout,
    /Compared 33 entities: 33 views, 63 index items, 90 URLs and handles\.\nNo differences\./,
  );

  const { store } = platform;
  const tag = store.partitions.tag(store.partitions.ofEntity('src-1', 'p3'));
  await store.client.hdel(keys.views(tag, tenant, environmentId, 'src-1'), viewField('page', 'p3'));
  const found = await runCommand('verify', ['--tenant', tenant], { env });
  assert.equal(found.code, 1);
  assert.match(
    found.stdout,
    /^gid:\/\/Environment\/env-1\/Source\/src-1\/Entity\/p3\/View\/page: is missing$/m,
  );
  assert.match(found.stdout, /1 difference\. To repair, run: npm run verify -- --repair/);
  const repaired = await runCommand('verify', ['--repair'], { env });
  assert.deepEqual([repaired.code, /1 difference, 1 repaired, none left/.test(repaired.stdout)], [0, true]);
  assert.equal((await runCommand('verify', [], { env })).code, 0);
  const unknown = await runCommand('verify', ['--tenant', 'nobody'], { env });
  assert.deepEqual(
    [unknown.code, unknown.stderr.trim()],
    [1, 'There is no tenant "nobody"; there are: acme.'],
  );
});

test('verify: diagnostics lists conflicts, unknown partials and values that do not fit, with view id and path', async (context) => {
  const platform = await Platform.start(context, redisUrl);
  const env = platform.environment('config');
  await platform.publish(configurationFiles);
  await platform.startWorker();
  await platform.ingest([...groups, pageEntity(1, { shared: 'top' }), pageEntity(2, { shared: 'top' })]);
  await platform.settle();
  await platform.ingest([page('p9', { name: 9, shared: 'top' }, { url: '/pages/1/' })]);
  await platform.settle();
  const listed = await runCommand('diagnostics', ['--json'], { env });
  assert.equal(listed.code, 0, listed.stderr);
  const found: Record<string, unknown>[] = JSON.parse(listed.stdout);
  const viewId = (originId: string) => `gid://Environment/env-1/Source/src-1/Entity/${originId}/View/page`;
  for (const one of found) {
    const required = ['count', 'kind', 'message', 'tenant'];
    assert.deepEqual(
      required.filter((name) => !(name in one)),
      [],
      JSON.stringify(one),
    );
  }
  assert.deepEqual(
    found
      .filter(({ kind }) => /Clash|Fit/.test(String(kind)))
      .map(({ kind, viewId, place, environment, schema, count }) => [
        kind,
        kind === 'handleClash' && /\/p[12]\//.test(String(viewId)) ? 'p1 or p2' : (viewId ?? null),
        place,
        environment,
        schema,
        count,
      ])
      .sort(),
    [
      ['handleClash', 'p1 or p2', '$.route.handles', 'production', 'page', 2],
      ['urlClash', viewId('p1'), '$.route.url', 'production', 'page', 1],
      ['valueDoesNotFit', null, '$.properties.name', 'production', 'cms:page', 1],
    ],
  );
  const text = await runCommand('diagnostics', [], { env });
  assert.match(
    text.stdout,
    /Checked 6 entities: 1 URL claimed by several views, 2 handles claimed by several views, 1 value that does not fit its type/,
  );
});
