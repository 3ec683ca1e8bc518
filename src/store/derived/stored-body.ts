/** A view as it is stored: JSON text cut at its references, so that delivery concatenates bytes and parses nothing. */
import type { EntityRef } from '../../contract/ids.ts';
import { inlineViewBytesMax } from '../../contract/limits.ts';
import { atOnce, type Resumable, type Steps, Suspended, workBudget } from '../../lib/cooperative-yield.ts';
import { flat } from '../../lib/flat.ts';
import type { ViewBody } from '../../schemas/build/build-outcome.ts';
import { largeBodyField, viewIdentity } from '../keys.ts';

/** A view of an environment (`viewTarget`). */
export interface ViewTarget extends EntityRef {
  readonly alias: string;
  /** Identifies it among the views of the environment. */
  readonly identity: string;
}

/** A reference as stored in a view's body. */
export interface StoredReference {
  /** Null when the schema gave a text that is not a view id; then nothing can be found. */
  readonly target: ViewTarget | null;
  /** The given reference, if it has no target; otherwise null. */
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
 * First byte of a stored body. `plainText`: the text alone follows. `cutText`: numbers in bytes of seven bits (count of
 * references; for each reference the lengths of its names in UTF-16 units; for each text its bytes; bytes of all names), then
 * all names as one text, then the texts. One text for all names, because decoding one is nearly as dear as decoding
 * many. Names that a reference does not have take nothing: no source where it is that of the view itself.
 * `apart`: the body is large and is under a field of its own; the bytes of its texts follow, so that a reader knows the
 * size before it reads.
 */
const plainText = 0;

const cutText = 1;

const apart = 2;

/** In place of the length of a source id: the reference has no target, and the id that the schema gave follows. */
const noTarget = 0;

/** The target is of the source of the view itself. Other lengths are larger by this. */
const sameSource = 1;

const apartBytes = 4;

const scratchBytes = 64 * 1024;

/** Bodies are written here first, because the byte length of a text is known only when it is written. */
const scratch = Buffer.allocUnsafeSlow(scratchBytes);

/** References and numbers that are written in one go, and about what one costs in units of the work budget. */
const perGo = 1000;
const unitsEach = 100;
/** A number takes at most this many bytes of seven bits. */
const numberBytesMax = 5;

const plainHead = Buffer.of(plainText);

/** The stored form of a built view. Equal bodies give equal bytes. In steps when it has very many references. @param sourceId of the view itself */
export function encodeBody(body: ViewBody, sourceId: string): Resumable<Buffer> {
  const steps = encodeInSteps(body, sourceId);
  return body.references.length > perGo ? new Suspended(steps) : atOnce(steps);
}

function* encodeInSteps({ texts, references }: ViewBody, sourceId: string): Steps<Buffer> {
  const numbers = [references.length];
  let names = '';
  for (let from = 0; from < references.length; from += perGo) {
    const go = goOf(references, from);
    names += namesOf(go, sourceId);
    addNameLengths(numbers, go, sourceId);
    if (isTimeOver(go)) yield;
  }
  let characters = names.length;
  for (const text of texts) characters += text.length;
  // A UTF-16 unit takes at most three bytes. Anyone who pauses must not write into what others write into meanwhile.
  const isBrief = references.length <= perGo && 3 * characters <= scratchBytes;
  const stored = isBrief ? scratch : Buffer.allocUnsafeSlow(3 * characters);
  if (references.length === 0) {
    const length = stored.write(texts[0] ?? '', 0);
    return Buffer.concat([plainHead, stored.subarray(0, length)]);
  }
  const namesBytes = stored.write(names, 0);
  let at = namesBytes;
  for (let from = 0; from < texts.length; from += perGo) {
    const go = goOf(texts, from);
    for (const text of go) {
      const bytes = stored.write(text, at);
      numbers.push(bytes);
      at += bytes;
    }
    if (isTimeOver(go)) yield;
  }
  numbers.push(namesBytes);
  const head = yield* headOf(numbers);
  return Buffer.concat([head, stored.subarray(0, at)]);
}

/** Adds the lengths of the names of each. */
function addNameLengths(numbers: number[], references: ViewBody['references'], sourceId: string): void {
  for (const { target, viewId, path } of references) {
    if (target === null) numbers.push(noTarget, viewId?.length ?? 0);
    else {
      const source = target.sourceId === sourceId ? 0 : target.sourceId.length;
      numbers.push(sameSource + source, target.alias.length, target.originId.length);
    }
    numbers.push(path.length);
  }
}

function namesOf(references: ViewBody['references'], sourceId: string): string {
  let names = '';
  for (const { target, viewId, path } of references) {
    if (target === null) names += viewId ?? '';
    else names += (target.sourceId === sourceId ? '' : target.sourceId) + target.alias + target.originId;
    names += path;
  }
  return references.length < perGo ? names : flat(names);
}

/** The mark of a text that is cut, and the numbers. */
function* headOf(numbers: readonly number[]): Steps<Buffer> {
  const head = Buffer.allocUnsafe(1 + numbers.length * numberBytesMax);
  head[0] = cutText;
  let at = 1;
  for (let from = 0; from < numbers.length; from += perGo) {
    const go = goOf(numbers, from);
    at = writeNumbers(head, go, at);
    if (isTimeOver(go)) yield;
  }
  return head.subarray(0, at);
}

/** Writes numbers, seven bits a byte; the last byte of each has its highest bit clear. @returns the place after them */
function writeNumbers(head: Buffer, numbers: readonly number[], from: number): number {
  let at = from;
  for (const number of numbers) {
    let rest = number;
    for (; rest > 0x7f; rest = Math.floor(rest / 0x80)) {
      head[at] = 0x80 | (rest & 0x7f);
      at += 1;
    }
    head[at] = rest;
    at += 1;
  }
  return at;
}

/** A part of a list that is done in one go. */
function goOf<T>(list: readonly T[], from: number): readonly T[] {
  return list.length <= perGo ? list : list.slice(from, from + perGo);
}

function isTimeOver(go: readonly unknown[]): boolean {
  workBudget.units += go.length * unitsEach;
  return workBudget.isOver();
}

/** Reads the numbers of a head, one after the other. */
class Numbers {
  constructor(
    private readonly stored: Buffer,
    /** Where the next number begins. */
    public at: number,
  ) {}

  next(): number {
    let [number, scale] = [0, 1];
    for (; ; scale *= 0x80) {
      const byte = this.stored[this.at] ?? 0;
      this.at += 1;
      number += (byte & 0x7f) * scale;
      if (byte <= 0x7f) return number;
    }
  }

  skip(count: number): void {
    for (let index = 0; index < count; index += 1) this.next();
  }
}

/** The stored fields of a view, with their bytes. @param body from `encodeBody` */
export function storedFields(field: string, body: Buffer): (readonly [field: string, bytes: Buffer])[] {
  if (body.length <= inlineViewBytesMax) return [[field, body]];
  const note = Buffer.alloc(1 + apartBytes);
  note[0] = apart;
  note.writeUInt32LE(body.length - textsPlace(body), 1);
  return [
    [field, note],
    [largeBodyField(field), body],
  ];
}

/** Bytes of the texts of a large view, when `stored` only says that its body is apart; null when it is the body itself. */
export function bytesApart(stored: Buffer): number | null {
  return stored[0] === apart ? stored.readUInt32LE(1) : null;
}

/** @param stored from `encodeBody`. @param sourceId of the view itself */
export function decodeBody(stored: Buffer, sourceId: string): StoredBody {
  if (stored[0] === plainText) return { texts: [stored.subarray(1)], references: [] };
  const { lengths, textBytes, names, textsAt } = decodeHead(stored);
  const texts: Buffer[] = [];
  let at = textsAt;
  for (const bytes of textBytes) {
    texts.push(stored.subarray(at, at + bytes));
    at += bytes;
  }
  return { texts, references: referencesIn(lengths, names, sourceId) };
}

/** Where the texts of a body begin, counted from its begin. @param stored has a body from `encodeBody` at a place */
export function textsPlace(stored: Buffer, begin = 0): number {
  if (stored[begin] === plainText) return 1;
  const numbers = new Numbers(stored, begin + 1);
  const count = numbers.next();
  for (let index = 0; index < count; index += 1) {
    const lengths = numbers.next() === noTarget ? 2 : 3;
    numbers.skip(lengths);
  }
  numbers.skip(count + 1);
  const namesBytes = numbers.next();
  return numbers.at + namesBytes - begin;
}

interface Head {
  /** Of the names of each reference. */
  readonly lengths: readonly (readonly number[])[];
  readonly textBytes: readonly number[];
  readonly names: string;
  /** Where the texts begin. */
  readonly textsAt: number;
}

function decodeHead(stored: Buffer): Head {
  const numbers = new Numbers(stored, 1);
  const count = numbers.next();
  const lengths: number[][] = [];
  for (let index = 0; index < count; index += 1) {
    const source = numbers.next();
    lengths.push(
      source === noTarget
        ? [source, numbers.next(), numbers.next()]
        : [source, numbers.next(), numbers.next(), numbers.next()],
    );
  }
  const textBytes: number[] = [];
  for (let index = 0; index <= count; index += 1) textBytes.push(numbers.next());
  const namesBytes = numbers.next();
  const textsAt = numbers.at + namesBytes;
  return { lengths, textBytes, names: stored.toString('utf8', numbers.at, textsAt), textsAt };
}

function referencesIn(
  lengths: readonly (readonly number[])[],
  names: string,
  ownSourceId: string,
): StoredReference[] {
  let at = 0;
  const take = (length: number) => {
    at += length;
    return names.slice(at - length, at);
  };
  return lengths.map(([source = noTarget, first = 0, second = 0, third = 0]) => {
    if (source === noTarget) return { target: null, viewId: take(first), path: take(second) };
    const sourceId = source === sameSource ? ownSourceId : take(source - sameSource);
    const [alias, originId] = [take(first), take(second)];
    const identity = sourceId.includes(':')
      ? identityOfNone(sourceId, alias, originId)
      : viewIdentity(sourceId, alias, originId);
    return { target: { sourceId, alias, originId, identity }, viewId: null, path: take(third) };
  });
}

/**
 * Views of earlier versions may refer to a source with a colon, which no source has. Joined as for other views, its parts could
 * name a view that there is. No source has an empty id, so nothing else begins with a colon.
 */
function identityOfNone(...parts: readonly string[]): string {
  return `:${JSON.stringify(parts)}`;
}
