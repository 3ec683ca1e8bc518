/**
 * Versions of data. What a client has written or seen is encoded in the opaque token of `X-Service-Version`
 * (docs/reference/http.md "Reading your own writes"). Data read from Redis have a high-water mark: a change and its
 * announcement are made by one script, so nothing that was read is newer than the last announcement after the read.
 */
import { keys, tagOf } from '../keys.ts';
import type { HashField } from '../redis/field-reader.ts';
import type { Store } from '../store.ts';

/**
 * Partition -> sequence number of the stream entry that announced a write. `X-Service-Version` has it in the opaque form of
 * `formatVersion`.
 */
export type VersionVector = ReadonlyMap<number, number>;

/** A version: positions in the streams that must be processed, and announcements that must have been received. */
export interface Version {
  readonly writes: VersionVector;
  /** Partition -> number of an announcement in its changes; used in versions from the feed. */
  readonly announced: HighWaterMark;
}

const entryPattern = /^(\d{1,5})([.~])([0-9a-z]{1,11})$/;
const entriesMax = 4096;
const nothing: HighWaterMark = new Map();

/** Returns text that is safe in a header. */
export function formatVersion(writes: VersionVector, announced: HighWaterMark = nothing): string {
  return `v1-${[...entriesOf(writes, '.'), ...entriesOf(announced, '~')].join('-')}`;
}

function entriesOf(places: ReadonlyMap<number, number>, mark: string): string[] {
  const sorted = [...places].sort(([a], [b]) => a - b);
  return sorted.map(([partition, place]) => `${partition}${mark}${place.toString(36)}`);
}

/** Null if the text is not a token of ours. */
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

/**
 * Writes of this process that may not be visible yet, by tenant. The version of a write includes them, so that a client that
 * makes several writes and reads with the last version sees them all.
 */
export class UnseenWrites {
  readonly #byTenant = new Map<string, Map<number, number>>();

  /** @param isVisible whether a stream entry of a partition is visible, including the rebuilds that it caused */
  constructor(private readonly isVisible: (tenant: string, partition: number, sequence: number) => boolean) {}

  /** @returns the version that covers a write and earlier ones */
  add(tenant: string, version: VersionVector): VersionVector {
    const unseen = this.#byTenant.get(tenant) ?? new Map<number, number>();
    this.#byTenant.set(tenant, unseen);
    for (const [partition, sequence] of unseen) {
      if (this.isVisible(tenant, partition, sequence)) unseen.delete(partition);
    }
    for (const [partition, sequence] of version) {
      unseen.set(partition, Math.max(sequence, unseen.get(partition) ?? 0));
    }
    return new Map(unseen);
  }

  /** Drops entries that were lost in a restart of Redis and would never become visible. */
  forgetBeyond(partition: number, lastSequence: number): void {
    for (const unseen of this.#byTenant.values()) {
      if ((unseen.get(partition) ?? 0) > lastSequence) unseen.delete(partition);
    }
  }
}

/** Partition -> number of an announcement in its changes. */
export type HighWaterMark = ReadonlyMap<number, number>;

/**
 * The high-water mark of fields that have been read. On a single Redis, a commit changes claims of any partition and announces
 * them in its own, so all partitions are needed.
 * @throws StoreUnavailableError
 */
export async function readHighWaterMark(
  { fields, partitions, address }: Pick<Store, 'fields' | 'partitions' | 'address'>,
  places: readonly HashField[],
): Promise<HighWaterMark> {
  const ofPlaces = new Set(places.map(({ key }) => tagOf(key)));
  const tags = address.kind === 'single' ? partitions.tags : [...ofPlaces];
  const numbers = await readAnnounced(fields, tags);
  return new Map(tags.map((tag, index) => [partitions.tags.indexOf(tag), numbers[index] ?? 0]));
}

/** Numbers of the last announcements of partitions, in the order given. @throws StoreUnavailableError */
export async function readAnnounced(fields: Store['fields'], tags: readonly string[]): Promise<number[]> {
  const numbers = await fields.read(tags.map((tag) => ({ key: keys.clock(tag), field: 'changes' })));
  return numbers.map((number) => Number(number ?? 0));
}
