/** A view as it is stored: JSON text cut at its references, so that delivery concatenates bytes and parses nothing. */
import type { EntityRef } from '../../contract/ids.ts';
import { inlineViewBytesMax } from '../../contract/limits.ts';
import { flat } from '../../lib/flat.ts';
import { atOnce, type Maybe, pace, type Steps, Unfinished } from '../../lib/pace.ts';
import type { ViewBody } from '../../schemas/build/view-body.ts';
import { largeBodyField, viewField } from '../keys.ts';

/** A view of an environment (`viewTarget`). */
export interface ViewTarget extends EntityRef {
  readonly alias: string;
  /** Its field in its hash, which tells it from the other views of the environment. */
  readonly field: string;
}

/** A reference as stored in a view's body. */
export interface StoredReference {
  /** Null when the schema gave a text that is no view id; then nothing can be found. */
  readonly target: ViewTarget | null;
  /** What the schema gave where there is no target, else null. */
  readonly viewId: string | null;
  /** Place inside the view: `.author`, `.related[1]`. */
  readonly path: string;
}

/** A view as stored: UTF-8 JSON text cut at its references; `texts` is one longer than `references`. */
export interface StoredBody {
  readonly texts: readonly Buffer[];
  readonly references: readonly StoredReference[];
}

/**
 * First byte of a stored body. `plainText`: the text alone follows. `cutText`: numbers of 32 bits (count of references;
 * for each reference the lengths of its five names in UTF-16 units; for each text its bytes; bytes of all names), then
 * all names as one text, then the texts. One text for all names, because decoding one is nearly as dear as decoding
 * many; the first three stand in it as the field of the view. `apart`: the body is large and lies under a field of its
 * own; the bytes of its texts follow, so that a reader knows the size before it reads.
 */
const plainText = 0;

const cutText = 1;

const apart = 2;

const namesPerReference = 5;

const numberBytes = 4;

/** In place of the length of a source id: the reference has no target. */
const noTarget = 0xffff_ffff;

const scratchBytes = 64 * 1024;

/** Bodies are written here first, because the byte length of a text is known only when it is written. */
const scratch = Buffer.allocUnsafeSlow(scratchBytes);

/** References that are written in one go, and about what one costs in units of the pace. */
const referencesPerGo = 1000;
const unitsPerReference = 100;

/** The stored form of a built view. Equal bodies give equal bytes. In steps when it has very many references. */
export function encodeBody(body: ViewBody): Maybe<Buffer> {
  const steps = encodeInSteps(body);
  return body.references.length > referencesPerGo ? new Unfinished(steps) : atOnce(steps);
}

function* encodeInSteps(body: ViewBody): Steps<Buffer> {
  const { texts, references } = body;
  let characters = 0;
  for (const text of texts) characters += text.length;
  let names = namesOf(references, 0);
  for (let from = referencesPerGo; from < references.length; from += referencesPerGo) {
    names += namesOf(references, from);
    if (isTimeOver()) yield;
  }
  const headBytes = 1 + numberBytes * (2 + references.length * namesPerReference + texts.length);
  // A UTF-16 unit takes at most three bytes.
  const bytesMax = headBytes + 3 * (names.length + characters);
  const stored = bytesMax <= scratchBytes ? scratch : Buffer.allocUnsafeSlow(bytesMax);
  if (references.length === 0) return copyOf(stored, writePlain(stored, texts[0] ?? ''));
  stored[0] = cutText;
  let lengthAt = stored.writeUInt32LE(references.length, 1);
  for (let from = 0; from < references.length; from += referencesPerGo) {
    lengthAt = writeNameLengths(stored, references, from, lengthAt);
    if (isTimeOver()) yield;
  }
  const namesBytes = stored.write(names, headBytes);
  let at = headBytes + namesBytes;
  for (let from = 0; from < texts.length; from += referencesPerGo) {
    at = writeTexts(stored, texts, from, lengthAt, at);
    if (isTimeOver()) yield;
  }
  stored.writeUInt32LE(namesBytes, lengthAt + texts.length * numberBytes);
  return copyOf(stored, at);
}

function copyOf(stored: Buffer, length: number): Buffer {
  return Buffer.from(stored.subarray(0, length));
}

function isTimeOver(): boolean {
  pace.units += referencesPerGo * unitsPerReference;
  return pace.isOver();
}

/** @returns bytes written */
function writePlain(stored: Buffer, text: string): number {
  stored[0] = plainText;
  return 1 + stored.write(text, 1);
}

/** Writes the lengths of the names of one go. @returns the place behind them */
function writeNameLengths(
  stored: Buffer,
  references: ViewBody['references'],
  from: number,
  lengthAt: number,
): number {
  let next = lengthAt;
  for (const { target, viewId, path } of goOf(references, from)) {
    next = stored.writeUInt32LE(target === null ? noTarget : target.sourceId.length, next);
    next = stored.writeUInt32LE(target === null ? 0 : target.alias.length, next);
    next = stored.writeUInt32LE(target === null ? 0 : target.originId.length, next);
    next = stored.writeUInt32LE(viewId?.length ?? 0, next);
    next = stored.writeUInt32LE(path.length, next);
  }
  return next;
}

/** Writes the texts of one go, and their lengths into the list of them. @returns the place behind them */
function writeTexts(
  stored: Buffer,
  texts: readonly string[],
  from: number,
  lengthsAt: number,
  at: number,
): number {
  let lengthAt = lengthsAt + from * numberBytes;
  let next = at;
  for (const text of goOf(texts, from)) {
    const bytes = stored.write(text, next);
    lengthAt = stored.writeUInt32LE(bytes, lengthAt);
    next += bytes;
  }
  return next;
}

function goOf<T>(list: readonly T[], from: number): readonly T[] {
  return list.length <= referencesPerGo ? list : list.slice(from, from + referencesPerGo);
}

/** What is stored of a view: fields with their bytes. @param body from `encodeBody` */
export function storedFields(field: string, body: Buffer): (readonly [field: string, bytes: Buffer])[] {
  if (body.length <= inlineViewBytesMax) return [[field, body]];
  const note = Buffer.alloc(1 + numberBytes);
  note[0] = apart;
  note.writeUInt32LE(body.length - (body[0] === plainText ? 1 : textsPlace(body)), 1);
  return [
    [field, note],
    [largeBodyField(field), body],
  ];
}

/** Bytes of the texts of a large view, when `stored` only says that its body lies apart; null when it is the body itself. */
export function bytesApart(stored: Buffer): number | null {
  return stored[0] === apart ? stored.readUInt32LE(1) : null;
}

function namesOf(references: ViewBody['references'], from: number): string {
  let names = '';
  for (const { target, viewId, path } of goOf(references, from)) {
    if (target !== null) names += viewField(target.sourceId, target.alias, target.originId);
    names += (viewId ?? '') + path;
  }
  return references.length <= referencesPerGo ? names : flat(names);
}

/** Where the texts of a body with references begin. */
function textsPlace(stored: Buffer): number {
  const namesBytesAt = namesBytesPlace(stored.readUInt32LE(1));
  return namesBytesAt + numberBytes + stored.readUInt32LE(namesBytesAt);
}

function namesBytesPlace(count: number): number {
  return 1 + numberBytes * (1 + count * namesPerReference + count + 1);
}

/** @param stored from `encodeBody` */
export function decodeBody(stored: Buffer): StoredBody {
  if (stored[0] === plainText) return { texts: [stored.subarray(1)], references: [] };
  const count = stored.readUInt32LE(1);
  const lengthsAt = 1 + numberBytes;
  const textsAt = lengthsAt + count * namesPerReference * numberBytes;
  const namesBytesAt = namesBytesPlace(count);
  const namesAt = namesBytesAt + numberBytes;
  const namesEnd = namesAt + stored.readUInt32LE(namesBytesAt);
  const names = stored.toString('utf8', namesAt, namesEnd);
  const references = decodeReferences(stored, lengthsAt, count, names);
  const texts: Buffer[] = [];
  for (let at = namesEnd, index = 0; index <= count; index += 1) {
    const end = at + stored.readUInt32LE(textsAt + index * numberBytes);
    texts.push(stored.subarray(at, end));
    at = end;
  }
  return { texts, references };
}

function decodeReferences(
  stored: Buffer,
  lengthsAt: number,
  count: number,
  names: string,
): StoredReference[] {
  const references: StoredReference[] = [];
  let lengthAt = lengthsAt;
  let from = 0;
  for (let index = 0; index < count; index += 1) {
    const first = stored.readUInt32LE(lengthAt);
    const hasTarget = first !== noTarget;
    const aliasFrom = from + (hasTarget ? first + 1 : 0);
    const originFrom = aliasFrom + (hasTarget ? stored.readUInt32LE(lengthAt + numberBytes) + 1 : 0);
    const viewFrom = originFrom + stored.readUInt32LE(lengthAt + 2 * numberBytes);
    const pathFrom = viewFrom + stored.readUInt32LE(lengthAt + 3 * numberBytes);
    const end = pathFrom + stored.readUInt32LE(lengthAt + 4 * numberBytes);
    references.push({
      target: hasTarget
        ? {
            sourceId: names.slice(from, aliasFrom - 1),
            alias: names.slice(aliasFrom, originFrom - 1),
            originId: names.slice(originFrom, viewFrom),
            field: names.slice(from, viewFrom),
          }
        : null,
      // An earlier release wrote the id of every reference; beside a target it is left out.
      viewId: hasTarget ? null : names.slice(viewFrom, pathFrom),
      path: names.slice(pathFrom, end),
    });
    lengthAt += namesPerReference * numberBytes;
    from = end;
  }
  return references;
}
