import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { deliver } from '../../../src/http/delivery/deliver.ts';
import { plainReferences } from '../../../src/http/delivery/render.ts';
import { ClaimsToRead } from '../../../src/http/delivery/served-claim.ts';
import { startFront, type TestFront } from '../support/front.ts';
import { putClaim } from '../support/seed.ts';
import { testConfiguration } from '../support/site.ts';

/** More than the record of a path contains. */
const hosts = 40;
const heldMs = 300;

let front: TestFront;
before(async () => {
  front = await startFront();
});
after(() => front.stop());

test('served claim: the position of changes is read after claims that the record of a path does not contain', async () => {
  const { store, largeAnswers } = front;
  for (let number = 0; number < hosts; number += 1) {
    await putClaim(store, 'a', {
      url: `https://h${number}.example.com/x`,
      redirect: '/new',
      since: 10 + number,
    });
  }
  await putClaim(store, 'a', { url: 'https://shop.example.com/x', redirect: '/first' });
  const [principal] = testConfiguration().clients;
  assert.ok(principal);
  const request = {
    url: 'https://shop.example.com/x',
    ids: [],
    handles: [],
    includeDuplicateViews: false,
    depth: null,
  };
  const toRead = new ClaimsToRead(store, principal, request, ['exact']);
  // Claims of contested fields are read over another connection than everything else, and wait there now.
  const startMs = performance.now();
  const held = store.client.blpop('nothing', heldMs / 1000);
  let requestedMs = startMs;
  const onRead = () => {
    requestedMs = performance.now();
  };
  const form = { withRoute: true, references: plainReferences };
  await deliver({ store, largeAnswers, referencedViews: null, onRead }, toRead, form);
  assert.ok(requestedMs - startMs > heldMs / 2, `after ${requestedMs - startMs} ms`);
  await held;
});
