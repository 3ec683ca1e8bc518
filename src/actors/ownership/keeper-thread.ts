/** The thread that keeps a worker alive while its main thread is busy. It has its own connection. */
import { parentPort, workerData } from 'node:worker_threads';
import { reasonOf } from '../../lib/message-text.ts';
import { LeaseEnds } from '../../store/ownership/lease.ts';
import { connect, disconnect } from '../../store/redis/redis-connection.ts';
import { type FromKeeper, type KeeperStart, LocalKeeper, sharedClockMs, type ToKeeper } from './keeper.ts';

const { address, channels, leaseMs, ends, stuckMs, clockOffsetMs } = workerData as KeeperStart;
const client = connect({ address });
const nowMs = () => sharedClockMs() + clockOffsetMs;
let aliveMs = nowMs();
/** Callers waiting for the main thread's metrics. */
let metricsWaiting: ((text: string) => void)[] = [];

const send = (message: FromKeeper) => parentPort?.postMessage(message);

const keeper = new LocalKeeper(
  { client, address, channels },
  { leaseMs, ends: new LeaseEnds(ends) },
  {
    lost: (lease) => send({ kind: 'lost', lease }),
    error: (message, error) => send({ kind: 'error', message, reason: reasonOf(error) }),
    metrics: () =>
      new Promise((resolve) => {
        metricsWaiting.push(resolve);
        send({ kind: 'metrics' });
      }),
  },
  { nowMs, isAlive: () => nowMs() - aliveMs < stuckMs },
);

parentPort?.on('message', (message: ToKeeper) => {
  switch (message.kind) {
    case 'keep':
      keeper.keep(message.lease, message.requestedMs);
      return;
    case 'stopRenewing':
      keeper.stopRenewing(message.partition);
      return;
    case 'beat':
      keeper.sendBeat(message.beat);
      return;
    case 'alive':
      aliveMs = nowMs();
      return;
    case 'metrics': {
      const waiting = metricsWaiting;
      metricsWaiting = [];
      for (const resolve of waiting) resolve(message.text);
      return;
    }
    case 'close':
      void end();
  }
});

send({ kind: 'started' });

async function end(): Promise<void> {
  await keeper.close();
  disconnect(client);
  parentPort?.close();
}
