/** Pages of routes whose URLs are distributed unevenly over the partitions. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ClaimWrite, claimPartition } from '../../../src/store/claims/claim-records.ts';
import { writeClaims } from '../../../src/store/claims/claims.ts';
import { listRoutes } from '../../../src/store/claims/routes.ts';
import { claimField } from '../../../src/store/keys.ts';
import { inOrder } from '../../support/ordered-lists.ts';
import { TestRedis } from '../../support/redis.ts';

const redis = await TestRedis.start();
const scope = { tenant: 'acme', environmentId: 'env' };

test('routes: a page is full even if most of its URLs are in one partition', async () => {
  const store = await redis.openEmptyStore(4);
  const isWanted = (path: string, at: number) =>
    claimPartition(store, scope, claimField.url(path)) === 0 || at % 10 === 0;
  const paths = Array.from({ length: 3000 }, (_, at) => `/p/${at}`).filter(isWanted);
  const writes = paths.map((path): ClaimWrite => {
    const view = { sourceId: 's', alias: 'page', originId: path };
    const claim = { host: null, kind: 'page', sinceStamp: 1, view, display: path, redirect: null } as const;
    return { action: 'put', scope, field: claimField.url(path), claim };
  });
  await writeClaims(store, { partition: 0, epoch: 1 }, writes);
  const ordered = inOrder(paths);
  for (const direction of ['ascending', 'descending'] as const) {
    const urls = direction === 'ascending' ? ordered : [...ordered].reverse();
    for (const limit of [1, 20, 400]) {
      const behind = urls[30] ?? '';
      const from = direction === 'ascending' ? { after: behind } : { before: behind };
      const page = await listRoutes(store, { ...scope, urlForms: ['exact'] }, { direction, limit, ...from });
      assert.deepEqual(
        page.entries.map(({ url }) => url),
        urls.slice(31, 31 + limit),
      );
      assert.deepEqual([page.hasMore, page.total], [true, paths.length]);
    }
  }
});
