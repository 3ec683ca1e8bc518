/** The other thread that reads large entities; see `entity-reader.ts` for who talks to it. */
import { parentPort } from 'node:worker_threads';
import type { EncodedEntity } from '../../store/entities/entity-record.ts';
import { type EntityForm, type EntityReading, type ReadEntity, readEntity } from './entity-reading.ts';

export interface ReadingTask {
  readonly task: number;
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly form: EntityForm;
  /** Its source group is auto-indexed. */
  readonly isIndexed: boolean;
}

export interface ReadingResult {
  readonly task: number;
  readonly reading: SentReading;
}

/** As it crosses threads: bytes alone. */
export type SentReading = SentEntity | Exclude<EntityReading, ReadEntity>;

export interface SentEntity extends Omit<ReadEntity, 'entity'> {
  readonly entity: Omit<EncodedEntity, 'encode'> & { readonly body: Buffer };
}

const port = parentPort;
/** What is known is known to the other thread. */
const noneKnown = () => null;

port?.on('message', ({ task, bytes, form, isIndexed }: ReadingTask) => {
  const read = readEntity(bytes, form, isIndexed ? noneKnown : null);
  const result: ReadingResult = { task, reading: ownBuffers(read) };
  const { reading } = result;
  port.postMessage(result, reading.kind === 'entity' ? [reading.entity.body.buffer as ArrayBuffer] : []);
});

/** The codec's buffers are views of a pool, which must neither be copied whole nor given away. */
function ownBuffers(reading: EntityReading): SentReading {
  if (reading.kind !== 'entity') return reading;
  const { entity } = reading;
  const { originId, type, size } = entity;
  return {
    ...reading,
    entity: {
      originId,
      type,
      size,
      contentHash: ownCopy(entity.contentHash),
      urlHash: ownCopy(entity.urlHash),
      body: ownCopy(entity.encode()),
    },
  };
}

function ownCopy(buffer: Buffer): Buffer {
  const copy = Buffer.allocUnsafeSlow(buffer.length);
  buffer.copy(copy);
  return copy;
}
