/** A port that stays one's own while a process that listened there is down. */
import { randomInt } from 'node:crypto';
import { requireFreePort } from '../../src/cli/start/ports.ts';

/** Below those that systems give to whoever asks for any: such a port would be another test's when a killed process is started again. */
const [first, last] = [20_000, 32_000];

export async function ownPort(): Promise<number> {
  for (;;) {
    const port = randomInt(first, last);
    const isFree = await requireFreePort('127.0.0.1', port).then(
      () => true,
      () => false,
    );
    if (isFree) return port;
  }
}
