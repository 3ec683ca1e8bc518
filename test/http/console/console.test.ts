import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startFront } from '../support/front.ts';

test('console: there is none if it is turned off', async () => {
  const front = await startFront();
  try {
    for (const path of ['/console', '/console/', '/console/content', '/console/assets/icon.svg']) {
      assert.equal((await fetch(front.url + path)).status, 404, path);
    }
  } finally {
    await front.stop();
  }
});
