import { bulkEntitiesMax } from '../../contract/limits.ts';
import type { EntityRecord } from './records.ts';

/** A batch is closed once it holds this much, so that a few batches in flight need little memory. */
const batchBytesMax = 8 * 1024 * 1024;

/** Records that go into one bulk request. No two of them have the same originId. */
export class Batch {
  readonly records: EntityRecord[] = [];
  readonly #originIds = new Set<string>();
  #bytes = 0;

  /** False when the record must start the next batch. */
  add(record: EntityRecord): boolean {
    if (this.records.length > 0 && !this.#hasRoomFor(record)) return false;
    this.records.push(record);
    this.#bytes += record.bytes.length;
    if (record.originId !== null) this.#originIds.add(record.originId);
    return true;
  }

  /**
   * True when both have an entity with the same originId. They must not be in flight together, or the older state could
   * win.
   */
  sharesEntityWith(other: Batch): boolean {
    for (const originId of this.#originIds) {
      if (other.#originIds.has(originId)) return true;
    }
    return false;
  }

  #hasRoomFor(record: EntityRecord): boolean {
    if (this.records.length >= bulkEntitiesMax) return false;
    if (this.#bytes + record.bytes.length > batchBytesMax) return false;
    // An answer names each entity once. With one line for each entity, it is known which line an error is about.
    return record.originId === null || !this.#originIds.has(record.originId);
  }
}

/** The body of the bulk request for these records. It is their own bytes between brackets and commas. */
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
