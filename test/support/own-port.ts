/** A port that stays reserved while the process that listened there is down. */
import { randomInt } from 'node:crypto';
import { requireFreePort } from '../../src/cli/start/ports.ts';

/** Below the ephemeral ports: one of those could be in use when a killed process is restarted. */
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
