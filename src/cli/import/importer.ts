import { setMaxListeners } from 'node:events';
import { appendFileSync, closeSync, openSync, rmSync } from 'node:fs';
import { addAbortSignal, type Readable } from 'node:stream';
import { bulkEntitiesMax } from '../../contract/limits.ts';
import { reasonOf } from '../../lib/message-text.ts';
import type { Trust } from '../platform/own-front.ts';
import { CommandStop } from '../terminal/command-line.ts';
import { type BatchOutcome, readBulkAnswer } from './bulk-answers.ts';
import { BulkClient, PlatformUnavailableError } from './bulk-client.ts';
import { readNdjson } from './import-lines.ts';
import { type EntityRecord, type Failure, isFailure, type RecordReader, refused } from './records.ts';

export interface ImportOptions {
  readonly baseUrl: string;
  readonly trust?: Trust;
  readonly sourceKey: string;
  /** Number of concurrent requests. */
  readonly concurrency: number;
  readonly retryTotalMs: number;
  readonly signal: AbortSignal;
  /** See `BulkClientOptions`. */
  readonly onSilence?: (line: string) => void;
}

export interface ImportCounts {
  readonly changed: number;
  readonly unchanged: number;
  readonly failed: number;
}

export const retryTotalMsDefault = 300_000;

/**
 * Sends the entities of a byte stream to a source, in bounded memory. Entities with the same originId arrive in the order of
 * the stream; others may be reordered. A record that cannot be sent or is refused is added to `failures`, and the import
 * continues.
 * @throws CommandStop, PlatformUnavailableError, or the reason of the signal; `done` has the counts until then
 */
export class Importer {
  #counts = { changed: 0, unchanged: 0, failed: 0 };
  #version: string | null = null;
  readonly #client: BulkClient;
  readonly #inFlight = new Map<Batch, Promise<void>>();
  /** Aborted with the first fatal error, which cancels requests in flight. */
  readonly #stop = new AbortController();
  readonly #options: ImportOptions;

  constructor(
    options: ImportOptions,
    private readonly failures: FailureFile,
    private readonly onProgress: (counts: ImportCounts) => void = () => {},
    private readonly read: RecordReader = readNdjson,
  ) {
    this.#options = { ...options, signal: AbortSignal.any([options.signal, this.#stop.signal]) };
    // Each request in flight adds a listener.
    setMaxListeners(0, this.#options.signal);
    this.#client = new BulkClient({ ...this.#options, connections: options.concurrency });
  }

  /** Version token of the last write; null before the first. */
  get version(): string | null {
    return this.#version;
  }

  get done(): ImportCounts {
    return this.#counts;
  }

  async run(input: Readable): Promise<ImportCounts> {
    // An abort must also end a read of input that may never arrive.
    addAbortSignal(this.#options.signal, input);
    try {
      await this.#readAndSend(input);
      await Promise.all(this.#inFlight.values());
      this.#options.signal.throwIfAborted();
      return this.#counts;
    } catch (error) {
      this.#options.signal.throwIfAborted();
      throw error;
    } finally {
      this.#stop.abort();
      await Promise.all(this.#inFlight.values());
      this.#client.close();
    }
  }

  async #readAndSend(input: AsyncIterable<Buffer>): Promise<void> {
    let batch = new Batch();
    for await (const records of this.read(input)) {
      for (const record of records) {
        if (isFailure(record)) {
          this.#count({ changed: 0, unchanged: 0, failures: [record] });
          continue;
        }
        if (batch.add(record)) continue;
        await this.#launch(batch);
        batch = new Batch();
        batch.add(record);
      }
    }
    if (batch.records.length > 0) await this.#launch(batch);
  }

  /** Waits until the batch may be sent, then sends it without waiting for the response. */
  async #launch(batch: Batch): Promise<void> {
    while (this.#mustWait(batch)) await Promise.race(this.#inFlight.values());
    this.#options.signal.throwIfAborted();
    const flight = this.#deliver(batch.records)
      .catch((error: unknown) => this.#stop.abort(error))
      .finally(() => this.#inFlight.delete(batch));
    this.#inFlight.set(batch, flight);
  }

  #mustWait(batch: Batch): boolean {
    if (this.#inFlight.size >= this.#options.concurrency) return true;
    for (const other of this.#inFlight.keys()) {
      if (batch.sharesEntityWith(other)) return true;
    }
    return false;
  }

  async #deliver(records: readonly EntityRecord[]): Promise<void> {
    const answer = await this.#send(records);
    this.#version = answer.version ?? this.#version;
    const outcome = readBulkAnswer(answer, records);
    if (!('refusal' in outcome)) return this.#count(outcome);
    const [only] = records;
    if (only !== undefined && records.length === 1) {
      return this.#count({ changed: 0, unchanged: 0, failures: [refused(only, [outcome.refusal])] });
    }
    // One record, or the total size, made the request fail. Bisection finds the record.
    const middle = records.length >> 1;
    await this.#deliver(records.slice(0, middle));
    await this.#deliver(records.slice(middle));
  }

  async #send(records: readonly EntityRecord[]) {
    try {
      return await this.#client.send(bulkBody(records));
    } catch (error) {
      if (error instanceof PlatformUnavailableError) {
        this.#count({
          changed: 0,
          unchanged: 0,
          failures: records.map((record) => refused(record, [error.message])),
        });
      }
      throw error;
    }
  }

  #count({ changed, unchanged, failures }: BatchOutcome): void {
    this.#counts = {
      changed: this.#counts.changed + changed,
      unchanged: this.#counts.unchanged + unchanged,
      failed: this.#counts.failed + failures.length,
    };
    this.failures.add(failures);
    this.onProgress(this.#counts);
  }
}

/** Writes the failed lines as NDJSON next to the imported file. The file is created with the first failure. */
export class FailureFile {
  #descriptor: number | null = null;
  #first: Pick<Failure, 'line' | 'errors'> | null = null;

  /** Removes the file of an earlier import. */
  constructor(readonly file: string) {
    rmSync(file, { force: true });
  }

  /** The failure of the first line; null while there is none. */
  get first(): Pick<Failure, 'line' | 'errors'> | null {
    return this.#first;
  }

  /** Writes synchronously, so that the file is complete however the import ends. */
  add(failures: readonly Failure[]): void {
    if (failures.length === 0) return;
    for (const { line, errors } of failures) {
      if (this.#first === null || line < this.#first.line) this.#first = { line, errors };
    }
    const text = failures.map((failure) => `${failureText(failure)}\n`).join('');
    try {
      this.#descriptor ??= openSync(this.file, 'w');
      appendFileSync(this.#descriptor, text);
    } catch (error) {
      const reason = reasonOf(error);
      throw new CommandStop(`The file with the failed lines cannot be written: ${reason}`);
    }
  }

  close(): void {
    if (this.#descriptor !== null) closeSync(this.#descriptor);
    this.#descriptor = null;
  }
}

/** A line of the file. The entity is the text that was read, so that its numbers are not changed. */
function failureText({ entity, ...failure }: Failure): string {
  // In JSON, unescaped line ends are only white space between tokens.
  return `${JSON.stringify(failure).slice(0, -1)},"entity":${entity.replace(/[\r\n]+/g, ' ')}}`;
}

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
