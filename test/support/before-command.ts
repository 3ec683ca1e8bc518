/** Runs something between two commands of a reader. */
import type { Redis } from 'ioredis';
import type { Store } from '../../src/store/store.ts';

type Send = Redis['sendCommand'];

/**
 * Runs an action before the next command of a store that names a key is sent to Redis.
 * @param store must be used only by the reader
 */
export function beforeCommand({ client }: Store, key: string, act: () => Promise<unknown>): void {
  const send: Send = client.sendCommand.bind(client);
  client.sendCommand = (...sent: Parameters<Send>) => {
    const [command] = sent;
    if (!command.args.map(String).includes(key)) return send(...sent);
    client.sendCommand = send;
    // The reader gets its error.
    act()
      .then(() => send(...sent))
      .catch(() => {});
    return command.promise;
  };
}
