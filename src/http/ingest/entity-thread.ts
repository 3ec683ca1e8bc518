/** The thread that reads large entities for `entity-reader.ts`. */
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

/** A reading that can be sent between threads: it has the encoded record instead of `encode`. */
export type SentReading = SentEntity | Exclude<EntityReading, ReadEntity>;

export interface SentEntity extends Omit<ReadEntity, 'entity'> {
  readonly entity: Omit<EncodedEntity, 'encode'> & EncodedRecord;
}

const port = parentPort;
/** Only the main thread has the known fields, so all fields count as new here. */
const noneKnown = () => null;

port?.on('message', ({ task, bytes, form, isIndexed }: ReadingTask) => {
  const read = readEntity(bytes, form, isIndexed ? noneKnown : null);
  const result: ReadingResult = { task, reading: ownBuffers(read) };
  const { reading } = result;
  port.postMessage(result, reading.kind === 'entity' ? [reading.entity.body.buffer as ArrayBuffer] : []);
});

/** Copies the codec's buffers, which are slices of a pool: the whole pool must neither be copied nor transferred. */
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
