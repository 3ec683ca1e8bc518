/** `POST /ingest/v2` (docs/reference/http.md "Saving many entities"). */

import { ProblemError, problems } from '../../contract/errors.ts';
import {
  bulkBodyBytesMax,
  bulkEntitiesMax,
  entityBytesMax,
  inlineBodyBytesMax,
} from '../../contract/limits.ts';
import { ArraySplitter, SplitError } from '../../lib/array-splitter.ts';
import { PositionCounter, type TextPosition } from '../../lib/text-position.ts';
import type { AcceptOutcome } from '../../store/entities/accept.ts';
import { jsonAnswer } from '../answer.ts';
import type { Call, CallBody, Handler } from '../call.ts';
import { notJsonAt, notJsonText, parseJson } from '../json-body.ts';
import type { Services } from '../services.ts';
import type { EntityReader } from './entity-reader.ts';
import {
  type EntityForm,
  type EntityReading,
  type KnownFields,
  type ReadEntity,
  readEntity,
  readEntityValue,
} from './entity-reading.ts';
import { knownFields, saveRead } from './save.ts';
import { forcesType, typeConflictText, type Written, writeHandler } from './write-handler.ts';

export function saveEntities(services: Services): Handler {
  return writeHandler(services, async (call) => {
    const form = { kind: 'bulk', propertiesOptional: call.source.source.propertiesOptional } as const;
    const known = knownFields(services, call.source);
    const readings = await readBulk(call.body, form, services.entityReader, known);
    return save(services, call, readings);
  });
}

async function save(services: Services, call: Call, readings: readonly EntityReading[]): Promise<Written> {
  const summary = new BulkOutcomes();
  const read: ReadEntity[] = [];
  readings.forEach((reading, index) => {
    if (reading.kind === 'entity') read.push(reading);
    else if (reading.kind === 'invalid') {
      const texts = reading.errors.map(({ text }) => text);
      summary.refused(reading.originId ?? `entities[${index}]`, texts);
    }
  });
  const { outcomes, version } = await saveRead(services, call, 'bulk', read);
  const conflictText = typeConflictText(services);
  outcomes.forEach((outcome, index) => {
    summary.outcome(read[index]?.entity.originId ?? '', outcome, conflictText);
  });
  const status = summary.allRefused ? 422 : 200;
  const systemInformation = call.header('system-information');
  const answer = jsonAnswer(status, {
    status,
    changedSourceEntities: summary.changed,
    unchangedSourceEntities: summary.unchanged,
    errors: summary.errors,
    ingestMetadata: {
      ingestVersion: 'v2',
      ingestFormat: 'bulk',
      systemInfo: systemInformation === '' ? null : systemInformation,
      forceTypeOverwrite: forcesType(call),
    },
    code: status === 422 ? problems.entityInvalid({}).name : undefined,
  });
  return { answer, version: status === 200 ? version : null };
}

/** Summarizes the outcomes of a bulk request, in order. An originId is at most once in each list. */
export class BulkOutcomes {
  readonly #changed = new Set<string>();
  readonly #accepted = new Set<string>();
  readonly #errors = new Map<string, string[]>();

  /** Adds an entity that was refused. */
  refused(name: string, texts: readonly string[]): void {
    const known = this.#errors.get(name);
    if (known === undefined) this.#errors.set(name, [...texts]);
    else known.push(...texts.filter((text) => !known.includes(text)));
  }

  /** Adds the outcome of an entity. @param conflictText error message of a type conflict */
  outcome(originId: string, outcome: AcceptOutcome, conflictText: string): void {
    if (outcome === 'typeConflict') {
      this.refused(originId, [conflictText]);
      return;
    }
    this.#accepted.add(originId);
    if (outcome === 'changed') this.#changed.add(originId);
  }

  get changed(): string[] {
    return [...this.#changed];
  }

  /** Accepted and never changed by this request. */
  get unchanged(): string[] {
    return [...this.#accepted].filter((originId) => !this.#changed.has(originId));
  }

  get errors(): Record<string, readonly string[]> {
    return Object.fromEntries(this.#errors);
  }

  /** Entities were sent, and none of them was accepted. */
  get allRefused(): boolean {
    return this.#errors.size > 0 && this.#accepted.size === 0;
  }
}

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
 * Reads every element of the body, in order. A small body is parsed as a whole. A large one is split into its entities as it
 * arrives, and is never buffered as a whole. Must be called before the handler's first await.
 * @throws ProblemError 413, 422; AbortedError
 */
async function readBulk(
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
