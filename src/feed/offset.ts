/**
 * Offsets of the feed: opaque strings that encode a position in the change log of each partition (docs/design/changes.md
 * "Reading").
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { EnvironmentScope } from '../store/scopes.ts';

/** The position of a reader in the log: a sequence for each partition. */
export interface Position {
  readonly sequences: readonly number[];
  /** The end of each partition's log when the current full copy began; null if there is none. */
  readonly copyFrom: readonly number[] | null;
}

const sealBytes = 9;
const format = 1;

/** The offset of a position, signed so that only this store accepts it, and only for this environment. */
export function formatOffset(secret: Buffer, scope: EnvironmentScope, position: Position): string {
  const body = encodePosition(position);
  return Buffer.concat([sealOf(secret, scope, body), body]).toString('base64url');
}

/** Null if the text is not an offset of this store and environment with this number of partitions. */
export function parseOffset(
  secret: Buffer,
  scope: EnvironmentScope,
  partitions: number,
  text: string,
): Position | null {
  const bytes = Buffer.from(text, 'base64url');
  if (bytes.length <= sealBytes || bytes.toString('base64url') !== text) return null;
  const body = bytes.subarray(sealBytes);
  if (!timingSafeEqual(bytes.subarray(0, sealBytes), sealOf(secret, scope, body))) return null;
  return decodePosition(body, partitions);
}

/** True if a text has the form of an offset of any store and environment. */
export function isOffset(partitions: number, text: string): boolean {
  const bytes = Buffer.from(text, 'base64url');
  if (bytes.length <= sealBytes || bytes.toString('base64url') !== text) return false;
  return decodePosition(bytes.subarray(sealBytes), partitions) !== null;
}

function sealOf(secret: Buffer, { tenant, environmentId }: EnvironmentScope, body: Buffer): Buffer {
  return createHmac('sha256', secret)
    .update(`changes:${tenant}:${environmentId}\n`)
    .update(body)
    .digest()
    .subarray(0, sealBytes);
}

/** Sequences are timestamps and most partitions have changed recently, so each is encoded as the distance from the latest. */
function encodePosition({ sequences, copyFrom }: Position): Buffer {
  const bytes: number[] = [format, copyFrom === null ? 0 : 1];
  for (const list of copyFrom === null ? [sequences] : [sequences, copyFrom]) {
    const latest = list.reduce((max, sequence) => Math.max(max, sequence), 0);
    writeNumber(bytes, latest);
    for (const sequence of list) writeNumber(bytes, sequence === 0 ? 0 : latest - sequence + 1);
  }
  return Buffer.from(bytes);
}

function decodePosition(body: Buffer, partitions: number): Position | null {
  if (body[0] !== format) return null;
  const reader = new NumberReader(body, 2);
  const list = () => {
    const latest = reader.next();
    return Array.from({ length: partitions }, () => {
      const distance = reader.next();
      return distance === 0 ? 0 : latest - distance + 1;
    });
  };
  const sequences = list();
  const copyFrom = body[1] === 1 ? list() : null;
  return reader.isAtEnd ? { sequences, copyFrom } : null;
}

/** Writes a varint: seven bits per byte, lowest first. Sequences exceed 32 bits, so there are no bitwise operators. */
function writeNumber(bytes: number[], number: number): void {
  let rest = number;
  while (rest >= 128) {
    bytes.push((rest % 128) + 128);
    rest = Math.floor(rest / 128);
  }
  bytes.push(rest);
}

class NumberReader {
  constructor(
    private readonly body: Buffer,
    private at: number,
  ) {}

  get isAtEnd(): boolean {
    return this.at === this.body.length;
  }

  next(): number {
    let number = 0;
    for (let factor = 1; ; factor *= 128) {
      const byte = this.body[this.at] ?? 0;
      this.at += 1;
      number += (byte % 128) * factor;
      if (byte < 128) return number;
    }
  }
}
