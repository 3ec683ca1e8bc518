import { setTimeout as sleep } from 'node:timers/promises';
import { isHashed } from '../../config/tenant/api-keys.ts';
import { askFront, type Trust } from '../platform/own-front.ts';

/** Workers send their figures once a second, so two looks this far apart see different ones. */
const lookEveryMs = 1_200;
const waitMaxMs = 120_000;
const waitingPattern =
  /^millrace_(?:stream_lag_entries|stream_backlog_entries|rebuilds_waiting)(?:\{.*\})? ([\d.]+)$/gm;

export interface SettledOptions {
  readonly baseUrl: string;
  readonly trust: Trust;
  /** As the setting `METRICS_KEY`. */
  readonly metricsKey: string | null;
  readonly signal: AbortSignal;
}

/**
 * Waits until the workers have nothing left to do, as `GET /metrics` shows it. So the next request shows everything
 * that was loaded. It waits two minutes at most, and not at all when only the hash of the metrics key is known.
 */
export async function waitUntilSettled(
  options: SettledOptions,
  onWaiting: (waiting: number) => void,
): Promise<void> {
  if (options.metricsKey !== null && isHashed(options.metricsKey)) return;
  const deadlineMs = performance.now() + waitMaxMs;
  let quietLooks = 0;
  while (quietLooks < 2 && performance.now() < deadlineMs) {
    await sleep(lookEveryMs, undefined, { signal: options.signal });
    const waiting = await waitingWork(options);
    quietLooks = waiting === 0 ? quietLooks + 1 : 0;
    if (waiting !== null && waiting > 0) onWaiting(waiting);
  }
}

/** Number of changes and rebuilds that wait; null when it is not known. */
async function waitingWork({ baseUrl, trust, metricsKey }: SettledOptions): Promise<number | null> {
  const headers = metricsKey === null ? {} : { Authorization: `Bearer ${metricsKey}` };
  try {
    const { status, text } = await askFront(`${baseUrl}/metrics`, trust, headers);
    return status === 200 ? sumOfWaiting(text) : null;
  } catch {
    return null;
  }
}

/** Sum of the figures about waiting work, in a text of Prometheus' format. */
export function sumOfWaiting(metrics: string): number {
  return [...metrics.matchAll(waitingPattern)].reduce((sum, match) => sum + Number(match[1]), 0);
}
