/** With `CONFIRM_REPLICAS` and without a replica: what runs can start, and refusals say why. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  applyFolder,
  publishAtStart,
  readSoundConfiguration,
  refusingLosses,
} from '../../../src/cli/configuration/publish-configuration.ts';
import { withStore } from '../../../src/cli/platform/open-store.ts';
import { CommandStop } from '../../../src/cli/terminal/command-line.ts';
import { siteFiles, writeFiles } from '../../jobs/support/platform.ts';
import { TestRedis } from '../../support/redis.ts';
import { temporaryFolder } from '../support/command.ts';

const redis = await TestRedis.start();
const address = { kind: 'single', url: redis.url } as const;
const alone = { partitions: 4, confirmReplicas: 0, replicaWaitMs: 200 };
const confirmed = { ...alone, confirmReplicas: 1 };

test('replica away: npm start works without the replica; apply says what is missing', async (context) => {
  const configDir = await temporaryFolder(context);
  writeFiles(configDir, siteFiles());
  const folder = { configDir, isConfigDirGiven: true, isConfigDirOwn: false, demo: false };
  const sound = await readSoundConfiguration(configDir);
  const start = (settings: typeof alone) =>
    withStore(address, settings, 5_000, (store) => publishAtStart(store, folder, sound, () => {}));
  assert.equal(await start(alone), 1);
  assert.equal(await start(confirmed), 1);
  const page = { triggers: { cms: ['page'] }, properties: { title: '{p.name}' } };
  writeFiles(configDir, siteFiles({ schemas: { page } }));
  const apply = withStore(address, confirmed, 5_000, (store) => applyFolder(store, folder, refusingLosses));
  await assert.rejects(apply, (error) => {
    assert.ok(error instanceof CommandStop);
    assert.match(
      error.message,
      /has too few replicas that are up to date \(0 of 1 replicas confirmed within 200 ms\): attach/,
    );
    assert.match(error.message, /or set CONFIRM_REPLICAS=0, then run this command again\.$/);
    return true;
  });
});
