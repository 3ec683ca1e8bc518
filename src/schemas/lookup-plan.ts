/** The reads that a `$lookup` can make, known at compile time, and the keys of the indexes that it reads. */
import { createHash } from 'node:crypto';
import { lookupKeyCharactersMax } from '../contract/limits.ts';
import { isEntityField } from './build/entity-value.ts';

/** A path into an entity: `['properties', 'tags']`, `['type']`. */
export type PropertyPath = readonly string[];

/** A property index for lookups: the entities of `type` by each scalar value at `path`. */
export interface LookupIndex {
  /** Entity type, or `*` for all. */
  readonly type: string;
  /**
   * `value`: one key for each scalar at `path`, with arrays on the path and at its end spread; `text`: one key for all entities
   * with a string at `path`, for substring searches; `all`: one key for all entities of the type (the path is empty).
   */
  readonly kind: 'value' | 'text' | 'all';
  readonly path: PropertyPath;
}

/** The reads that a `$lookup` of a schema can make, known at compile time. */
export interface LookupPlan {
  /** Alias of its source group; null for the group of the entity being built. */
  readonly sourceGroup: string | null;
  readonly indexes: readonly LookupIndex[];
  /** Paths in its condition and its order. */
  readonly reads: readonly PropertyPath[];
}

/** Separates the parts of a key. A collision of two keys would only make a lookup read more than necessary. */
const separator = '\u001f';

/** The key in a `value` index of entities with the scalar `text`. */
export function valueKey({ type, path }: LookupIndex, text: string): string {
  return bounded(`v${type}${separator}${path.join('.')}${separator}${text}`);
}

/** The key of entities with more values than `lookupValuesPerIndexMax`, which may have any value. */
export function overflowKey({ type, path }: LookupIndex): string {
  return bounded(`o${type}${separator}${path.join('.')}`);
}

/** The only key of a `text` or `all` index. */
export function wholeKey({ kind, type, path }: LookupIndex): string {
  return bounded(`${kind === 'text' ? 't' : 'a'}${type}${separator}${path.join('.')}`);
}

function bounded(key: string): string {
  if (key.length <= lookupKeyCharactersMax) return key;
  return `#${createHash('sha256').update(key).digest('hex').slice(0, 32)}`;
}

/**
 * The paths that a name in `sourceEntityProperty` or `orderBy.property` may mean, in order of preference: a dotted path in
 * `properties`, then the entity's own field of that name, such as `originParentId`. A name with the prefix `properties.` or
 * `p.` only means a path in `properties`.
 */
export function propertyPaths(name: string): readonly PropertyPath[] {
  const [first = '', ...rest] = name.split('.');
  if ((first === 'properties' || first === 'p') && rest.length > 0) return [['properties', ...rest]];
  const inProperties = ['properties', first, ...rest];
  return rest.length === 0 && isEntityField(first) ? [inProperties, [first]] : [inProperties];
}
