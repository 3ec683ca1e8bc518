/** Corrupts bytes like transports, editors and attackers do. */
import type { Random } from '../../system/support/random.ts';
import { awkwardJson, awkwardTexts, brokenUtf8 } from './words.ts';

/** A few changes at random positions. */
export function mutateBytes(random: Random, bytes: Buffer): Buffer {
  let mutated = bytes;
  for (let left = random.between(1, 4); left > 0; left -= 1) mutated = mutateOnce(random, mutated);
  return mutated;
}

function mutateOnce(random: Random, bytes: Buffer): Buffer {
  const at = random.below(bytes.length + 1);
  const end = Math.min(bytes.length, at + random.below(16));
  const spliced = (middle: Buffer) => Buffer.concat([bytes.subarray(0, at), middle, bytes.subarray(end)]);
  switch (random.below(8)) {
    case 0:
      return flipped(random, bytes);
    case 1:
      return spliced(Buffer.alloc(0));
    case 2:
      return bytes.subarray(0, at);
    case 3:
      return spliced(Buffer.concat([bytes.subarray(at, end), bytes.subarray(at, end)]));
    case 4:
      return spliced(random.pick(brokenUtf8));
    case 5:
      return spliced(Buffer.from(random.pick(awkwardTexts)));
    case 6:
      return valueReplaced(random, bytes);
    default:
      return spliced(Buffer.from([random.below(256)]));
  }
}

function flipped(random: Random, bytes: Buffer): Buffer {
  if (bytes.length === 0) return bytes;
  const copy = Buffer.from(bytes);
  const at = random.below(copy.length);
  copy[at] = (copy[at] ?? 0) ^ (1 << random.below(8));
  return copy;
}

/** Replaces a JSON value by an awkward one. */
function valueReplaced(random: Random, bytes: Buffer): Buffer {
  const json = bytes.toString('latin1');
  const values = [...json.matchAll(/(?<=[:[,])("(?:[^"\\]|\\.){0,200}"|-?\d[\d.e+-]*|true|false|null)/g)];
  if (values.length === 0) return Buffer.from(random.pick(awkwardJson));
  const { index, 0: value } = random.pick(values);
  return Buffer.concat([
    bytes.subarray(0, index),
    Buffer.from(random.pick(awkwardJson)),
    bytes.subarray(index + value.length),
  ]);
}

/** The token unchanged, with one error, or completely different. */
export function mutateToken(random: Random, token: string): string {
  if (token === '') return random.pick(awkwardTexts);
  const at = random.below(token.length);
  switch (random.below(6)) {
    case 0:
    case 1:
      return token;
    case 2:
      return token.slice(0, at);
    case 3:
      return token + token;
    case 4:
      return `${token.slice(0, at)}${random.pick(['A', 'z', '_', '=', '%', '\u0000'])}${token.slice(at + 1)}`;
    default:
      return [...token].reverse().join('');
  }
}
