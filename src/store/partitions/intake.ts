/** What stands in a partition's stream: entities that changed, and views and items to rebuild. Ids only, never content. */

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
    };

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
  const [tenant, dependents] = packed === undefined ? ['', []] : unpack<[string, string[]]>(packed);
  return { kind: 'invalidation', sequence, tenant, dependents };
}

/** The caller for processes that own no partition; nothing fences it. */
export const outsideCaller: Caller = { partition: -1, epoch: 0 };

/**
 * Asks a partition to rebuild views and items of its entities.
 * @returns sequence of the invalidation. @throws FencedError, StoreUnavailableError
 */
export function invalidate(
  store: Store,
  caller: Caller,
  partition: number,
  tenant: string,
  dependents: readonly string[],
): Promise<number> {
  const tag = store.partitions.tag(partition);
  caller.reached?.add(tag);
  return invalidateScript.run(
    store.client,
    caller,
    [keys.fence(tag), keys.clock(tag), keys.stream(tag)],
    [caller.partition, caller.epoch, pack([tenant, dependents])],
  );
}
