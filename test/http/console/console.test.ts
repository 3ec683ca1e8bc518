import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pageName } from '../../../src/console/files.mjs';
import { compressionBytesMin } from '../../../src/contract/limits.ts';
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

test('console: a file that is not over the limit is never compressed', async () => {
  const plain = Buffer.alloc(compressionBytesMin, 'a');
  const shortForm = Buffer.from('compressed');
  for (const [extraBytes, coding] of [
    [0, null],
    [1, 'br'],
  ] as const) {
    const page = {
      name: pageName,
      plain: Buffer.concat([plain, Buffer.alloc(extraBytes)]),
      gzip: shortForm,
      br: shortForm,
    };
    const front = await startFront({ services: { consoleFiles: async () => new Map([[pageName, page]]) } });
    try {
      const response = await fetch(`${front.url}/console`, {
        method: 'HEAD',
        headers: { 'Accept-Encoding': 'br, gzip' },
      });
      assert.equal(response.headers.get('content-encoding'), coding);
    } finally {
      await front.stop();
    }
  }
});
