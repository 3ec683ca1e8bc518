/**
 * Reads entities without blocking other requests: small bodies on this thread, large ones on another. Parsing, checking and
 * encoding 5 MB takes several times the 50 ms for which a request may block others (docs/reference/http.md "Bad input and slow
 * clients").
 */
import { Worker } from 'node:worker_threads';
import { ProblemError, problems } from '../../contract/errors.ts';
import { TimeSlices } from '../../lib/slices/slice.ts';
import type { Log } from '../log.ts';
import type { EntityForm, EntityReading, KnownFields } from './entity-reading.ts';
import type { ReadingResult, ReadingTask, SentEntity } from './entity-thread.ts';

/** Heap limit of the thread: more than a hundred times the largest entity. */
const threadHeapMegabytes = 768;

interface Pending {
  readonly resolve: (reading: EntityReading) => void;
  readonly reject: (error: Error) => void;
}

export class EntityReader {
  #thread: Worker | null = null;
  #lastTask = 0;
  /** Reads on this thread, in the order of the calls. */
  readonly here = new TimeSlices();
  readonly #pending = new Map<number, Pending>();

  constructor(private readonly log: Log) {}

  /**
   * Reads on the other thread. The bytes are transferred: their buffer is empty afterwards.
   * @throws ProblemError `unavailable` if the thread ends; the next call starts another
   */
  readElsewhere(
    bytes: Uint8Array<ArrayBuffer>,
    form: EntityForm,
    known: KnownFields | null,
  ): Promise<EntityReading> {
    this.#thread ??= this.#start();
    const thread = this.#thread;
    this.#lastTask += 1;
    const task: ReadingTask = { task: this.#lastTask, bytes, form, isIndexed: known !== null };
    return new Promise((resolve, reject) => {
      this.#pending.set(task.task, { resolve, reject });
      thread.ref();
      thread.postMessage(task, [bytes.buffer]);
    });
  }

  async close(): Promise<void> {
    const thread = this.#thread;
    this.#thread = null;
    await thread?.terminate();
  }

  #start(): Worker {
    const thread = new Worker(new URL('./entity-thread-start.mjs', import.meta.url), {
      resourceLimits: { maxOldGenerationSizeMb: threadHeapMegabytes },
    });
    thread.on('message', ({ task, reading }: ReadingResult) => {
      const pending = this.#pending.get(task);
      this.#pending.delete(task);
      if (this.#pending.size === 0) thread.unref();
      pending?.resolve(reading.kind === 'entity' ? withBuffers(reading) : reading);
    });
    const onEnd = (reason: unknown) => {
      if (this.#thread !== thread) return;
      this.log.error({ err: reason }, 'the thread that reads large entities ended');
      this.#thread = null;
      for (const { reject } of this.#pending.values()) reject(new ProblemError(problems.unavailable));
      this.#pending.clear();
    };
    thread.on('error', onEnd);
    thread.on('exit', onEnd);
    thread.unref();
    return thread;
  }
}

/** Buffers arrive from another thread as plain `Uint8Array`s. */
function withBuffers(reading: SentEntity): EntityReading {
  const { originId, type, size, contentHash, body, names } = reading.entity;
  const record = { body: asBuffer(body), names };
  return {
    ...reading,
    entity: {
      originId,
      type,
      size,
      contentHash: asBuffer(contentHash),
      encode: () => record,
    },
  };
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
