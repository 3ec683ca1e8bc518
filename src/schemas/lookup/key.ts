import { createHash } from 'node:crypto';
import { lookupKeyCharactersMax } from '../../contract/limits.ts';
import type { LookupIndex } from './plan.ts';

/** Keeps apart the parts of a key; a clash of two keys would only make a lookup read more than it needs. */
const separator = '\u001f';

/** The key of the entities with the scalar `text` in a `value` index. */
export function valueKey({ type, path }: LookupIndex, text: string): string {
  return bounded(`v${type}${separator}${path.join('.')}${separator}${text}`);
}

/** The key of the entities with more values than `lookupValuesPerIndexMax`: they may have any. */
export function overflowKey({ type, path }: LookupIndex): string {
  return bounded(`o${type}${separator}${path.join('.')}`);
}

/** The one key of a `text` or `all` index. */
export function wholeKey({ kind, type, path }: LookupIndex): string {
  return bounded(`${kind === 'text' ? 't' : 'a'}${type}${separator}${path.join('.')}`);
}

function bounded(key: string): string {
  if (key.length <= lookupKeyCharactersMax) return key;
  return `#${createHash('sha256').update(key).digest('hex').slice(0, 32)}`;
}
