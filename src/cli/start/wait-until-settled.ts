import { setTimeout as sleep } from 'node:timers/promises';
import { isHashed } from '../../config/tenant/api-keys.ts';
import { askFront, type Trust } from '../platform/own-front.ts';

/** Longer than the interval at which workers send their metrics, so that two polls see different values. */
const pollMs = 1_200;
const waitMaxMs = 120_000;
const waitingPattern =
  /^millrace_(?:stream_lag_entries|stream_backlog_entries|rebuilds_waiting)(?:\{.*\})? ([\d.]+)$/gm;

export interface SettledOptions {
  readonly baseUrl: string;
  readonly trust: Trust;
  /** The setting `METRICS_KEY`. */
  readonly metricsKey: string | null;
  readonly signal: AbortSignal;
}

/**
 * Waits until the workers have no work left, according to `GET /metrics`, so that the next request shows everything that was
 * loaded. It waits for at most two minutes, and not at all if only the hash of the metrics key is known.
 */
export async function waitUntilSettled(
  options: SettledOptions,
  onWaiting: (waiting: number) => void,
): Promise<void> {
  if (options.metricsKey !== null && isHashed(options.metricsKey)) return;
  const deadlineMs = performance.now() + waitMaxMs;
  let idlePolls = 0;
  while (idlePolls < 2 && performance.now() < deadlineMs) {
    await sleep(pollMs, undefined, { signal: options.signal });
    const waiting = await waitingWork(options);
    idlePolls = waiting === 0 ? idlePolls + 1 : 0;
    if (waiting !== null && waiting > 0) onWaiting(waiting);
  }
}

/** Number of waiting changes and rebuilds; null if unknown. */
async function waitingWork({ baseUrl, trust, metricsKey }: SettledOptions): Promise<number | null> {
  const headers = metricsKey === null ? {} : { Authorization: `Bearer ${metricsKey}` };
  try {
    const { status, text } = await askFront(`${baseUrl}/metrics`, trust, headers);
    return status === 200 ? sumOfWaiting(text) : null;
  } catch {
    return null;
  }
}

/** Sum of the metrics of waiting work, from the Prometheus text format. */
export function sumOfWaiting(metrics: string): number {
  return [...metrics.matchAll(waitingPattern)].reduce((sum, match) => sum + Number(match[1]), 0);
}
