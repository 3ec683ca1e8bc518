/**
 * Reads the body of a bulk save. A small body is parsed as a whole. A large one is split into its entities as it arrives, and
 * is never buffered as a whole.
 */
import { ProblemError, problems } from '../../contract/errors.ts';
import {
  bulkBodyBytesMax,
  bulkEntitiesMax,
  entityBytesMax,
  inlineBodyBytesMax,
} from '../../contract/limits.ts';
import { ArraySplitter, SplitError } from '../../lib/array-splitter.ts';
import { PositionCounter, type TextPosition } from '../../lib/text-position.ts';
import type { CallBody } from '../call.ts';
import { notJsonAt, notJsonText, parseJson } from '../json-body.ts';
import type { EntityReader } from './entity-reader.ts';
import {
  type EntityForm,
  type EntityReading,
  type KnownFields,
  readEntity,
  readEntityValue,
} from './entity-reading.ts';

/** Finds the originId in the first bytes of an entity that is too large to be parsed. */
const memberPattern = /"originId"\s*:\s*("(?:[^"\\]|\\.){1,4096}")/y;

/**
 * The originId of the entity, not of a nested object; null if it is not in the first bytes.
 * @param bytes the beginning of an object's JSON text
 */
export function peekOriginId(bytes: Uint8Array): string | null {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString();
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (character === '{' || character === '[') depth += 1;
    else if (character === '}' || character === ']') depth -= 1;
    else if (character === '"') {
      memberPattern.lastIndex = at;
      const value = depth === 1 ? memberPattern.exec(text)?.[1] : undefined;
      if (value !== undefined) return textOf(value);
      at = stringEnd(text, at);
    }
  }
  return null;
}

function stringEnd(text: string, from: number): number {
  let at = from + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at;
}

function textOf(json: string): string | null {
  try {
    return String(JSON.parse(json));
  } catch {
    return null;
  }
}

/**
 * Reads every element of the body, in order. Must be called before the handler's first await.
 * @throws ProblemError 413, 422; AbortedError
 */
export async function readBulk(
  body: CallBody,
  form: EntityForm,
  reader: EntityReader,
  known: KnownFields | null,
): Promise<EntityReading[]> {
  const isSmall = !body.isPacked && body.announcedBytes <= inlineBodyBytesMax;
  const readings = await (isSmall
    ? readSmall(body, form, reader, known)
    : readInPieces(body, form, reader, known));
  const broken = readings.findIndex(({ kind }) => kind === 'broken');
  const reading = readings[broken];
  if (reading?.kind === 'broken') {
    throw new ProblemError(problems.bodyNotJson(`entities[${broken}], parsed separately: ${reading.text}`));
  }
  return readings;
}

async function readSmall(
  body: CallBody,
  form: EntityForm,
  reader: EntityReader,
  known: KnownFields | null,
): Promise<EntityReading[]> {
  const bytes = await body.bytes(inlineBodyBytesMax, problems.bulkTooLarge);
  return await reader.here.run(() => readWhole(bytes, form, known));
}

function readWhole(bytes: Uint8Array, form: EntityForm, known: KnownFields | null): EntityReading[] {
  const value = parseJson(bytes);
  if (value === undefined) throw new ProblemError(problems.bodyNotJson(notJsonText(bytes)));
  const values = Array.isArray(value) ? value : null;
  if (values !== null && values.length <= bulkEntitiesMax) {
    let hasLarge = false;
    const readings = values.map((value) =>
      readEntityValue(value, form, known, () => {
        hasLarge = true;
      }),
    );
    // Only the bytes show whether parsing changed such numbers.
    if (!hasLarge) return readings;
  }
  const readings: EntityReading[] = [];
  split((element) => readings.push(readEntity(element, form, known)), bytes);
  return readings;
}

function split(element: (bytes: Uint8Array<ArrayBuffer>) => void, bytes: Uint8Array): void {
  const splitter = new ArraySplitter(
    { element },
    { elementsMax: bulkEntitiesMax, elementBytesMax: entityBytesMax },
  );
  try {
    splitter.push(bytes);
    splitter.end();
  } catch (error) {
    throw problemOf(error, { line: 1, column: 1 });
  }
}

async function readInPieces(
  body: CallBody,
  form: EntityForm,
  reader: EntityReader,
  known: KnownFields | null,
): Promise<EntityReading[]> {
  const readings: (EntityReading | Promise<EntityReading>)[] = [];
  const splitter = new ArraySplitter(
    {
      element: (bytes, _, whole) => {
        if (!whole) readings.push(tooLargeReading(bytes));
        else readings.push(settledLater(reader.readElsewhere(bytes, form, known)));
      },
    },
    { elementsMax: bulkEntitiesMax, elementBytesMax: entityBytesMax },
  );
  const position = new PositionCounter();
  let current: Uint8Array = noBytes;
  const push = (piece: Uint8Array) => {
    current = piece;
    splitter.push(piece);
    position.pass(piece);
    current = noBytes;
  };
  // The size of a compressed body is known only at its end. So it is buffered while it is small enough to be parsed as a whole.
  const held: Buffer[] = [];
  let heldBytes = 0;
  try {
    await body.read(
      (piece) => {
        heldBytes += piece.length;
        if (body.isPacked && heldBytes <= inlineBodyBytesMax) {
          held.push(Buffer.from(piece));
          return;
        }
        for (const first of held.splice(0)) push(first);
        push(piece);
      },
      bulkBodyBytesMax,
      problems.bulkTooLarge,
    );
    if (held.length > 0) return await reader.here.run(() => readWhole(Buffer.concat(held), form, known));
    splitter.end();
  } catch (error) {
    throw error instanceof SplitError ? problemOf(error, position.in(current, error.at)) : error;
  }
  return await Promise.all(readings);
}

const noBytes = new Uint8Array(0);

/** @param position of the error in the body */
function problemOf(error: unknown, position: TextPosition): unknown {
  if (!(error instanceof SplitError)) return error;
  if (error.kind === 'notArray') return new ProblemError(problems.bulkNotArray);
  if (error.kind === 'tooMany') return new ProblemError(problems.bulkTooMany);
  return new ProblemError(problems.bodyNotJson(notJsonAt({ ...position, expected: error.expected })));
}

/** All readings are awaited together at the end. Until then a rejection must not count as unhandled. */
function settledLater(reading: Promise<EntityReading>): Promise<EntityReading> {
  reading.catch(() => {});
  return reading;
}

function tooLargeReading(firstBytes: Uint8Array): EntityReading {
  const { message } = problems.entityTooLarge;
  return {
    kind: 'invalid',
    originId: peekOriginId(firstBytes),
    errors: [{ field: '', text: message }],
  };
}
