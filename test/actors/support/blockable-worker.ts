/**
 * A worker process whose main thread can be blocked as by a long computation: `blockable-worker.ts REDIS_URL PARTITIONS
 * LEASE_MS STUCK_MS`. A message contains the milliseconds; it is answered afterwards.
 */
import { ThreadedKeeper } from '../../../src/actors/ownership/threaded-keeper.ts';
import { Worker } from '../../../src/actors/worker.ts';
import { ActiveConfiguration } from '../../../src/store/configuration/active-configuration.ts';
import { AutoFields } from '../../../src/store/entities/auto-fields.ts';
import { openStore } from '../../../src/store/store.ts';
import { RecordingSink } from './fleet.ts';

const [url = '', partitions, leaseMs, stuckMs] = process.argv.slice(2);
const store = await openStore({ address: { kind: 'single', url }, partitionCount: Number(partitions) });
const configuration = new ActiveConfiguration(store);
await configuration.start();
const worker = new Worker({
  store,
  configuration,
  autoFields: new AutoFields(store),
  items: new RecordingSink(store),
  leaseMs: Number(leaseMs),
  openKeeper: (host, terms, events) => new ThreadedKeeper(host, terms, events, { stuckMs: Number(stuckMs) }),
  waitingFor: () => [],
  onError: (message, error) => console.error(message, error),
});
worker.start();

const neverWoken = new Int32Array(new SharedArrayBuffer(4));
process.on('message', (forMs) => {
  Atomics.wait(neverWoken, 0, 0, Number(forMs));
  process.send?.('done');
});
process.on('disconnect', () => process.exit(0));
process.send?.(worker.id);
