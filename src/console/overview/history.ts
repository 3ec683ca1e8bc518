/**
 * What the charts show: samples of the status, kept in the tab so that a reload keeps them too. They begin with what the
 * front remembers.
 */
import type { Status } from '../api/answers.ts';

export const spanMs = 300_000;
const historyName = 'millrace-history';

export interface Sample {
  readonly atMs: number;
  readonly delivery: number;
  readonly ingest: number;
  readonly query: number;
  /** Null where the front remembers rates alone. */
  readonly lagMs: number | null;
}

export function withSample(samples: readonly Sample[], status: Status, nowMs: number): Sample[] {
  const rate = (kind: 'delivery' | 'ingest' | 'query') =>
    status.processes.reduce((sum, { rates }) => sum + (rates?.[kind] ?? 0), 0);
  const sample: Sample = {
    atMs: nowMs,
    delivery: rate('delivery'),
    ingest: rate('ingest'),
    query: rate('query'),
    lagMs: Math.max(0, ...status.partitions.map((partition) => partition.lagMs)),
  };
  const known = samples.filter(({ atMs }) => nowMs - atMs < spanMs);
  return [...remembered(status, known[0]?.atMs ?? nowMs, nowMs), ...known, sample];
}

/** What the front remembers of the time before a moment. */
function remembered({ recent }: Status, beforeMs: number, nowMs: number): Sample[] {
  const { everyMs, rates } = recent;
  return rates
    .map((one, at) => ({ ...one, atMs: nowMs - (rates.length - at) * everyMs, lagMs: null }))
    .filter(({ atMs }) => atMs < beforeMs && nowMs - atMs < spanMs);
}

export function keptHistory(): Sample[] {
  try {
    return JSON.parse(sessionStorage.getItem(historyName) ?? '[]') as Sample[];
  } catch {
    return [];
  }
}

export function keepHistory(samples: readonly Sample[]): void {
  sessionStorage.setItem(historyName, JSON.stringify(samples));
}
