/**
 * The pace of bulk saves. Taking an entity in costs less than what is made of it; on a machine that has no core to spare an
 * import would run far ahead of the workers and leave them alone at the end, with the other cores idle and everybody else's
 * writes at the end of the line. So the answer of a bulk save that changed something comes a little later while the
 * workers are behind: the more they are, the later, but never by much.
 */
import { setTimeout } from 'node:timers/promises';
import type { Services } from './services.ts';

/** So far the workers may be behind: they work best on portions of some hundred entities of each partition. */
const freeMs = 1_500;
/** Of the time that they are behind beyond that, an answer waits a part. */
const share = 0.1;
const heldMsMax = 100;

/** To be awaited when everything is stored, so that nothing but the answer is held. */
export async function keepPace({ progress }: Pick<Services, 'progress'>): Promise<void> {
  const heldMs = heldMsOf(progress.behindMs());
  if (heldMs > 0) await setTimeout(heldMs);
}

/** How long an answer is held, in whole milliseconds: those of one moment go, and their clients come again, together. */
export function heldMsOf(behindMs: number): number {
  return Math.round(Math.min(heldMsMax, Math.max(0, behindMs - freeMs) * share));
}
