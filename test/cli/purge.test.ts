/** The life of a tenant that is removed, purged and added again, with the processes of an `npm start`. */
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import type { Json } from '../../src/contract/json.ts';
import { writeFiles } from '../jobs/support/platform.ts';
import { runCommand, temporaryFolder } from './support/command.ts';
import { Platform } from './support/platform.ts';

/** A tenant whose source group auto-indexes all types. */
function tenantFile(keyPart: string): Json {
  return {
    environments: [{ id: 'env-1', alias: 'production' }],
    sourceGroups: [
      {
        alias: 'cms',
        autoIndex: true,
        sources: [{ id: 'src-1', name: 'CMS', environments: ['production'], apiKeys: [`source-${keyPart}`] }],
      },
    ],
    environmentClients: [{ name: 'site', environment: 'production', apiKeys: [`client-${keyPart}`] }],
  };
}

const stays = { 'tenants/stays/tenant.json': tenantFile('stays') };
const goes = { 'tenants/goes/tenant.json': tenantFile('goes') };

async function post(url: string, key: string, body: Json, version = ''): Promise<Response> {
  const headers = { 'X-Api-Key': key, ...(version && { 'X-Service-Min-Version': version }) };
  return await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
}

/** Saves an article with a value in its field `size`, and queries another value. @returns status of the query, and results */
async function sizeQuery(
  url: string,
  name: string,
  size: Json,
  operator: string,
  value: Json,
): Promise<[number, number]> {
  const entity = { originId: 'a', type: 'article', properties: { size } };
  const saved = await post(`${url}/ingest/v2`, `source-${name}`, [entity]);
  assert.equal(saved.status, 200);
  const version = saved.headers.get('X-Service-Version') ?? '';
  const query = { filters: { and: [{ field: 'size', operator, value }] } };
  const path = `${url}/v1/sourceGroupAlias/cms/type/article`;
  const answer = await post(path, `client-${name}`, query, version);
  const { results = [] } = (await answer.json()) as { results?: Json[] };
  return [answer.status, results.length];
}

test('purge: a purged tenant that is added again starts empty, including the types of its fields', async (context) => {
  const folder = await temporaryFolder(context);
  const dataDir = await temporaryFolder(context);
  writeFiles(folder, { ...stays, ...goes });
  const env = { CONFIG_DIR: folder, DATA_DIR: dataDir, PARTITIONS: '4', REDIS_URL: '', REDIS_CLUSTER: '' };
  const platform = await Platform.start(context, env);
  await platform.ready();
  const { url } = platform;
  assert.deepEqual(await sizeQuery(url, 'goes', 7, 'greaterThan', 5), [200, 1]);
  assert.deepEqual(await sizeQuery(url, 'stays', 7, 'greaterThan', 5), [200, 1]);

  rmSync(path.join(folder, 'tenants/goes'), { recursive: true });
  assert.equal((await runCommand('apply', ['--yes'], { env })).code, 0);
  const purged = await runCommand('purge', ['--yes'], { env });
  assert.equal(purged.code, 0, purged.stderr);
  assert.match(purged.stdout, /Purged 1 entity, .* and 2 types of auto-indexes\./);

  writeFiles(folder, goes);
  const back = await runCommand('apply', [], { env });
  assert.equal(back.code, 0, back.stderr);
  // As a number, which it was before, the field would omit a string from the item.
  assert.deepEqual(await sizeQuery(url, 'goes', 'large', 'equals', 'large'), [200, 1]);
  assert.deepEqual(await sizeQuery(url, 'stays', 8, 'greaterThan', 7), [200, 1]);
  await platform.stop();
});
