import { bulkEntitiesMax } from '../../contract/limits.ts';
import type { EntityRecord } from './records.ts';

/** Maximum size of a batch, so that several batches in flight need little memory. */
const batchBytesMax = 8 * 1024 * 1024;

/** The records of one bulk request, with distinct originIds. */
export class Batch {
  readonly records: EntityRecord[] = [];
  readonly #originIds = new Set<string>();
  #bytes = 0;

  /** False if the record must start the next batch. */
  add(record: EntityRecord): boolean {
    if (this.records.length > 0 && !this.#hasRoomFor(record)) return false;
    this.records.push(record);
    this.#bytes += record.bytes.length;
    if (record.originId !== null) this.#originIds.add(record.originId);
    return true;
  }

  /** True if both have an entity with the same originId. They must not be in flight together, or the older state could win. */
  sharesEntityWith(other: Batch): boolean {
    for (const originId of this.#originIds) {
      if (other.#originIds.has(originId)) return true;
    }
    return false;
  }

  #hasRoomFor(record: EntityRecord): boolean {
    if (this.records.length >= bulkEntitiesMax) return false;
    if (this.#bytes + record.bytes.length > batchBytesMax) return false;
    // The response names each entity once, so an error could not be assigned to one of several lines with an originId.
    return record.originId === null || !this.#originIds.has(record.originId);
  }
}

/** The body of the bulk request: the unchanged bytes of the records as a JSON array. */
export function bulkBody(records: readonly EntityRecord[]): Buffer {
  const pieces: Buffer[] = [];
  for (const record of records) {
    pieces.push(pieces.length === 0 ? openBracket : comma, record.bytes);
  }
  pieces.push(closeBracket);
  return Buffer.concat(pieces);
}

const openBracket = Buffer.from('[');
const comma = Buffer.from(',');
const closeBracket = Buffer.from(']');
