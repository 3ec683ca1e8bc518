/** The thread that reads large entities. `entity-reader.ts` talks to it. */
import { parentPort } from 'node:worker_threads';
import type { EncodedEntity, EncodedRecord } from '../../store/entities/entity-record.ts';
import { type EntityForm, type EntityReading, type ReadEntity, readEntity } from './entity-reading.ts';

export interface ReadingTask {
  readonly task: number;
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly form: EntityForm;
  /** The entity's source group is auto-indexed. */
  readonly isIndexed: boolean;
}

export interface ReadingResult {
  readonly task: number;
  readonly reading: SentReading;
}

/** A reading as it crosses threads: it has the record in place of `encode`. */
export type SentReading = SentEntity | Exclude<EntityReading, ReadEntity>;

export interface SentEntity extends Omit<ReadEntity, 'entity'> {
  readonly entity: Omit<EncodedEntity, 'encode'> & EncodedRecord;
}

const port = parentPort;
/** Only the main thread has the known fields, so here none count as known. */
const noneKnown = () => null;

port?.on('message', ({ task, bytes, form, isIndexed }: ReadingTask) => {
  const read = readEntity(bytes, form, isIndexed ? noneKnown : null);
  const result: ReadingResult = { task, reading: ownBuffers(read) };
  const { reading } = result;
  port.postMessage(result, reading.kind === 'entity' ? [reading.entity.body.buffer as ArrayBuffer] : []);
});

/** Copies the codec's buffers. They are views of a pool, which must neither be copied as a whole nor given away. */
function ownBuffers(reading: EntityReading): SentReading {
  if (reading.kind !== 'entity') return reading;
  const { entity } = reading;
  const { originId, type, size } = entity;
  const { body, names } = entity.encode();
  return {
    ...reading,
    entity: {
      originId,
      type,
      size,
      contentHash: ownCopy(entity.contentHash),
      body: ownCopy(body),
      names: names && { ...names, digest: ownCopy(names.digest) },
    },
  };
}

function ownCopy(bytes: Uint8Array): Buffer {
  const copy = Buffer.allocUnsafeSlow(bytes.length);
  copy.set(bytes);
  return copy;
}
