/** What stands in a partition's stream: entities that changed, and views and items to rebuild. Ids only, never content. */

import { pack, unpack } from '../codec/pack.ts';
import { keys } from '../keys.ts';
import type { Caller } from '../partitions/lease.ts';
import { OwnerScript } from '../redis/script.ts';
import type { Store } from '../store.ts';
import type { StreamSource } from './shared-streams.ts';
import { type StreamEntry, StreamReader } from './stream.ts';

const mark = new OwnerScript<number>('mark', 3);

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
      readonly kind: 'marks';
      readonly sequence: number;
      readonly tenant: string;
      /** Members as `formatDependent` writes them. */
      readonly members: readonly string[];
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
  const marks = fields.get('r');
  const [tenant, members] = marks === undefined ? ['', []] : unpack<[string, string[]]>(marks);
  return { kind: 'marks', sequence, tenant, members };
}

/** For calls of processes that own nothing, which nothing fences. */
export const outsideCaller: Caller = { partition: -1, epoch: 0 };

/**
 * Asks a partition to rebuild views and items of its entities.
 * @returns sequence of the mark. @throws FencedError, StoreUnavailableError
 */
export function markForRebuild(
  store: Store,
  caller: Caller,
  partition: number,
  tenant: string,
  members: readonly string[],
): Promise<number> {
  const tag = store.partitions.tag(partition);
  caller.reached?.add(tag);
  return mark.run(
    store.client,
    caller,
    [keys.fence(tag), keys.clock(tag), keys.stream(tag)],
    [caller.partition, caller.epoch, pack([tenant, members])],
  );
}
