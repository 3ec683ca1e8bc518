/** What a test makes processes say of themselves. */
import type { ProcessNews } from '../../src/store/processes/process-messages.ts';
import type { Store } from '../../src/store/store.ts';

/** Says that a process has ended, as it would itself. */
export async function tellEnd(store: Store, id: string): Promise<void> {
  const news: ProcessNews = { kind: 'left', id };
  await store.client.publish(store.channels.beats, JSON.stringify(news));
}
