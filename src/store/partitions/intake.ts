/** What stands in a partition's stream: entities that changed, and views and items to rebuild. Ids only, never content. */

import type { EntityRef } from '../../contract/ids.ts';
import { pack, unpack } from '../codec/pack.ts';
import { keys } from '../keys.ts';
import { OwnerScript } from '../redis/script.ts';
import type { Store } from '../store.ts';
import type { StreamSource } from '../streams/shared-streams.ts';
import { type StreamEntry, StreamReader } from '../streams/stream.ts';
import type { Caller } from './lease.ts';

const invalidateScript = new OwnerScript<number>('partitions/invalidate', 3);

export type IntakeEntry =
  | {
      readonly kind: 'entities';
      readonly sequence: number;
      readonly tenant: string;
      readonly sourceId: string;
      readonly originIds: readonly string[];
      /** Size of the entities when they were announced. */
      readonly bytes: number;
    }
  | {
      readonly kind: 'invalidation';
      readonly sequence: number;
      readonly tenant: string;
      /** As `formatDependent` writes them. */
      readonly dependents: readonly string[];
      /** For each dependent the entity whose change invalidated it; null where it is not known. */
      readonly causes: readonly (EntityRef | null)[];
    };

/** Causes stand once each, and for each dependent the number of its own; -1 for none. */
type PackedInvalidation = [
  tenant: string,
  dependents: string[],
  causes?: (readonly [sourceId: string, originId: string])[],
  numbers?: number[],
];

/** A reader of a partition's stream behind its checkpoint. */
export class IntakeReader {
  readonly #reader: StreamReader;

  constructor(source: StreamSource, tag: string, checkpoint: number) {
    this.#reader = new StreamReader(source, keys.stream(tag), checkpoint);
  }

  /** As `StreamReader.next`. */
  async next(count: number, blockMs: number): Promise<IntakeEntry[]> {
    return (await this.#reader.next(count, blockMs)).map(decodeIntake);
  }

  seek(sequence: number): void {
    this.#reader.seek(sequence);
  }

  close(): void {
    this.#reader.close();
  }
}

function decodeIntake({ sequence, fields }: StreamEntry): IntakeEntry {
  const changed = fields.get('e');
  if (changed !== undefined) {
    const [tenant, sourceId, originIds, bytes] = unpack<[string, string, string[], number]>(changed);
    return { kind: 'entities', sequence, tenant, sourceId, originIds, bytes };
  }
  const packed = fields.get('r');
  const [tenant, dependents, causes = [], numbers = []]: PackedInvalidation =
    packed === undefined ? ['', []] : unpack<PackedInvalidation>(packed);
  const known = causes.map(([sourceId, originId]) => ({ sourceId, originId }));
  return {
    kind: 'invalidation',
    sequence,
    tenant,
    dependents,
    causes: dependents.map((_, at) => known[numbers[at] ?? -1] ?? null),
  };
}

/** The caller for processes that own no partition; nothing fences it. */
export const outsideCaller: Caller = { partition: -1, epoch: 0 };

/**
 * Asks a partition to rebuild views and items of its entities.
 * @param causes of each dependent, the entity whose change invalidates it; absent: none is known
 * @returns sequence of the invalidation. @throws FencedError, StoreUnavailableError
 */
export function invalidate(
  store: Store,
  caller: Caller,
  partition: number,
  tenant: string,
  dependents: readonly string[],
  causes: readonly (EntityRef | null)[] = [],
): Promise<number> {
  const tag = store.partitions.tag(partition);
  caller.reached?.add(tag);
  return invalidateScript.run(
    store.client,
    caller,
    [keys.fence(tag), keys.clock(tag), keys.stream(tag)],
    [caller.partition, caller.epoch, pack(packedInvalidation(tenant, dependents, causes))],
  );
}

function packedInvalidation(
  tenant: string,
  dependents: readonly string[],
  causes: readonly (EntityRef | null)[],
): PackedInvalidation {
  if (causes.every((cause) => cause === null)) return [tenant, [...dependents]];
  const numbers = new Map<string, number>();
  const distinct: [string, string][] = [];
  const numberOf = (cause: EntityRef | null) => {
    if (cause === null) return -1;
    const name = `${cause.sourceId}:${cause.originId}`;
    const number = numbers.get(name) ?? distinct.push([cause.sourceId, cause.originId]) - 1;
    numbers.set(name, number);
    return number;
  };
  const ofDependents = causes.map(numberOf);
  return [tenant, [...dependents], distinct, ofDependents];
}
