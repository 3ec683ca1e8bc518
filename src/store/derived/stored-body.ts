/** A view as stored: JSON text cut at its references, so that delivery concatenates bytes and does not parse. */
import type { EntityRef } from '../../contract/ids.ts';
import { inlineViewBytesMax } from '../../contract/limits.ts';
import { type Resumable, runSync, type Steps, Suspended, workBudget } from '../../lib/cooperative-yield.ts';
import { flat } from '../../lib/flat.ts';
import type { ViewBody } from '../../schemas/build/build-outcome.ts';
import { largeBodyField, viewIdentity } from '../keys.ts';

/** A view of an environment (`viewTarget`). */
export interface ViewTarget extends EntityRef {
  readonly alias: string;
  /** Unique in the environment. */
  readonly identity: string;
}

/** A reference as stored in a view's body. */
export interface StoredReference {
  /** Null if the schema returned a text that is not a view id; then the reference is missing. */
  readonly target: ViewTarget | null;
  /** The text that the schema returned, if there is no target; otherwise null. */
  readonly viewId: string | null;
  /** Path in the view: `.author`, `.related[1]`. */
  readonly path: string;
}

/** A view as stored: UTF-8 JSON text cut at its references; `texts` is one longer than `references`. */
export interface StoredBody {
  readonly texts: readonly Buffer[];
  readonly references: readonly StoredReference[];
}

/**
 * First byte of a stored body. `plainText`: only the text follows. `cutText`: variable-length numbers follow (count of
 * references; for each reference the lengths of its names in UTF-16 units; for each text its length in bytes; bytes of all
 * names), then all names as one text, then the texts. All names are one text, because decoding one name costs nearly as much as
 * decoding all. A source id is left out if it is that of the view itself. `apart`: the body is large and has its own field; the
 * number of bytes of its texts follows, so that readers know the size before they read.
 */
const plainText = 0;

const cutText = 1;

const apart = 2;

/** Instead of the length of a source id: the reference has no target, and the text from the schema follows. */
const noTarget = 0;

/** The target has the same source as the view. Other lengths are increased by this. */
const sameSource = 1;

const apartBytes = 4;

const scratchBytes = 64 * 1024;

/** Bodies are first written here, because the byte length of a text is only known after writing. */
const scratch = Buffer.allocUnsafeSlow(scratchBytes);

/** References or numbers per step, and the approximate cost of each in units of the work budget. */
const perGo = 1000;
const unitsEach = 100;
/** Maximum length of a variable-length number. */
const numberBytesMax = 5;

const plainHead = Buffer.of(plainText);

/**
 * Encodes a built view; in steps if it has very many references. Equal bodies give equal bytes.
 * @param sourceId of the view itself
 */
export function encodeBody(body: ViewBody, sourceId: string): Resumable<Buffer> {
  const steps = encodeInSteps(body, sourceId);
  return body.references.length > perGo ? new Suspended(steps) : runSync(steps);
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
  // A UTF-16 unit takes at most three bytes. An encoder that pauses must not use the shared buffer.
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

/** Adds the lengths of the names of each reference. */
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

/** The first byte (`cutText`) and the numbers. */
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

/** Writes numbers with seven bits per byte; the last byte of each has its highest bit clear. @returns the offset after them */
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

/** The part of a list for one step. */
function goOf<T>(list: readonly T[], from: number): readonly T[] {
  return list.length <= perGo ? list : list.slice(from, from + perGo);
}

function isTimeOver(go: readonly unknown[]): boolean {
  workBudget.units += go.length * unitsEach;
  return workBudget.isOver();
}

/** Reads the numbers of a head one by one. */
class Numbers {
  constructor(
    private readonly stored: Buffer,
    /** Offset of the next number. */
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

/** The fields to store for a view. @param body from `encodeBody` */
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

/** Bytes of the texts of a large view, if `stored` only notes that its body is apart; null if `stored` is the body itself. */
export function bytesApart(stored: Buffer): number | null {
  return stored[0] === apart ? stored.readUInt32LE(1) : null;
}

/**
 * @param stored from `encodeBody`
 * @param sourceId of the view itself
 */
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

/** Offset of the texts in a body, relative to `begin`. @param stored contains a body from `encodeBody` at `begin` */
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
  /** Lengths of the names of each reference. */
  readonly lengths: readonly (readonly number[])[];
  readonly textBytes: readonly number[];
  readonly names: string;
  /** Offset of the texts. */
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
      : viewIdentity({ sourceId, alias, originId });
    return { target: { sourceId, alias, originId, identity }, viewId: null, path: take(third) };
  });
}

/**
 * Views of earlier versions may reference a source id with a colon, which no longer exists. The usual way to join the parts
 * could yield the identity of an existing view. No other identity begins with a colon, because source ids are not empty.
 */
function identityOfNone(...parts: readonly string[]): string {
  return `:${JSON.stringify(parts)}`;
}

/** A property of a schema, without list indexes: `related`, `blocks.link`. */
export interface ReferenceProperty {
  readonly alias: string;
  readonly property: string;
}

export class ReferenceCounts {
  readonly #counts = new Map<string, ReferenceProperty & { count: number }>();

  /** Counts references of a view of the schema `alias`. */
  add(alias: string, references: readonly Pick<StoredReference, 'path'>[]): void {
    for (const { path } of references) {
      const property = propertyOf(path);
      const key = `${alias}\n${property}`;
      const known = this.#counts.get(key);
      if (known === undefined) this.#counts.set(key, { alias, property, count: 1 });
      else known.count += 1;
    }
  }

  /** The property with the most references; null if nothing was counted. */
  most(): ReferenceProperty | null {
    let most: (ReferenceProperty & { count: number }) | null = null;
    for (const one of this.#counts.values()) if (most === null || one.count > most.count) most = one;
    return most;
  }
}

/** @param path of a reference in its view: `.related[1]` */
function propertyOf(path: string): string {
  return path.replaceAll(/\[[0-9]+\]/g, '').replace(/^\./, '');
}
