/** A front and a worker that are connected only by the transport. */
import assert from 'node:assert/strict';
import { hostname } from 'node:os';
import type { TestContext } from 'node:test';
import { FrontTransport } from '../../../src/query/transport/front-transport.ts';
import { loopbackOnly } from '../../../src/query/transport/listen-address.ts';
import type {
  InboundRequest,
  LiveWorker,
  MessageBody,
  Reply,
} from '../../../src/query/transport/messages.ts';
import { WorkerListener, type WorkerListenerOptions } from '../../../src/query/transport/worker-listener.ts';
import type { QueryAddresses } from '../../../src/store/processes/process-messages.ts';

export const secret = Buffer.alloc(32, 'secret');
export const workerId = 'worker';
export const ways = ['path', 'tcp'] as const;
export type Way = (typeof ways)[number];
export type OnRequest = (request: InboundRequest) => void;

export async function startListener(
  context: TestContext,
  onRequest: OnRequest,
  more: Partial<WorkerListenerOptions> = {},
): Promise<WorkerListener> {
  const listener = new WorkerListener({
    secret,
    workerId,
    listen: loopbackOnly,
    onRequest,
    onStranger: () => {},
    ...more,
  });
  await listener.start();
  context.after(() => listener.close());
  return listener;
}

/** A worker that is reachable in one way only. */
export function liveWorker({ socketPath, tcp }: QueryAddresses, way: Way, id = workerId): LiveWorker {
  const addresses = way === 'path' ? { socketPath, tcp: null } : { socketPath: null, tcp };
  return { id, host: hostname(), addresses };
}

export function startFront(context: TestContext): FrontTransport {
  const transport = new FrontTransport(secret);
  context.after(() => transport.close());
  return transport;
}

export interface Ends {
  readonly transport: FrontTransport;
  readonly listener: WorkerListener;
  readonly worker: LiveWorker;
}

export async function startEnds(context: TestContext, way: Way, onRequest: OnRequest): Promise<Ends> {
  const listener = await startListener(context, onRequest);
  return { transport: startFront(context), listener, worker: liveWorker(listener.addresses, way) };
}

export function ask(
  { transport, worker }: Pick<Ends, 'transport' | 'worker'>,
  body: MessageBody,
  timeoutMs: number,
): Promise<Reply> {
  return new Promise((resolve) => assert.ok(transport.send(worker, body, timeoutMs, resolve)));
}
