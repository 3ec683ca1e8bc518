/** The opaque token of `X-Service-Version` (docs/reference/http.md "Reading your own writes"). */
import type { HighWaterMark } from './high-water-mark.ts';

/**
 * Places in the partitions' streams: partition -> sequence number of the entry that announced a write.
 * What `X-Service-Version` carries, made opaque by `formatVersion`.
 */
export type VersionVector = ReadonlyMap<number, number>;

/** What a request asks to see: entries of streams that were processed, and announcements that were heard. */
export interface Version {
  readonly writes: VersionVector;
  /** Partition -> number of an announcement in its changes; the version of a change of the feed has them. */
  readonly announced: HighWaterMark;
}

const entryPattern = /^(\d{1,5})([.~])([0-9a-z]{1,11})$/;
const entriesMax = 4096;
const nothing: HighWaterMark = new Map();

/** Text that is safe in a header. */
export function formatVersion(writes: VersionVector, announced: HighWaterMark = nothing): string {
  return `v1-${[...entriesOf(writes, '.'), ...entriesOf(announced, '~')].join('-')}`;
}

function entriesOf(places: ReadonlyMap<number, number>, mark: string): string[] {
  const sorted = [...places].sort(([a], [b]) => a - b);
  return sorted.map(([partition, place]) => `${partition}${mark}${place.toString(36)}`);
}

/** Null when the text is not a token of ours. */
export function parseVersion(text: string): Version | null {
  const [mark, ...entries] = text.split('-', entriesMax);
  if (mark !== 'v1') return null;
  const writes = new Map<number, number>();
  const announced = new Map<number, number>();
  for (const entry of entries) {
    if (entry === '' && entries.length === 1) continue;
    const [, partition, kind, place] = entryPattern.exec(entry) ?? [];
    if (partition === undefined || place === undefined) return null;
    (kind === '.' ? writes : announced).set(Number(partition), Number.parseInt(place, 36));
  }
  return { writes, announced };
}
