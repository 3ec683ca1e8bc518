/** Sends heartbeats on behalf of processes. */
import type { ProcessMessage } from '../../src/store/processes/process-messages.ts';
import type { Store } from '../../src/store/store.ts';

/** Announces the end of a process, as it would itself. */
export async function tellEnd(store: Store, id: string): Promise<void> {
  const news: ProcessMessage = { kind: 'left', id };
  await store.client.publish(store.channels.beats, JSON.stringify(news));
}
