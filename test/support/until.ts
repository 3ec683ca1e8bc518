import { setTimeout } from 'node:timers/promises';

/** Waits until something holds; fails with its name when it does not in time. */
export async function until(
  what: string,
  holds: () => boolean | Promise<boolean>,
  timeoutMs = 60_000,
): Promise<void> {
  const endsMs = performance.now() + timeoutMs;
  while (!(await holds())) {
    if (performance.now() > endsMs) throw new Error(`not within ${timeoutMs} ms: ${what}`);
    await setTimeout(5);
  }
}
