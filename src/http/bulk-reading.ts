/** Reads the body of a bulk save as it arrives: entities are parsed one by one, the body is never held as a whole. */
import { ProblemError, problems } from '../contract/errors.ts';
import { bulkBodyBytesMax, bulkEntitiesMax, entityBytesMax, inlineBodyBytesMax } from '../contract/limits.ts';
import { ArraySplitter, SplitError } from './array-splitter.ts';
import type { RequestBody } from './body.ts';
import type { EntityReader } from './entity-reader.ts';
import type { EntityForm, EntityReading, KnownFields } from './entity-reading.ts';
import { peekOriginId } from './peek-origin-id.ts';

const form: EntityForm = { kind: 'bulk' };

/**
 * Every element of the body, in order. Must be called before the handler's first await.
 * @throws ProblemError 413, 422; AbortedError
 */
export async function readBulk(
  body: RequestBody,
  reader: EntityReader,
  known: KnownFields | null,
): Promise<EntityReading[]> {
  if (body.announcedBytes > bulkBodyBytesMax) throw new ProblemError(problems.bulkTooLarge);
  const elsewhere = body.announcedBytes > inlineBodyBytesMax;
  const readings: (EntityReading | Promise<EntityReading>)[] = [];
  const splitter = new ArraySplitter(
    {
      element: (bytes, _, whole) => {
        if (!whole) readings.push(tooLargeReading(bytes));
        else if (!elsewhere) readings.push(reader.readHere(bytes, form, known));
        else readings.push(settledLater(reader.readElsewhere(bytes, form, known)));
      },
    },
    { elementsMax: bulkEntitiesMax, elementBytesMax: entityBytesMax },
  );
  try {
    await body.read((piece) => splitter.push(piece));
    splitter.end();
  } catch (error) {
    throw error instanceof SplitError ? new ProblemError(splitProblems[error.kind]) : error;
  }
  const settled = await Promise.all(readings);
  if (settled.some(({ kind }) => kind === 'broken')) throw new ProblemError(problems.bodyNotJson);
  return settled;
}

const splitProblems = {
  notArray: problems.bulkNotArray,
  broken: problems.bodyNotJson,
  tooMany: problems.bulkTooMany,
};

/** A failure is noticed when all are awaited; until then it must not count as unhandled. */
function settledLater(reading: Promise<EntityReading>): Promise<EntityReading> {
  reading.catch(() => {});
  return reading;
}

function tooLargeReading(firstBytes: Uint8Array): EntityReading {
  const { message } = problems.entityTooLarge;
  return {
    kind: 'invalid',
    originId: peekOriginId(firstBytes),
    mistakes: [{ field: '', text: message }],
  };
}
